//! Whatever the scenario, as long as it passes its check: no panic, sound numbers, books that balance, an
//! association that is a partition, the same bytes on any number of threads and across an interruption.

use crate::common::resume;
use crate::common::{RADIOS, TINY, assert_balanced, cases, few_digits, suited};
use aerofed::method::{Registry, Schedule};
use aerofed::record::{EnergyItem, EventKind, RoundRecord};
use aerofed::run::Run;
use aerofed::world::World;
use aerofed::{Error, Method, Scenario, Simulation, ValidScenario};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

/// A setting whose value is drawn over orders of magnitude, ends included.
fn number(field: &'static str, least: f64, most: f64) -> BoxedStrategy<String> {
    let value = prop_oneof![
        1 => Just(least),
        1 => Just(most),
        8 => (0.0..1.0f64).prop_map(move |share| least * (most / least).powf(share)),
    ];
    value
        .prop_map(move |value| format!("{field}={value:?}"))
        .boxed()
}

/// The same for a range that is drawn from.
fn span(field: &'static str, least: f64, most: f64) -> BoxedStrategy<String> {
    let ends = (0.0..1.0f64, 0.0..1.0f64);
    ends.prop_map(move |(a, b)| {
        let at = |share: f64| least * (most / least).powf(share);
        format!("{field}=[{:?}, {:?}]", at(a.min(b)), at(a.max(b)))
    })
    .boxed()
}

fn one_of(field: &'static str, values: &'static [&'static str]) -> BoxedStrategy<String> {
    select(values)
        .prop_map(move |value| format!("{field}={value}"))
        .boxed()
}

/// Something out of the ordinary, over all that a scenario may say (what costs minutes apart).
fn oddity() -> impl Strategy<Value = String> {
    Union::new([
        number("area.width_m", 1.0, 1e7),
        number("area.height_m", 1.0, 1e7),
        span("devices.cpu_hz", 1e3, 1e13),
        span("devices.cycles_per_bit", 1e-3, 1e6),
        number("devices.capacitance", 1e-35, 1e-20),
        number("devices.fixed_time_s", 1e-9, 1e4),
        span("devices.tx_power_w", 1e-6, 1e4),
        number("devices.deadline_s", 1e-3, 1e9),
        number("uavs.altitude_m", 1.0, 1e5),
        number("uavs.coverage_radius_m", 1.0, 1e7),
        number("uavs.speed_mps", 0.1, 1e3),
        number("uavs.hover_power_w", 1e-3, 1e6),
        number("uavs.move_power_w", 1e-3, 1e6),
        number("uavs.battery_j", 1.0, 1e12),
        span("uavs.tx_power_w", 1e-6, 1e4),
        span("uavs.broadcast_power_w", 1e-6, 1e4),
        span("uavs.bandwidth_up_hz", 1.0, 1e12),
        span("uavs.bandwidth_down_hz", 1.0, 1e12),
        number("uavs.recharge_w", 1e-3, 1e6),
        span("uavs.altitude_m", 1.0, 1e4),
        span("uavs.coverage_radius_m", 100.0, 1e5),
        span("uavs.battery_j", 1e3, 1e6),
        span("uavs.speed_mps", 0.1, 1e3),
        number("battery.usable", 0.01, 1.0),
        number("battery.taper_from", 1e-3, 1.0),
        number("battery.taper_to", 1e-3, 1.0),
        number("battery.ageing_per_cycle", 1e-6, 1.0),
        number("solar.uav_w", 1e-3, 1e6),
        number("solar.base_w", 1e-3, 1e6),
        number("solar.start_h", 1e-3, 24.0),
        number("flight.climb_mps", 0.1, 100.0),
        number("flight.descent_mps", 0.1, 100.0),
        one_of("flight.power.kind", &["rotary_wing"]),
        one_of(
            "flight",
            &[
                "{ power = { kind = \"rotary_wing\", weight_n = 100.0, disc_area_m2 = 0.79 }, wind_mps = [-6.0, 4.0], climb_mps = 3.0 }",
                "{ wind_mps = [9.0, 0.0], climb_mps = 2.0, descent_mps = 1.0 }",
            ],
        ),
        one_of(
            "uavs.each",
            &[
                "[{uav = 0, battery_j = 3e4, altitude_m = 20.0, coverage_radius_m = 9e3}]",
                "[{uav = 0, speed_mps = 90.0, recharge_w = 0.0, tx_power_w = 2.0, bandwidth_up_hz = 1e5}]",
            ],
        ),
        number("radio.noise_dbm_per_hz", -250.0, -1.0),
        number("radio.uav_link_bandwidth_hz", 1.0, 1e12),
        number("channel.exponent_up", 1.0, 6.0),
        number("channel.exponent_uav", 1.0, 6.0),
        number("mobility.hop_probability", 1e-3, 1.0),
        number("training.learning_rate", 1e-9, 1e3),
        number("training.weight_decay", 1e-9, 1e3),
        number("model.bits_per_parameter", 0.01, 64.0),
        number("weights.energy", 1e-6, 1e6),
        number("weights.time", 1e-6, 1e6),
        number("redeploy.coverage_weight", 1e-6, 1e6),
        number("redeploy.movement_weight", 1e-6, 1e6),
        one_of("uavs.recharge_w", &["0"]),
        one_of("uavs.hover_power_w", &["0"]),
        one_of("uavs.move_power_w", &["0"]),
        one_of("devices.capacitance", &["0"]),
        one_of("uavs.reserve", &["return", "none"]),
        one_of(
            "mobility.kind",
            &[
                "static",
                "random_waypoint",
                "gauss_markov",
                "manhattan",
                "group",
            ],
        ),
        one_of(
            "mobility",
            &[
                "{kind=\"random_waypoint\", speed_mps=[30, 300], pause_s=[0, 50]}",
                "{kind=\"random_waypoint\", speed_mps=[1e-3, 1e3]}",
                "{kind=\"gauss_markov\", mean_speed_mps=300, alpha=0.1, step_s=100}",
                "{kind=\"gauss_markov\", mean_speed_mps=0, alpha=1, step_s=0.01}",
                "{kind=\"manhattan\", block_m=1, turn_probability=1}",
                "{kind=\"group\", groups=1, radius_m=0.4, speed_mps=300}",
            ],
        ),
        one_of("aggregator", &["distance", "cost"]),
        one_of("training.batch_size", &["1", "7", "65536"]),
        one_of("data.probe_samples", &["0", "1", "100"]),
        one_of("data.personal_samples", &["0", "1"]),
        one_of(
            "data.partition.kind",
            &["noniid_a", "noniid_b", "iid", "dirichlet", "shards"],
        ),
        one_of(
            "codec",
            &[
                "{kind=\"f16\"}",
                "{kind=\"int8\"}",
                "{kind=\"int8\", error_feedback=false}",
                "{kind=\"top_k\"}",
                "{kind=\"top_k\", fraction=1.0}",
            ],
        ),
        one_of("redeploy.when", &["on_change", "every_round"]),
        one_of("area.origin", &["[47.4, 8.5]", "[-33.0, 179.95, 20]"]),
        one_of(
            "uavs.base_m",
            &["[0, 0]", "[[0, 0], [20000, 20000], [3000, 9000]]"],
        ),
        one_of(
            "area.no_fly",
            &[
                "[{polygon=[[4000, 4000], [7000, 3000], [8000, 16000], [4000, 12000]]}]",
                "[{polygon=[[-1, 9500], [9000, 9500], [9000, 9900], [-1, 9900]]}, {polygon=[[13000, 100], [14000, 90], [13900, 30000]], height_m=120}]",
            ],
        ),
        one_of("stop.convergence_norm", &["1e-3", "1e9"]),
    ])
}

/// Nothing special about the radio, or some settings of it that go together.
fn radio() -> impl Strategy<Value = Vec<String>> {
    let laws = [
        "{kind=\"free_space\"}",
        "{kind=\"line_of_sight\", environment=\"high_rise\", draw=\"link\"}",
        "{kind=\"tr36777\", scenario=\"rma_av\", draw=\"link\", shadowing=true}",
        "{kind=\"tr36777\", scenario=\"umi_av\"}",
    ];
    let carrier = (select(laws.to_vec()), number("radio.carrier_hz", 1.0, 1e12));
    let reuse = one_of("radio.reuse", &["0", "1", "2", "7"]);
    let given = select(&RADIOS[..]).prop_map(|all| all.iter().map(|s| s.to_string()).collect());
    prop_oneof![
        4 => Just(Vec::new()),
        2 => given,
        1 => carrier.prop_map(|(law, carrier)| vec![format!("channel={law}"), carrier]),
        1 => (number("radio.shadowing_db", 0.01, 30.0), number("radio.decorrelation_m", 0.1, 1e6), reuse.clone())
            .prop_map(|(sigma, distance, reuse)| vec![sigma, distance, reuse]),
        1 => (number("radio.rician_k_db", 0.01, 60.0), -60.0..60.0f64, 0u32..6, reuse).prop_map(
            |(k, least_snr_db, retries, reuse)| vec![
                "radio.fading=rician".into(),
                k,
                format!("radio.least_snr_db={least_snr_db:?}"),
                format!("radio.retries={retries}"),
                reuse,
            ]
        ),
    ]
}

fn fault(devices: usize, uavs: usize) -> impl Strategy<Value = String> {
    let (uav, device) = (0..uavs, 0..devices);
    let span = (1usize..5).prop_flat_map(|from| (Just(from), from..6));
    prop_oneof![
        (
            uav.clone(),
            1usize..5,
            select(&["before", "edge", "aggregating"][..]),
            any::<bool>()
        )
            .prop_map(|(uav, round, moment, warned)| format!(
                "{{kind=\"loss\", uav={uav}, round={round}, moment=\"{moment}\", warned={warned}}}"
            )),
        (uav.clone(), 1usize..5)
            .prop_map(|(uav, round)| format!("{{kind=\"drain\", uav={uav}, round={round}}}")),
        (uav.clone(), span.clone(), 0.0..1e6f64).prop_map(|(uav, (from, until), power_w)| format!(
            "{{kind=\"leak\", uav={uav}, from={from}, until={until}, power_w={power_w:?}}}"
        )),
        (uav.clone(), uav.clone(), span.clone()).prop_map(move |(a, b, (from, until))| {
            match a == b {
                true => format!("{{kind=\"cell_outage\", uav={a}, from={from}, until={until}}}"),
                false => {
                    format!("{{kind=\"link_outage\", uavs=[{a}, {b}], from={from}, until={until}}}")
                }
            }
        }),
        (device, span).prop_map(|(device, (from, until))| format!(
            "{{kind=\"device_crash\", device={device}, from={from}, until={until}}}"
        )),
    ]
}

/// A small scenario with some oddities and faults.
fn scenario() -> impl Strategy<Value = ValidScenario> {
    let names: Vec<String> = Registry::builtin().names().map(Into::into).collect();
    let association = [
        "auto",
        "auto",
        "all",
        "random",
        "distance",
        "difference",
        "quota",
        "fixed_threshold",
        "td3",
        "oort",
    ];
    let redeploy = [
        "auto",
        "none",
        "two_stage",
        "joint_greedy",
        "marginal_gains",
    ];
    let allocation = [
        "{kind=\"auto\"}",
        "{kind=\"equal\", local_iterations=2}",
        "{kind=\"p1\"}",
        "{kind=\"p1\", estimate=true, h_max=12}",
        "{kind=\"p1\", solver=\"palm\", objective=\"paper\"}",
    ];
    let crowd = (1usize..25, 1usize..6);
    let settings = crowd.prop_flat_map(move |(devices, uavs)| {
        (
            Just((devices, uavs)),
            (any::<u32>(), 0usize..40),
            select(names.clone()),
            (select(association.to_vec()), select(redeploy.to_vec())),
            select(allocation.to_vec()),
            (prop::collection::vec(oddity(), 0..6), radio()),
            prop::collection::vec(fault(devices, uavs), 0..4),
        )
    });
    settings.prop_filter_map(
        "not a scenario",
        |(
            (devices, uavs),
            (seed, more),
            method,
            (association, redeploy),
            allocation,
            (oddities, radio),
            faults,
        )| {
            let mut all = vec![
                "data.set=idx".into(),
                format!("data.dir={:?}", few_digits()),
                format!("seed={seed}"),
                format!("devices.count={devices}"),
                format!("data.data_volume={}", devices * 2 + more),
                format!("uavs.count={uavs}"),
                format!("method={method}"),
                format!("association.kind={association}"),
                format!("redeploy.method={redeploy}"),
                format!("allocation={allocation}"),
                "stop.max_rounds=4".into(),
            ];
            all.extend(oddities);
            all.extend(radio);
            all.push(format!("faults=[{}]", faults.join(", ")));
            // Two oddities may contradict each other, as an area and the base in it.
            suited(Scenario::parse(TINY, &all).ok()?).ok()
        },
    )
}

fn finish(mut run: Run, method: &mut Method) -> (Vec<RoundRecord>, Vec<u32>) {
    while run.step(method).unwrap().is_some() {}
    let outcome = run.finish(method);
    let weights = outcome
        .weights
        .iter()
        .map(|weight| weight.to_bits())
        .collect();
    (outcome.records, weights)
}

/// Who trains where: a partition of devices that were covered when the round began.
fn check_association(record: &RoundRecord, before: &World, after: &World) {
    let mut taken = vec![false; after.devices.position.len()];
    for (uav, was) in record.uavs.iter().zip(&before.uavs) {
        assert!(uav.devices.len() <= uav.covered);
        for device in &uav.devices {
            let twice = std::mem::replace(&mut taken[device.index()], true);
            assert!(!twice, "{device:?} trains twice");
            let distance_m = after.devices.position[device.index()].distance(was.position);
            let reach_m = was.coverage_radius_m * (1.0 + 1e-12);
            assert!(distance_m <= reach_m, "{device:?} is not covered");
        }
    }
    let trained = taken.iter().filter(|taken| **taken).count();
    assert_eq!(trained, record.selected);
    assert!(record.selected <= record.covered);
}

/// Time, energy, losses and quality of a round, given the world and the model before it.
fn check_books(record: &RoundRecord, before: &World, model_was_finite: bool) {
    for (uav, was) in record.uavs.iter().zip(&before.uavs) {
        assert_balanced(uav);
        assert_eq!(uav.battery_before_j, was.battery_j);
    }
    assert!(record.covered <= before.devices.position.len());
    assert!(record.updates_lost <= record.updates_computed);
    for item in EnergyItem::ALL {
        let by_uavs: f64 = record.uavs.iter().map(|uav| uav.energy.get(item)).sum();
        let by_devices = record.energy.get(item) - by_uavs;
        let nothing = 1e-9 * by_uavs.max(1.0);
        let device_item = matches!(item, EnergyItem::DeviceCompute | EnergyItem::DeviceUpload);
        assert!(
            by_devices.abs() <= nothing || (device_item && by_devices > 0.0),
            "{item:?}"
        );
    }
    let total_j = record.energy.total_j();
    let passed_s = record.clock_s - before.clock_s;
    assert!((record.time.total_s() - passed_s).abs() <= 1e-9 * record.clock_s.max(1.0));
    assert!(
        total_j.is_finite() && record.clock_s.is_finite() && record.cumulative_energy_j.is_finite()
    );

    assert!((0.0..=1.0).contains(&record.test_accuracy));
    assert!(record.updates_computed > 0 || record.train_loss.is_nan());
    let diverged = record
        .events
        .iter()
        .any(|event| event.kind == EventKind::Diverged);
    assert!(diverged || record.test_loss.is_finite());
    // A model may come back: where cells do not wait for each other, the one that diverged may leave.
    assert!(diverged || !model_was_finite || record.model_change.is_finite());
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn any_world_runs_soundly_and_the_same_on_any_threads_and_across_an_interruption(
        scenario in scenario(),
        interrupted_after in 0usize..4,
    ) {
        let mut simulation = Simulation::builder(&scenario).threads(1).build().unwrap();
        let mut method = Method::of(&scenario).unwrap();
        for _ in 0..scenario.stop.max_rounds {
            let before = simulation.world().clone();
            let model_was_finite = simulation.global_model().iter().all(|w| w.is_finite());
            match simulation.step(&mut method) {
                Ok(Some(record)) => {
                    check_books(&record, &before, model_was_finite);
                    // Where cells do not wait for each other, a record tells of passes that began in the round before.
                    if !matches!(method.schedule, Schedule::Asynchronous { .. }) {
                        check_association(&record, &before, simulation.world());
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    // The only thing that a valid scenario can still be refused for: a link that no cell can have.
                    prop_assert!(matches!(error, Error::Cell(_)), "{}", error);
                    return Ok(());
                }
            }
        }

        let mut method = Method::of(&scenario).unwrap();
        let uninterrupted = finish(Run::new(Simulation::builder(&scenario).threads(2).build().unwrap()), &mut method);

        let mut method = Method::of(&scenario).unwrap();
        let mut run = Run::new(Simulation::builder(&scenario).threads(1).build().unwrap());
        for _ in 0..interrupted_after {
            run.step(&mut method).unwrap();
        }
        let saved = run.save(&method);
        let mut method = Method::of(&scenario).unwrap();
        let run = resume(&scenario, &mut method, 1, &saved).unwrap();
        let resumed = finish(run, &mut method);
        // As text, because NaN is not equal to itself.
        prop_assert_eq!(format!("{uninterrupted:?}"), format!("{resumed:?}"));
    }
}
