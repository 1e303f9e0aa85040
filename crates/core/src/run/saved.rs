//! A run set down between two rounds: everything that the next round depends on, as bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aerofed_data::Split;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::decide::association::Quality;
use crate::method::Method;
use crate::record::RoundRecord;
use crate::scenario::Scenario;
use crate::world::{SavedWorld, UavId};
use crate::{Error, checkpoint};

use super::Simulation;
use super::asynchronous::Passes;
use super::scoring::Opinions;

/// No run counts farther: a greater number is made up, and would overflow.
pub(super) const COUNT_MAX: usize = 1 << 48;

/// What a checkpoint holds.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedRun<'a> {
    data_checksum: Option<[u8; 32]>,
    method: SavedMethod,
    round: usize,
    world: SavedWorld,
    quality: Quality,
    opinions: Cow<'a, Opinions>,
    global_model: Cow<'a, [f32]>,
    cumulative_energy_j: f64,
    passes: Cow<'a, Passes>,
    posted: Cow<'a, [UavId]>,
    behind: Cow<'a, BTreeMap<UavId, Vec<f32>>>,
    /// CBOR, because events are written as flat tagged objects, which only a self-describing format reads back.
    records: Vec<u8>,
    wall_clock_s: f64,
}

/// What the decisions of a method keep.
#[derive(Serialize, Deserialize)]
struct SavedMethod {
    name: String,
    association: Vec<u8>,
    allocation: Vec<u8>,
    redeployment: Vec<u8>,
    aggregator: Vec<u8>,
}

impl SavedMethod {
    fn new(method: &Method) -> Self {
        let Method {
            name,
            association,
            allocation,
            redeployment,
            aggregator,
            aggregation: _,
            checks_energy: _,
            schedule: _,
            local: _,
        } = method;
        Self {
            name: name.clone(),
            association: association.save(),
            allocation: allocation.save(),
            redeployment: redeployment.save(),
            aggregator: aggregator.save(),
        }
    }

    fn restore_to(&self, method: &mut Method) -> Result<(), Error> {
        if self.name != method.name {
            return Err(misfit("method", format!("made by `{}`", self.name)));
        }
        method.association.restore(&self.association)?;
        method.allocation.restore(&self.allocation)?;
        method.redeployment.restore(&self.redeployment)?;
        method.aggregator.restore(&self.aggregator)
    }
}

fn misfit(part: &'static str, reason: impl Into<String>) -> Error {
    let reason = reason.into();
    Error::State { part, reason }
}

/// What the samples of a folder can be recognised by; the embedded ones cannot change.
pub(super) fn data_checksum(scenario: &Scenario, data: &Split) -> Option<[u8; 32]> {
    if scenario.data.dir.as_os_str().is_empty() {
        return None;
    }
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
        for values in set.inputs.chunks(4096) {
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            digest.update(bytes);
        }
    }
    Some(digest.finalize().into())
}

impl Simulation {
    /// The run as it stands.
    pub(super) fn save(
        &self,
        method: &Method,
        records: &[RoundRecord],
        wall_clock_s: f64,
    ) -> Vec<u8> {
        // Spelled out: whoever adds a field decides here whether the next round depends on it.
        let Self {
            scenario: _,
            world,
            nature: _,
            trainer: _,
            network: _,
            data_checksum,
            held: _,
            personal_samples: _,
            opinions,
            probe: _,
            quality,
            global_model,
            round,
            cumulative_energy_j,
            passes,
            posted,
            behind,
            silent: _,
        } = self;
        let mut record_bytes = Vec::new();
        // Writing to memory cannot fail, and records hold nothing that CBOR cannot.
        _ = ciborium::into_writer(records, &mut record_bytes);
        checkpoint::encode(&SavedRun {
            data_checksum: *data_checksum,
            method: SavedMethod::new(method),
            round: *round,
            world: world.save(),
            quality: *quality,
            opinions: Cow::Borrowed(opinions),
            global_model: Cow::Borrowed(global_model),
            cumulative_energy_j: *cumulative_energy_j,
            passes: Cow::Borrowed(passes),
            posted: Cow::Borrowed(posted),
            behind: Cow::Borrowed(behind),
            records: record_bytes,
            wall_clock_s,
        })
    }

    /// Takes up what [`save`](Self::save) gave. Returns the rounds so far and the real time they took, s.
    pub(super) fn restore(
        &mut self,
        method: &mut Method,
        saved: &[u8],
    ) -> Result<(Vec<RoundRecord>, f64), Error> {
        let saved: SavedRun = checkpoint::decode("run", saved)?;
        if saved.data_checksum != self.data_checksum {
            let folder = self.scenario.data.dir.display();
            return Err(misfit(
                "data",
                format!("what `data.dir` {folder} holds now is not what the run began with"),
            ));
        }
        let records: Vec<RoundRecord> = ciborium::from_reader(saved.records.as_slice())
            .map_err(|error| misfit("records", error.to_string()))?;
        if let Some(record) = records
            .iter()
            .zip(1..)
            .find(|(record, round)| record.round != *round || !self.could_have_left(record))
        {
            return Err(misfit("records", format!("impossible round {}", record.1)));
        }
        if saved.round != records.len() || saved.global_model.len() != self.global_model.len() {
            return Err(misfit(
                "run",
                format!(
                    "{} rounds, {} of them on record, and a model of {} numbers where {} are due",
                    saved.round,
                    records.len(),
                    saved.global_model.len(),
                    self.global_model.len()
                ),
            ));
        }
        if !self.could_have_heard(&saved.opinions, saved.round) {
            return Err(misfit("opinions", "of other UAVs, devices or models"));
        }
        let (devices, parameters) = (self.held.len(), self.global_model.len());
        if !saved
            .passes
            .fits(self.world.uavs.len(), devices, parameters)
        {
            return Err(misfit("passes", "of other UAVs, devices or models"));
        }
        let known = |uav: &UavId| uav.index() < self.world.uavs.len();
        let fits = |(uav, model): (&UavId, &Vec<f32>)| known(uav) && model.len() == parameters;
        if !(saved.posted.iter().all(known) && saved.behind.iter().all(fits)) {
            return Err(misfit("fleet", "of other UAVs or models"));
        }
        saved.method.restore_to(method)?;
        self.world.restore(saved.world)?;
        self.round = saved.round;
        self.quality = saved.quality;
        self.opinions = saved.opinions.into_owned();
        self.global_model = saved.global_model.into_owned();
        self.cumulative_energy_j = saved.cumulative_energy_j;
        self.passes = saved.passes.into_owned();
        self.posted = saved.posted.into_owned();
        self.behind = saved.behind.into_owned();
        Ok((records, saved.wall_clock_s))
    }

    /// Whether a record is about these UAVs and devices.
    fn could_have_left(&self, record: &RoundRecord) -> bool {
        let devices = self.world.devices.position.len();
        record.updates_lost <= record.updates_computed
            && record.uavs.len() == self.world.uavs.len()
            && record.uavs.iter().zip(&self.world.uavs).all(|(then, now)| {
                then.uav == now.id && then.devices.iter().all(|device| device.index() < devices)
            })
    }
}
