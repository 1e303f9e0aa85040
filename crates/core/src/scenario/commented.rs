//! A scenario as a person would write it: the commented file of defaults with other values in it.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Value;
use toml::de::{DeTable, DeValue};

use super::fields::{leaves, table};
use super::library::DEFAULTS;
use super::{Scenario, ScenarioError};

/// Where a field stands in the file of defaults.
struct Place {
    /// The whole line, its end included.
    line: Range<usize>,
    value: Range<usize>,
}

impl Scenario {
    /// Every field with its value, and with the comments of the file of defaults.
    ///
    /// # Errors
    /// Only when a number cannot be written in TOML, such as a seed above 2^63 - 1.
    pub fn commented(&self) -> Result<String, ScenarioError> {
        let written = DeTable::parse(DEFAULTS)
            .map_err(|error| ScenarioError::Text(error.message().to_owned()))?;
        let mut places = BTreeMap::new();
        find(written.get_ref(), "", &mut places);
        let (mine, default) = (leaves(&table(self)?), leaves(&table(&Self::default())?));
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (field, place) in &places {
            match mine.get(field) {
                Some(value) if Some(value) == default.get(field) => {}
                Some(value) => edits.push((place.value.clone(), value.to_string())),
                None => edits.push((place.line.clone(), String::new())),
            }
        }
        let more = mine
            .iter()
            .filter(|(field, _)| !places.contains_key(*field));
        edits.extend(more.filter_map(|(field, value)| added(field, value, &places)));
        let mut text = DEFAULTS.to_owned();
        // What is put in stands before what begins at the same place, and goes in after that was replaced.
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        for (range, new) in edits.into_iter().rev() {
            text.replace_range(range, &new);
        }
        Ok(text)
    }
}

/// The fields of a table, and where they stand.
fn find(table: &DeTable, above: &str, places: &mut BTreeMap<String, Place>) {
    for (key, value) in table {
        let field = match above {
            "" => key.get_ref().to_string(),
            above => format!("{above}.{}", key.get_ref()),
        };
        match value.get_ref() {
            DeValue::Table(inner) => find(inner, &field, places),
            _ => {
                let line = line(key.span().start, value.span().end);
                let value = value.span();
                places.insert(field, Place { line, value });
            }
        }
    }
}

/// The line, or lines, around a piece of the file of defaults.
fn line(start: usize, end: usize) -> Range<usize> {
    let start = DEFAULTS[..start].rfind('\n').map_or(0, |at| at + 1);
    let end = DEFAULTS[end..]
        .find('\n')
        .map_or(DEFAULTS.len(), |at| end + at + 1);
    start..end
}

/// A field that has no default: in place of the comment that shows it, or else behind its table's `kind`.
fn added(
    field: &str,
    value: &Value,
    places: &BTreeMap<String, Place>,
) -> Option<(Range<usize>, String)> {
    let (above, name) = field.rsplit_once('.')?;
    let shown = DEFAULTS.find(&format!("\n# {name} = "));
    let place = match shown {
        Some(at) => line(at + 1, at + 1),
        None => {
            let end = places.get(&format!("{above}.kind"))?.line.end;
            end..end
        }
    };
    Some((place, format!("{name} = {value}\n")))
}

#[cfg(test)]
mod tests {
    use super::super::BUILT_IN;
    use super::*;

    fn comments(text: &str) -> usize {
        text.matches('#').count()
    }

    #[test]
    fn every_built_in_scenario_survives_being_written_with_comments() {
        for (name, text) in BUILT_IN {
            let scenario = Scenario::parse(text, &[] as &[&str]).unwrap();
            let written = scenario.commented().unwrap();
            assert_eq!(
                Scenario::parse(&written, &[] as &[&str]).unwrap(),
                scenario,
                "{name}"
            );
            assert!(comments(&written) + 3 >= comments(DEFAULTS), "{name}");
            // Every field is spelled out.
            let spelled = leaves(&written.parse().unwrap());
            assert_eq!(spelled, leaves(&table(&scenario).unwrap()), "{name}");
        }
        assert_eq!(Scenario::default().commented().unwrap(), DEFAULTS);
    }

    #[test]
    fn fields_of_other_kinds_are_written_too() {
        let settings = [
            "uavs.count=1",
            "uavs.layout={kind=\"fixed\", positions_m=[[1, 2]]}",
            "allocation.local_iterations=9",
            "mobility.kind=static",
            "data.partition.kind=dirichlet",
            "faults=[{kind=\"drain\", uav=0, round=2}, {kind=\"loss\", uav=0, round=3}]",
            "model.layers=[{kind=\"relu\"}]",
            "uavs.bandwidth_up_hz=20e6",
        ];
        let scenario = Scenario::parse("", &settings).unwrap();
        let written = scenario.commented().unwrap();
        let again = Scenario::parse(&written, &[] as &[&str]).unwrap();
        assert_eq!(again, scenario, "{written}");
    }
}
