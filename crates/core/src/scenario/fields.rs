//! Fields by their dotted paths: which ones have been changed, and back to their defaults.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Scenario, ScenarioError};
use crate::reading::from_table;

/// A field whose value is not the default.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its path, as in `uavs.battery_j`.
    pub field: String,
    /// Its value as TOML; none: unset.
    pub value: Option<String>,
    /// Its default, likewise.
    pub default: Option<String>,
}

impl Scenario {
    /// The fields that differ from [`Scenario::default`], by path.
    ///
    /// # Errors
    /// Only when a number cannot be written in TOML, such as a seed above 2^63 - 1.
    pub fn changes(&self) -> Result<Vec<Change>, ScenarioError> {
        let (mine, default) = (leaves(&table(self)?), leaves(&table(&Self::default())?));
        let mut fields: Vec<&String> = mine.keys().chain(default.keys()).collect();
        fields.sort_unstable();
        fields.dedup();
        let change = |field: &String| {
            let (value, default) = (mine.get(field), default.get(field));
            (value != default).then(|| Change {
                field: field.clone(),
                value: value.map(ToString::to_string),
                default: default.map(ToString::to_string),
            })
        };
        Ok(fields.into_iter().filter_map(change).collect())
    }

    /// The same with some fields, named by their paths, at their defaults.
    ///
    /// # Errors
    /// When that is no scenario, as a table with fields of two kinds is none.
    pub fn with_defaults<'a>(
        &self,
        fields: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ScenarioError> {
        let (mut mine, default) = (table(self)?, table(&Self::default())?);
        for field in fields {
            let path: Vec<&str> = field.split('.').collect();
            put(&mut mine, &path, look_up(&default, &path));
        }
        from_table(&mine).map_err(|flaw| ScenarioError::Text(flaw.to_string()))
    }
}

/// A scenario as a table, every field spelled out.
pub(super) fn table(scenario: &Scenario) -> Result<Table, ScenarioError> {
    Table::try_from(scenario).map_err(|error| ScenarioError::Text(error.to_string()))
}

/// Every value that is not a table, by its dotted path.
pub(super) fn leaves(table: &Table) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                let below = leaves(inner).into_iter();
                all.extend(below.map(|(path, value)| (format!("{key}.{path}"), value)));
            }
            value => _ = all.insert(key.clone(), value.clone()),
        }
    }
    all
}

fn look_up(table: &Table, path: &[&str]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    match (table.get(*first)?, rest) {
        (value, []) => Some(value.clone()),
        (Value::Table(inner), rest) => look_up(inner, rest),
        _ => None,
    }
}

/// Sets a field, or removes it when there is no value.
fn put(table: &mut Table, path: &[&str], value: Option<Value>) {
    match (path, value) {
        ([last], Some(value)) => _ = table.insert((*last).into(), value),
        ([last], None) => _ = table.remove(*last),
        ([first, rest @ ..], value) => {
            if let Some(Value::Table(inner)) = table.get_mut(*first) {
                put(inner, rest, value);
            }
        }
        ([], _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_found_and_taken_back() {
        assert_eq!(Scenario::default().changes().unwrap(), []);
        let settings = [
            "uavs.speed_mps=15",
            "allocation.local_iterations=9",
            "mobility.kind=static",
        ];
        let scenario = Scenario::parse("", &settings).unwrap();
        let changes = scenario.changes().unwrap();
        let told: Vec<_> = changes
            .iter()
            .map(|c| (c.field.as_str(), c.value.as_deref(), c.default.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("allocation.local_iterations", Some("9"), None),
                ("mobility.hop_probability", None, Some("0.3")),
                (
                    "mobility.kind",
                    Some("\"static\""),
                    Some("\"coverage_hop\"")
                ),
                ("uavs.speed_mps", Some("15.0"), Some("20.0")),
            ]
        );
        let fields = changes.iter().map(|change| change.field.as_str());
        assert_eq!(scenario.with_defaults(fields).unwrap(), Scenario::default());
        let some = scenario.with_defaults(["uavs.speed_mps"]).unwrap();
        assert_eq!(some.uavs.speed_mps, 20.0.into());
        assert_eq!(some.allocation.local_iterations, Some(9));
    }
}
