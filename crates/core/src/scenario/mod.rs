//! What a user writes: one TOML file, every field with a default, checked before anything runs.
//!
//! [`Scenario`] is the file as written, [`Scenario::check`] turns it into a [`ValidScenario`], and
//! only that can be run: bad input ends here, before round 1. Units are in the names. Variants
//! without fields are written `{}` because serde lets unknown keys pass beside the tag of a unit
//! variant.

mod battery;
mod channel;
mod check;
mod codec;
mod commented;
mod decisions;
mod defaults;
mod diagnose;
mod faults;
mod fields;
mod flight;
mod law;
mod layers;
mod learner;
mod library;
mod methods;
mod mobility;
mod places;
mod plausible;
mod policy;
mod selection;
mod span;
mod text;
mod tracks;
mod uavs;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use aerofed_data::PartitionKind;
use aerofed_nn::Layer;
use serde::{Deserialize, Serialize};

pub use battery::{Battery, Solar};
pub use channel::{Channel, Deployment, Draw, Environment, Fading, NO_LEAST_SNR_DB, Radio};
pub use check::ScenarioError;
pub use codec::Codec;
pub use decisions::{
    Allocation, AllocationKind, Association, BandwidthSolver, P1Objective, Redeploy,
    RedeployMethod, RedeployWhen,
};
pub use faults::{Fault, Moment};
pub use fields::Change;
pub use flight::{Flight, FlightPower, RotaryWing};
pub use law::{Law, LawFile, LawGroup, LawNumbers};
pub use learner::{Learner, Sampled, Surrogate};
pub use library::{BUILT_IN, DEFAULTS, PAPER, QUICKSTART, built_in, first_sentence};
pub use methods::{Ahfed, Fedprox, Methods, Oort};
pub use mobility::Mobility;
pub use places::{Area, Base, NoFly, Place, Places};
pub use plausible::Warning;
pub use policy::{Policy, PolicyError};
pub use selection::{AgentReward, AgentState, Diversity, Fitness, Selection, Td3};
pub use span::Span;
pub use tracks::Tracks;
pub use uavs::{Layout, OneUav, Reserve, Speed, UavNumbers, Uavs, Waiting};

/// A scenario as written. The defaults are the paper's settings, with waiting charged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// A name for folders and titles.
    pub name: String,
    /// The one number that all random streams hang on.
    pub seed: u64,
    /// The method's registered name; whether there is one of that name, a registry says.
    pub method: String,
    /// Whether devices train, or accuracy follows a law.
    pub learner: Learner,
    /// Which UAV merges the edge models.
    pub aggregator: Aggregator,
    /// What goes wrong on purpose.
    pub faults: Vec<Fault>,
    /// The ground.
    pub area: Area,
    /// The devices on it.
    pub devices: Devices,
    /// The UAVs above it.
    pub uavs: Uavs,
    /// What flying takes, and the wind.
    pub flight: Flight,
    /// What batteries give, and how they charge.
    pub battery: Battery,
    /// What the sun adds.
    pub solar: Solar,
    /// What all radio links share.
    pub radio: Radio,
    /// How much of a signal arrives.
    pub channel: Channel,
    /// How devices move.
    pub mobility: Mobility,
    /// What is learned from.
    pub data: Data,
    /// What is trained.
    pub model: Model,
    /// What it is on the air.
    pub codec: Codec,
    /// How it is trained.
    pub training: Training,
    /// The law of a learner that does not train.
    pub surrogate: Surrogate,
    /// How many devices of a learner train that trains some.
    pub sampled: Sampled,
    /// What a joule and a second are worth.
    pub weights: Weights,
    /// Where UAVs go when one of them left or came back.
    pub redeploy: Redeploy,
    /// Which covered devices train.
    pub association: Association,
    /// How many of them.
    pub selection: Selection,
    /// What a device is worth to a UAV.
    pub fitness: Fitness,
    /// The agents that learn thresholds.
    pub td3: Td3,
    /// How long they train and on which bandwidth.
    pub allocation: Allocation,
    /// Numbers of the methods that others proposed.
    pub methods: Methods,
    /// When a run ends.
    pub stop: Stop,
}

/// A scenario that passed [`Scenario::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct ValidScenario {
    scenario: Scenario,
    /// What `td3.agent` names.
    policy: Policy,
    /// What `model.start` names.
    start: Option<Arc<[u8]>>,
    /// What `mobility.file` names.
    tracks: Option<Arc<Tracks>>,
    /// Where things are.
    places: Places,
    /// What `surrogate.law` names, as it holds for this scenario.
    law: Option<Law>,
}

impl ValidScenario {
    /// The networks that threshold agents start from.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The safetensors file that the first global model is read from; none: it is random.
    #[must_use]
    pub fn start(&self) -> Option<&[u8]> {
        self.start.as_deref()
    }

    /// Where devices are at which times, if a file says so.
    #[must_use]
    pub fn tracks(&self) -> Option<&Arc<Tracks>> {
        self.tracks.as_ref()
    }

    /// What accuracy follows where nobody trains; none where devices train.
    #[must_use]
    pub fn law(&self) -> Option<&Law> {
        self.law.as_ref()
    }

    /// The same without training, by one of these laws and for so many rounds whatever it reaches; none where the file has none.
    pub(crate) fn dry(mut self, laws: &LawFile, rounds: usize) -> Option<Self> {
        self.scenario.learner = Learner::Surrogate;
        self.scenario.stop.max_rounds = rounds;
        self.scenario.stop.target_accuracy = 1.0;
        self.law = Some(laws.of(&self.scenario)?);
        Some(self)
    }

    /// Where things are, in metres.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }
}

impl Deref for ValidScenario {
    type Target = Scenario;
    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

/// The IoT devices; ranges are drawn uniformly per device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Devices {
    /// How many (N).
    pub count: usize,
    /// A CSV or GeoJSON file with the sites where they start; empty: anywhere in the area.
    pub positions: PathBuf,
    /// Processor clock (f_n).
    pub cpu_hz: Span,
    /// Work per bit of training data (c_n).
    pub cycles_per_bit: Span,
    /// Effective chip capacitance (ϑ_n).
    pub capacitance: f64,
    /// Time each local iteration costs besides the arithmetic (t^Fix).
    pub fixed_time_s: f64,
    /// Uplink transmit power (p_n^D2U).
    pub tx_power_w: Span,
    /// Longest edge round a device puts up with (t^Max); 0: any.
    pub deadline_s: f64,
}

/// Whose the training samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Each sample is on one device at most, or one UAV's own.
    Disjoint,
    /// Devices and UAVs draw theirs from one pool, each by itself: others may have the same.
    Pool,
}

/// Which data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataSet {
    /// Handwritten digits: the embedded subset, or the full set from `dir`.
    Mnist,
    /// Clothing: the embedded subset, or the full set from `dir`.
    FashionMnist,
    /// Animals and vehicles in colour, from `dir`.
    Cifar10,
    /// Any idx files in `dir`.
    Idx,
    /// Any folder-per-class image tree in `dir`.
    Images,
}

impl DataSet {
    /// As a scenario names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
            Self::Cifar10 => "cifar10",
            Self::Idx => "idx",
            Self::Images => "images",
        }
    }
}

/// What is learned from, and how it is spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Data {
    /// Which data set.
    pub set: DataSet,
    /// Folder with the full set; empty: the embedded subset.
    pub dir: PathBuf,
    /// Side that images of a folder tree are resized to.
    pub image_size: usize,
    /// Whether images of a folder tree keep their colours.
    pub color: bool,
    /// Class folders to use; empty: all.
    pub classes: Vec<String>,
    /// Share of each class of a folder tree kept for the test set.
    pub test_fraction: f64,
    /// Whether devices may hold the same samples.
    pub sharing: Sharing,
    /// How labels are spread over devices.
    pub partition: PartitionKind,
    /// Training samples over all devices together.
    pub data_volume: usize,
    /// Validation samples that controllers may look at.
    pub probe_samples: usize,
    /// Samples of each UAV's own.
    pub personal_samples: usize,
}

/// What is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// A built-in model; ignored when `layers` are given.
    pub name: String,
    /// Size of a parameter on the air, where the codec is f32.
    pub bits_per_parameter: f64,
    /// A model of one's own; empty: the built-in one.
    pub layers: Vec<Layer>,
    /// A safetensors file with the first global model, such as a run's `model.safetensors`; empty: random weights.
    pub start: PathBuf,
}

/// Local SGD and the nested rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Training {
    /// Step size (η).
    pub learning_rate: f64,
    /// Heavy-ball momentum.
    pub momentum: f64,
    /// L2 penalty.
    pub weight_decay: f64,
    /// Samples in a mini-batch; a device with fewer uses all it has.
    pub batch_size: usize,
    /// Most edge rounds in a global round (K^Max).
    pub max_edge_rounds: usize,
}

/// Which UAV merges the edge models, among those with the energy for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregator {
    /// The one with the least sum of distances to the others, Eq. (85).
    Distance,
    /// The one with the least cost of hand-over and broadcast, Eq. (56).
    Cost,
}

/// What a joule and a second are worth to the controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Price of a joule (λ_4).
    pub energy: f64,
    /// Price of a second (λ_5).
    pub time: f64,
}

/// What targets are judged on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetOn {
    /// The test set: for final numbers.
    #[default]
    Test,
    /// The validation samples, which nobody trains on: for tuning, so that the test set decides nothing.
    Validation,
}

impl TargetOn {
    /// As a scenario names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Validation => "validation",
        }
    }
}

/// When a run ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Global rounds at most.
    pub max_rounds: usize,
    /// Stop at this accuracy.
    pub target_accuracy: f64,
    /// Which accuracy is held against `target_accuracy` and `targets`.
    pub target_on: TargetOn,
    /// An accuracy is reached when the mean over so many rounds, the last and those before it, is; 1: the round's own.
    pub smooth: usize,
    /// Stop when the global model moves by no more than this (δ of (4)); 0: never.
    pub convergence_norm: f64,
    /// Accuracies whose cost the summary reports.
    pub targets: Vec<f64>,
}
