//! The replay in a real browser: it moves, keeps time and tells the numbers of the moment it shows.

use std::time::Duration;

use aerofed::RoundRecord;
use aerofed::record::TimeItem;

use super::chromium::Browser;
use super::{RUN, SLIDER, go, opened, run};

/// What the page writes for an accuracy.
fn percent(record: &RoundRecord) -> String {
    format!("{:.2}\u{a0}%", 100.0 * record.test_accuracy)
}

#[test]
fn the_replay_moves_and_tells_each_round() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    let picture = "document.querySelector('.replay canvas').toDataURL()";
    let scene = "(() => { const scene = new Scene(DATA.replays[0]).at(TIME); \
        return [scene.devices.x, scene.uavs.map((uav) => [uav.x, uav.y, uav.presence])]; })()";
    let mut seen = Vec::new();
    for time in ["2", "2.1", "4"] {
        go(&mut browser, time.parse().unwrap());
        seen.push((
            browser.text(picture),
            browser.eval(&scene.replace("TIME", time)),
        ));
    }
    for (a, b) in [(0, 1), (1, 2), (0, 2)] {
        assert_ne!(seen[a].0, seen[b].0, "pictures {a} and {b}");
        assert_ne!(seen[a].1[0], seen[b].1[0], "devices {a} and {b}");
    }
    assert_ne!(seen[0].1[1], seen[2].1[1], "a UAV was lost, others moved");
    assert_eq!(seen[2].1[1][3][2], 0.0, "the lost one is not there");

    // Round by round with the keyboard.
    go(&mut browser, 0.0);
    browser.eval(&format!("{SLIDER}.focus()"));
    for record in &RUN.records {
        browser.press("ArrowRight");
        let now = |name: &str| format!("document.querySelector('[data-now={name}]').textContent");
        assert_eq!(
            browser.text(&now("round")),
            format!("{} of 6", record.round)
        );
        assert_eq!(browser.text(&now("accuracy")), percent(record));
        let told = browser.text("document.querySelector('.log [aria-current]').textContent");
        let trained = format!("{} of {} covered", record.selected, record.covered);
        assert!(told.contains(&trained), "{told}");
        assert_eq!(told.contains("UAV 3 was lost"), record.round == 3, "{told}");
        let batteries =
            "[...document.querySelectorAll('.fleet .percent')].map((b) => b.textContent)";
        let shown = browser.eval(batteries);
        for (uav, shown) in record.uavs.iter().zip(shown.as_array().unwrap()) {
            let share = 100.0 * uav.battery_after_j / RUN.scenario.full_battery_j(0);
            let expected = match uav.status.name() {
                "lost" => "–".into(),
                _ => format!("{share:.0}\u{a0}%"),
            };
            assert_eq!(*shown, expected.as_str());
        }
    }

    // Play runs, pause stops.
    go(&mut browser, 0.0);
    browser.click(".replay .play");
    browser.wait_for(&format!("Number({SLIDER}.value) > 0.1"));
    browser.click(".replay .play");
    let stopped = browser.text(&format!("{SLIDER}.value"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(browser.text(&format!("{SLIDER}.value")), stopped);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn now(browser: &mut Browser, name: &str) -> String {
    browser.text(&format!(
        "document.querySelector('[data-now={name}]').textContent"
    ))
}

#[test]
fn the_replay_shows_the_numbers_of_its_moment() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    let records = &RUN.records;
    go(&mut browser, 0.5);
    assert_eq!(now(&mut browser, "accuracy"), "not tested yet");
    for (time, tested) in [(2.5, 1), (2.98, 1), (3.0, 2), (3.5, 2)] {
        go(&mut browser, time);
        assert_eq!(now(&mut browser, "accuracy"), percent(&records[tested]));
    }
    let scene = |time: f64| {
        format!(
            "(() => {{ const scene = new Scene(DATA.replays[0]).at({time}); \
             return [scene.clock, scene.energy, scene.uavs[0].charge]; }})()"
        )
    };
    let full_j = RUN.scenario.full_battery_j(0);
    let told = |record: &RoundRecord| {
        let charge = record.uavs[0].battery_after_j / full_j;
        [record.clock_s, record.cumulative_energy_j, charge]
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * a.abs().max(b.abs());
    for place in 1..records.len() {
        let at = browser.eval(&scene(place as f64));
        let inside = browser.eval(&scene(place as f64 + 0.6));
        let (before, after) = (told(&records[place - 1]), told(&records[place]));
        let [start, middle] = [at, inside].map(|values| {
            let values = values.as_array().unwrap().clone();
            [0, 1, 2].map(|index: usize| values[index].as_f64().unwrap())
        });
        for index in 0..3 {
            assert!(near(start[index], before[index]), "{start:?} {before:?}");
        }
        // All three at the same part of the way.
        let way = |index: usize| (middle[index] - before[index]) / (after[index] - before[index]);
        assert!((0.01..0.99).contains(&way(0)), "{place}: {}", way(0));
        assert!((way(1) - way(0)).abs() < 0.01, "{} {}", way(1), way(0));
        if records[place].uavs[0].recharged_j == 0.0 {
            assert!((way(2) - way(0)).abs() < 0.05, "{} {}", way(2), way(0));
        }
    }
}

#[test]
fn the_clock_runs_in_proportion_to_simulated_time() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    let flights = RUN.records.iter().map(|r| r.time.get(TimeItem::Move));
    assert!(flights.fold(0.0, f64::max) > 10.0, "somebody flies");
    let parts = browser.eval(
        "(() => { const timeline = new Timeline(DATA.replays[0].frames); \
         return timeline.rounds.flatMap((round) => round.parts.filter((part) => part.lasts > 0) \
         .map((part) => [part.lasts, part.seconds, timeline.rate])); })()",
    );
    let mut parts: Vec<[f64; 3]> = serde_json::from_value(parts).unwrap();
    parts.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for pair in parts.windows(2) {
        assert!(pair[0][1] <= pair[1][1] + 1e-9, "longer is not shorter");
    }
    let mut proportional = 0;
    for [lasts, seconds, rate] in &parts {
        // Within what can be watched a second is a second.
        if (0.151..9.999).contains(seconds) {
            assert!((lasts / seconds / rate - 1.0).abs() < 1e-6, "{lasts}");
            proportional += 1;
        }
    }
    assert!(proportional >= RUN.records.len(), "{parts:?}");
    let (least, most) = (parts[0], parts[parts.len() - 1]);
    assert!(most[1] > 4.0 * least[1], "a flight takes longer: {parts:?}");
    for (place, record) in RUN.records.iter().enumerate() {
        let clock = browser.number(&format!(
            "new Timeline(DATA.replays[0].frames).clock({place}, 1)"
        ));
        assert!((clock - record.clock_s).abs() < 1e-6 * record.clock_s);
    }
    // While it plays the clock goes on, and the pace is told.
    go(&mut browser, 0.5);
    let before = now(&mut browser, "clock");
    browser.click(".replay .play");
    let clock = "document.querySelector('[data-now=clock]').textContent";
    browser.wait_for(&format!("{clock} !== {before:?}"));
    browser.click(".replay .play");
    go(&mut browser, 0.9);
    assert!(now(&mut browser, "pace").contains("shows"));
}

#[test]
fn the_replay_is_played_within_five_presses_of_tab() {
    let runs = vec![RUN.clone(), run(&["method=direct_drop"])];
    let Some((mut browser, _folder)) = opened(runs) else {
        return;
    };
    let on = "document.activeElement.id || document.activeElement.getAttribute('href')";
    let mut presses = 0;
    while browser.eval(on) != "play" {
        browser.press("Tab");
        presses += 1;
        assert!(presses <= 5, "{}", browser.eval(on));
        if browser.eval(on) == "#play" {
            browser.press("Enter");
            browser.wait_for("document.activeElement.id === 'play'");
        }
    }
    browser.press("End");
    assert_eq!(now(&mut browser, "round"), "6 of 6");
    browser.press("Home");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    assert_eq!(now(&mut browser, "round"), "2 of 6");
    browser.press(" ");
    browser.wait_for(&format!("Number({SLIDER}.value) > 2.05"));
    browser.press(" ");
    let stopped = browser.text(&format!("{SLIDER}.value"));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(browser.text(&format!("{SLIDER}.value")), stopped);

    // A legend, a log and a row of buttons are one stop each.
    let stops = "document.querySelectorAll('GROUP button:not([tabindex=\"-1\"])').length";
    for group in [
        "[data-chart=\"0\"] .legend",
        "[data-chart=\"0\"] .tabs",
        ".log",
    ] {
        let found = browser.number(&stops.replace("GROUP", group));
        assert_eq!(found, 1.0, "{group}");
    }
    browser.eval("document.querySelector('[data-chart=\"0\"] .legend button').focus()");
    browser.press("ArrowRight");
    let label = browser.text("document.activeElement.textContent");
    assert!(label.starts_with("direct_drop"), "{label}");
}

#[test]
fn circles_are_on_the_map_whole() {
    let Some((mut browser, _folder)) = opened(vec![RUN.clone()]) else {
        return;
    };
    let bounds = browser.eval("new Scene(DATA.replays[0]).bounds()");
    let bounds: [f64; 4] = serde_json::from_value(bounds).unwrap();
    let radius_m = RUN.scenario.uavs.coverage_radius_m.max;
    let mut beyond = false;
    for uav in RUN.records.iter().flat_map(|record| &record.uavs) {
        let (x, y) = (uav.position_m.x_m, uav.position_m.y_m);
        assert!(bounds[0] <= x - radius_m + 1.0 && bounds[1] >= x + radius_m - 1.0);
        assert!(bounds[2] <= y - radius_m + 1.0 && bounds[3] >= y + radius_m - 1.0);
        beyond |= x < radius_m || y < radius_m;
    }
    assert!(beyond, "some circle leaves the area");
}
