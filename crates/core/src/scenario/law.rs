//! The law that a surrogate learns by: numbers fitted to runs that trained, for each data set, model and step size by themselves.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Learner, Scenario, Training, Warning};
use crate::reading;

/// Made by `aerofed calibrate`, see `docs/surrogate.md`.
const SHIPPED: &str = include_str!("law.toml");

/// What a law file is called by whoever reads it.
const FORMAT: u32 = 1;

/// A file of `aerofed calibrate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawFile {
    /// Which fields it has.
    pub format: u32,
    /// A law for each kind of training that runs were given of; the last one holds where none of the others does.
    pub group: Vec<LawGroup>,
}

/// A law, and what it was fitted on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawGroup {
    /// The data set by its name in scenarios; empty: of all.
    pub data: String,
    /// The model by its name, `own` for layers of one's own; empty: of all.
    pub model: String,
    /// Step size of the runs.
    pub learning_rate: f64,
    /// Their momentum.
    pub momentum: f64,
    /// Samples in their mini-batches.
    pub batch_size: usize,
    /// How many there were.
    pub runs: usize,
    /// Their methods.
    pub methods: Vec<String>,
    /// How their labels were spread.
    pub partitions: Vec<String>,
    /// Least and greatest number of training samples.
    pub data_volume: [usize; 2],
    /// Least and greatest H of a cell.
    pub local_iterations: [usize; 2],
    /// Root mean square error of the accuracies of all rounds of those runs.
    pub accuracy_error: f64,
    /// What was fitted.
    pub law: LawNumbers,
}

/// What is fitted (`learn/surrogate/mean_field.rs` says what it means).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawNumbers {
    /// How far a local iteration moves margins.
    pub margin_rate: f64,
    /// The part of it that all classes have from each other, 0 to 1.
    pub transfer: f64,
    /// How far a local iteration moves biases, as long as that is little ...
    pub bias_rate: f64,
    /// ... and how far they go at most.
    pub bias_reach: f64,
    /// Speed of a model that knows nothing yet, relative to later, 0 to 1.
    pub onset: f64,
    /// The margin on test samples that no training exceeds, at a data volume of 4 000 ...
    pub ceiling: f64,
    /// ... and what it gains with every e-fold of samples.
    pub ceiling_per_fold: f64,
    /// How much surer decisions are than probabilities.
    pub sharpness: f64,
    /// What a bias counts beside a margin in the distance of models, from which the number of devices follows.
    #[serde(default = "one")]
    pub bias_length: f64,
}

fn one() -> f64 {
    1.0
}

impl LawNumbers {
    /// Every number by its name, with the range that it may be in.
    #[must_use]
    pub fn ranges(&self) -> [(&'static str, f64, [f64; 2]); 9] {
        [
            ("margin_rate", self.margin_rate, [1e-6, 10.0]),
            ("transfer", self.transfer, [0.0, 1.0]),
            ("bias_rate", self.bias_rate, [1e-6, 100.0]),
            ("bias_reach", self.bias_reach, [1e-3, 50.0]),
            ("onset", self.onset, [0.0, 1.0]),
            ("ceiling", self.ceiling, [0.1, 50.0]),
            ("ceiling_per_fold", self.ceiling_per_fold, [-10.0, 10.0]),
            ("sharpness", self.sharpness, [0.1, 10.0]),
            ("bias_length", self.bias_length, [0.01, 100.0]),
        ]
    }

    /// The greatest margin on test samples, with so many training samples.
    #[must_use]
    pub fn ceiling_at(&self, data_volume: usize) -> f64 {
        let folds = libm::log(data_volume as f64 / 4_000.0);
        (self.ceiling + self.ceiling_per_fold * folds).max(0.1)
    }
}

/// The law of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The law, and what it was fitted on.
    pub group: LawGroup,
    /// The scenario's step size relative to the one that it was fitted at.
    pub relative_rate: f64,
}

/// How far SGD goes with a gradient, momentum included.
fn effective_rate(learning_rate: f64, momentum: f64) -> f64 {
    learning_rate / (1.0 - momentum)
}

impl LawGroup {
    /// Whether it was fitted on this data set and model; how many of the two are wrong, a name weighing more than none.
    fn misses(&self, data: &str, model: &str) -> usize {
        let miss = |own: &str, asked: &str, wrong: usize| match own {
            "" => 1,
            own if own == asked => 0,
            _ => wrong,
        };
        miss(&self.data, data, 8) + miss(&self.model, model, 16)
    }

    /// A scenario's step size relative to that of the runs.
    pub(crate) fn relative_rate(&self, training: &Training) -> f64 {
        let own = effective_rate(self.learning_rate, self.momentum);
        effective_rate(training.learning_rate, training.momentum) / own
    }

    fn check(&self, place: usize) -> Result<(), String> {
        let field =
            |name: &str, value: f64, [from, to]: [f64; 2]| match (from..=to).contains(&value) {
                true => Ok(()),
                false => Err(format!(
                    "`group[{place}].{name}` is {value}, allowed: {from} to {to}"
                )),
            };
        field("learning_rate", self.learning_rate, [1e-9, 1e3])?;
        field("momentum", self.momentum, [0.0, 0.999_999])?;
        for (name, value, range) in self.law.ranges() {
            field(&format!("law.{name}"), value, range)?;
        }
        Ok(())
    }
}

impl LawFile {
    /// The laws that come with the program.
    ///
    /// # Errors
    /// Never, or the tests would have said so.
    pub fn shipped() -> Result<Self, String> {
        Self::parse(SHIPPED)
    }

    /// Reads a law file.
    ///
    /// # Errors
    /// The first mistake in it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: Self = reading::from_toml(text).map_err(|mistake| mistake.to_string())?;
        if file.format != FORMAT {
            return Err(format!("`format` is {}, allowed: {FORMAT}", file.format));
        }
        if file.group.is_empty() {
            return Err("no [[group]] in it".into());
        }
        let mut groups = file.group.iter().enumerate();
        groups.try_for_each(|(place, group)| group.check(place))?;
        Ok(file)
    }

    /// A file of these laws.
    #[must_use]
    pub fn new(group: Vec<LawGroup>) -> Self {
        Self {
            format: FORMAT,
            group,
        }
    }

    /// The file, with what it means in comments.
    #[must_use]
    pub fn to_toml(&self, remark: &str) -> String {
        let mut text = String::new();
        for line in remark.lines() {
            _ = writeln!(text, "# {line}");
        }
        // Nothing in it can fail to be written.
        text + &toml::to_string(self).unwrap_or_default()
    }

    /// The law that fits a scenario best: of its data set and model where there is one, with the nearest step size.
    #[must_use]
    pub fn of(&self, scenario: &Scenario) -> Option<Law> {
        let (data, model) = (scenario.data.set.name(), scenario.model_name());
        let training = &scenario.training;
        let distance = |group: &LawGroup| libm::log(group.relative_rate(training)).abs();
        let best = self.group.iter().min_by(|a, b| {
            let misses = a.misses(data, model).cmp(&b.misses(data, model));
            misses.then(distance(a).total_cmp(&distance(b)))
        })?;
        Some(Law {
            relative_rate: best.relative_rate(training),
            group: best.clone(),
        })
    }
}

impl Scenario {
    /// What a law knows the model by.
    pub(crate) fn model_name(&self) -> &str {
        match self.model.layers.is_empty() {
            true => &self.model.name,
            false => "own",
        }
    }

    /// The law that `surrogate.law` names, as it holds for this scenario; none where devices train.
    pub(super) fn read_law(&self) -> Result<Option<Law>, String> {
        if self.learner != Learner::Surrogate {
            return Ok(None);
        }
        let path = &self.surrogate.law;
        let file = match path.as_os_str().is_empty() {
            true => LawFile::shipped()?,
            false => {
                let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
                LawFile::parse(&text)?
            }
        };
        Ok(file.of(self))
    }

    /// Where a scenario is none of those that its law was fitted on.
    pub(super) fn law_warnings(&self) -> Vec<Warning> {
        let Ok(Some(law)) = self.read_law() else {
            return Vec::new();
        };
        law.warnings(self)
    }
}

impl Law {
    fn warnings(&self, scenario: &Scenario) -> Vec<Warning> {
        let group = &self.group;
        let mut found = Vec::new();
        let mut tell = |field, value: String, usual: String, hint: &str| {
            found.push(Warning {
                field,
                value,
                usual,
                hint: hint.into(),
            });
        };
        let (data, model) = (scenario.data.set.name(), scenario.model_name());
        let named = |name: &str| match name {
            "" => "what the surrogate was fitted on".to_owned(),
            name => format!("{name:?}"),
        };
        let other = "the surrogate was fitted on others: its numbers are a guess, orders of methods are better";
        if group.data != data {
            tell("data.set", format!("{data:?}"), named(&group.data), other);
        }
        if group.model != model {
            tell(
                "model.name",
                format!("{model:?}"),
                named(&group.model),
                other,
            );
        }
        let training = &scenario.training;
        if (self.relative_rate - 1.0).abs() > 0.01 {
            let rate = training.learning_rate;
            let hint = "the surrogate scales the steps of runs with that one";
            tell(
                "training.learning_rate",
                rate.to_string(),
                group.learning_rate.to_string(),
                hint,
            );
        }
        if training.batch_size != group.batch_size {
            let (size, usual) = (training.batch_size, group.batch_size);
            let hint = "the surrogate was fitted with that, and takes all sizes alike";
            tell(
                "training.batch_size",
                size.to_string(),
                usual.to_string(),
                hint,
            );
        }
        let volume = scenario.data.data_volume;
        let [least, most] = group.data_volume;
        if 2 * volume < least || volume > 2 * most {
            let hint = "the surrogate was fitted there";
            tell(
                "data.data_volume",
                volume.to_string(),
                format!("{least} to {most}"),
                hint,
            );
        }
        if let super::Codec::TopK { .. } = scenario.codec {
            let hint = "what of a network's update is lost, the surrogate does not know";
            tell(
                "codec.kind",
                "\"top_k\"".into(),
                "f32, f16 or int8 with learner = \"surrogate\"".into(),
                hint,
            );
        }
        found
    }
}
