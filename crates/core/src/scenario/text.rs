//! Scenarios as text: reading, `--set`, writing.

use std::path::Path;

use toml::{Table, Value};

use super::{Scenario, ScenarioError};
use crate::Error;

/// The paper's settings, every field with a comment; equals [`Scenario::default`].
pub const PAPER: &str = include_str!("../../../../scenarios/paper.toml");

/// What `aerofed run` runs when told nothing else.
pub const QUICKSTART: &str = include_str!("../../../../scenarios/quickstart.toml");

/// A scenario is a page of text; more than this is something else.
const LARGEST_FILE_BYTES: u64 = 16 << 20;

impl Scenario {
    /// Reads TOML, then applies `settings` of the form `path=value`.
    ///
    /// ```
    /// use aerofed::Scenario;
    /// let scenario = Scenario::parse("[devices]\ncount = 20", &["uavs.speed_mps=15"])?;
    /// assert_eq!((scenario.devices.count, scenario.uavs.speed_mps), (20, 15.0));
    /// # Ok::<(), aerofed::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong and where, when the text is not a scenario.
    pub fn parse(text: &str, settings: &[impl AsRef<str>]) -> Result<Self, ScenarioError> {
        if settings.is_empty() {
            // Straight from the text, so that messages can show the line.
            return toml::from_str(text)
                .map_err(|e| ScenarioError::Text(e.to_string().trim_end().into()));
        }
        // A mistake in the file is reported as such, before any setting is looked at.
        let _: Self = Self::parse(text, &[] as &[&str])?;
        let mut table: Table = text
            .parse()
            .map_err(|e: toml::de::Error| ScenarioError::Text(e.to_string()))?;
        for setting in settings {
            let setting = setting.as_ref();
            let refused = |reason: &str| ScenarioError::Set {
                given: setting.into(),
                reason: reason.into(),
            };
            apply(&mut table, setting).map_err(refused)?;
            let outcome: Result<Self, _> = table.clone().try_into();
            if let Err(error) = outcome {
                return Err(refused(error.to_string().trim_end()));
            }
        }
        table
            .try_into()
            .map_err(|e: toml::de::Error| ScenarioError::Text(e.to_string()))
    }

    /// Reads a scenario file, then applies `settings` of the form `path=value`.
    ///
    /// # Errors
    /// When the file cannot be read or is not a scenario; the message names the file.
    pub fn load(path: &Path, settings: &[impl AsRef<str>]) -> Result<Self, Error> {
        let unreadable = |reason: String| {
            Error::Scenario(ScenarioError::Text(format!("{}: {reason}", path.display())))
        };
        let size = std::fs::metadata(path).map_err(|e| unreadable(e.to_string()))?;
        if !size.is_file() {
            return Err(unreadable("not a file".into()));
        }
        if size.len() > LARGEST_FILE_BYTES {
            return Err(unreadable(format!(
                "{} bytes, a scenario has at most {LARGEST_FILE_BYTES}",
                size.len()
            )));
        }
        let bytes = std::fs::read(path).map_err(|e| unreadable(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("not UTF-8 text".into()))?;
        Self::parse(&text, settings).map_err(|e| match e {
            ScenarioError::Text(reason) => unreadable(reason),
            other => other.into(),
        })
    }

    /// The scenario as TOML, every field spelled out.
    ///
    /// # Errors
    /// Only when a number cannot be written in TOML, such as a seed above 2^63 - 1.
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        toml::to_string(self).map_err(|e| ScenarioError::Text(e.to_string()))
    }
}

/// Puts `path=value` into the table; the value is TOML, or else taken as a plain string.
fn apply(table: &mut Table, setting: &str) -> Result<(), &'static str> {
    let (path, value) = setting
        .split_once('=')
        .ok_or("expected path=value, as in uavs.speed_mps=15")?;
    let value = parse_value(value.trim());
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let last = keys
        .pop()
        .filter(|key| !key.is_empty())
        .ok_or("the path is empty")?;
    let mut at = table;
    for key in keys {
        let next = at.entry(key).or_insert_with(|| Value::Table(Table::new()));
        at = next
            .as_table_mut()
            .ok_or("the path goes through a value that is not a table")?;
    }
    // A tagged table (`kind = ...`) changes its other fields with its kind: start it anew.
    if last == "kind" && at.get("kind").is_some_and(|old| *old != value) {
        at.clear();
    }
    at.insert(last.into(), value);
    Ok(())
}

fn parse_value(text: &str) -> Value {
    let wrapped: Result<Table, _> = format!("value = {text}").parse();
    match wrapped.ok().and_then(|mut table| {
        if table.len() == 1 {
            table.remove("value")
        } else {
            None
        }
    }) {
        Some(value) => value,
        None => Value::String(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_file_is_the_default_and_names_every_field() {
        assert_eq!(
            Scenario::parse(PAPER, &[] as &[&str]).unwrap(),
            Scenario::default()
        );
        let written: Table = PAPER.parse().unwrap();
        let all: Table = Scenario::default().to_toml().unwrap().parse().unwrap();
        assert_eq!(
            written, all,
            "scenarios/paper.toml must spell out every field"
        );
    }

    #[test]
    fn the_quick_start_is_valid() {
        Scenario::parse(QUICKSTART, &[] as &[&str])
            .unwrap()
            .check()
            .unwrap();
    }

    #[test]
    fn a_scenario_survives_being_written_and_read() {
        let mut scenario = Scenario::default();
        scenario.uavs.layout = super::super::Layout::Fixed {
            positions_m: vec![crate::geometry::Point::new(1.0, 2.5)],
        };
        let text = scenario.to_toml().unwrap();
        assert_eq!(Scenario::parse(&text, &[] as &[&str]).unwrap(), scenario);
    }

    #[test]
    fn settings_reach_nested_fields_lists_strings_and_tagged_tables() {
        let set = [
            "name=trial one",
            "stop.targets=[0.5, 0.6]",
            "mobility.kind=static",
            "data.dir=some/where",
        ];
        let scenario = Scenario::parse(PAPER, &set).unwrap();
        assert_eq!(scenario.name, "trial one");
        assert_eq!(scenario.stop.targets, [0.5, 0.6]);
        assert_eq!(scenario.mobility, super::super::Mobility::Static);
        assert_eq!(scenario.data.dir, Path::new("some/where"));
    }

    #[test]
    fn bad_settings_name_themselves() {
        for set in [
            "nonsense",
            "=3",
            "seed.deeper=3",
            "devices.colour=1",
            "devices.count=many",
            "a.b.c=1",
            "seed=1\nx=2",
        ] {
            let message = Scenario::parse(PAPER, &[set]).unwrap_err().to_string();
            assert!(
                message.contains(set.split('=').next().unwrap()),
                "{set}: {message}"
            );
        }
    }
}
