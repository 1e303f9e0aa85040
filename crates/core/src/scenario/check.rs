//! The range of every field, and the one message that a bad value gets.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Arc;

use aerofed_data::PartitionKind;
use aerofed_nn::ModelSpec;

use crate::reading::choices;

use super::{DataSet, Places, Policy, Scenario, Span, ValidScenario, Weights};

/// Why a scenario is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// A field's value is outside its range.
    #[error("`{field}` is {value}, allowed: {allowed}")]
    Field {
        /// The field's path, as in `uavs.battery_j`.
        field: String,
        /// The value found.
        value: String,
        /// What would be accepted.
        allowed: String,
    },
    /// A field was changed that the method does not look at.
    #[error(
        "`{field}` is {value}, but method `{method}` does not read it: {instead}; leave it {at}"
    )]
    Unread {
        /// The field's path.
        field: String,
        /// The value found.
        value: String,
        /// The method's name.
        method: String,
        /// What the method does in place of what the field is about.
        instead: String,
        /// Its default, as in "at 0.2" or "unset".
        at: String,
    },
    /// The text is not TOML, or holds a field or type that does not exist.
    #[error("{0}")]
    Text(String),
    /// `--set` was given something other than `path=value`.
    #[error("`--set {given}`: {reason}")]
    Set {
        /// What was given.
        given: String,
        /// Why it cannot be used.
        reason: String,
    },
}

pub(super) type Checked = Result<(), ScenarioError>;

pub(super) fn bad(field: &str, value: impl Display, allowed: impl Display) -> ScenarioError {
    ScenarioError::Field {
        field: field.into(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    }
}

/// Also refuses NaN, which is in no range.
pub(super) fn within<T: PartialOrd + Display>(
    field: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Checked {
    if range.contains(&value) {
        return Ok(());
    }
    Err(bad(
        field,
        value,
        format_args!("{} to {}", range.start(), range.end()),
    ))
}

pub(super) fn span(field: &str, span: Span, range: RangeInclusive<f64>) -> Checked {
    if span.min == span.max {
        return within(field, span.min, range);
    }
    if range.contains(&span.min) && range.contains(&span.max) && span.min <= span.max {
        return Ok(());
    }
    Err(bad(
        field,
        format_args!("[{}, {}]", span.min, span.max),
        format_args!(
            "[min, max] with min <= max, both {} to {}",
            range.start(),
            range.end()
        ),
    ))
}

impl Scenario {
    /// Checks every field and returns the scenario that can be run.
    ///
    /// # Errors
    /// The first field that is out of range, with its value and the range.
    pub fn check(self) -> Result<ValidScenario, ScenarioError> {
        let printable = |c: char| !c.is_control() && !"/\\".contains(c);
        if self.name.is_empty()
            || self.name.chars().count() > 100
            || !self.name.chars().all(printable)
        {
            return Err(bad(
                "name",
                format_args!("{:?}", self.name),
                "1 to 100 printable characters without slashes",
            ));
        }
        within("seed", self.seed, 0..=i64::MAX as u64)?;
        self.check_devices()?;
        self.check_uavs()?;
        self.check_flight()?;
        self.check_battery()?;
        let places = Places::of(&self)?;
        self.check_nature()?;
        self.check_data()?;
        self.check_learning()?;
        self.check_learner()?;
        self.check_methods()?;
        self.check_faults()?;
        let policy = Policy::of(&self.td3).map_err(|error| {
            let allowed = format_args!("pretrained, fresh, or a policy file ({error})").to_string();
            bad("td3.agent", format_args!("{:?}", self.td3.agent), allowed)
        })?;
        let start = self.read_start()?;
        let tracks = self.read_tracks()?;
        let law = self.read_law().map_err(|reason| {
            let allowed = format!("empty, or a law that `aerofed calibrate` wrote ({reason})");
            bad(
                "surrogate.law",
                format_args!("{:?}", self.surrogate.law),
                allowed,
            )
        })?;
        Ok(ValidScenario {
            scenario: self,
            policy,
            start,
            tracks,
            places,
            law,
        })
    }

    /// The file that `model.start` names; whether it fits the network is seen when that is built.
    fn read_start(&self) -> Result<Option<Arc<[u8]>>, ScenarioError> {
        let path = &self.model.start;
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        let bytes = std::fs::read(path).map_err(|error| {
            let allowed = format!("a safetensors file ({error})");
            bad("model.start", format_args!("{path:?}"), allowed)
        })?;
        Ok(Some(bytes.into()))
    }

    fn check_devices(&self) -> Checked {
        let devices = &self.devices;
        within("devices.count", devices.count, 1..=10_000_000)?;
        span("devices.cpu_hz", devices.cpu_hz, 1e3..=1e13)?;
        span("devices.cycles_per_bit", devices.cycles_per_bit, 1e-3..=1e6)?;
        within("devices.capacitance", devices.capacitance, 0.0..=1e-20)?;
        within("devices.fixed_time_s", devices.fixed_time_s, 0.0..=1e4)?;
        span("devices.tx_power_w", devices.tx_power_w, 1e-6..=1e4)?;
        within("devices.deadline_s", devices.deadline_s, 0.0..=1e9)
    }

    fn check_nature(&self) -> Checked {
        self.check_radio()?;
        self.check_mobility()
    }

    fn check_data(&self) -> Checked {
        let data = &self.data;
        let needs_dir = matches!(data.set, DataSet::Idx | DataSet::Images | DataSet::Cifar10);
        if needs_dir && data.dir.as_os_str().is_empty() {
            return Err(bad(
                "data.dir",
                "empty",
                "a folder, for data.set = \"idx\", \"images\" or \"cifar10\" (`aerofed data get cifar10` makes one)",
            ));
        }
        within("data.image_size", data.image_size, 4..=1_024)?;
        within("data.classes", data.classes.len(), 0..=256)?;
        within("data.test_fraction", data.test_fraction, 0.01..=0.9)?;
        match data.partition {
            PartitionKind::Dirichlet { alpha } => {
                within("data.partition.alpha", alpha, 1e-3..=1e6)?
            }
            PartitionKind::Shards { per_device } => {
                within("data.partition.per_device", per_device, 1..=1_000)?
            }
            PartitionKind::User if data.dir.as_os_str().is_empty() => {
                return Err(bad(
                    "data.partition.kind",
                    "\"user\"",
                    "user where data.dir is a folder with a file users.csv; the embedded data have no users",
                ));
            }
            _ => {}
        }
        within("data.data_volume", data.data_volume, 1..=100_000_000)?;
        if data.data_volume < self.devices.count {
            return Err(bad(
                "data.data_volume",
                data.data_volume,
                format_args!("at least one sample a device, {}", self.devices.count),
            ));
        }
        within("data.probe_samples", data.probe_samples, 0..=1_000_000)?;
        within(
            "data.personal_samples",
            data.personal_samples,
            0..=1_000_000,
        )
    }

    fn check_learning(&self) -> Checked {
        if self.model.layers.is_empty() && !ModelSpec::BUILTIN.contains(&self.model.name.as_str()) {
            return Err(bad(
                "model.name",
                format_args!("{:?}", self.model.name),
                choices(&self.model.name, ModelSpec::BUILTIN.iter().copied()),
            ));
        }
        within("model.layers", self.model.layers.len(), 0..=64)?;
        within(
            "model.bits_per_parameter",
            self.model.bits_per_parameter,
            0.01..=64.0,
        )?;
        self.check_codec()?;
        let training = &self.training;
        within("training.learning_rate", training.learning_rate, 0.0..=1e3)?;
        within("training.momentum", training.momentum, 0.0..=0.999_999)?;
        within("training.weight_decay", training.weight_decay, 0.0..=1e3)?;
        within("training.batch_size", training.batch_size, 1..=65_536)?;
        within(
            "training.max_edge_rounds",
            training.max_edge_rounds,
            1..=10_000,
        )?;
        self.check_association()?;
        self.check_weights()?;
        let stop = &self.stop;
        within("stop.max_rounds", stop.max_rounds, 1..=10_000_000)?;
        within("stop.target_accuracy", stop.target_accuracy, 0.0..=1.0)?;
        within("stop.smooth", stop.smooth, 1..=1_000)?;
        within("stop.convergence_norm", stop.convergence_norm, 0.0..=1e9)?;
        within("stop.targets", stop.targets.len(), 0..=32)?;
        stop.targets
            .iter()
            .try_for_each(|&t| within("stop.targets", t, 0.0..=1.0))
    }

    fn check_association(&self) -> Checked {
        within("selection.share", self.selection.share, 0.0..=1.0)?;
        within("selection.threshold", self.selection.threshold, 0.0..=1.0)?;
        within(
            "selection.noise_weight",
            self.selection.noise_weight,
            0.0..=1e6,
        )?;
        let every = self.selection.ask_every_rounds;
        within("selection.ask_every_rounds", every, 1..=10_000)?;
        within("selection.pace", self.selection.pace, 0.0..=1.0)?;
        let fitness = &self.fitness;
        for (field, weight) in [
            ("fitness.difference", fitness.difference),
            ("fitness.distance", fitness.distance),
            ("fitness.compute", fitness.compute),
        ] {
            within(field, weight, 0.0..=1.0)?;
        }
        let sum = fitness.difference + fitness.distance + fitness.compute;
        if (sum - 1.0).abs() > 1e-6 {
            return Err(bad(
                "fitness.difference + fitness.distance + fitness.compute",
                sum,
                "a sum of 1",
            ));
        }
        within("fitness.small_batch", fitness.small_batch, 1..=10_000)?;
        for (field, epochs) in [
            ("fitness.personal_epochs", fitness.personal_epochs),
            ("fitness.refresh_epochs", fitness.refresh_epochs),
        ] {
            within(field, epochs, 0..=10_000)?;
        }
        within("fitness.uav_cpu_hz", fitness.uav_cpu_hz, 1e3..=1e13)?;
        let cycles = fitness.uav_cycles_per_bit;
        within("fitness.uav_cycles_per_bit", cycles, 1e-3..=1e6)?;
        self.check_td3()
    }

    fn check_td3(&self) -> Checked {
        let td3 = &self.td3;
        within("td3.loss_weight", td3.loss_weight, 0.0..=1e6)?;
        within("td3.accuracy_weight", td3.accuracy_weight, 0.0..=1e6)?;
        within("td3.discount", td3.discount, 0.0..=0.999_999)?;
        within("td3.learning_rate", td3.learning_rate, 1e-9..=1.0)?;
        within("td3.exploration_noise", td3.exploration_noise, 0.0..=1.0)?;
        within("td3.least_threshold", td3.least_threshold, 0.0..=1.0)?;
        within("td3.least_share", td3.least_share, 0.001..=1.0)?;
        within("td3.most_share", td3.most_share, td3.least_share..=1.0)?;
        within("td3.candidates", td3.candidates, 1..=10_000)?;
        within("td3.updates_per_round", td3.updates_per_round, 0..=100_000)?;
        within("td3.warm_up", td3.warm_up, 0..=20_000)?;
        within("td3.penalty", td3.penalty, 0.0..=1e9)?;
        within("td3.penalty_step", td3.penalty_step, 0.0..=1e9)
    }

    fn check_weights(&self) -> Checked {
        let Weights { energy, time } = self.weights;
        for (field, weight) in [("weights.energy", energy), ("weights.time", time)] {
            // Less than that is nothing to a cell's solver (`Cell::check`).
            if weight != 0.0 && !(1e-9..=1e6).contains(&weight) {
                return Err(bad(field, weight, "0, or 1e-9 to 1e6"));
            }
        }
        if energy.max(time) < 1e-6 {
            return Err(bad(
                "weights.energy",
                energy,
                "at least 1e-6 for weights.energy or weights.time",
            ));
        }
        self.check_decisions()
    }
}
