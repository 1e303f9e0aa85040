//! Which training samples everybody has.

use std::borrow::Cow;

use aerofed_data::{Dataset, Partition, Pool};
use rayon::prelude::*;

use super::data::{explain, partition_plan};
use crate::Error;
use crate::scenario::{Sharing, ValidScenario};
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::DeviceId;

/// What a scenario gives to devices, to UAVs, and to the controller.
pub(crate) struct Holdings {
    pub(crate) devices: DeviceSamples,
    /// Of each UAV's own.
    pub(crate) personal: Vec<Vec<u32>>,
    /// What the controller may look at.
    pub(crate) probe: Vec<u32>,
}

/// The training samples of each device: dealt out once, or drawn from a shared pool whenever somebody asks.
pub(crate) enum DeviceSamples {
    /// Device after device.
    Dealt {
        samples: Vec<u32>,
        /// Where each device's begin, and where the last one's end.
        starts: Vec<usize>,
    },
    Drawn {
        pool: Pool,
        seed: u64,
        devices: usize,
    },
}

impl Holdings {
    /// Divides a training set as a scenario says.
    pub(crate) fn new(scenario: &ValidScenario, train: &Dataset) -> Result<Self, Error> {
        let (seed, plan) = (scenario.seed, partition_plan(scenario));
        let mut rng = stream(seed, Stream::Partition, 0, 0);
        if scenario.data.sharing == Sharing::Disjoint {
            let divided = aerofed_data::partition(train, &plan, &mut rng);
            let divided = divided.map_err(|error| explain(error, scenario, train))?;
            return Ok(Self {
                devices: DeviceSamples::dealt(&divided.devices),
                personal: divided.personal,
                probe: divided.probe,
            });
        }
        let pool = Pool::new(train, &plan, &mut rng);
        let pool = pool.map_err(|error| explain(error, scenario, train))?;
        let personal =
            |uav: usize| pool.personal(&mut stream(seed, Stream::Partition, 2, uav as u64));
        Ok(Self {
            personal: (0..plan.uavs).map(personal).collect(),
            probe: pool.probe().to_vec(),
            devices: DeviceSamples::Drawn {
                pool,
                seed,
                devices: plan.devices,
            },
        })
    }

    /// How many each UAV has.
    pub(crate) fn personal_counts(&self) -> Vec<u32> {
        self.personal.iter().map(|own| own.len() as u32).collect()
    }

    /// All of it as lists.
    pub(crate) fn into_partition(self) -> Partition {
        let ids = 0..self.devices.len() as u32;
        Partition {
            devices: ids
                .map(|id| self.devices.of(DeviceId(id)).into_owned())
                .collect(),
            personal: self.personal,
            probe: self.probe,
        }
    }
}

impl DeviceSamples {
    fn dealt(devices: &[Vec<u32>]) -> Self {
        let mut starts = vec![0];
        for own in devices {
            starts.push(starts[starts.len() - 1] + own.len());
        }
        Self::Dealt {
            samples: devices.concat(),
            starts,
        }
    }

    /// How many devices there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dealt { starts, .. } => starts.len() - 1,
            Self::Drawn { devices, .. } => *devices,
        }
    }

    /// How many samples each device has.
    pub(crate) fn counts(&self) -> Vec<u32> {
        let ids = (0..self.len()).into_par_iter();
        match self {
            Self::Dealt { starts, .. } => {
                ids.map(|id| (starts[id + 1] - starts[id]) as u32).collect()
            }
            Self::Drawn { pool, seed, .. } => ids
                .map(|id| pool.count(id, &mut own_stream(*seed, id)) as u32)
                .collect(),
        }
    }

    /// A device's samples.
    pub(crate) fn of(&self, device: DeviceId) -> Cow<'_, [u32]> {
        let id = device.index();
        match self {
            Self::Dealt { samples, starts } => samples[starts[id]..starts[id + 1]].into(),
            Self::Drawn { pool, seed, .. } => pool.samples(id, &mut own_stream(*seed, id)).into(),
        }
    }
}

/// What a device's samples are drawn with.
fn own_stream(seed: u64, device: usize) -> Random {
    stream(seed, Stream::Partition, 1, device as u64)
}
