//! THE round loop, Algorithm 1: start reading here.
//!
//! ```text
//! one global round
//!   welcome    UAVs that finished charging return; devices move
//!   decide     association (who trains), allocation (H, bandwidth); low UAVs leave before they start
//!   edge       up to K times: devices train, UAVs merge, batteries pay; a low UAV ends the phase
//!   global     edge models go to the aggregator, are merged, and come back
//!   farewell   low UAVs fly home
//!   test       accuracy of the global model, and the record
//! ```

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use aerofed_data::{Partition, Split};
use aerofed_nn::Network;

use crate::Error;
use crate::decide::association::{Needs, Quality, Scene, flaw};
use crate::decide::fitness::Answer;
use crate::learn::aggregation;
use crate::learn::data::{load_data, network_for, partition_plan};
use crate::learn::trainer::{CpuTrainer, Trainer};
use crate::method::{Method, Schedule};
use crate::nature::Nature;
use crate::record::{EventKind, RoundRecord, StoppedBy, Summary, TimeItem};
use crate::scenario::ValidScenario;
use crate::seed::{Stream, stream};
use crate::world::{Coverage, DeviceId, UavId, World};

mod asynchronous;
mod books;
mod cells;
mod closing;
mod edge;
mod faults;
mod flat;
mod fleet;
mod global;
mod redeploy;
mod saved;
mod scoring;
mod whole;

pub use whole::Run;

use asynchronous::Passes;
use books::Books;
use cells::CellWork;
use closing::{CellReport, ClosedRound, RoundWork};
use scoring::Opinions;

/// A run between rounds: everything that the next round depends on.
pub struct Simulation {
    scenario: ValidScenario,
    /// Everybody and everything, for those who watch.
    pub world: World,
    nature: Nature,
    trainer: Box<dyn Trainer>,
    network: Network,
    /// What tells the data from others; none for data that cannot change.
    data_checksum: Option<[u8; 32]>,
    /// Training samples of each device.
    held: Vec<Vec<u32>>,
    /// Training samples of each UAV's own.
    personal_samples: Vec<Vec<u32>>,
    /// What models said about small batches; empty until a method needs it.
    opinions: Opinions,
    /// Samples that the controller may look at.
    probe: Vec<u32>,
    /// How the global model does on them.
    quality: Quality,
    global_model: Vec<f32>,
    round: usize,
    cumulative_energy_j: f64,
    /// What asynchronous cells are in the middle of; empty under other schedules.
    passes: Passes,
    /// UAVs among whom the area was last divided.
    posted: Vec<UavId>,
    /// Older global models, of UAVs that the last broadcasts did not reach.
    behind: BTreeMap<UavId, Vec<f32>>,
    /// Links between UAVs that are out in this round, see `silent_links`.
    silent: HashSet<[u32; 2]>,
}

/// A round whose devices are still to be chosen.
pub(crate) struct Opening {
    needs: Needs,
    books: Books,
    coverage: Coverage,
    answers: Vec<Vec<Answer>>,
}

/// What a finished run leaves.
pub struct Outcome {
    /// Every round.
    pub records: Vec<RoundRecord>,
    /// The run in one object.
    pub summary: Summary,
    /// The global model.
    pub weights: Vec<f32>,
    /// What the weights belong to.
    pub network: Network,
    /// How everybody stood at the end.
    pub world: World,
}

/// Runs a scenario to its end on all cores. `watch` sees every round and may end the run.
///
/// # Errors
/// When the data cannot be loaded, the model does not fit it, or the method decides something
/// impossible.
pub fn run(
    scenario: &ValidScenario,
    method: &mut Method,
    watch: impl FnMut(&RoundRecord) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    run_on(scenario, method, threads, watch)
}

/// [`run`] on a given number of threads; the results are the same for any number.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    scenario: &ValidScenario,
    method: &mut Method,
    threads: usize,
    mut watch: impl FnMut(&RoundRecord) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let mut run = Run::new(scenario, threads)?;
    while let Some(record) = run.step(method)? {
        if watch(record).is_break() {
            break;
        }
    }
    Ok(run.finish(method))
}

pub(crate) fn stop_rule(scenario: &ValidScenario, record: &RoundRecord) -> Option<StoppedBy> {
    let stop = &scenario.stop;
    if record
        .events
        .iter()
        .any(|event| event.kind == EventKind::Diverged)
    {
        Some(StoppedBy::Diverged)
    } else if record.test_accuracy >= stop.target_accuracy {
        Some(StoppedBy::TargetAccuracy)
    } else if record.aggregator.is_some()
        && stop.convergence_norm > 0.0
        && record.model_change <= stop.convergence_norm
    {
        Some(StoppedBy::Converged)
    } else if record.round >= stop.max_rounds {
        Some(StoppedBy::MaxRounds)
    } else {
        None
    }
}

impl Simulation {
    /// Loads the data, divides it, draws the world and the first model.
    ///
    /// # Errors
    /// When the data cannot be loaded or divided, or the model does not fit it.
    pub fn new(scenario: &ValidScenario, threads: usize) -> Result<Self, Error> {
        let data = load_data(scenario)?;
        let data_checksum = saved::data_checksum(scenario, &data);
        let Split { train, test } = data;
        let network = network_for(scenario, &train)?;
        let mut rng = stream(scenario.seed, Stream::Partition, 0, 0);
        let Partition {
            devices: held,
            personal: personal_samples,
            probe,
        } = aerofed_data::partition(&train, &partition_plan(scenario), &mut rng)?;
        let samples = held
            .iter()
            .map(|of_device| of_device.len() as u32)
            .collect();
        let sample_bits = 8.0 * train.input_len() as f64;
        let trainer = CpuTrainer::new(network.clone(), Arc::new(train), Arc::new(test), threads);
        let global_model = network.init(&mut stream(scenario.seed, Stream::ModelInit, 0, 0));
        let quality = trainer.evaluate(&global_model, &probe)?.into();
        let world = World::new(scenario, samples, sample_bits);
        let posted = world.uavs.iter().map(|uav| uav.id).collect();
        Ok(Self {
            scenario: scenario.clone(),
            world,
            nature: Nature::new(scenario),
            trainer: Box::new(trainer),
            global_model,
            network,
            data_checksum,
            held,
            personal_samples,
            opinions: Opinions::default(),
            probe,
            quality,
            round: 0,
            cumulative_energy_j: 0.0,
            passes: Passes::default(),
            posted,
            behind: BTreeMap::new(),
            silent: HashSet::new(),
        })
    }

    /// One global round; none when no UAV is left and none will return.
    ///
    /// # Errors
    /// When the method decides something impossible, or training cannot be done.
    pub fn step(&mut self, method: &mut Method) -> Result<Option<RoundRecord>, Error> {
        let asynchronous = matches!(method.schedule, Schedule::Asynchronous { .. });
        if asynchronous && method.association.needs().answers {
            return Err(Error::Decision {
                method: method.name.clone(),
                reason: "an asynchronous fleet has no moment to compare models in".into(),
            });
        }
        let Some(opening) = self.open_round(method.association.needs())? else {
            return Ok(None);
        };
        let closed = if asynchronous {
            self.asynchronous_round(opening, method)?
        } else {
            let key = self.round as u64;
            let mut rng = stream(self.scenario.seed, Stream::Association, key, 0);
            let selection = method.association.select(&self.scene(&opening), &mut rng);
            self.close_round(opening, selection, method)?
        };
        method.association.observe(&closed.outcome());
        Ok(Some(closed.record))
    }

    /// The round until the choice of devices: who returns, who moved, who covers whom, and what
    /// UAVs find out about devices. None when no UAV is left and none will return.
    pub(crate) fn open_round(&mut self, needs: Needs) -> Result<Option<Opening>, Error> {
        let round = self.round + 1;
        let mut books = Books::open(round, &self.world);

        // welcome
        if !self.welcome_back(&mut books) {
            return Ok(None);
        }
        self.round = round;
        self.silent = self.silent_links();
        if round > 1 {
            self.world
                .move_devices(&self.nature, self.scenario.seed, round);
        }
        self.lose_before_round(&mut books);

        let mut coverage = self.working_coverage();
        let mut answers = Vec::new();
        if needs.answers {
            let bore_training = self.prepare_personal_models(&mut books)?;
            let bore_comparing = self.pay_for_comparing(&coverage, &mut books);
            if !(bore_training && bore_comparing) {
                coverage = self.working_coverage();
            }
            answers = self.answers(&coverage)?;
        }
        Ok(Some(Opening {
            needs,
            books,
            coverage,
            answers,
        }))
    }

    /// What the controller sees when it chooses devices.
    pub(crate) fn scene<'a>(&'a self, opening: &'a Opening) -> Scene<'a> {
        Scene {
            round: self.round,
            world: &self.world,
            coverage: &opening.coverage,
            answers: &opening.answers,
            altitude_m: self.nature.altitude_m,
            quality: self.quality,
        }
    }

    /// Who covers whom among UAVs and devices that no fault keeps from working.
    fn working_coverage(&self) -> Coverage {
        let crashed = self.crashed();
        self.world
            .coverage_where(|uav| self.serves(uav), |device| !crashed.contains(&device))
    }

    /// The round from the choice of devices on.
    pub(crate) fn close_round(
        &mut self,
        opening: Opening,
        selection: Vec<Vec<DeviceId>>,
        method: &mut Method,
    ) -> Result<ClosedRound, Error> {
        let Opening {
            needs,
            mut books,
            coverage,
            ..
        } = opening;
        if let Some(reason) = flaw(&selection, &coverage) {
            return Err(Error::Decision {
                method: method.name.clone(),
                reason,
            });
        }
        let mut cells = self.plan_cells(selection, method)?;
        for (cell, uav) in cells.iter_mut().zip(&self.world.uavs) {
            cell.start = self.behind.get(&uav.id).cloned();
        }
        self.drain(&cells, &mut books);
        if method.checks_energy {
            let unable = self.refuse_to_start(&mut cells, &mut books);
            self.send_home(&unable, &mut books);
        }

        // edge
        let edge = self.edge_phase(&mut cells, method, &mut books)?;
        let device_outcomes = self.device_outcomes(&cells);
        let cell_outcomes = self.cell_outcomes(&cells, needs)?;

        if needs.answers {
            self.keep_opinions(&edge.last_updates)?;
            self.refresh_personal_models()?;
        }

        // global
        let merged = self.global_phase(&mut cells, &edge, method, &mut books);
        let merged_anything = merged.model.is_some();
        let model_change = merged
            .model
            .as_ref()
            .map_or(0.0, |new| aggregation::distance(new, &self.global_model));
        self.global_model = merged
            .model
            .unwrap_or_else(|| std::mem::take(&mut self.global_model));
        if needs.answers {
            let leaving: Vec<UavId> = edge.low.iter().map(|leaver| leaver.uav).collect();
            self.pay_for_refreshing(&leaving, &mut books);
        }
        let round_s = books.time.total_s() - books.time.get(TimeItem::Wait);
        let flights_s = books.time.get(TimeItem::Move);
        self.world.clock_s += round_s;
        self.leak(round_s, &mut cells, &mut books);

        // farewell
        self.send_home(&edge.low, &mut books);

        let local_iterations = mean_iterations(&cells);
        let cells = cells.into_iter().map(|cell| CellReport {
            edge_time_s: cell.edge_time_s(),
            local_iterations: cell.plan.local_iterations,
            devices: cell.devices,
        });
        let work = RoundWork {
            cells: cells.collect(),
            edge_rounds: edge.rounds,
            local_iterations,
            updates_computed: edge.updates_computed,
            train_loss: edge.train_loss,
            aggregator: merged.aggregator,
            merged_anything,
            model_change,
            time_s: round_s - flights_s,
            coverage,
            cell_outcomes,
            device_outcomes,
        };
        self.test_and_record(work, books, method)
    }

    /// The global model as it stands.
    #[must_use]
    pub fn global_model(&self) -> &[f32] {
        &self.global_model
    }

    /// Size of a model on the air, bit.
    fn model_bits(&self) -> f64 {
        self.network.parameter_count() as f64 * self.scenario.model.bits_per_parameter
    }
}

/// H of the average device.
fn mean_iterations(cells: &[CellWork]) -> f64 {
    let devices: usize = cells.iter().map(|cell| cell.devices.len()).sum();
    let steps: usize = cells
        .iter()
        .map(|cell| cell.devices.len() * cell.plan.local_iterations)
        .sum();
    steps as f64 / devices as f64
}
