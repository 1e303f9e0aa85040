//! The top of a page: what was run, and what it came to.

use std::collections::BTreeMap;

use aerofed::method::Registry;
use aerofed::record::Reached;
use aerofed::run_folder::RunLog;
use aerofed::{RoundRecord, Scenario, Summary};
use aerofed_experiment::comparison::{Comparison, MethodStatistics, TargetStatistics};
use aerofed_experiment::holm::Saving;
use aerofed_experiment::markdown::{percent as share, plus_minus, spread_words, with_unit};
use aerofed_experiment::statistics::{AMOUNT, Estimate, SHARE};

use super::groups::{RunGroup, settings};
use super::html::{Cell, card, details, heading, note, table, tile};
use crate::palette::look;
use crate::table::stop_words;
use crate::units::{
    Unit, count, counted, duration, energy, energy_unit, percent, percent_exact, time_unit,
};

/// Tiles, settings and targets of a single run.
pub(super) fn of_run(log: &RunLog) -> String {
    let summary = &log.summary;
    let rounds = summary.rounds.max(1) as f64;
    let mean = |value: fn(&RoundRecord) -> usize| {
        let sum: usize = log.records.iter().map(value).sum();
        sum as f64 / rounds
    };
    let lost = summary.updates_lost as f64 / summary.updates_computed.max(1) as f64;
    let tiles = [
        tile(
            "test accuracy",
            &percent(summary.final_accuracy, 2),
            &format!("{} at best", percent(summary.best_accuracy, 2)),
        ),
        tile(
            "simulated time",
            &duration(summary.total_time_s),
            &format!("{} a round", duration(summary.total_time_s / rounds)),
        ),
        tile(
            "energy",
            &energy(summary.total_energy_j),
            &format!("{} a round", energy(summary.total_energy_j / rounds)),
        ),
        tile(
            "rounds",
            &count(summary.rounds),
            stop_words(summary.stopped_by),
        ),
        tile(
            "devices trained a round",
            &format!("{:.1}", mean(|record| record.selected)),
            &format!(
                "of {:.1} covered, {} in all",
                mean(|record| record.covered),
                count(log.scenario.devices.count)
            ),
        ),
        tile(
            "updates lost",
            &count(summary.updates_lost),
            &format!(
                "{} of {}",
                percent(lost, 1),
                count(summary.updates_computed)
            ),
        ),
    ];
    let all = settings(&log.scenario);
    let pair = [
        card(&(heading("Settings") + &main_settings(log, &all) + &every_setting(&all))),
        card(&(heading("What a target cost") + &targets(summary))),
    ];
    format!(
        "<div class=\"tiles\">{}</div>\n<div class=\"pair spaced\">{}</div>\n",
        tiles.concat(),
        pair.concat()
    )
}

fn main_settings(log: &RunLog, all: &BTreeMap<String, String>) -> String {
    let summary = &log.summary;
    let value = |path: &str| all.get(path).map_or("", |value| value.trim_matches('"'));
    let rows = [
        ("scenario", summary.scenario.clone()),
        (
            "method, seed",
            format!("{}, {}", summary.method, summary.seed),
        ),
        (
            "devices, UAVs",
            format!("{}, {}", value("devices.count"), value("uavs.count")),
        ),
        (
            "data",
            format!(
                "{}, {} samples, {}",
                value("data.set"),
                value("data.data_volume"),
                value("data.partition.kind")
            ),
        ),
        (
            "model",
            format!(
                "{}, {} parameters",
                value("model.name"),
                count(summary.parameters)
            ),
        ),
        (
            "mobility, redeployment",
            format!(
                "{}, {}",
                value("mobility.kind"),
                redeployment(&log.scenario)
            ),
        ),
        ("aerofed", summary.version.to_string()),
    ];
    pairs(rows.map(|(name, value)| (name.to_owned(), value)))
}

/// Who finds new positions: what the scenario says, or else what its method does.
fn redeployment(scenario: &Scenario) -> &'static str {
    let registry = Registry::builtin();
    let entry = registry.get(&scenario.method);
    let parts = entry.and_then(|entry| entry.parts(scenario));
    parts.map_or("as the method does", |parts| {
        parts.redeployment.describe().name
    })
}

fn every_setting(all: &BTreeMap<String, String>) -> String {
    let rows = all
        .iter()
        .map(|(path, value)| (path.clone(), value.clone()));
    details("Every setting", &pairs(rows))
}

fn pairs(rows: impl IntoIterator<Item = (String, String)>) -> String {
    let row = |(name, value)| vec![Cell::Text(name), Cell::Text(value)];
    let rows: Vec<Vec<Cell>> = rows.into_iter().map(row).collect();
    format!("<div class=\"facts\">{}</div>", table(&[], &rows))
}

fn targets(summary: &Summary) -> String {
    let row = |target: &Reached| {
        let known = |text: Option<String>| Cell::text(text.unwrap_or_else(|| "–".into()));
        vec![
            Cell::text(percent_exact(target.accuracy)),
            known(target.smoothed.rounds.map(count)),
            known(target.smoothed.time_s.map(duration)),
            known(target.smoothed.energy_j.map(energy)),
        ]
    };
    let rows: Vec<Vec<Cell>> = summary.targets.iter().map(row).collect();
    let head = ["accuracy", "rounds", "simulated time", "energy"];
    let on = summary.target_on.name();
    let judged = match summary.smooth {
        1 => format!("First round at or above it, {on} accuracy."),
        rounds => format!("When the mean {on} accuracy over {rounds} rounds was there."),
    };
    table(&head, &rows) + &note(&format!("{judged} – : never reached"))
}

/// Every round of a single run.
pub(super) fn rounds(log: &RunLog) -> String {
    let head = [
        "round",
        "time",
        "energy",
        "accuracy",
        "test loss",
        "edge rounds",
        "covered",
        "trained",
        "lost",
        "aggregator",
        "UAVs",
    ];
    let row = |record: &RoundRecord| {
        let active = record
            .uavs
            .iter()
            .filter(|uav| uav.status.name() == "active");
        [
            record.round.to_string(),
            duration(record.clock_s),
            energy(record.cumulative_energy_j),
            percent(record.test_accuracy, 2),
            format!("{:.4}", record.test_loss),
            record.edge_rounds.to_string(),
            record.covered.to_string(),
            record.selected.to_string(),
            record.updates_lost.to_string(),
            record
                .aggregator
                .map_or("–".into(), |uav| format!("UAV {}", uav.0)),
            active.count().to_string(),
        ]
        .map(Cell::Text)
        .into()
    };
    let rows: Vec<Vec<Cell>> = log.records.iter().take(MOST_ROWS).map(row).collect();
    let all = log.records.len();
    let mut summary = counted(all, "round");
    if all > MOST_ROWS {
        summary += &format!(", the first {}", count(MOST_ROWS));
    }
    details(&summary, &table(&head, &rows))
}

/// Rows of a page; `rounds.csv` has them all.
const MOST_ROWS: usize = 1_000;

/// What the runs of each method came to.
pub(super) fn of_groups(groups: &[RunGroup]) -> String {
    let within = |group: &RunGroup, domain, value: fn(&Summary) -> f64| {
        let values: Vec<f64> = group.runs.iter().map(|run| value(&run.summary)).collect();
        Estimate::within(&values, domain)
    };
    let over = |group: &RunGroup, value| within(group, AMOUNT, value);
    let largest = |value: fn(&Summary) -> f64| {
        let means = groups.iter().filter_map(|group| over(group, value));
        means.map(|estimate| estimate.mean).fold(0.0, f64::max)
    };
    let time = time_unit(largest(|summary| summary.total_time_s));
    let energy = energy_unit(largest(|summary| summary.total_energy_j));
    let row = |group: &RunGroup| {
        vec![
            Cell::Dotted(look(group.style).colour, group.label.clone()),
            Cell::text(count(group.runs.len())),
            Cell::text(share(within(group, SHARE, |s| s.final_accuracy).as_ref())),
            Cell::text(share(within(group, SHARE, |s| s.best_accuracy).as_ref())),
            Cell::text(plus_minus(over(group, |s| s.rounds as f64).as_ref(), 1.0)),
            in_unit(over(group, |s| s.total_time_s).as_ref(), time),
            in_unit(over(group, |s| s.total_energy_j).as_ref(), energy),
            Cell::text(plus_minus(
                over(group, |s| s.updates_lost as f64).as_ref(),
                1.0,
            )),
        ]
    };
    let rows: Vec<Vec<Cell>> = groups.iter().map(row).collect();
    let head = [
        "method",
        "seeds",
        "final accuracy",
        "best accuracy",
        "rounds",
        "simulated time",
        "energy",
        "updates lost",
    ];
    let seeds = groups.iter().map(|group| group.runs.len()).min();
    let words = format!("Whole runs: {}.", spread_words(seeds.unwrap_or(0)));
    let body = table(&head, &rows) + &note(&words);
    card(&body)
}

fn in_unit(estimate: Option<&Estimate>, unit: Unit) -> Cell {
    match estimate {
        Some(_) => Cell::Text(with_unit(estimate, unit.size, unit.symbol)),
        None => Cell::text("–"),
    }
}

/// What each target cost each method, and what the first saves.
pub(super) fn of_comparison(comparison: &Comparison, groups: &[RunGroup]) -> String {
    let Some(first) = comparison.methods.first() else {
        return String::new();
    };
    let saved = format!("time saved by {}", first.label);
    let head = [
        "method",
        "reached",
        "rounds",
        "simulated time",
        "energy",
        &saved,
        "energy saved",
    ];
    let mut html = String::new();
    for (place, target) in first.targets.iter().enumerate() {
        let columns = comparison.methods.iter();
        let columns = columns.filter_map(|method| Some((method, method.targets.get(place)?)));
        let rows: Vec<Vec<Cell>> = columns
            .clone()
            .map(|(method, target)| target_row(method, target, groups))
            .collect();
        let title = format!("To {} accuracy", percent_exact(target.accuracy));
        let mut body = heading(&title) + &table(&head, &rows);
        if columns.clone().any(|(_, t)| (1..t.of).contains(&t.reached)) {
            body += &note("* over the runs that reached it");
        }
        body += &comparison
            .missed(place)
            .map_or(String::new(), |missed| note(&missed));
        let raw: Vec<Vec<Cell>> = columns
            .filter_map(|(m, t)| Some(target_row(m, t.first_crossing.as_deref()?, groups)))
            .collect();
        if !raw.is_empty() {
            body += &details("First crossing, without smoothing", &table(&head, &raw));
        }
        html += &card(&body);
    }
    let holm = comparison.holm_words();
    html + &note(&[comparison.judged_words(), holm.unwrap_or_default()].join(" "))
}

fn target_row(
    method: &MethodStatistics,
    target: &TargetStatistics,
    groups: &[RunGroup],
) -> Vec<Cell> {
    let style = groups.iter().find(|group| group.label == method.label);
    let colour = look(style.map_or(0, |group| group.style)).colour;
    let star = match (1..target.of).contains(&target.reached) {
        true => " *",
        false => "",
    };
    let starred = |cell: Cell| match cell {
        Cell::Text(text) => Cell::Text(text + star),
        other => other,
    };
    let unit = |of: fn(f64) -> Unit, value: Option<&Estimate>| of(value.map_or(0.0, |v| v.mean));
    let (time, energy) = (target.time_s.as_ref(), target.energy_j.as_ref());
    let saving = |saving: Option<&Saving>| Cell::text(target.saving_words(saving));
    vec![
        Cell::Dotted(colour, method.label.clone()),
        Cell::Text(format!("{} of {}", target.reached, target.of)),
        starred(Cell::text(plus_minus(target.rounds.as_ref(), 1.0))),
        starred(in_unit(time, unit(time_unit, time))),
        starred(in_unit(energy, unit(energy_unit, energy))),
        saving(target.time_saving_of_first.as_ref()),
        saving(target.energy_saving_of_first.as_ref()),
    ]
}

#[cfg(test)]
mod tests {
    use aerofed::record::{Energy, Time};
    use aerofed::scenario::TargetOn;

    use super::*;

    #[test]
    fn a_saving_over_some_seeds_says_so_and_missed_targets_say_why() {
        let saving = Saving::of(&[0.2, 0.3]);
        let method = |label: &str, missed: &[(&str, usize)], saving| MethodStatistics {
            label: label.into(),
            method: "hfl".into(),
            settings: Vec::new(),
            targets: vec![TargetStatistics {
                accuracy: 0.56,
                reached: 3 - missed.len(),
                of: 3,
                missed: missed
                    .iter()
                    .map(|(word, n)| ((*word).into(), *n))
                    .collect(),
                rounds: None,
                time_s: None,
                energy_j: None,
                time_saving_of_first: saving,
                energy_saving_of_first: saving,
                first_crossing: None,
            }],
            stopped_by: BTreeMap::new(),
            final_accuracy: None,
            best_accuracy: None,
            selected_per_round: None,
            updates_lost: None,
            updates_lost_share: None,
            time: Time::default(),
            energy: Energy::default(),
        };
        let comparison = Comparison {
            version: "0".into(),
            scenario: "s".into(),
            seeds: vec![1, 2, 3],
            target_on: TargetOn::Test,
            smooth: 1,
            methods: vec![
                method("a", &[], None),
                method("b", &[("diverged", 1)], saving),
            ],
        };
        let html = of_comparison(&comparison, &[]);
        assert!(html.contains("25.0 % (20.0 to 30.0) (2 seeds)"), "{html}");
        assert!(
            html.contains("Runs that never reached it: 1 diverged (b)."),
            "{html}"
        );
        assert!(
            html.contains("To 56 % accuracy") && !html.contains("longer"),
            "{html}"
        );
    }
}
