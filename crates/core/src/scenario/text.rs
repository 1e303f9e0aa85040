//! Scenarios as text: reading, `--set`, writing.

use std::path::Path;

use toml::{Table, Value};

use super::fields::leaves;
use super::{Scenario, ScenarioError};
use crate::Error;

/// Every field with a comment; equals [`Scenario::default`].
pub const DEFAULTS: &str = include_str!("../../scenarios/defaults.toml");

/// What the paper prints, where that is not the default.
pub const PAPER: &str = include_str!("../../scenarios/paper.toml");

/// What `aerofed run` runs when told nothing else.
pub const QUICKSTART: &str = include_str!("../../scenarios/quickstart.toml");

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
        let written: Table = text.parse().map_err(text_error)?;
        let mut table =
            Table::try_from(Self::default()).map_err(|e| ScenarioError::Text(e.to_string()))?;
        overlay(&mut table, written);
        if let Err(error) = deserialize(&table) {
            // Straight from the text the message can show the line; it may fail to see the mistake.
            return Err(text_error(
                toml::from_str::<Self>(text).err().unwrap_or(error),
            ));
        }
        for setting in settings {
            let setting = setting.as_ref();
            let refused = |reason: &str| ScenarioError::Set {
                given: setting.into(),
                reason: reason.trim_end().into(),
            };
            overlay(&mut table, parse_setting(setting).map_err(refused)?);
            deserialize(&table).map_err(|error| refused(&error.to_string()))?;
        }
        deserialize(&table).map_err(text_error)
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

    /// The fields that a setting of the form `path=value` names, as dotted paths: several where the value is a table.
    ///
    /// # Errors
    /// When it is no setting.
    pub fn fields_of(setting: &str) -> Result<Vec<String>, ScenarioError> {
        let table = parse_setting(setting).map_err(|reason| ScenarioError::Set {
            given: setting.into(),
            reason: reason.into(),
        })?;
        Ok(leaves(&table).into_keys().collect())
    }

    /// The scenario as TOML, every field spelled out.
    ///
    /// # Errors
    /// Only when a number cannot be written in TOML, such as a seed above 2^63 - 1.
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        toml::to_string(self).map_err(|e| ScenarioError::Text(e.to_string()))
    }
}

fn text_error(error: toml::de::Error) -> ScenarioError {
    ScenarioError::Text(error.to_string().trim_end().into())
}

fn deserialize(table: &Table) -> Result<Scenario, toml::de::Error> {
    table.clone().try_into()
}

/// Its `kind` names one of the ways in which all its fields are used: another one leaves them as they are.
const OF_ALL_KINDS: &str = "allocation";

/// Lays `top` over `bottom`, table by table. A table of another `kind` replaces what was there:
/// its fields are its own.
fn overlay(bottom: &mut Table, top: Table) {
    for (key, value) in top {
        match (bottom.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new))
                if key == OF_ALL_KINDS || same_kind(old, &new) =>
            {
                overlay(old, new);
            }
            (_, value) => _ = bottom.insert(key, value),
        }
    }
}

fn same_kind(old: &Table, new: &Table) -> bool {
    new.get("kind")
        .is_none_or(|kind| old.get("kind") == Some(kind))
}

/// `a.b=value` as nested tables; the value is TOML, or else taken as a plain string.
fn parse_setting(setting: &str) -> Result<Table, &'static str> {
    let (path, value) = setting
        .split_once('=')
        .ok_or("expected path=value, as in uavs.speed_mps=15")?;
    if path.split('.').any(|key| key.trim().is_empty()) {
        return Err("the path has an empty part");
    }
    let nest =
        |inner: Value, key: &str| Value::Table(Table::from_iter([(key.trim().into(), inner)]));
    match path.rsplit('.').fold(parse_value(value.trim()), nest) {
        Value::Table(table) => Ok(table),
        _ => Err("the path is empty"),
    }
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
    use super::super::{Allocation, AllocationKind, Channel, Layout, Mobility};
    use super::*;

    #[test]
    fn the_file_of_defaults_is_the_default_and_names_every_field() {
        assert_eq!(
            Scenario::parse(DEFAULTS, &[] as &[&str]).unwrap(),
            Scenario::default()
        );
        let written: Table = DEFAULTS.parse().unwrap();
        let all: Table = Scenario::default().to_toml().unwrap().parse().unwrap();
        assert_eq!(
            written, all,
            "scenarios/defaults.toml must spell out every field"
        );
    }

    #[test]
    fn the_paper_differs_from_the_default_in_its_books() {
        let paper = Scenario::parse(PAPER, &[] as &[&str]).unwrap();
        let mut expected = Scenario {
            name: "paper".into(),
            ..Scenario::default()
        };
        expected.uavs.waiting = super::super::Waiting::Free;
        assert_eq!(paper, expected);
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
        scenario.uavs.layout = Layout::Fixed {
            positions_m: vec![crate::vocabulary::Point::new(1.0, 2.5)],
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
        let scenario = Scenario::parse(DEFAULTS, &set).unwrap();
        assert_eq!(scenario.name, "trial one");
        assert_eq!(scenario.stop.targets, [0.5, 0.6]);
        assert_eq!(scenario.mobility, Mobility::Static {});
        assert_eq!(scenario.data.dir, Path::new("some/where"));
    }

    #[test]
    fn a_tagged_table_takes_its_missing_fields_from_the_default() {
        let text = "[channel]\nexponent_up = 2.5\n[mobility]\nhop_probability = 0.1";
        let scenario = Scenario::parse(text, &["allocation.local_iterations=9"]).unwrap();
        let expected = Scenario {
            channel: Channel::PowerLaw {
                exponent_up: 2.5,
                exponent_down: 3.0,
                exponent_uav: 3.0,
            },
            mobility: Mobility::CoverageHop {
                hop_probability: 0.1,
            },
            allocation: Allocation {
                local_iterations: Some(9),
                ..Allocation::default()
            },
            ..Scenario::default()
        };
        assert_eq!(scenario, expected);
    }

    #[test]
    fn another_allocation_keeps_the_numbers_of_the_old_one() {
        let settings = ["allocation.h_max=20", "allocation.kind=p1"];
        let expected = Allocation {
            kind: AllocationKind::P1,
            h_max: 20,
            ..Allocation::default()
        };
        let scenario = Scenario::parse("", &settings).unwrap();
        assert_eq!(scenario.allocation, expected);
    }

    #[test]
    fn a_setting_names_the_fields_it_sets() {
        let named = |setting| Scenario::fields_of(setting).unwrap();
        assert_eq!(named("uavs.speed_mps=15"), ["uavs.speed_mps"]);
        assert_eq!(
            named("allocation={kind=\"p1\", h_max=3}"),
            ["allocation.h_max", "allocation.kind"]
        );
        assert!(Scenario::fields_of("nonsense").is_err());
    }

    #[test]
    fn a_mistake_in_a_file_shows_its_line() {
        for text in [
            "\n[devices]\ncolour = 3",
            "\n[devices]\ncount = \"many\"",
            "a = = b",
        ] {
            let message = Scenario::parse(text, &[] as &[&str])
                .unwrap_err()
                .to_string();
            assert!(message.contains("line"), "{message}");
        }
    }

    #[test]
    fn bad_settings_name_themselves() {
        for set in [
            "nonsense",
            "=3",
            "seed.deeper=3",
            "devices.colour=1",
            "mobility={kind=\"static\", hop_probability=0.5}",
            "association.beta=1",
            "devices.count=many",
            "a.b.c=1",
            "seed=1\nx=2",
        ] {
            let message = Scenario::parse(DEFAULTS, &[set]).unwrap_err().to_string();
            assert!(
                message.contains(set.split('=').next().unwrap()),
                "{set}: {message}"
            );
        }
    }
}
