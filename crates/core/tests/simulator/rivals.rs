//! What sets each rival apart, in numbers.

use std::ops::ControlFlow;

use crate::common::run_on;
use crate::common::{run, tiny};
use aerofed::decide::association::All;
use aerofed::method::{Registry, Schedule};
use aerofed::record::{EnergyItem, EventKind, RoundRecord, TimeItem};
use aerofed::run::Outcome;
use aerofed::{Method, Simulation, ValidScenario};

fn run_method(scenario: &ValidScenario, mut method: Method) -> Outcome {
    run_on(scenario, &mut method, 2, |_| ControlFlow::Continue(())).unwrap()
}

fn first(settings: &[&str]) -> RoundRecord {
    run(&tiny(settings), 2).records.swap_remove(0)
}

/// The largest difference between two models, relative to the largest weight.
fn difference(a: &Outcome, b: &Outcome) -> f32 {
    let pairs = a.weights.iter().zip(&b.weights);
    let largest = a.weights.iter().fold(0.0f32, |most, w| most.max(w.abs()));
    pairs.fold(0.0f32, |most, (a, b)| most.max((a - b).abs())) / largest
}

/// `cfed` beside the same devices in a hierarchy of one edge round: the same training and, FedAvg of
/// FedAvgs being FedAvg, the same model, but every device's model crosses the link.
#[test]
fn cfed_hands_over_every_model_and_relays_none() {
    let scenario = tiny(&["method=cfed", "stop.max_rounds=1"]);
    let flat = run(&scenario, 2);
    let hierarchy = run_method(
        &scenario,
        Method {
            schedule: Schedule::Synchronous { edge_rounds: 1 },
            ..Method::of(&scenario).unwrap()
        },
    );
    assert!(difference(&flat, &hierarchy) < 1e-5);
    let (flat, hierarchy) = (&flat.records[0], &hierarchy.records[0]);
    assert_eq!((flat.edge_rounds, hierarchy.edge_rounds), (1, 1));
    for (relaying, merging) in flat.uavs.iter().zip(&hierarchy.uavs) {
        assert_eq!(relaying.devices, merging.devices);
        let item = |item| (relaying.energy.get(item), merging.energy.get(item));
        let (each, one) = item(EnergyItem::OffloadHover);
        let expected = one * relaying.devices.len() as f64;
        assert!(
            (each - expected).abs() <= 1e-9 * expected,
            "{each} and {expected}"
        );
        let (downlink, same) = item(EnergyItem::Downlink);
        assert_eq!(downlink, same);
        assert_eq!(relaying.energy.get(EnergyItem::Relay), 0.0);
    }
    assert!(hierarchy.energy.get(EnergyItem::Relay) > 0.0);
    let seconds = |item| (flat.time.get(item), hierarchy.time.get(item));
    let (each, one) = seconds(TimeItem::Offload);
    assert!(each > 2.0 * one);
    let (link, link_and_relay) = seconds(TimeItem::Broadcast);
    assert!(link > 0.0 && link < link_and_relay);
}

/// Two passes over each mini-batch; what an iteration costs besides the arithmetic is due once.
#[test]
fn ahfed_computes_twice_and_trains_otherwise() {
    let fixed = "devices.fixed_time_s=0";
    let plain = ["method=fedprox", "methods.fedprox.proximal=0", fixed];
    let (clean, twice) = (first(&plain), first(&["method=ahfed", fixed]));
    let energy = |r: &RoundRecord, item| r.energy.get(item);
    let ratio =
        energy(&twice, EnergyItem::DeviceCompute) / energy(&clean, EnergyItem::DeviceCompute);
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    assert_eq!(
        energy(&twice, EnergyItem::DeviceUpload),
        energy(&clean, EnergyItem::DeviceUpload)
    );
    assert!(twice.time.get(TimeItem::Compute) > clean.time.get(TimeItem::Compute));
    assert_ne!(twice.test_loss, clean.test_loss);
    // Without moved inputs the training is the same; the bill is not.
    let unmoved = first(&["method=ahfed", "methods.ahfed.epsilon=0", fixed]);
    assert_eq!(unmoved.test_loss, clean.test_loss);
    assert_eq!(unmoved.energy, twice.energy);
}

#[test]
fn fedprox_stays_closer_to_what_it_was_sent() {
    let change = |proximal: &str| {
        let setting = format!("methods.fedprox.proximal={proximal}");
        first(&["method=fedprox", "data.partition.kind=noniid_a", &setting]).model_change
    };
    let (free, pulled, held) = (change("0"), change("1"), change("5"));
    assert!(held < pulled && pulled < free, "{free}, {pulled}, {held}");
}

#[test]
fn hierfavg_follows_its_two_numbers_and_takes_everybody() {
    let numbers = [
        "allocation.local_iterations=3",
        "training.max_edge_rounds=4",
    ];
    let record = first(&[&["method=hierfavg"], &numbers[..]].concat());
    assert_eq!(record.edge_rounds, 4);
    assert_eq!(record.selected, record.covered);
    assert_eq!(record.updates_computed, 4 * record.covered);
    assert!(
        record
            .uavs
            .iter()
            .all(|uav| uav.devices.is_empty() || uav.local_iterations == 3)
    );
}

/// P3 is a part of `cehfed` and of its variant; the others move when a scenario says so, but for a fleet that never stops.
#[test]
fn only_cehfed_and_its_variant_move_after_a_loss_unasked() {
    let moves = |method: &str, redeploy: &str| {
        let scenario = tiny(&[
            &format!("method={method}"),
            &format!("redeploy.method={redeploy}"),
            "redeploy.when=on_change",
            "faults=[{kind=\"loss\", uav=3, round=2}]",
            "devices.count=150",
            "data.data_volume=600",
        ]);
        let records = run(&scenario, 2).records;
        let mut events = records.iter().flat_map(|record| &record.events);
        events.any(|event| matches!(event.kind, EventKind::UavMoved { .. }))
    };
    for name in Registry::builtin().names() {
        let unasked = ["cehfed", "fixed_threshold"].contains(&name);
        assert_eq!(moves(name, "auto"), unasked, "{name}");
        assert_eq!(moves(name, "marginal_gains"), name != "hfedat", "{name}");
        assert!(!moves(name, "none"), "{name}");
    }
}

#[test]
fn nobody_compares_models_that_count_nothing() {
    for method in ["method=fixed_threshold", "method=cehfed"] {
        let scoring_s = |weights: &[&str]| {
            let outcome = run(&tiny(&[&[method], weights].concat()), 2);
            assert!(
                outcome.records.len() > 1,
                "who asks does so in the second round"
            );
            assert!(outcome.records.iter().all(|record| record.selected > 0));
            // Looks at models on validation samples are paid for all the same, but take no time.
            let each = outcome.records.iter();
            each.map(|record| record.time.get(TimeItem::Scoring))
                .sum::<f64>()
        };
        let nothing = [
            "fitness.difference=0",
            "fitness.distance=0.5",
            "fitness.compute=0.5",
        ];
        assert!(
            scoring_s(&[]) > 0.0 && scoring_s(&nothing) == 0.0,
            "{method}"
        );
    }
}

#[test]
fn oort_takes_its_share_of_the_nearest_and_not_always_the_same() {
    let scenario = tiny(&["method=oort", "mobility.kind=static", "selection.share=0.4"]);
    let mut simulation = Simulation::builder(&scenario).threads(2).build().unwrap();
    let mut method = Method::of(&scenario).unwrap();
    let mut nearest = [0; 5];
    for uav in simulation.world().coverage().nearest.into_iter().flatten() {
        nearest[uav.index()] += 1;
    }
    let mut round = || {
        let record = simulation.step(&mut method).unwrap().unwrap();
        for (uav, nearest) in record.uavs.iter().zip(nearest) {
            let share = (0.4 * f64::from(nearest)).ceil() as usize;
            assert_eq!(uav.devices.len(), share);
        }
        record
            .uavs
            .iter()
            .flat_map(|uav| uav.devices.clone())
            .collect::<Vec<_>>()
    };
    let selections: Vec<_> = (0..6).map(|_| round()).collect();
    assert_ne!(selections[0], selections[5]);
}

/// Nobody moves, everybody trains: each cell's pass always takes the same time, so its arrivals come in equal
/// steps, the first without a fetch; and they come in the order of time.
#[test]
fn hfedat_arrives_in_equal_steps() {
    let scenario = tiny(&[
        "method=hfedat",
        "allocation.local_iterations=5",
        "mobility.kind=static",
        "stop.max_rounds=8",
    ]);
    let outcome = run_method(
        &scenario,
        Method {
            association: Box::new(All),
            ..Method::of(&scenario).unwrap()
        },
    );
    let mut arrivals: Vec<Vec<f64>> = vec![Vec::new(); 5];
    for event in outcome.records.iter().flat_map(|record| &record.events) {
        if let EventKind::ModelArrived { uav, time_s, .. } = event.kind {
            arrivals[uav.index()].push(time_s);
        }
    }
    let first_round = &outcome.records[0];
    for (of_uav, uav) in arrivals.iter().zip(&first_round.uavs) {
        assert!(of_uav.len() > 2, "{arrivals:?}");
        let steps_s: Vec<f64> = of_uav.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(
            steps_s
                .iter()
                .all(|step| (step / steps_s[0] - 1.0).abs() < 1e-9),
            "{steps_s:?}"
        );
        assert!(
            of_uav[0] < steps_s[0],
            "the first model is there from the start"
        );
        assert!(uav.edge_time_s <= of_uav[0] + 1e-9 || of_uav[1] <= first_round.clock_s);
    }
    let counts: Vec<usize> = arrivals.iter().map(Vec::len).collect();
    assert!(counts.iter().max() > counts.iter().min(), "{counts:?}");
    // As many passes end in a round as cells are under way, and it ends with the last of them.
    for record in &outcome.records {
        let times = record.events.iter().filter_map(|event| match event.kind {
            EventKind::ModelArrived { time_s, .. } => Some(time_s),
            _ => None,
        });
        let times: Vec<f64> = times.collect();
        assert_eq!(times.len(), 5);
        assert_eq!(times.last(), Some(&record.clock_s));
    }
}

/// The whole point: fast cells do not wait, so that a round is over sooner than with a synchronous fleet.
#[test]
fn hfedat_rounds_are_shorter() {
    let settings = ["mobility.kind=static", "stop.max_rounds=6"];
    let time_s = |method| {
        run(&tiny(&[&[method], &settings[..]].concat()), 2)
            .summary
            .total_time_s
    };
    let plain = ["methods.fedprox.proximal=0", "method=fedprox"];
    let synchronous_s = run(&tiny(&[&plain[..], &settings].concat()), 2)
        .summary
        .total_time_s;
    assert!(time_s("method=hfedat") < 0.9 * synchronous_s);
}

/// Later personal models are trained beside the round: only what takes longer than the round is waited for.
#[test]
fn personal_models_are_waited_for_only_when_they_take_longer_than_the_round() {
    let second = |epochs: &str| {
        let epochs = format!("fitness.refresh_epochs={epochs}");
        let slow = "fitness.uav_cpu_hz=1e8";
        let method = "method=gshfed";
        let mut outcome = run(
            &tiny(&[method, slow, &epochs, "data.personal_samples=10"]),
            2,
        );
        outcome.records.swap_remove(1)
    };
    let scoring_s = |record: &RoundRecord| record.time.get(TimeItem::Scoring);
    let scoring_j = |record: &RoundRecord| record.energy.get(EnergyItem::Scoring);
    let (never, once, often) = (second("0"), second("1"), second("1000"));
    assert_eq!(scoring_s(&once), scoring_s(&never));
    assert!(scoring_j(&once) > scoring_j(&never), "computing is paid");
    assert!(scoring_s(&often) > 10.0 * scoring_s(&never));
    assert!(scoring_j(&often) > 10.0 * scoring_j(&once), "and hovering");
}
