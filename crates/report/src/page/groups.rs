//! Runs that belong together: one method under several seeds.

use std::collections::BTreeMap;

use aerofed::Scenario;
use aerofed::record::Sightings;
use aerofed::run_folder::RunLog;
use aerofed_experiment::styles::Styles;

/// One method, by what it is called here, and its runs.
pub(super) struct RunGroup {
    pub(super) label: String,
    /// The number of its look.
    pub(super) style: usize,
    /// By seed; only the first is sure to hold UAVs, devices and events.
    pub(super) runs: Vec<RunLog>,
}

/// Drops what only maps need, so that hundreds of runs fit into memory.
pub(super) fn lighten(log: &mut RunLog) {
    for record in &mut log.records {
        record.uavs = Vec::new();
        record.events = Vec::new();
        record.devices = Sightings::default();
    }
}

/// What runs have in common that differ in their seed alone.
#[derive(PartialEq)]
struct Kind {
    /// As the summary has it: a method from outside the registry runs in a scenario that names a registered one.
    method: String,
    /// Without method and seed.
    scenario: Scenario,
}

impl Kind {
    fn of(log: &RunLog) -> Self {
        Self {
            method: log.summary.method.clone(),
            scenario: Scenario {
                seed: 0,
                method: String::new(),
                ..log.scenario.clone()
            },
        }
    }
}

/// Puts runs together that differ in their seed alone, and names what else differs.
pub(super) fn group(logs: Vec<RunLog>) -> Vec<RunGroup> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut groups: Vec<Vec<RunLog>> = Vec::new();
    for mut log in logs {
        let kind = Kind::of(&log);
        match kinds.iter().position(|other| *other == kind) {
            Some(place) => {
                lighten(&mut log);
                groups[place].push(log);
            }
            None => {
                kinds.push(kind);
                groups.push(vec![log]);
            }
        }
    }
    let labels = labels(&kinds);
    let mut styles = Styles::default();
    let named = groups.into_iter().zip(labels).zip(&kinds);
    let named = named.map(|((runs, label), kind)| RunGroup {
        style: styles.of(&kind.method, &label),
        label,
        runs,
    });
    named.collect()
}

/// The method, and the settings in which the scenarios differ.
fn labels(kinds: &[Kind]) -> Vec<String> {
    const MOST_SETTINGS: usize = 3;
    let flat: Vec<BTreeMap<String, String>> =
        kinds.iter().map(|kind| settings(&kind.scenario)).collect();
    let differs = |path: &&String| {
        let values = flat.iter().map(|settings| settings.get(*path));
        values.clone().any(|value| value != flat[0].get(*path))
    };
    let mut paths: Vec<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.retain(|path| differs(path));
    let label = |(kind, settings): (&Kind, &BTreeMap<String, String>)| {
        let known = paths.iter().filter_map(|path| {
            let value = settings.get(*path)?;
            Some(format!("{path}={value}"))
        });
        let known: Vec<String> = known.collect();
        let more = if known.len() > MOST_SETTINGS {
            ", …"
        } else {
            ""
        };
        let shown = known[..known.len().min(MOST_SETTINGS)].join(", ");
        match shown.as_str() {
            "" => kind.method.clone(),
            shown => format!("{}: {shown}{more}", kind.method),
        }
    };
    let mut labels: Vec<String> = kinds.iter().zip(&flat).map(label).collect();
    for place in 0..labels.len() {
        let before = &labels[..place];
        let twins = before.iter().filter(|other| **other == labels[place]);
        match twins.count() {
            0 => {}
            twins => labels[place] += &format!(" ({})", twins + 1),
        }
    }
    labels
}

/// Every setting but method and seed, by its path.
pub(super) fn settings(scenario: &Scenario) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    if let Ok(table) = toml::Table::try_from(scenario) {
        flatten("", &table, &mut flat);
    }
    flat.remove("method");
    flat.remove("seed");
    flat
}

fn flatten(path: &str, table: &toml::Table, flat: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, flat),
            value => _ = flat.insert(path, value.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(settings: &[&str]) -> Kind {
        let scenario = Scenario::parse("", settings).unwrap();
        Kind {
            method: scenario.method.clone(),
            scenario,
        }
    }

    #[test]
    fn labels_name_what_differs() {
        let kinds = [
            kind(&["method=hfl"]),
            kind(&["method=direct_drop"]),
            kind(&["method=hfl", "uavs.speed_mps=15"]),
        ];
        assert_eq!(
            labels(&kinds),
            [
                "hfl: uavs.speed_mps=20.0",
                "direct_drop: uavs.speed_mps=20.0",
                "hfl: uavs.speed_mps=15.0"
            ]
        );
        assert_eq!(labels(&kinds[..2]), ["hfl", "direct_drop"]);
        assert_eq!(labels(&kinds[..1]), ["hfl"]);
        assert!(labels(&[]).is_empty());
    }

    #[test]
    fn many_differences_are_cut_and_equal_labels_told_apart() {
        let near = [
            "seed=1",
            "area.height_m=5e3",
            "area.width_m=5e3",
            "devices.count=9",
        ];
        let labels = labels(&[
            kind(&near),
            kind(&[&near[..], &["uavs.count=3"]].concat()),
            kind(&[]),
        ]);
        assert!(labels[0].ends_with("devices.count=9, …"), "{labels:?}");
        assert_eq!(labels[1], format!("{} (2)", labels[0]));
    }
}
