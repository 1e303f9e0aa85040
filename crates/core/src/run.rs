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

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use aerofed_data::{Partition, Split};
use aerofed_nn::Network;

use crate::Error;
use crate::decide::allocation::RoundProgress;
use crate::decide::association::{Scene, flaw};
use crate::learn::aggregation;
use crate::learn::data::{load_data, network_for, partition_plan};
use crate::learn::trainer::{CpuTrainer, Trainer};
use crate::method::Method;
use crate::nature::Nature;
use crate::record::{Event, EventKind, RoundRecord, Sightings, StoppedBy, Summary, TimeItem};
use crate::scenario::ValidScenario;
use crate::seed::{Stream, stream};
use crate::world::World;

mod books;
mod cells;
mod edge;
mod faults;
mod fleet;
mod global;
mod redeploy;

use books::Books;
use cells::CellWork;

/// A run between rounds: everything that the next round depends on.
pub struct Simulation {
    scenario: ValidScenario,
    /// Everybody and everything, for those who watch.
    pub world: World,
    nature: Nature,
    trainer: Box<dyn Trainer>,
    network: Network,
    /// Training samples of each device.
    held: Vec<Vec<u32>>,
    /// Samples that the controller may look at.
    probe: Vec<u32>,
    /// Loss of the global model on them.
    probe_loss: f64,
    global_model: Vec<f32>,
    round: usize,
    cumulative_energy_j: f64,
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
    let started = Instant::now();
    let mut simulation = Simulation::new(scenario, threads)?;
    let mut records = Vec::new();
    let stopped_by = loop {
        let Some(record) = simulation.step(method)? else {
            break StoppedBy::NoUavLeft;
        };
        let interrupted = watch(&record).is_break();
        let over = stop_rule(scenario, &record).or(interrupted.then_some(StoppedBy::Interrupted));
        records.push(record);
        if let Some(reason) = over {
            break reason;
        }
    };
    let mut summary = Summary::new(scenario, &method.name, &records, stopped_by);
    summary.parameters = simulation.network.parameter_count();
    summary.wall_clock_s = started.elapsed().as_secs_f64();
    summary.threads = threads;
    let Simulation {
        global_model: weights,
        network,
        world,
        ..
    } = simulation;
    Ok(Outcome {
        records,
        summary,
        weights,
        network,
        world,
    })
}

fn stop_rule(scenario: &ValidScenario, record: &RoundRecord) -> Option<StoppedBy> {
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
        let Split { train, test } = load_data(scenario)?;
        let network = network_for(scenario, &train)?;
        let mut rng = stream(scenario.seed, Stream::Partition, 0, 0);
        let Partition {
            devices: held,
            probe,
            ..
        } = aerofed_data::partition(&train, &partition_plan(scenario), &mut rng)?;
        let samples = held
            .iter()
            .map(|of_device| of_device.len() as u32)
            .collect();
        let sample_bits = 8.0 * train.input_len() as f64;
        let trainer = CpuTrainer::new(network.clone(), Arc::new(train), Arc::new(test), threads);
        let global_model = network.init(&mut stream(scenario.seed, Stream::ModelInit, 0, 0));
        let probe_loss = trainer.evaluate(&global_model, &probe)?.loss;
        Ok(Self {
            scenario: scenario.clone(),
            world: World::new(scenario, samples, sample_bits),
            nature: Nature::new(scenario),
            trainer: Box::new(trainer),
            global_model,
            network,
            held,
            probe,
            probe_loss,
            round: 0,
            cumulative_energy_j: 0.0,
        })
    }

    /// One global round; none when no UAV is left and none will return.
    ///
    /// # Errors
    /// When the method decides something impossible, or training cannot be done.
    pub fn step(&mut self, method: &mut Method) -> Result<Option<RoundRecord>, Error> {
        let round = self.round + 1;
        let seed = self.scenario.seed;
        let mut books = Books::open(round, &self.world);

        // welcome
        if !self.welcome_back(&mut books) {
            return Ok(None);
        }
        self.round = round;
        if round > 1 {
            self.world.move_devices(&self.nature, seed, round);
        }

        self.lose_before_round(&mut books);

        // decide
        let crashed = self.crashed();
        let coverage = self
            .world
            .coverage_where(|uav| self.serves(uav), |device| !crashed.contains(&device));
        let scene = Scene {
            round,
            world: &self.world,
            coverage: &coverage,
        };
        let selection = method.association.select(
            &scene,
            &mut stream(seed, Stream::Association, round as u64, 0),
        );
        if let Some(reason) = flaw(&selection, &coverage) {
            return Err(Error::Decision {
                method: method.name.clone(),
                reason,
            });
        }
        let mut cells = self.plan_cells(selection, method)?;
        self.drain(&cells, &mut books);
        let unable = match method.checks_energy {
            true => self.refuse_to_start(&mut cells, &mut books),
            false => Vec::new(),
        };

        // edge
        let edge = self.edge_phase(&mut cells, method, &mut books)?;

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
        let round_s = books.time.total_s() - books.time.get(TimeItem::Wait);
        self.world.clock_s += round_s;
        self.leak(round_s, &mut books);

        // farewell
        self.send_home(&unable, &mut books);
        self.send_home(&edge.low, &mut books);

        // test
        if self.global_model.iter().any(|weight| !weight.is_finite()) {
            books.tell(EventKind::Diverged);
        }
        let loss_before = self.probe_loss;
        self.probe_loss = self.trainer.evaluate(&self.global_model, &self.probe)?.loss;
        if merged_anything {
            method.allocation.observe(&RoundProgress {
                edge_rounds: edge.rounds,
                local_iterations: mean_iterations(&cells),
                loss_before,
                loss_after: self.probe_loss,
            });
        }
        let energy = books.total_energy();
        self.cumulative_energy_j += energy.total_j();
        let test = self.trainer.test(&self.global_model)?;
        let uavs = books.close(&self.world, &coverage, &cells, edge.rounds);
        Ok(Some(RoundRecord {
            round,
            clock_s: self.world.clock_s,
            time: books.time,
            cumulative_energy_j: self.cumulative_energy_j,
            energy,
            edge_rounds: edge.rounds,
            covered: coverage.covered(),
            selected: cells.iter().map(|cell| cell.devices.len()).sum(),
            updates_computed: edge.updates_computed,
            updates_lost: books.updates_lost(),
            aggregator: merged.aggregator,
            model_change,
            train_loss: edge.train_loss,
            probe_loss: self.probe_loss,
            test_loss: test.loss,
            test_accuracy: test.accuracy(),
            devices: Sightings::new(&self.world.devices.position, &coverage, &uavs),
            uavs,
            events: std::mem::take(&mut books.events),
        }))
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

impl Books {
    fn tell(&mut self, kind: EventKind) {
        self.events.push(Event {
            round: self.round,
            edge_round: self.edge_round,
            kind,
        });
    }
}
