//! The page in a real browser: it draws, moves, tells the numbers of the run, and asks nobody for
//! anything. Skipped with a message where no browser is installed.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod chromium;
#[path = "browser/replay.rs"]
mod replay;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use aerofed::run_folder::RunLog;
use aerofed::{Method, Scenario};
use aerofed_report::Report;
use chromium::Browser;
use tempfile::TempDir;

const HOSTILE: &str = "<script>window.hacked=1<!--'\"&<img src=x onerror=window.hacked=1>";

const SMALL: &str = r#"
    method = "hfl"
    [devices]
    count = 30
    [data]
    data_volume = 300
    [model]
    name = "logistic"
    [training]
    learning_rate = 0.05
    max_edge_rounds = 2
    [redeploy]
    method = "marginal_gains"
    when = "on_change"
    wait = true
    [stop]
    max_rounds = 6
    targets = [0.3, 0.999]
    [[faults]]
    kind = "loss"
    uav = 3
    round = 3
"#;

fn run(settings: &[&str]) -> RunLog {
    let scenario = Scenario::parse(SMALL, settings).unwrap();
    let scenario = Scenario {
        name: HOSTILE.into(),
        ..scenario
    }
    .check()
    .unwrap();
    let mut method = Method::of(&scenario).unwrap();
    let outcome = aerofed::run(&scenario, &mut method, |_| ControlFlow::Continue(())).unwrap();
    RunLog {
        scenario: Scenario::clone(&scenario),
        records: outcome.records,
        summary: outcome.summary,
    }
}

static RUN: LazyLock<RunLog> = LazyLock::new(|| run(&[]));

/// A browser on the page of some runs; none where there is no browser.
fn opened(runs: Vec<RunLog>) -> Option<(Browser, TempDir)> {
    let program = chromium::find()?;
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    fs::write(&page, Report::of_runs(runs).html()).unwrap();
    let mut browser = Browser::start(&program);
    browser.open(&page);
    Some((browser, folder))
}

const SLIDER: &str = "document.querySelector('[data-replay=slider]')";

fn go(browser: &mut Browser, time: f64) {
    browser.eval(&format!(
        "{SLIDER}.value = {time}; {SLIDER}.dispatchEvent(new Event('input'))"
    ));
}

#[test]
fn the_page_is_quiet_safe_and_fits_a_phone() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.eval("window.hacked === undefined"), true);
    assert_eq!(
        browser.text("document.querySelector('h1').textContent"),
        HOSTILE
    );
    assert_eq!(browser.text("document.title"), HOSTILE);

    // The system's wish is followed until the reader says otherwise.
    browser.prefer_dark(true);
    browser.wait_for("document.documentElement.dataset.theme === 'dark'");
    let ground = "getComputedStyle(document.body).backgroundColor";
    let dark = browser.text(ground);
    browser.click("#theme");
    assert_ne!(browser.text(ground), dark);

    for width in [360, 768, 1600] {
        browser.resize(width, 800);
        let needed = browser.number("document.documentElement.scrollWidth");
        assert!(needed <= f64::from(width), "{needed} of {width} pixels");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn wide_tables_scroll_in_their_own_box_and_say_so() {
    let runs = ["seed=1", "seed=2", "seed=3"]
        .map(|seed| run(&[seed]))
        .into();
    let Some((mut browser, _folder)) = opened(runs) else {
        return;
    };
    let table = "document.querySelector('#summary .scroll')";
    for (width, wide) in [(420, true), (1600, false)] {
        browser.resize(width, 900);
        let hint = format!("{table}.nextElementSibling.hidden === {}", !wide);
        browser.wait_for(&hint);
        let needed = browser.number("document.documentElement.scrollWidth");
        assert!(needed <= f64::from(width), "{needed} of {width} pixels");
        let reached = format!("{table}.tabIndex === 0");
        assert_eq!(browser.eval(&reached), wide, "{width}");
        let words = browser.eval(&format!("{table}.getAttribute('aria-label')"));
        assert_eq!(words == "Table, scrolls sideways", wide);
    }
}

/// Points of a sweep have names, and a curve begins and ends at one: half of the name stands beside the plot.
#[test]
fn names_below_the_first_and_last_point_of_a_curve_are_whole() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    for width in [420, 1400] {
        browser.resize(width, 900);
        browser.eval(
            "(() => { const data = structuredClone(DATA.charts[0]), view = data.views[0]; \
             view.x.ticks = view.points[0].map((p, place, all) => ({ at: p[0], label: place % (all.length - 1) ? '.' : '16 MHz in every cell' })); \
             data.title = 'named'; new Chart(document.querySelector('[data-chart=\"0\"]'), data); })()",
        );
        let sheet = "document.querySelector('[data-chart=\"0\"] svg[tabindex]')";
        browser.wait_for(&format!("{sheet}.querySelectorAll('tspan').length > 2"));
        let cut = format!(
            "[...{sheet}.querySelectorAll('text:not([transform])')].filter((word) => {{ const box = word.getBBox(); \
             return box.x < 0 || box.x + box.width > {sheet}.viewBox.baseVal.width; }}).map((word) => word.textContent)"
        );
        assert_eq!(browser.eval(&cut), serde_json::json!([]), "{width}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The only file of a folder, once it is whole.
fn downloaded(folder: &Path, ending: &str) -> String {
    let started = Instant::now();
    loop {
        let files = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path());
        let mut whole = files.filter(|path| path.extension().is_some_and(|e| e == ending));
        if let Some(text) = whole.next().and_then(|path| fs::read_to_string(path).ok())
            && !text.is_empty()
        {
            return text;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "no .{ending}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn charts_can_be_taken_along() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    let each = "[...document.querySelectorAll('.chart, [data-costs] .pair > div')] \
        .every((chart) => chart.querySelector('[data-save=svg]') && chart.querySelector('[data-save=csv]'))";
    assert_eq!(browser.eval(each), true);
    for chart in ["[data-chart=\"1\"]", "[data-costs]"] {
        let files = tempfile::tempdir().unwrap();
        browser.download_to(files.path());
        browser.click(&format!("{chart} [data-save=svg]"));
        let svg = downloaded(files.path(), "svg");
        roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{e}\n{svg}"));
        assert!(!svg.contains("var("), "colours are written out");
        browser.click(&format!("{chart} [data-save=csv]"));
        let csv = downloaded(files.path(), "csv");
        if chart.contains("chart") {
            assert!(svg.contains(">Loss<") && svg.contains("cross-entropy"));
            // Three losses in every round, below a header.
            assert_eq!(csv.lines().count(), 1 + 3 * RUN.records.len(), "{csv}");
            let first = csv.lines().nth(1).unwrap().split(',').nth(2).unwrap();
            let (first, loss): (f64, f64) = (first.parse().unwrap(), RUN.records[0].test_loss);
            assert!((first - loss).abs() < 1e-4 * loss, "{csv}");
        } else {
            assert!(csv.contains("edge hover (kJ)"), "{csv}");
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn curves_and_costs_show_the_numbers_of_the_run() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    let chart = "[data-chart=\"0\"] svg[tabindex]";
    let tip = "document.getElementById('tip').textContent";
    browser.eval(&format!("document.querySelector('{chart}').focus()"));
    for record in &RUN.records {
        browser.press("ArrowRight");
        let shown = browser.text(tip);
        let accuracy = (1e4 * record.test_accuracy).round() / 1e2;
        assert!(
            shown.starts_with(&format!("round {}", record.round)),
            "{shown}"
        );
        assert!(
            shown.ends_with(&format!("{accuracy}\u{a0}%")),
            "{shown} {accuracy}"
        );
    }
    browser.hover(chart);
    assert!(browser.text(tip).starts_with("round 3") || browser.text(tip).starts_with("round 4"));
    browser.click("[data-chart=\"0\"] .tabs button:nth-child(3)");
    let axis = "document.querySelector('[data-chart=\"0\"]').textContent";
    assert!(browser.text(axis).contains("energy (kJ)"));

    // The legend hides a curve.
    let curves = "document.querySelectorAll('[data-chart=\"1\"] svg[tabindex] path').length";
    let before = browser.number(curves);
    browser.click("[data-chart=\"1\"] .legend button");
    assert_eq!(browser.number(curves), before - 1.0);

    let sum = browser.text("document.querySelector('.stack .sum').textContent");
    let total = RUN.summary.total_energy_j / 1e3;
    let shown: f64 = sum.trim_end_matches("\u{a0}kJ").parse().unwrap();
    assert!((shown - total).abs() < 0.01 * total, "{sum} {total}");
    let widths = "[...document.querySelector('.stack .bar').children].reduce((sum, part) => sum + part.offsetWidth, 0) \
        / document.querySelector('.stack .bar').offsetWidth";
    assert!((browser.number(widths) - 1.0).abs() < 0.05);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn several_runs_share_a_page() {
    let runs = vec![
        run(&["seed=1"]),
        run(&["seed=2"]),
        run(&["seed=3"]),
        run(&["method=direct_drop"]),
        run(&["method=direct_drop", "seed=2"]),
    ];
    let Some((mut browser, _folder)) = opened(runs) else {
        return;
    };
    let rows = "[...document.querySelectorAll('#summary tbody tr')].map((row) => \
        [...row.cells].slice(0, 2).map((cell) => cell.textContent).join(' '))";
    assert_eq!(
        browser.eval(rows),
        serde_json::json!([
            "hfl[redeploy=marginal_gains] 3",
            "direct_drop[redeploy=marginal_gains] 2"
        ])
    );
    let bands = "[...document.querySelectorAll('[data-chart=\"0\"] polygon')].filter((band) => band.getAttribute('points')).length";
    assert_eq!(
        browser.number(bands),
        1.0,
        "three seeds make a band, two do not"
    );
    // However wide an interval is, an axis of shares ends at 0 and 100 %, one of others at twice the mean.
    let span = |unit: &str| {
        format!(
            "Chart.prototype.span.call({{ axes: {{ y: {{ unit: '{unit}' }} }} }}, [[0, 60, -300, 400, 3, 3]], false)"
        )
    };
    assert_eq!(browser.eval(&span("%")), serde_json::json!([0, 100]));
    assert_eq!(browser.eval(&span("kJ")), serde_json::json!([0, 120]));
    assert_eq!(
        browser.number("document.querySelectorAll('.stack .bar').length"),
        4.0
    );
    // A mean arrives where its last run does.
    let ends = "[...document.querySelectorAll('[data-chart=\"0\"] [data-end]')].map((mark) => mark.dataset.end)";
    browser.click("[data-chart=\"0\"] .tabs button:nth-child(2)");
    assert_eq!(
        browser.eval(ends),
        serde_json::json!(["first", "last", "first", "last"])
    );

    // Another run on the stage.
    let picture = "document.querySelector('.replay canvas').toDataURL()";
    go(&mut browser, 2.0);
    let first = browser.text(picture);
    browser.eval(
        "(() => { const choice = document.querySelector('[data-stage] select'); choice.value = 1; \
         choice.dispatchEvent(new Event('change')); })()",
    );
    browser.wait_for("document.querySelectorAll('.replay').length === 1");
    go(&mut browser, 2.0);
    browser.wait_for(&format!("{picture}.length > 1000"));
    assert_eq!(
        browser.number("document.querySelectorAll('.replay').length"),
        1.0
    );
    assert!(!first.is_empty());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
