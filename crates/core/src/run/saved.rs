//! A run set down between two rounds: everything that the next round depends on, as bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::learn::codec::Residuals;
use crate::method::Method;
use crate::record::RoundRecord;
use crate::vocabulary::{Quality, UavId};
use crate::world::SavedWorld;
use crate::{Error, checkpoint};

use super::Simulation;
use super::fleet::Fleet;
use super::learning::Learning;
use super::outlook::Outlook;
use super::schedule::scheduler;
use super::scoring::Scoring;

/// No run counts farther: a greater number is made up, and would overflow.
pub(super) const COUNT_MAX: usize = 1 << 48;

/// What a checkpoint holds.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedRun<'a> {
    data_checksum: Option<[u8; 32]>,
    trained_on: Cow<'a, Option<String>>,
    method: SavedMethod,
    /// What devices keep; nothing for those of the program.
    devices: Vec<u8>,
    /// Of what runs the schedule; none before the first round.
    schedule: Option<Vec<u8>>,
    round: usize,
    world: SavedWorld,
    quality: Quality,
    scoring: Cow<'a, Scoring>,
    global_model: Cow<'a, [f32]>,
    cumulative_energy_j: f64,
    deployed: Cow<'a, [UavId]>,
    outlook: Cow<'a, Outlook>,
    stale_models: Cow<'a, BTreeMap<UavId, Vec<f32>>>,
    residuals: Cow<'a, Residuals>,
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
    aggregation: Vec<u8>,
}

impl SavedMethod {
    fn new(method: &Method) -> Self {
        let Method {
            name,
            association,
            allocation,
            redeployment,
            aggregator,
            aggregation,
            checks_energy: _,
            hands_over: _,
            schedule: _,
            local: _,
            failure: _,
        } = method;
        Self {
            name: name.clone(),
            association: association.save(),
            allocation: allocation.save(),
            redeployment: redeployment.save(),
            aggregator: aggregator.save(),
            aggregation: aggregation.save(),
        }
    }

    fn restore_to(&self, method: &mut Method) -> Result<(), Error> {
        if self.name != method.name {
            return Err(misfit("method", format!("made by `{}`", self.name)));
        }
        method.association.restore(&self.association)?;
        method.allocation.restore(&self.allocation)?;
        method.redeployment.restore(&self.redeployment)?;
        method.aggregator.restore(&self.aggregator)?;
        method.aggregation.restore(&self.aggregation)
    }
}

fn misfit(part: &'static str, reason: impl Into<String>) -> Error {
    let reason = reason.into();
    Error::State { part, reason }
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
            fleet,
            learning,
            scheduler,
            cumulative_energy_j,
            network: _,
            data_checksum,
            trained_on,
            threads: _,
        } = self;
        let Fleet {
            scenario: _,
            world,
            nature: _,
            model_bits: _,
            update_bits: _,
            sample_bits: _,
            round,
            deployed,
            outlook,
            failed_links: _,
            probing: _,
            slowest_links: _,
        } = fleet;
        let Learning {
            scenario: _,
            task: _,
            devices,
            evaluator: _,
            global_model,
            quality,
            stale_models,
            air,
            scoring,
        } = learning;
        let mut record_bytes = Vec::new();
        // Writing to memory cannot fail, and records hold nothing that CBOR cannot.
        _ = ciborium::into_writer(records, &mut record_bytes);
        checkpoint::encode(&SavedRun {
            data_checksum: *data_checksum,
            trained_on: Cow::Borrowed(trained_on),
            method: SavedMethod::new(method),
            devices: devices.save(),
            schedule: scheduler.as_ref().map(|(_, scheduler)| scheduler.save()),
            round: *round,
            world: world.save(),
            quality: *quality,
            scoring: Cow::Borrowed(scoring),
            global_model: Cow::Borrowed(global_model),
            cumulative_energy_j: *cumulative_energy_j,
            deployed: Cow::Borrowed(deployed),
            outlook: Cow::Borrowed(outlook),
            stale_models: Cow::Borrowed(stale_models),
            residuals: Cow::Borrowed(air.residuals()),
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
        if *saved.trained_on != self.trained_on {
            let name =
                |of: &Option<String>| of.clone().unwrap_or_else(|| "parts of the caller's".into());
            let (then, now) = (name(&saved.trained_on), name(&self.trained_on));
            return Err(misfit(
                "engine",
                format!(
                    "it was trained on {then}, this is {now}: results would differ in the last bits (`--device` says what trains)"
                ),
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
        let parameters = self.learning.task.model_values;
        if saved.round != records.len() || saved.global_model.len() != parameters {
            return Err(misfit(
                "run",
                format!(
                    "{} rounds, {} of them on record, and a model of {} numbers where {parameters} are due",
                    saved.round,
                    records.len(),
                    saved.global_model.len(),
                ),
            ));
        }
        if !self.learning.could_have_scored(&saved.scoring, saved.round) {
            return Err(misfit("scoring", "of other UAVs, devices or models"));
        }
        let uavs = self.fleet.world.uavs.len();
        let known = |uav: &UavId| uav.index() < uavs;
        let fits = |(uav, model): (&UavId, &Vec<f32>)| known(uav) && model.len() == parameters;
        if !(saved.deployed.iter().all(known) && saved.stale_models.iter().all(fits)) {
            return Err(misfit("fleet", "of other UAVs or models"));
        }
        let devices = self.learning.task.device_samples.len();
        if !(self.learning.air).could_have_kept(&saved.residuals, devices, uavs, parameters) {
            return Err(misfit("codec", "of other senders or models"));
        }
        if !saved.outlook.fits(saved.round, uavs, devices) {
            return Err(misfit("outlook", "of other rounds, UAVs or devices"));
        }
        let restored = saved.schedule.map(|saved| {
            let mut new = scheduler(method.schedule, uavs);
            new.restore(&saved, uavs, devices, parameters)?;
            Ok::<_, Error>((method.schedule, new))
        });
        let restored = restored.transpose()?;
        saved.method.restore_to(method)?;
        self.learning.devices.restore(&saved.devices)?;
        self.fleet.world.restore(saved.world)?;
        self.scheduler = restored;
        self.fleet.round = saved.round;
        self.fleet.deployed = saved.deployed.into_owned();
        self.fleet.outlook = saved.outlook.into_owned();
        self.learning.quality = saved.quality;
        self.learning.scoring = saved.scoring.into_owned();
        self.learning.global_model = saved.global_model.into_owned();
        self.learning.stale_models = saved.stale_models.into_owned();
        self.learning.air.restore(saved.residuals.into_owned());
        self.cumulative_energy_j = saved.cumulative_energy_j;
        Ok((records, saved.wall_clock_s))
    }

    /// Whether a record is about these UAVs and devices.
    fn could_have_left(&self, record: &RoundRecord) -> bool {
        let world = &self.fleet.world;
        let devices = world.devices.position.len();
        record.updates_lost <= record.updates_computed
            && record.uavs.len() == world.uavs.len()
            && record.uavs.iter().zip(&world.uavs).all(|(then, now)| {
                then.uav == now.id && then.devices.iter().all(|device| device.index() < devices)
            })
    }
}
