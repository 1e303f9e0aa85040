//! THE round loop, Algorithm 1: start reading here, at [`Simulation::step`] and `algorithm_1`.
//!
//! ```text
//! one global round
//!   return     UAVs that finished charging are back; devices move; links are drawn
//!   score      UAVs compare their personal models with those of devices (methods that ask for it)
//!   select     association: who trains with whom (P2)
//!   plan       allocation: H and bandwidth (P1); UAVs too low to start leave
//!   edge       up to K times: devices train, UAVs merge, batteries pay; a low UAV ends the phase
//!   redeploy   those who stay fly to new positions when somebody left or came back, if that is worth it (P3)
//!   aggregate  edge models go to the aggregator, are merged, and come back
//!   leave      low UAVs fly home
//!   test       accuracy of the global model, and the record
//! ```
//!
//! A run has a fleet (world, links, faults, batteries: `fleet.rs`) and a learning part (devices, models, merging:
//! `learning.rs`). Phases are functions that name what they are given. Every second and every joule goes into the books that
//! are passed along.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use aerofed_nn::Network;
use rayon::prelude::*;
use safetensors::tensor::{Dtype, TensorView};

use crate::Error;
use crate::decide::association::{Needs, Scene};
use crate::learn::Task;
use crate::method::{Method, Schedule};
use crate::record::{EventKind, RoundRecord, StoppedBy, Summary};
use crate::scenario::ValidScenario;
use crate::vocabulary::{Bill, EnergyItem, TimeItem, UavId};
use crate::world::World;

mod aggregate;
mod builder;
mod cells;
mod cellwise;
mod closing;
mod edge;
mod faults;
mod fleet;
mod flights;
mod heard;
mod in_turn;
mod label_mixes;
mod learning;
mod leaving;
mod outlook;
mod planning;
mod redeploy;
mod saved;
mod schedule;
mod scoring;
mod scoring_costs;
mod stage;
#[cfg(test)]
mod tests;
mod uav_links;
mod weighing;
mod whole;
mod worth;

pub use builder::Builder;
pub use whole::Run;

use crate::books::CellReport;
use aggregate::{Deciding, aggregate};
use cells::{CellWork, refuse_to_start, who_leaves};
use closing::ClosedRound;
use edge::{cell_outcome, device_outcomes, edge_rounds};
use fleet::Fleet;
use learning::Learning;
use planning::Planner;
use redeploy::redeploy;
use schedule::{Scheduler, scheduler};
pub(crate) use stage::Opening;
use stage::{Decisions, RoundWork, Stage, Terms};

/// A run between rounds: everything that the next round depends on.
pub struct Simulation {
    scenario: Arc<ValidScenario>,
    fleet: Fleet,
    learning: Learning,
    /// Runs the method's schedule; made when a method is first seen.
    scheduler: Option<(Schedule, Box<dyn Scheduler>)>,
    cumulative_energy_j: f64,
    /// What the weights belong to; none where the caller brought a model of another kind.
    network: Option<Network>,
    /// What tells the data from others; none for data that cannot change.
    data_checksum: Option<[u8; 32]>,
    /// The name of the engine; none where no engine of ours trains.
    trained_on: Option<String>,
    threads: usize,
}

/// What a finished run leaves.
pub struct Outcome {
    /// Every round.
    pub records: Vec<RoundRecord>,
    /// The run in one object.
    pub summary: Summary,
    /// The global model.
    pub weights: Vec<f32>,
    /// What the weights belong to; none where the caller brought a model of another kind.
    pub network: Option<Network>,
    /// How everybody stood at the end.
    pub world: World,
}

impl Outcome {
    /// The global model as a safetensors file: layer by layer, or as one tensor `model` where the network is not known.
    ///
    /// # Errors
    /// When the weights do not fit the network.
    pub fn model_file(&self) -> Result<Vec<u8>, Error> {
        model_file(self.network.as_ref(), &self.weights)
    }
}

/// A model as a safetensors file.
fn model_file(network: Option<&Network>, weights: &[f32]) -> Result<Vec<u8>, Error> {
    if let Some(network) = network {
        let no_remarks = BTreeMap::new();
        return Ok(aerofed_nn::to_safetensors(network, weights, &no_remarks)?);
    }
    let bytes: Vec<u8> = weights.iter().flat_map(|w| w.to_le_bytes()).collect();
    let misfit = |error: safetensors::SafeTensorError| Error::State {
        part: "model",
        reason: error.to_string(),
    };
    let shape = vec![weights.len()];
    let tensor = TensorView::new(Dtype::F32, shape, &bytes).map_err(misfit)?;
    safetensors::serialize([("model", tensor)], None).map_err(misfit)
}

/// Runs a scenario to its end on all cores. `watch` sees every round and may end the run.
///
/// # Errors
/// When the data cannot be loaded, the model does not fit it, or the method decides something
/// impossible.
pub fn run(
    scenario: &ValidScenario,
    method: &mut Method,
    mut watch: impl FnMut(&RoundRecord) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let mut run = Run::new(Simulation::builder(scenario).build()?);
    while let Some(record) = run.step(method)? {
        if watch(record).is_break() {
            break;
        }
    }
    Ok(run.finish(method))
}

/// `accuracies`: what targets are judged by, of this round and those before it; the last `stop.smooth` will do.
pub(crate) fn stop_rule(
    scenario: &ValidScenario,
    record: &RoundRecord,
    accuracies: &[f64],
) -> Option<StoppedBy> {
    let stop = &scenario.stop;
    if record
        .events
        .iter()
        .any(|event| event.kind == EventKind::Diverged)
    {
        Some(StoppedBy::Diverged)
    } else if stop.is_reached(accuracies) {
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
    /// A simulation of a scenario; parts of it can be replaced by the caller's own.
    pub fn builder(scenario: &ValidScenario) -> Builder<'_> {
        Builder::new(scenario)
    }

    /// One global round; none when no UAV is left and none will return.
    ///
    /// # Errors
    /// When the method decides something impossible, or training cannot be done.
    pub fn step(&mut self, method: &mut Method) -> Result<Option<RoundRecord>, Error> {
        let needs = method.association.needs();
        let Some(opening) = self.open_round(method, needs)? else {
            return Ok(None);
        };
        let closed = self.close_round(opening, method)?;
        method.association.observe(&closed.outcome());
        if let Some(reason) = method.failure.as_ref().and_then(|failure| failure()) {
            return Err(Error::Decision {
                method: method.name.clone(),
                reason,
            });
        }
        Ok(Some(closed.record))
    }

    /// The round until the choice of devices: who returns, who moved, who covers whom over which links, and what
    /// UAVs find out about devices. None when no UAV is left and none will return.
    pub(crate) fn open_round(
        &mut self,
        method: &Method,
        needs: Needs,
    ) -> Result<Option<Opening>, Error> {
        self.meet(method, needs)?;
        let (fleet, learning) = (&mut self.fleet, &mut self.learning);
        let mut books = fleet.open_books();

        // return
        let Some(back) = fleet.let_back_in(&mut books) else {
            return Ok(None);
        };
        for uav in back {
            learning.stale_models.remove(&uav);
        }
        fleet.begin_round();
        let weighs = fleet.weighs_flights(method);
        let watches = needs.edge_models || method.allocation.watches_progress() || weighs;
        fleet.set_probing(needs.edge_models, watches);
        if let Some((_, scheduler)) = &mut self.scheduler {
            fleet.lose_before_round(&mut **scheduler, &mut books);
        }
        let mut links = None;
        let mut coverage = fleet.working_coverage(&mut links, &mut books);
        if weighs {
            let posts = fleet.world.active().map(|uav| (uav.id, uav.position));
            fleet.outlook.see(posts.collect(), &coverage);
        }

        // score
        let mut answers = Vec::new();
        if needs.answers {
            let checks_energy = method.checks_energy;
            let mut anybody_gone = false;
            let asks = learning.scoring.asks_in(fleet.round, needs);
            if !learning.scoring.is_ready() {
                let mut training = Vec::new();
                if asks {
                    let samples = &learning.task.personal_samples;
                    let paid = fleet.pay_for_preparing(samples, checks_energy, &mut books);
                    anybody_gone |= fleet.see_off(paid, &mut books);
                    training.extend(fleet.world.active().map(|uav| uav.id));
                }
                learning.prepare_scoring(&training, fleet.round)?;
            }
            if asks {
                let drawn = links.get_or_insert_default();
                let scoring = &learning.scoring;
                let is_new = |device| scoring.is_new(device);
                let paid =
                    fleet.pay_for_comparing(&coverage, drawn, is_new, checks_energy, &mut books);
                anybody_gone |= fleet.see_off(paid, &mut books);
            }
            if anybody_gone {
                coverage = fleet.working_coverage(&mut links, &mut books);
            }
            answers = learning.answers(&coverage, needs, fleet.round)?;
        }
        Ok(Some(Opening {
            needs,
            books,
            coverage,
            links: links.unwrap_or_default(),
            answers,
        }))
    }

    /// What the controller sees when it chooses devices.
    pub(crate) fn scene<'a>(&'a self, opening: &'a Opening) -> Scene<'a> {
        opening.scene(&self.fleet, &self.learning)
    }

    /// The round from the choice of devices on.
    pub(crate) fn close_round(
        &mut self,
        opening: Opening,
        method: &mut Method,
    ) -> Result<ClosedRound, Error> {
        let Some((_, scheduler)) = &mut self.scheduler else {
            return Err(Error::Decision {
                method: method.name.clone(),
                reason: "a round that was not opened".into(),
            });
        };
        let work = scheduler.round(Stage {
            fleet: &mut self.fleet,
            learning: &mut self.learning,
            decisions: Decisions::of(method),
            opening,
        })?;
        self.test_and_record(work, method)
    }

    /// Makes what runs the method's schedule, unless it is there already.
    fn meet(&mut self, method: &Method, needs: Needs) -> Result<(), Error> {
        if self
            .scheduler
            .as_ref()
            .is_none_or(|(of, _)| *of != method.schedule)
        {
            let new = scheduler(method.schedule, self.fleet.world.uavs.len());
            self.scheduler = Some((method.schedule, new));
        }
        let refused = self.scheduler.as_ref().and_then(|(_, s)| s.refuses(needs));
        match refused {
            None => Ok(()),
            Some(reason) => Err(Error::Decision {
                method: method.name.clone(),
                reason: reason.into(),
            }),
        }
    }

    /// Everybody and everything, for those who watch.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.fleet.world
    }

    /// The global model as it stands.
    #[must_use]
    pub fn global_model(&self) -> &[f32] {
        &self.learning.global_model
    }

    /// The same as a safetensors file, as [`Outcome::model_file`] writes it.
    ///
    /// # Errors
    /// When the weights do not fit the network.
    pub fn model_file(&self) -> Result<Vec<u8>, Error> {
        model_file(self.network.as_ref(), &self.learning.global_model)
    }

    /// What is learned, in numbers.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.learning.task
    }
}

/// A round of Algorithm 1, from the choice of devices to the new global model: everybody waits for everybody.
fn algorithm_1(stage: Stage, terms: Terms) -> Result<RoundWork, Error> {
    let Stage {
        fleet,
        learning,
        mut decisions,
        opening,
    } = stage;

    // select
    let (seed, round) = (fleet.scenario.seed, fleet.round);
    let selection = decisions.select(&opening.scene(fleet, learning), seed, round)?;
    let Opening {
        needs,
        mut books,
        coverage,
        links,
        ..
    } = opening;

    // plan
    let planner = Planner {
        fleet,
        links: &links,
        terms,
        books: &books,
    };
    let mut cells = planner.plan(selection, &mut decisions)?;
    cells.par_iter_mut().enumerate().for_each(|(uav, cell)| {
        let uav = UavId(uav as u32);
        fleet.look_ahead(uav, cell, fleet.now_s(uav, &books), terms.edge_rounds);
    });
    fleet.drain(&cells, &mut books);
    if decisions.checks_energy {
        let unable = refuse_to_start(fleet, &mut cells, &mut books);
        fleet.send_home(&unable, &mut books);
    }

    // edge
    let edge = edge_rounds(
        fleet, learning, &mut cells, terms, &decisions, needs, &mut books,
    )?;
    let device_outcomes = device_outcomes(fleet, &cells);
    let uavs = (0..).map(UavId).zip(&cells);
    let cell_outcomes = uavs
        .map(|(uav, cell)| cell_outcome(learning, uav, cell, needs))
        .collect::<Result<Vec<_>, Error>>()?;
    let probed = cell_outcomes
        .iter()
        .filter(|cell| cell.edge_model.is_some());
    for uav in probed.map(|cell| cell.uav) {
        let bill = Bill::beside(fleet.probing.edge_j);
        let cell = &mut cells[uav.index()];
        fleet.charge(uav, cell, EnergyItem::Scoring, bill, &mut books);
    }

    // redeploy
    let mut low = edge.low;
    let redeployment = &mut *decisions.redeployment;
    let flights = redeploy(fleet, learning, &mut cells, &low, redeployment, &mut books);

    // aggregate
    let deciding = Deciding {
        choice: &mut *decisions.aggregator,
        aggregation: decisions.aggregation,
        checks_energy: decisions.checks_energy,
    };
    let merged = aggregate(
        fleet, learning, &mut cells, &flights, &mut low, deciding, &mut books,
    );
    if let Some(aggregator) = merged.aggregator {
        let bill = Bill::beside(fleet.probing.global_j);
        let cell = &mut cells[aggregator.index()];
        fleet.charge(aggregator, cell, EnergyItem::Scoring, bill, &mut books);
    }
    if needs.answers {
        let mut training = Vec::new();
        if learning.scoring.asks_in(round + 1, needs) {
            let (samples, epochs) = (&learning.task.personal_samples, learning.refresh_epochs());
            let checks_energy = decisions.checks_energy;
            let paid = fleet.pay_for_refreshing(samples, epochs, &low, checks_energy, &mut books);
            low.extend(paid.unable);
            let leaves = who_leaves(&low, cells.len());
            let there = fleet.world.active().map(|uav| uav.id);
            training.extend(there.filter(|id| !leaves[id.index()]));
        }
        let trained = edge.outputs.iter().map(|(device, _)| *device);
        fleet.pay_for_own_outputs(trained, &mut books);
        learning.update_scoring(edge.outputs, &training, round)?;
    }
    let merged_anything = merged.model.is_some();
    let model_change = learning.replace_global_model(merged.model, merged.missed, &merged.reached);
    let round_s = books.time.total_s() - books.time.get(TimeItem::Wait);
    let span = (fleet.began_s(&books), books.time.total_s());
    low.extend(fleet.fly_on(span, &cells, decisions.checks_energy, &mut books));
    books.end_round(&mut fleet.world.uavs, books.time.total_s());
    fleet.world.clock_s += round_s;
    fleet.leak(round_s, &mut cells, &mut books);
    fleet.harvest(round_s, &mut books);

    // leave
    fleet.send_home(&low, &mut books);

    let local_iterations = mean_iterations(&cells);
    let cells = cells.into_iter().map(|cell| CellReport {
        edge_time_s: cell.edge_time_s(),
        local_iterations: cell.plan.local_iterations,
        devices: cell.devices,
    });
    Ok(RoundWork {
        cells: cells.collect(),
        edge_rounds: edge.rounds,
        local_iterations,
        updates_computed: edge.updates_computed,
        train_loss: edge.train_loss,
        aggregator: merged.aggregator,
        merged_anything,
        model_change,
        time_s: round_s - books.time.get(TimeItem::Move),
        coverage,
        cell_outcomes,
        device_outcomes,
        books,
    })
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
