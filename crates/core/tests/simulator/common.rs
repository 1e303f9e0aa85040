//! Small worlds that run in milliseconds.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use aerofed::method::Registry;
use aerofed::method::parts::SchedulePart;
use aerofed::record::{EnergyItem, UavRecord};
use aerofed::run::{Outcome, Run};
use aerofed::scenario::{Association, RedeployMethod};
use aerofed::{Error, Method, RoundRecord, Scenario, Simulation, ValidScenario};
use proptest::test_runner::Config;

/// 30 devices of which many train, a linear model, 3 rounds of 2 edge rounds.
pub(crate) const TINY: &str = r#"
name = "tiny"
method = "hfl"
[devices]
count = 30
[data]
data_volume = 300
probe_samples = 50
personal_samples = 10
[model]
name = "logistic"
[training]
learning_rate = 0.05
max_edge_rounds = 2
[stop]
max_rounds = 3
[selection]
share = 0.5
[td3]
least_share = 0.5
most_share = 1.0
"#;

/// Settings of the radio that are valid together: every law, and everything that lies over it.
pub(crate) const RADIOS: [&[&str]; 8] = [
    &["channel={kind=\"free_space\"}", "radio.noise_figure_db=7"],
    &[
        "channel={kind=\"line_of_sight\", environment=\"suburban\", draw=\"link\"}",
        "radio={carrier_hz=5.8e9, device_gain_dbi=2, uav_gain_dbi=3, reuse=1}",
    ],
    &["channel={kind=\"line_of_sight\", environment=\"dense_urban\"}"],
    &[
        "channel={kind=\"line_of_sight\", environment=\"high_rise\", draw=\"link\"}",
        "radio={shadowing_db=8, fading=\"rician\", rician_k_db=3, least_snr_db=-5, retries=1, reuse=2}",
    ],
    &[
        "channel={kind=\"tr36777\", scenario=\"rma_av\", draw=\"link\", shadowing=true}",
        "radio={decorrelation_m=500, fading=\"rician\"}",
    ],
    &[
        "channel={kind=\"tr36777\", draw=\"link\"}",
        "radio={fading=\"rayleigh\", least_snr_db=0, retries=3}",
    ],
    &["channel={kind=\"tr36777\", scenario=\"umi_av\", shadowing=true}"],
    &["radio={shadowing_db=6, fading=\"rayleigh\", least_snr_db=3, retries=2, reuse=1}"],
];

/// `usual` random cases of a property, or as many as `PROPTEST_CASES` asks for.
pub(crate) fn cases(usual: u32) -> Config {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => Config::default(),
        None => Config::with_cases(usual),
    }
}

pub(crate) fn tiny(settings: &[&str]) -> ValidScenario {
    suited(Scenario::parse(TINY, settings).unwrap()).unwrap()
}

/// The scenario without what its method does not read, so that worlds need not know the methods in them.
pub(crate) fn suited(mut scenario: Scenario) -> Result<ValidScenario, Error> {
    let registry = Registry::builtin();
    let parts = registry.find(&scenario.method)?.parts(&scenario);
    if let Some(parts) = parts.filter(|parts| parts.schedule == SchedulePart::Asynchronous) {
        // It has no moment to move and to compare models in.
        scenario.redeploy.method = RedeployMethod::Auto;
        if parts.association.compares_models() {
            scenario.association = Association::Auto {};
        }
    }
    Ok(registry.without_unread(&scenario)?.check()?)
}

/// [`tiny`] on a few of the embedded digits, which load at once: for tests of hundreds of runs.
pub(crate) fn light(settings: &[&str]) -> ValidScenario {
    let dir = format!("data.dir={:?}", few_digits());
    tiny(&[&["data.set=idx", &dir], settings].concat())
}

/// A folder of idx files with 60 samples of each digit to train on and 10 to test with, made once.
pub(crate) fn few_digits() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (done, mine) = (
        folder.join("few-digits"),
        folder.join(format!(
            "few-digits-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        )),
    );
    if !done.exists() {
        fs::create_dir_all(&mine).unwrap();
        let digits = aerofed_data::embedded(aerofed_data::Embedded::Mnist).unwrap();
        for (part, set, each) in [("train", digits.train, 60), ("t10k", digits.test, 10)] {
            let labels_of = &set.labels;
            let of_class = |class| {
                let all = (0..labels_of.len()).filter(move |&sample| labels_of[sample] == class);
                all.take(each)
            };
            let chosen: Vec<usize> = (0..10).flat_map(of_class).collect();
            let count = (chosen.len() as u32).to_be_bytes();
            let mut labels = [&[0, 0, 8, 1], &count[..]].concat();
            let mut images = [&[0, 0, 8, 3], &count[..], &[0, 0, 0, 28, 0, 0, 0, 28]].concat();
            for sample in chosen {
                labels.push(set.labels[sample]);
                let pixels = set.input(sample).unwrap().into_iter();
                images.extend(pixels.map(|value| (value * 255.0).round() as u8));
            }
            fs::write(mine.join(format!("{part}-labels-idx1-ubyte")), labels).unwrap();
            fs::write(mine.join(format!("{part}-images-idx3-ubyte")), images).unwrap();
        }
        if fs::rename(&mine, &done).is_err() {
            // Another test was quicker.
            fs::remove_dir_all(&mine).unwrap();
        }
    }
    done
}

/// Runs a scenario on so many threads.
pub(crate) fn run_on(
    scenario: &ValidScenario,
    method: &mut Method,
    threads: usize,
    mut watch: impl FnMut(&RoundRecord) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let mut run = Run::new(Simulation::builder(scenario).threads(threads).build()?);
    while let Some(record) = run.step(method)? {
        if watch(record).is_break() {
            break;
        }
    }
    Ok(run.finish(method))
}

/// Takes up a saved run on so many threads.
pub(crate) fn resume(
    scenario: &ValidScenario,
    method: &mut Method,
    threads: usize,
    saved: &[u8],
) -> Result<Run, Error> {
    let simulation = Simulation::builder(scenario).threads(threads).build()?;
    Run::resume(simulation, method, saved)
}

pub(crate) fn run(scenario: &ValidScenario, threads: usize) -> Outcome {
    let mut method = Method::of(scenario).unwrap();
    run_on(
        scenario,
        &mut method,
        threads,
        |_| ControlFlow::Continue(()),
    )
    .unwrap()
}

/// What every world has to keep: the same bytes at 1, 2 and 8 threads and when set down and taken up after every round, and books
/// that balance in time and energy.
pub(crate) fn assert_conforms(scenario: &ValidScenario) -> Outcome {
    // As text, because NaN is not equal to itself.
    let told = |outcome: &Outcome| format!("{:?} {:?}", outcome.records, outcome.weights);
    let what = || format!("{}: {scenario:?}", scenario.method);
    let outcome = run(scenario, 1);
    for threads in [2, 8] {
        let same = told(&outcome) == told(&run(scenario, threads));
        assert!(same, "{threads} threads, {}", what());
    }
    let same = told(&outcome) == told(&interrupted(scenario));
    assert!(same, "taken up, {}", what());
    for record in &outcome.records {
        assert_time_adds_up(record);
        record.uavs.iter().for_each(assert_balanced);
        assert!(record.updates_lost <= record.updates_computed, "{}", what());
    }
    outcome
}

/// A run that is set down and taken up before and after every round.
fn interrupted(scenario: &ValidScenario) -> Outcome {
    let mut method = Method::of(scenario).unwrap();
    let mut run = Run::new(Simulation::builder(scenario).threads(2).build().unwrap());
    loop {
        let saved = run.save(&method);
        method = Method::of(scenario).unwrap();
        run = resume(scenario, &mut method, 1, &saved).unwrap();
        if run.step(&mut method).unwrap().is_none() {
            return run.finish(&method);
        }
    }
}

/// A UAV's time: what it did and how long it was away make the round.
pub(crate) fn assert_time_adds_up(record: &RoundRecord) {
    let round_s = record.time.total_s();
    for uav in &record.uavs {
        let sum_s = uav.time.total_s() + uav.away_s;
        assert!(
            (sum_s - round_s).abs() <= 1e-9 * round_s.max(1.0),
            "round {} lasted {round_s} s, UAV {} has {sum_s} s: {uav:?} {:?}",
            record.round,
            uav.uav.0,
            record.time
        );
        assert!(uav.away_s >= 0.0, "{uav:?}");
    }
}

/// A battery's books: what came in went out, item by item.
pub(crate) fn assert_balanced(uav: &UavRecord) {
    let came_in = uav.battery_before_j + uav.recharged_j + uav.harvested_j;
    let went_out = uav.battery_after_j + uav.energy.total_j();
    assert!(
        (came_in - went_out).abs() <= 1e-9 * came_in.max(1.0),
        "{uav:?}"
    );
    assert!(uav.battery_after_j >= 0.0, "{uav:?}");
    for device_item in [EnergyItem::DeviceCompute, EnergyItem::DeviceUpload] {
        assert_eq!(uav.energy.get(device_item), 0.0);
    }
}
