//! Reports of real runs of a tiny scenario, and of the same runs bent out of shape.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::ops::ControlFlow;
use std::sync::LazyLock;

use aerofed::record::{EnergyItem, StoppedBy, Summary, TimeItem};
use aerofed::run::Outcome;
use aerofed::scenario::ValidScenario;
use aerofed::{Method, RoundRecord, Scenario};
use aerofed_report::{Curve, curves_svg, map_svg, progress_svg, summary_table, units};
use roxmltree::Document;

#[path = "pictures/maps.rs"]
mod maps;

const TINY: &str = r#"
    name = "tiny"
    method = "hfl"
    [area]
    width_m = 4000
    height_m = 3000
    [devices]
    count = 12
    [uavs]
    count = 3
    coverage_radius_m = 900
    [data]
    data_volume = 120
    [model]
    name = "logistic"
    [training]
    learning_rate = 0.05
    max_edge_rounds = 2
    [stop]
    max_rounds = 2
    targets = [0.05, 0.999]
"#;

struct Run {
    scenario: ValidScenario,
    outcome: Outcome,
}

fn run(settings: &[&str]) -> Run {
    let scenario = Scenario::parse(TINY, settings).unwrap().check().unwrap();
    let mut method = Method::of(&scenario).unwrap();
    let outcome = aerofed::run(&scenario, &mut method, |_| ControlFlow::Continue(())).unwrap();
    Run { scenario, outcome }
}

static RUN: LazyLock<Run> = LazyLock::new(|| run(&[]));

impl Run {
    fn progress(&self) -> String {
        progress_svg(&self.outcome.summary, &self.outcome.records)
    }

    fn last(&self) -> &RoundRecord {
        self.outcome.records.last().unwrap()
    }

    fn map(&self) -> String {
        self.map_of(self.last())
    }

    fn map_of(&self, record: &RoundRecord) -> String {
        map_svg(&self.outcome.world, record, self.scenario.places())
    }
}

/// Well-formed, every attribute that is a number finite and on a sane sheet.
fn check(svg: &str) -> Document<'_> {
    let document = Document::parse(svg).unwrap_or_else(|e| panic!("{e}\n{svg}"));
    let geometry = [
        "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height",
    ];
    for node in document.descendants().filter(|node| node.is_element()) {
        for attribute in node.attributes() {
            if geometry.contains(&attribute.name()) {
                let value: f64 = attribute.value().parse().unwrap();
                assert!(value.is_finite(), "{attribute:?}");
                assert!(attribute.name() != "r" || value >= 0.0, "{attribute:?}");
            }
            assert!(!attribute.value().contains("NaN"), "{attribute:?}");
            assert!(!attribute.value().contains("inf"), "{attribute:?}");
        }
    }
    document
}

fn texts(document: &Document) -> Vec<String> {
    let named = |name| {
        document
            .descendants()
            .filter(move |node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
    };
    named("text")
        .map(|node| node.text().unwrap_or("").to_owned())
        .collect()
}

/// The points of every element of that name.
fn points(document: &Document, name: &str) -> Vec<Vec<(f64, f64)>> {
    let pair = |text: &str| {
        let (x, y) = text.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    document
        .descendants()
        .filter(|node| node.tag_name().name() == name)
        .map(|node| node.attribute("points").unwrap())
        .map(|list| list.split_whitespace().map(pair).collect())
        .collect()
}

fn check_table(summary: &Summary) -> String {
    let table = summary_table(summary);
    for line in table.lines() {
        assert!(line.chars().count() <= 80, "{line}");
        assert_eq!(line, line.trim_end());
    }
    table
}

#[test]
fn the_table_says_what_the_summary_says() {
    let summary = &RUN.outcome.summary;
    let table = check_table(summary);
    let rest_of = |label: &str| {
        // The spaces keep "broadcast" from finding "broadcast hover".
        let start = format!("{label}  ");
        let line = table.lines().find(|line| line.trim().starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("no {label} in\n{table}"));
        line.trim()[label.len()..].trim().to_owned()
    };
    assert_eq!(rest_of("Scenario"), "tiny");
    assert_eq!(rest_of("Method"), "hfl");
    assert_eq!(rest_of("Seed"), "1");
    assert!(rest_of("Rounds").starts_with("2, "));
    assert_eq!(
        rest_of("Test accuracy"),
        format!(
            "{:.2} % at the end, {:.2} % at best",
            100.0 * summary.final_accuracy,
            100.0 * summary.best_accuracy
        )
    );
    let time = units::duration(summary.total_time_s);
    assert_eq!(rest_of("Simulated time"), time);
    assert_eq!(rest_of("Energy"), units::energy(summary.total_energy_j));
    assert!(!table.contains("Updates lost"));

    // Each item with its amount and its share of the total.
    let energy_unit = units::energy_unit(summary.total_energy_j);
    for item in EnergyItem::ALL {
        let joules = summary.energy.get(item);
        let label = item.label();
        let share = joules / summary.total_energy_j;
        if share >= 0.0005 && joules / energy_unit.size >= 0.0005 {
            let row = rest_of(&label);
            let mut words = row.split_whitespace();
            let amount: f64 = words.next().unwrap().parse().unwrap();
            let percent: f64 = words.next().unwrap().parse().unwrap();
            assert!(
                (amount - joules / energy_unit.size).abs() <= 0.0005,
                "{row}"
            );
            assert!((percent - 100.0 * share).abs() <= 0.0501, "{row}");
        }
    }
    assert!(summary.time.get(TimeItem::Compute) > 0.0 && table.contains("compute"));

    let first = &summary.targets[0];
    let cost = rest_of("5 %");
    assert!(cost.starts_with(&first.rounds.unwrap().to_string()));
    assert!(cost.contains(&units::duration(first.time_s.unwrap())));
    assert!(cost.ends_with(&units::energy(first.energy_j.unwrap())));
    assert_eq!(rest_of("99.9 %"), "not reached");
}

#[test]
fn the_table_survives_anything() {
    let mut summary = RUN.outcome.summary.clone();
    summary.scenario = "无".repeat(100);
    summary.method = "m\n".repeat(300);
    summary.seed = u64::MAX;
    summary.rounds = usize::MAX;
    summary.updates_computed = usize::MAX;
    summary.updates_lost = usize::MAX / 2;
    summary.threads = usize::MAX;
    for extreme in [0.0, f64::NAN, f64::INFINITY, 1e300, 1e-300, -1.0] {
        summary.final_accuracy = extreme.min(1.0);
        summary.total_energy_j = extreme;
        summary.total_time_s = extreme;
        summary.wall_clock_s = extreme;
        summary.energy.add(EnergyItem::Move, extreme);
        summary.time.add(TimeItem::Wait, extreme);
        for target in &mut summary.targets {
            target.rounds = Some(usize::MAX);
            target.time_s = Some(extreme);
            target.energy_j = Some(extreme);
        }
        let table = check_table(&summary);
        assert!(table.contains("Updates lost"), "{table}");
    }
}

#[test]
fn progress_has_axes_targets_an_end_point_and_a_rising_time() {
    let svg = RUN.progress();
    let document = check(&svg);
    let texts = texts(&document);
    let summary = &RUN.outcome.summary;
    let end = units::percent(summary.final_accuracy, 1);
    for expected in [
        "tiny · method hfl · seed 1",
        "simulated time (s)",
        "test accuracy (%)",
        "global rounds",
        "target 5 %",
        "target 99.9 %",
        "edge hover",
        &end,
    ] {
        assert!(texts.iter().any(|t| t == expected), "{expected}: {texts:?}");
    }
    let curve = points(&document, "polyline").remove(0);
    assert_eq!(curve.len(), 2);
    assert!(curve.is_sorted_by(|a, b| a.0 < b.0), "{curve:?}");
}

/// Each band's outline goes out along its top and back along its bottom; the bottom of a band is
/// the top of the one below it, and tops never fall.
#[test]
fn energy_bands_lie_on_each_other() {
    let svg = RUN.progress();
    let bands = points(&check(&svg), "polygon");
    assert!(bands.len() >= 2, "{bands:?}");
    let mut floor: Option<Vec<(f64, f64)>> = None;
    for band in bands {
        let (top, bottom) = band.split_at(band.len() / 2);
        assert!(top.is_sorted_by(|a, b| a.0 < b.0 && a.1 >= b.1), "{top:?}");
        let mut bottom = bottom.to_vec();
        bottom.reverse();
        if let Some(floor) = floor {
            assert_eq!(bottom, floor);
        }
        floor = Some(top.to_vec());
    }
}

#[test]
fn progress_survives_anything() {
    let (summary, records) = (&RUN.outcome.summary, &RUN.outcome.records);
    check(&progress_svg(summary, &[]));
    check(&progress_svg(summary, &records[..1]));
    let mut bent = records.clone();
    bent[1].test_accuracy = f64::NAN;
    bent[1].train_loss = f64::NAN;
    bent[1].clock_s = f64::INFINITY;
    bent[0].energy.add(EnergyItem::Relay, f64::NAN);
    bent[1].energy.add(EnergyItem::Move, f64::INFINITY);
    check(&progress_svg(summary, &bent));
    let mut free = records.clone();
    free.iter_mut().for_each(|r| r.energy = Default::default());
    assert!(texts(&check(&progress_svg(summary, &free))).contains(&"no energy spent".into()));
    let mut crowded = summary.clone();
    let target = crowded.targets[0].clone();
    crowded.targets = vec![target; 32];
    for (i, target) in crowded.targets.iter_mut().enumerate() {
        target.accuracy = 0.9 + 0.001 * i as f64;
    }
    crowded.targets[0].accuracy = f64::NAN;
    check(&progress_svg(&crowded, records));
    for size in [1e-9, 1e12] {
        let mut scaled = records.clone();
        for record in &mut scaled {
            record.clock_s *= size;
            record.energy.add(EnergyItem::EdgeHover, size);
        }
        check(&progress_svg(summary, &scaled));
    }
    let many: Vec<RoundRecord> = (1..=20_000)
        .map(|round| RoundRecord {
            round,
            clock_s: round as f64,
            uavs: Vec::new(),
            ..records[0].clone()
        })
        .collect();
    let svg = progress_svg(summary, &many);
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    let curve = points(&check(&svg), "polyline").remove(0);
    assert!(curve.is_sorted_by(|a, b| a.0 < b.0));
}

#[test]
fn names_are_text_not_markup() {
    let hostile = "</title><script>alert('&')</script>\u{1}\u{ffff}";
    let mut summary = RUN.outcome.summary.clone();
    summary.scenario = hostile.into();
    summary.method = "<b>&\"".into();
    let svg = progress_svg(&summary, &RUN.outcome.records);
    let document = check(&svg);
    assert!(!document.descendants().any(|n| n.has_tag_name("script")));
    assert!(texts(&document).iter().any(|t| t.contains("<script>")));
    assert!(texts(&document).iter().any(|t| t.contains("<b>&\"")));
}

/// The ticks of a learning curve over four episodes.
#[test]
fn what_is_counted_has_whole_ticks() {
    let curve = Curve {
        name: "learned".into(),
        points: (1..=4)
            .map(|n| (f64::from(n), 10.0 * f64::from(n)))
            .collect(),
    };
    let svg = curves_svg("t", "episodes", "accuracy (%)", 100.0, &[curve]);
    let texts = texts(&check(&svg));
    assert!(texts.contains(&"3".into()), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains('.')), "{texts:?}");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let again = run(&[]);
    assert_eq!(again.progress(), RUN.progress());
    assert_eq!(again.map(), RUN.map());
    let mut summary = again.outcome.summary.clone();
    summary.wall_clock_s = RUN.outcome.summary.wall_clock_s;
    assert_eq!(summary_table(&summary), summary_table(&RUN.outcome.summary));
}

#[test]
fn every_way_to_stop_has_words() {
    let mut summary = RUN.outcome.summary.clone();
    let ways = [
        (StoppedBy::MaxRounds, "asked for"),
        (StoppedBy::TargetAccuracy, "target accuracy"),
        (StoppedBy::Converged, "converged"),
        (StoppedBy::NoUavLeft, "no UAV"),
        (StoppedBy::Diverged, "diverged"),
        (StoppedBy::Interrupted, "interrupted"),
    ];
    for (stopped_by, words) in ways {
        summary.stopped_by = stopped_by;
        let table = check_table(&summary);
        let line = table.lines().find(|l| l.starts_with("Rounds")).unwrap();
        assert!(line.contains(words), "{line}");
    }
}
