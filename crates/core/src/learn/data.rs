//! What a scenario learns from: its data set, how that is divided, and the network that fits it.

use aerofed_data::{Dataset, PartitionPlan, Split};
use aerofed_nn::{ModelSpec, Network, Shape};

use crate::Error;
use crate::scenario::{DataSet, ValidScenario};

/// Loads the data set that a scenario names.
///
/// # Errors
/// When it is not there or damaged.
pub fn load_data(scenario: &ValidScenario) -> Result<Split, Error> {
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
        DataSet::Idx => aerofed_data::idx_folder(&data.dir, None)?,
        DataSet::Images => aerofed_data::image_folder(
            &data.dir,
            &aerofed_data::ImageFolder {
                image_size: data.image_size,
                color: data.color,
                classes: data.classes.clone(),
                test_fraction: data.test_fraction,
            },
        )?,
    })
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
