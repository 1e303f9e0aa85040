//! Scenarios as text: reading, `--set`, writing.

use std::path::Path;

use super::fields::leaves;
use super::layers::{Layers, Source, parse_setting};
use super::{Scenario, ScenarioError};
use crate::Error;

impl Scenario {
    /// Reads TOML, then applies `settings` of the form `path=value`, all together. What the text leaves out is as in the
    /// scenario that it `extends`, or else at its default.
    ///
    /// ```
    /// use aerofed::Scenario;
    /// let scenario = Scenario::parse("[devices]\ncount = 20", &["uavs.speed_mps=15"])?;
    /// assert_eq!((scenario.devices.count, scenario.uavs.speed_mps), (20, 15.0.into()));
    /// # Ok::<(), aerofed::scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong and where, when the text is not a scenario.
    pub fn parse(text: &str, settings: &[impl AsRef<str>]) -> Result<Self, ScenarioError> {
        Layers::new(Source::new(None, text)?, settings)?.read()
    }

    /// Reads a scenario file, then applies `settings` of the form `path=value`.
    ///
    /// # Errors
    /// When the file cannot be read or is not a scenario; the message names the file.
    pub fn load(path: &Path, settings: &[impl AsRef<str>]) -> Result<Self, Error> {
        Ok(Layers::new(Source::file(path)?, settings)?.read()?)
    }

    /// Reads the table of that name in a larger text, which messages call `file`.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn parse_part(
        text: &str,
        table: &str,
        file: &str,
        settings: &[impl AsRef<str>],
    ) -> Result<Self, ScenarioError> {
        let part = Source::new(Some(file), text)?.part(table)?;
        Layers::new(part, settings)?.read()
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

#[cfg(test)]
mod tests {
    use super::super::library::{DEFAULTS, PAPER, QUICKSTART};
    use super::super::{Allocation, AllocationKind, Channel, Layout, Mobility};
    use super::*;
    use toml::Table;

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
    fn the_paper_differs_from_the_default_in_what_it_prints_alone() {
        let paper = Scenario::parse(PAPER, &[] as &[&str]).unwrap();
        let changes = paper.changes().unwrap();
        let fields: Vec<&str> = changes.iter().map(|change| change.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "name",
                "redeploy.wait",
                "redeploy.when",
                "stop.max_rounds",
                "training.learning_rate",
                "uavs.base_m",
                "uavs.waiting"
            ]
        );
        assert_eq!(paper.uavs.waiting, super::super::Waiting::Free);
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
            positions_m: vec![crate::vocabulary::Point::new(1.0, 2.5).into()],
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
    fn settings_count_together_in_any_order() {
        let kind = "uavs.layout.kind=fixed";
        let positions = "uavs.layout.positions_m=[[1, 2]]";
        for settings in [[kind, positions], [positions, kind]] {
            let scenario = Scenario::parse("", &settings).unwrap();
            let Layout::Fixed { positions_m } = scenario.uavs.layout else {
                panic!("{settings:?}");
            };
            assert_eq!(positions_m.len(), 1);
        }
        let last = Scenario::parse("", &["seed=3", "seed=4"]).unwrap();
        assert_eq!(last.seed, 4);
    }

    #[test]
    fn one_number_is_a_range_of_itself() {
        for text in ["20e6", "20000000", "[20e6, 20e6]"] {
            let file = format!("[uavs]\nbandwidth_up_hz = {text}");
            let set = format!("uavs.bandwidth_up_hz={text}");
            for scenario in [
                Scenario::parse(&file, &[] as &[&str]).unwrap(),
                Scenario::parse("", &[set]).unwrap(),
            ] {
                let band = scenario.uavs.bandwidth_up_hz;
                assert_eq!((band.min, band.max), (20e6, 20e6), "{text}");
            }
        }
    }

    #[test]
    fn a_scenario_extends_another() {
        let paper = Scenario::parse(PAPER, &[] as &[&str]).unwrap();
        let text =
            "extends = \"paper\"\nname = \"mine\"\n[uavs]\nspeed_mps = 15\n[stop]\ntargets = [0.5]";
        let mine = Scenario::parse(text, &["seed=9"]).unwrap();
        let mut expected = Scenario {
            name: "mine".into(),
            seed: 9,
            ..paper
        };
        expected.uavs.speed_mps = 15.0.into();
        expected.stop.targets = vec![0.5];
        assert_eq!(mine, expected);
        assert!(!mine.to_toml().unwrap().contains("extends"));
        let told = Scenario::parse("extends = \"mine.toml\"", &[] as &[&str]).unwrap_err();
        assert!(told.to_string().contains("`extends`"), "{told}");
    }

    #[test]
    fn files_extend_files_and_not_in_a_circle() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        file(
            "base.toml",
            "extends = \"paper\"\nseed = 5\n[mobility]\nkind = \"static\"",
        );
        file(
            "sub/middle.toml",
            "extends = \"../base.toml\"\n[devices]\ncount = 30",
        );
        let top = file(
            "top.toml",
            "extends = \"sub/middle.toml\"\n[uavs]\ncount = 3",
        );
        let scenario = Scenario::load(&top, &["seed=6"]).unwrap();
        let paper = Scenario::parse(PAPER, &[] as &[&str]).unwrap();
        assert_eq!(
            (scenario.seed, scenario.devices.count, scenario.uavs.count),
            (6, 30, 3)
        );
        assert_eq!(scenario.mobility, Mobility::Static {});
        assert_eq!(scenario.uavs.waiting, paper.uavs.waiting);

        // What is wrong below is told with the file that it stands in.
        file("base.toml", "\n\n[uavs]\nsped_mps = 3");
        let told = Scenario::load(&top, &[] as &[&str])
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("base.toml, line 4") && told.contains("speed_mps"),
            "{told}"
        );

        file("base.toml", "extends = \"top.toml\"");
        let told = Scenario::load(&top, &[] as &[&str])
            .unwrap_err()
            .to_string();
        for name in ["top.toml -> ", "middle.toml -> ", "base.toml -> "] {
            assert!(told.contains("circle") && told.contains(name), "{told}");
        }
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
