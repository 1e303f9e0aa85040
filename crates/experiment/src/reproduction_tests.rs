//! Figures and claims from runs whose curves are made up, so that every number is known.

use std::collections::BTreeSet;

use aerofed::method::Registry;

use super::built_in;
use super::description::Description;
use super::experiment_sweep::{ExperimentSweep, Finished};
use super::figures::panels;
use super::plan::{Contender, part_of};
use super::reproduction::{Reproduction, Request};
use super::results::{PanelKind, Scale, Series};
use super::stored::tests::run;
use super::styles::Styles;

const TEXT: &str = r#"
name = "made-up"
title = "Made up"
methods = ["hfl", "long=hfl:allocation.local_iterations=9"]
seeds = 2

[[axes]]
name = "data"
points = [
    { label = "A", set = ["data.partition.kind=noniid_a"] },
    { label = "B", set = ["data.partition.kind=noniid_b"], target = 0.3 },
]
[[axes]]
name = "volume"
label = "data volume"
points = [
    { label = "2k", x = 2000, set = ["data.data_volume=2000"] },
    { label = "4k", x = 4000, set = ["data.data_volume=4000"] },
]

[quick]
seeds = 1
keep = { volume = ["4k"] }

[[panels]]
title = "Time on {data}"
each = ["data"]
x = "volume"
y = "time_to_target_s"
target = 0.6

[[panels]]
title = "Rounds"
kind = "bars"
where = { data = "A" }
x = "target"
y = "rounds_to_target"
targets = [0.5, 0.9]

[[panels]]
title = "Curve"
where = { data = "A", volume = "4k" }
x = "round"
y = "accuracy"

[[claims]]
text = "long is faster"
of = { method = "long", data = "A" }
against = { method = "hfl" }
quantity = "time_to_target_s"
target = 0.6
paper = 0.5

[[regrets]]
title = "Regret"
quantity = "time_to_target_s"
best_of = ["hfl", "long"]
target = 0.6
"#;

fn sweep(scale: Scale) -> ExperimentSweep {
    let description = Description::parse(TEXT, "test").unwrap();
    let request = Request {
        scale,
        ..Request::default()
    };
    ExperimentSweep::new(&Registry::builtin(), description, &request).unwrap()
}

/// `hfl` reaches 0.6 after 10 s + its seed, `long` in half of that, both ten times as late with 2k
/// samples; nobody reaches 0.9.
fn made_up(sweep: &ExperimentSweep) -> Finished {
    let run_of = |case: &super::experiment_sweep::Case| {
        let seed = case.run.scenario.seed;
        let half = if case.contender == 1 { 0.5 } else { 1.0 };
        let late = if case.labels[1] == "2k" { 10.0 } else { 1.0 };
        let time_s = (10.0 + seed as f64) * half * late;
        let curve = [(time_s / 2.0, 1.0, 0.4), (time_s, 2.0, 0.6)];
        (case.run.id.clone(), run(seed, &curve))
    };
    sweep.cases.iter().map(run_of).collect()
}

/// `hfl` takes twice as long as `long` everywhere: 100 % more than the better of the two.
#[test]
fn a_table_of_regret_worked_by_hand() {
    let sweep = sweep(Scale::Paper);
    let plan = &sweep.description.regrets[0];
    let table = super::regret::table(&sweep, &made_up(&sweep), plan);
    let columns = ["mean", "worst", "A, 2k", "A, 4k", "B, 2k", "B, 4k"];
    assert_eq!(table.columns, columns);
    assert!(
        table
            .caption
            .ends_with("A, 2k: long; A, 4k: long; B, 2k: long; B, 4k: long.")
    );
    for (row, (label, expected)) in table.rows.iter().zip([("hfl", 100.0), ("long", 0.0)]) {
        assert_eq!(row.label, label);
        for cell in &row.cells {
            assert!((cell.ours.unwrap().mean - expected).abs() < 1e-9, "{row:?}");
        }
    }
}

fn means(series: &Series) -> Vec<(f64, Option<f64>)> {
    let points = series.points.iter();
    points.map(|p| (p.x, p.y.map(|y| y.mean))).collect()
}

#[test]
fn panels_of_a_sweep_worked_by_hand() {
    let sweep = sweep(Scale::Paper);
    assert_eq!(sweep.cases.len(), 2 * 2 * 2 * 2);
    let panels = panels(&sweep, &made_up(&sweep));
    let titles: Vec<_> = panels
        .iter()
        .map(|p| (p.id.as_str(), p.title.as_str()))
        .collect();
    assert_eq!(
        titles,
        [
            ("a", "Time on A"),
            ("b", "Time on B"),
            ("c", "Rounds"),
            ("d", "Curve")
        ]
    );

    let [on_a, on_b, rounds, curve] = panels.as_slice() else {
        panic!("four panels");
    };
    assert_eq!(
        (on_a.x.label.as_str(), on_a.y.label.as_str()),
        ("data volume", "time to 60 %")
    );
    assert_eq!(
        means(&on_a.series[0]),
        [(2e3, Some(115.0)), (4e3, Some(11.5))]
    );
    assert_eq!(
        means(&on_a.series[1]),
        [(2e3, Some(57.5)), (4e3, Some(5.75))]
    );
    // B's own target, 0.3, is there after the first round.
    assert_eq!(means(&on_b.series[0])[1], (4e3, Some(5.75)));
    assert_eq!(on_b.y.label, "time to 30 %");

    assert_eq!(rounds.kind, PanelKind::Bars);
    let labels: Vec<_> = rounds.series.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels, ["hfl, 2k", "hfl, 4k", "long, 2k", "long, 4k"]);
    assert_eq!(means(&rounds.series[0]), [(0.0, Some(2.0)), (1.0, None)]);
    assert_eq!(
        rounds.series[0].points[1].of, 2,
        "two runs, none of which got there"
    );
    assert_eq!(rounds.x.ticks[1].label, "0.9");

    assert_eq!(
        means(&curve.series[0]),
        [(1.0, Some(0.4)), (2.0, Some(0.6))]
    );
    assert_eq!(curve.series[0].runs.len(), 2);
    let hfl = Registry::builtin().names().position(|name| name == "hfl");
    let hfl = hfl.unwrap();
    assert_eq!(curve.series[0].style, hfl);
    assert_eq!(curve.series[1].style, hfl + Styles::METHODS, "its variant");
}

#[test]
fn a_claim_without_a_word_on_volume_is_about_all_of_them() {
    let sweep = sweep(Scale::Paper);
    let finished = made_up(&sweep);
    let claim = &sweep.description.claims[0];
    let of = super::claims::samples(&sweep, &finished, claim, &claim.of);
    let against = super::claims::samples(&sweep, &finished, claim, &super::claims::against(claim));
    assert_eq!((of.len(), of[&1].len()), (2, 2));
    let judged = super::claims::judge("made-up", claim, &of, &against);
    assert_eq!((judged.ours.unwrap().mean, judged.of), (0.5, 2));
}

#[test]
fn the_quick_scale_keeps_what_it_says() {
    let quick = sweep(Scale::Quick);
    assert_eq!(quick.cases.len(), 2 * 2);
    assert!(quick.cases.iter().all(|case| case.labels[1] == "4k"));
    let panels = panels(&quick, &made_up(&quick));
    let labels: Vec<_> = panels[2].series.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(
        labels,
        ["hfl", "long"],
        "an axis with one point is not worth naming"
    );
    let under = |first_seed, seeds| {
        let request = Request {
            seeds: Some(seeds),
            first_seed,
            ..Request::default()
        };
        ExperimentSweep::new(
            &Registry::builtin(),
            Description::parse(TEXT, "test").unwrap(),
            &request,
        )
    };
    assert_eq!(under(None, 3).unwrap().seeds, [1, 2, 3]);
    assert_eq!(under(Some(11), 2).unwrap().seeds, [11, 12]);
    let refused = under(Some(u64::MAX), 1).unwrap_err().to_string();
    assert!(refused.contains("first seed"), "{refused}");
}

#[test]
fn what_the_paper_does_not_ask_is_told_under_its_own_title() {
    let title = |name: &str| {
        let request = Request {
            experiments: vec![built_in::named(name).unwrap().to_owned()],
            ..Request::default()
        };
        let reproduction = Reproduction::new(&Registry::builtin(), &request).unwrap();
        let results = reproduction.results(&Finished::new()).unwrap();
        results.title()
    };
    assert_eq!(title("fig5"), "The paper's claims, and what we found");
    for (name, text) in built_in::BEYOND {
        let description = Description::parse(text, name).unwrap();
        assert_eq!(title(name), description.title);
    }
}

#[test]
fn missing_runs_leave_gaps_not_errors() {
    let sweep = sweep(Scale::Paper);
    let mut finished = made_up(&sweep);
    finished.remove(&sweep.cases[0].run.id);
    let panels = panels(&sweep, &finished);
    assert_eq!(panels[0].series[0].points[0].of, 1);
    let none = super::figures::panels(&sweep, &Finished::new());
    assert_eq!(none.len(), 4);
    assert!(
        none.iter()
            .all(|panel| panel.series.iter().all(|s| s.runs.is_empty()))
    );
}

#[test]
fn mistakes_in_a_file_are_named() {
    for (from, to, named) in [
        ("name = \"made-up\"", "name = \"a/b\"", "`name`"),
        ("seeds = 2", "seeds = 0", "`seeds`"),
        ("title = \"Made up\"", "colour = 3", "colour"),
        ("x = \"volume\"", "x = \"size\"", "\"size\""),
        ("each = [\"data\"]", "each = [\"datum\"]", "\"datum\""),
        (
            "where = { data = \"A\" }",
            "where = { data = \"C\" }",
            "\"C\"",
        ),
        ("y = \"accuracy\"", "y = \"rounds\"", "panels[2].y"),
        ("y = \"rounds_to_target\"", "y = \"rounds\"", "panels[1].x"),
        ("targets = [0.5, 0.9]", "targets = [0.5, 1.9]", "1.9"),
        (
            "keep = { volume = [\"4k\"] }",
            "keep = { volume = [\"5k\"] }",
            "\"5k\"",
        ),
        (
            "against = { method = \"hfl\" }",
            "against = { method = \"hfed\" }",
            "\"hfed\"",
        ),
        (
            "against = { method = \"hfl\" }",
            "against = { volume = \"2k\" }",
            "claims[0].against",
        ),
        ("against = { method = \"hfl\" }\n", "", "target"),
        (
            "target = 0.6\npaper = 0.5",
            "paper = 0.5",
            "claims[0].target",
        ),
        ("paper = 0.5", "paper = nan", "claims[0].paper"),
        (
            "label = \"4k\", x = 4000",
            "label = \"2k\", x = 4000",
            "twice",
        ),
        ("target = 0.3", "target = 3", "target"),
        (
            "best_of = [\"hfl\", \"long\"]\ntarget = 0.6",
            "best_of = [\"hfl\", \"long\"]",
            "regrets[0].target",
        ),
        (
            "best_of = [\"hfl\", \"long\"]",
            "best_of = [\"hfl\", \"short\"]",
            "\"short\"",
        ),
        (
            "best_of = [\"hfl\", \"long\"]",
            "best_of = []",
            "regrets[0].best_of",
        ),
        (
            "title = \"Regret\"\nquantity = \"time_to_target_s\"",
            "title = \"Regret\"\nquantity = \"total_time_s\"",
            "regrets[0].quantity",
        ),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT, "{from}");
        let outcome = Description::parse(&text, "file.toml");
        if named == "target" && from.starts_with("against") {
            assert!(
                outcome.is_ok(),
                "a claim about a value needs nothing to compare with"
            );
            continue;
        }
        let message = outcome.unwrap_err().to_string();
        assert!(
            message.contains(named) && message.contains("file.toml"),
            "{from}: {message}"
        );
    }
    let text = TEXT
        .replacen("\"hfl\",", "\"telepathy\",", 1)
        .replace("method = \"hfl\"", "method = \"long\"")
        .replace("best_of = [\"hfl\", \"long\"]", "best_of = [\"long\"]");
    let description = Description::parse(&text, "t").unwrap();
    let message = ExperimentSweep::new(&Registry::builtin(), description, &Request::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("made-up") && message.contains("telepathy"),
        "{message}"
    );
}

fn paper(scale: Scale, seeds: u64) -> Reproduction {
    let texts = built_in::ALL.iter().map(|(_, text)| (*text).to_owned());
    let request = Request {
        scale,
        seeds: Some(seeds),
        data_dir: Some("images".into()),
        experiments: texts.collect(),
        ..Request::default()
    };
    Reproduction::new(&Registry::builtin(), &request).unwrap()
}

#[test]
fn the_papers_experiments_can_be_planned_and_share_their_runs() {
    for (name, text) in built_in::ALL {
        let description = Description::parse(text, name).unwrap();
        assert_eq!(description.name, *name);
        let request = Request {
            scale: Scale::Paper,
            data_dir: Some("images".into()),
            ..Request::default()
        };
        let all = ExperimentSweep::new(&Registry::builtin(), description, &request).unwrap();
        for contender in &all.contenders {
            assert!(Contender::parse(&Registry::builtin(), &contender.method).is_ok());
        }
    }
    let runs = |names: &[&str], scale| {
        let texts = names
            .iter()
            .map(|name| built_in::named(name).unwrap().to_owned());
        let request = Request {
            scale,
            seeds: Some(1),
            experiments: texts.collect(),
            ..Request::default()
        };
        Reproduction::new(&Registry::builtin(), &request)
            .unwrap()
            .runs()
            .len()
    };
    for scale in [Scale::Quick, Scale::Paper] {
        assert_eq!(runs(&["fig5", "fig6"], scale), runs(&["fig5"], scale));
        assert_eq!(runs(&["fig8ab", "fig8cd"], scale), runs(&["fig8ab"], scale));
        let alone = runs(&["fig4"], scale) + runs(&["fig5"], scale);
        assert!(runs(&["fig4", "fig5"], scale) < alone);
    }
}

#[test]
fn the_quick_scale_stays_affordable_and_answers_every_claim() {
    let quick = paper(Scale::Quick, 2);
    let runs = quick.runs();
    assert!(runs.len() <= 130, "{} runs", runs.len());
    for run in &runs {
        let per_round = if run.scenario.method == "cfed" { 10 } else { 1 };
        assert!(
            run.scenario.stop.max_rounds <= 60 * per_round,
            "{}",
            run.folder_name()
        );
    }
    for (name, text) in built_in::ALL {
        let description = Description::parse(text, name).unwrap();
        let sweep = ExperimentSweep::new(&Registry::builtin(), description, &Request::default());
        let Ok(sweep) = sweep else {
            assert_eq!(*name, "fig10", "only that needs a folder");
            continue;
        };
        if sweep.description.redeployment.is_some() {
            continue;
        }
        for claim in &sweep.description.claims {
            for side in [&claim.of, &super::claims::against(claim)] {
                let told = sweep.cases.iter().any(|case| sweep.is_of(case, side));
                assert!(told, "{name}: {}: {side:?}", claim.text);
            }
        }
    }
}

#[test]
fn shards_are_disjoint_and_together_everything() {
    let all = paper(Scale::Quick, 2);
    let mut seen = BTreeSet::new();
    for shard in 1..=3 {
        let mine = part_of(&all.runs(), shard, 3);
        assert!(mine.len() >= all.runs().len() / 3);
        for run in mine {
            assert!(seen.insert(run.id.clone()));
        }
    }
    assert_eq!(seen.len(), all.runs().len());
}

#[test]
fn without_images_what_needs_them_is_skipped() {
    let request = Request {
        experiments: vec![built_in::named("fig10").unwrap().into()],
        ..Request::default()
    };
    let reproduction = Reproduction::new(&Registry::builtin(), &request).unwrap();
    assert_eq!(reproduction.runs().len(), 0);
    assert!(reproduction.skipped()[0].reason.contains("--data-dir"));
}

#[test]
fn requests_join_when_they_ask_for_the_same() {
    let of = |names: &[&str], seeds| Request {
        seeds: Some(seeds),
        experiments: names
            .iter()
            .map(|n| built_in::named(n).unwrap().into())
            .collect(),
        ..Request::default()
    };
    let mut request = of(&["fig4"], 2);
    request.join(of(&["fig4", "fig5"], 2)).unwrap();
    assert_eq!(request, of(&["fig4", "fig5"], 2));
    assert!(
        request
            .join(of(&["fig4"], 3))
            .unwrap_err()
            .to_string()
            .contains("--seeds")
    );
    let elsewhere = Request {
        first_seed: Some(3),
        ..of(&["fig4"], 2)
    };
    let refused = request.join(elsewhere).unwrap_err().to_string();
    assert!(refused.contains("--first-seed"), "{refused}");
    let mut changed = of(&["fig4"], 2);
    changed.experiments[0] = changed.experiments[0].replace("seeds = 5", "seeds = 6");
    assert!(
        request
            .join(changed)
            .unwrap_err()
            .to_string()
            .contains("fig4")
    );
}
