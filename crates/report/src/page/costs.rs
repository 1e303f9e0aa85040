//! What energy and time went into, by item.

use aerofed::Summary;
use aerofed::record::{Energy, EnergyItem, Time, TimeItem, first_reached};
use aerofed::run_folder::RunLog;

use super::data::{CostRow, CostSet, CostSpan, CostTable, ItemLook, short};
use super::groups::RunGroup;
use crate::palette::{self, energy_colour, time_colour};
use crate::units::{energy_unit, percent_exact, time_unit};

/// What one run spent.
pub(super) type Spent = (Energy, Time);

pub(super) fn whole_run(summary: &Summary) -> Spent {
    (summary.energy, summary.time)
}

/// Costs of runs whose every round is known: of the whole run, and until each target.
pub(super) fn of_groups(groups: &[RunGroup]) -> CostSet {
    let over = |spent: &dyn Fn(&RunLog) -> Option<Spent>| -> Vec<Vec<Spent>> {
        let of = |group: &RunGroup| group.runs.iter().filter_map(spent).collect();
        groups.iter().map(of).collect()
    };
    let whole = over(&|run| Some(whole_run(&run.summary)));
    let mut spans = vec![span("whole run", String::new(), &whole)];
    let first = groups.first().and_then(|group| group.runs.first());
    for target in first.map_or(&[][..], |run| &run.scenario.stop.targets) {
        let spent = over(&|run| until(run, *target));
        if spent.iter().all(Vec::is_empty) {
            continue;
        }
        let name = format!("until {}", percent_exact(*target));
        let missed: usize = groups.iter().map(|group| group.runs.len()).sum::<usize>()
            - spent.iter().map(Vec::len).sum::<usize>();
        let note = match missed {
            0 => String::new(),
            1 => "One run never got that far and is left out: it would have cost more.".into(),
            _ => format!(
                "{missed} runs never got that far and are left out: they would have cost more."
            ),
        };
        spans.push(span(&name, note, &spent));
    }
    set(
        String::new(),
        groups.iter().map(|group| group.label.clone()).collect(),
        spans,
    )
}

/// What a run had spent at the end of the round that reached an accuracy.
fn until(run: &RunLog, accuracy: f64) -> Option<Spent> {
    let (on, smooth) = (run.summary.target_on, run.summary.smooth);
    let accuracies: Vec<f64> = run.records.iter().map(|r| on.accuracy(r)).collect();
    let last = first_reached(&accuracies, smooth, accuracy)?;
    let mut spent = Spent::default();
    for record in &run.records[..=last] {
        spent.0.add_all(&record.energy);
        spent.1.add_all(&record.time);
    }
    Some(spent)
}

pub(super) fn set(title: String, rows: Vec<String>, spans: Vec<CostSpan>) -> CostSet {
    let energy = EnergyItem::spent().map(|item| look(item.label(), energy_colour(item)));
    let time = TimeItem::ALL.map(|item| look(item.label(), time_colour(item)));
    CostSet {
        title,
        energy: energy.collect(),
        time: time.into(),
        rows,
        spans,
    }
}

fn look(label: String, colour: &str) -> ItemLook {
    ItemLook {
        label,
        colour: palette::name(colour),
    }
}

/// Means over the runs of each method.
pub(super) fn span(name: &str, note: String, spent: &[Vec<Spent>]) -> CostSpan {
    let means = |of_run: &dyn Fn(&Spent) -> Vec<f64>| -> Vec<Option<Vec<f64>>> {
        let mean = |runs: &Vec<Spent>| {
            let all: Vec<Vec<f64>> = runs.iter().map(of_run).collect();
            let items = all.first()?.len();
            let sum = |item: usize| all.iter().map(|run| run[item]).sum::<f64>();
            Some((0..items).map(|i| sum(i) / all.len() as f64).collect())
        };
        spent.iter().map(mean).collect()
    };
    let energies = means(&|spent| EnergyItem::spent().map(|item| spent.0.get(item)).collect());
    let times = means(&|spent| TimeItem::ALL.map(|item| spent.1.get(item)).into());
    let largest = |rows: &[Option<Vec<f64>>]| {
        let sums = rows.iter().flatten().map(|row| row.iter().sum());
        sums.fold(0.0, f64::max)
    };
    let (energy, time) = (energy_unit(largest(&energies)), time_unit(largest(&times)));
    CostSpan {
        name: name.into(),
        note,
        energy: table(energy.symbol, energy.size, &energies),
        time: table(time.symbol, time.size, &times),
    }
}

fn table(unit: &'static str, size: f64, rows: &[Option<Vec<f64>>]) -> CostTable {
    let row = |row: &Option<Vec<f64>>| match row {
        Some(items) => CostRow {
            sum: Some(short(items.iter().sum::<f64>() / size)).filter(|sum| sum.is_finite()),
            items: items.iter().map(|value| short(value / size)).collect(),
        },
        None => CostRow {
            sum: None,
            items: Vec::new(),
        },
    };
    CostTable {
        unit,
        rows: rows.iter().map(row).collect(),
    }
}
