//! What a scenario learns from: its data set, how that is divided, and the network that fits it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use aerofed_data::{Dataset, Partition, PartitionPlan, Split, Values};
use aerofed_nn::{ModelSpec, Network, Shape};
use sha2::{Digest, Sha256};

use super::holdings::Holdings;
use crate::Error;
use crate::scenario::{DataSet, Learner, Scenario, ScenarioError, Sharing, ValidScenario};

/// A data set in memory, which any number of runs may share.
#[derive(Clone, Debug)]
pub struct Data {
    /// What devices, UAVs and the controller's probe have their samples from.
    pub train: Arc<Dataset>,
    /// What models are tested on.
    pub test: Arc<Dataset>,
    /// What tells the samples from others; none for embedded ones, which cannot change.
    checksum: Option<[u8; 32]>,
}

impl Data {
    /// Loads the data set that a scenario names; only its labels where nobody trains.
    ///
    /// # Errors
    /// When it is not there or damaged.
    pub fn load(scenario: &ValidScenario) -> Result<Self, Error> {
        let data = match scenario.learner {
            Learner::Surrogate => load_labels(scenario)?,
            Learner::Train | Learner::Sampled => load_split(scenario)?,
        };
        let named = !scenario.data.dir.as_os_str().is_empty();
        let checksum = named.then(|| checksum(&data));
        Ok(Self {
            checksum,
            ..Self::from(data)
        })
    }

    /// What a checkpoint is told apart by.
    pub(crate) fn checksum(&self) -> Option<[u8; 32]> {
        self.checksum
    }
}

impl From<Split> for Data {
    /// Data of the caller's own; a run that was set down is taken up whatever they hold.
    fn from(Split { train, test }: Split) -> Self {
        Self {
            train: Arc::new(train),
            test: Arc::new(test),
            checksum: None,
        }
    }
}

/// Loads each data set once, for all runs that ask for it.
#[derive(Debug, Default)]
pub struct DataStore {
    loaded: Mutex<HashMap<String, Data>>,
}

impl DataStore {
    /// A store that has loaded nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The data set that a scenario names; runs that ask at the same time wait for the first to load it.
    ///
    /// # Errors
    /// As [`Data::load`].
    pub fn get(&self, scenario: &ValidScenario) -> Result<Data, Error> {
        let key = source(scenario);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = loaded.get(&key) {
            return Ok(data.clone());
        }
        let data = Data::load(scenario)?;
        loaded.insert(key, data.clone());
        Ok(data)
    }

    /// How many data sets it has loaded.
    #[must_use]
    pub fn loads(&self) -> usize {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.len()
    }
}

/// What a scenario says about where its samples come from: how they are divided is another matter.
fn source(scenario: &ValidScenario) -> String {
    let data = &scenario.data;
    let labels_only = scenario.learner == Learner::Surrogate;
    match data.set {
        DataSet::Mnist | DataSet::FashionMnist | DataSet::Cifar10 | DataSet::Idx => {
            format!("{:?} {:?} {labels_only}", data.set, data.dir)
        }
        DataSet::Images => format!(
            "{:?} {:?} {} {} {:?} {} {labels_only}",
            data.set, data.dir, data.image_size, data.color, data.classes, data.test_fraction
        ),
    }
}

/// What the samples of a folder can be recognised by.
fn checksum(data: &Split) -> [u8; 32] {
    let mut digest = Sha256::new();
    for set in [&data.train, &data.test] {
        let sizes = [
            set.classes(),
            set.channels,
            set.height,
            set.width,
            set.len(),
        ];
        for size in sizes {
            digest.update((size as u64).to_le_bytes());
        }
        digest.update(&set.labels);
        for user in set.users.iter().flat_map(|users| &users.of_sample) {
            digest.update(user.to_le_bytes());
        }
        // Of what the values stand for, not of how they are kept: the sum of a folder stays what it was.
        for start in (0..set.inputs.len()).step_by(4096) {
            let end = set.inputs.len().min(start + 4096);
            let values = set.inputs.part(start..end).unwrap_or_default();
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            digest.update(bytes);
        }
    }
    digest.finalize().into()
}

/// Training samples without their values; there is nothing to test on.
fn load_labels(scenario: &ValidScenario) -> Result<Split, Error> {
    let data = &scenario.data;
    let train = match data.set {
        DataSet::Mnist if data.dir.as_os_str().is_empty() => {
            aerofed_data::embedded_labels(aerofed_data::Embedded::Mnist)?
        }
        DataSet::FashionMnist if data.dir.as_os_str().is_empty() => {
            aerofed_data::embedded_labels(aerofed_data::Embedded::FashionMnist)?
        }
        _ => Dataset {
            inputs: Values::NONE,
            ..load_split(scenario)?.train
        },
    };
    let test = Dataset {
        labels: Vec::new(),
        users: None,
        ..train.clone()
    };
    Ok(Split { train, test })
}

fn load_split(scenario: &ValidScenario) -> Result<Split, Error> {
    let data = &scenario.data;
    let official = |set| {
        if data.dir.as_os_str().is_empty() {
            aerofed_data::embedded(set)
        } else {
            aerofed_data::idx_folder(&data.dir, Some(set))
        }
    };
    Ok(match data.set {
        DataSet::Mnist => official(aerofed_data::Embedded::Mnist)?,
        DataSet::FashionMnist => official(aerofed_data::Embedded::FashionMnist)?,
        DataSet::Cifar10 => aerofed_data::cifar10_folder(&data.dir, true)?,
        DataSet::Idx => aerofed_data::idx_folder(&data.dir, None)?,
        DataSet::Images => aerofed_data::image_folder(&data.dir, &image_options(scenario))?,
    })
}

fn image_options(scenario: &Scenario) -> aerofed_data::ImageFolder {
    let data = &scenario.data;
    aerofed_data::ImageFolder {
        image_size: data.image_size,
        color: data.color,
        classes: data.classes.clone(),
        test_fraction: data.test_fraction,
    }
}

/// The files that [`Data::load`] would read; none for an embedded set.
///
/// # Errors
/// When the folder does not hold such a set.
pub(crate) fn files(scenario: &Scenario) -> Result<Vec<PathBuf>, Error> {
    let data = &scenario.data;
    if data.dir.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    Ok(match data.set {
        DataSet::Mnist | DataSet::FashionMnist | DataSet::Idx => {
            aerofed_data::idx_files(&data.dir)?
        }
        DataSet::Cifar10 => aerofed_data::cifar10_files(&data.dir)?,
        DataSet::Images => aerofed_data::image_files(&data.dir, &image_options(scenario))?,
    })
}

/// Divides a training set as a scenario says. Of devices that share a pool, this is what each of them draws.
///
/// # Errors
/// When it does not hold what the scenario asks for.
pub fn divide(scenario: &ValidScenario, train: &Dataset) -> Result<Partition, Error> {
    Ok(Holdings::new(scenario, train)?.into_partition())
}

/// Why a training set cannot be divided, in the words of the scenario.
pub(super) fn explain(
    error: aerofed_data::Error,
    scenario: &ValidScenario,
    train: &Dataset,
) -> Error {
    let data = &scenario.data;
    if !matches!(error, aerofed_data::Error::NotEnoughSamples { .. }) {
        return error.into();
    }
    let is_subset = data.dir.as_os_str().is_empty() && train.name == set_name(data.set);
    let mut ways = Vec::new();
    if is_subset {
        ways.push(format!(
            "; `aerofed data get {set} --dir data/{set}` fetches the full set, data.dir = \"data/{set}\" uses it",
            set = train.name
        ));
    }
    if data.sharing == Sharing::Disjoint {
        ways.push("; data.sharing = \"pool\" lets devices hold the same samples".into());
    }
    let holder = if is_subset {
        "the embedded subset"
    } else {
        "the set"
    };
    ScenarioError::Field {
        field: "data.data_volume".into(),
        value: data.data_volume.to_string(),
        allowed: format!("what {holder} holds ({error}){}", ways.concat()),
    }
    .into()
}

fn set_name(set: DataSet) -> &'static str {
    match set {
        DataSet::Mnist => aerofed_data::Embedded::Mnist.name(),
        DataSet::FashionMnist => aerofed_data::Embedded::FashionMnist.name(),
        DataSet::Cifar10 | DataSet::Idx | DataSet::Images => "",
    }
}

/// How a scenario divides its data.
#[must_use]
pub fn partition_plan(scenario: &ValidScenario) -> PartitionPlan {
    PartitionPlan {
        kind: scenario.data.partition,
        devices: scenario.devices.count,
        data_volume: scenario.data.data_volume,
        probe_samples: scenario.data.probe_samples,
        uavs: scenario.uavs.count,
        personal_samples: scenario.data.personal_samples,
    }
}

/// The network that a scenario trains on a data set.
///
/// # Errors
/// When the model does not fit the data.
pub fn network_for(scenario: &ValidScenario, data: &Dataset) -> Result<Network, Error> {
    let classes = data.classes();
    let spec = if scenario.model.layers.is_empty() {
        // A valid scenario names a built-in model; a model without layers would be refused below.
        ModelSpec::builtin(&scenario.model.name, classes)
    } else {
        Some(ModelSpec {
            layers: scenario.model.layers.clone(),
        })
    };
    let spec = spec.unwrap_or(ModelSpec { layers: Vec::new() });
    let shape = Shape {
        channels: data.channels,
        height: data.height,
        width: data.width,
    };
    Ok(Network::new(&spec, shape, classes)?)
}
