//! Edge rounds: devices train, UAVs merge, batteries pay.

use rayon::prelude::*;

use crate::Error;
use crate::decide::association::{CellOutcome, DeviceOutcome, Needs};
use crate::learn::batches;
use crate::learn::trainer::{Job, Update};
use crate::method::{Method, Schedule};
use crate::record::{EnergyItem, EventKind};
use crate::seed::{Stream, stream};
use crate::world::{DeviceId, Uav, UavId};

use super::Simulation;
use super::books::Books;
use super::cells::{CellWork, Leaver};
use super::flat;

/// What the edge rounds of a global round came to.
pub(super) struct EdgeOutcome {
    /// K.
    pub(super) rounds: usize,
    /// UAVs that must go home after the aggregation, Eq. (15).
    pub(super) low: Vec<Leaver>,
    pub(super) updates_computed: usize,
    /// Mean over devices and steps; NaN when nobody trained.
    pub(super) train_loss: f64,
    /// Local models after the last edge round.
    pub(super) last_updates: Vec<(DeviceId, Update)>,
}

impl Simulation {
    /// Trains until K^Max edge rounds are done or a UAV runs low, Eq. (16).
    pub(super) fn edge_phase(
        &mut self,
        cells: &mut [CellWork],
        method: &Method,
        books: &mut Books,
    ) -> Result<EdgeOutcome, Error> {
        let mut outcome = EdgeOutcome {
            rounds: 0,
            low: Vec::new(),
            updates_computed: 0,
            train_loss: 0.0,
            last_updates: Vec::new(),
        };
        if !cells.iter().any(CellWork::trains) {
            books.tell(EventKind::NobodyTrained);
            outcome.train_loss = f64::NAN;
            return Ok(outcome);
        }
        while outcome.low.is_empty() && outcome.rounds < method.schedule.edge_rounds() {
            outcome.rounds += 1;
            books.edge_round = outcome.rounds;
            let updates = self.train(cells, outcome.rounds, method)?;
            outcome.updates_computed += updates.len();
            outcome.train_loss += updates.iter().map(|u| f64::from(u.mean_loss)).sum::<f64>();
            merge_cells(cells, &updates, &self.world.devices.samples, method);
            let trained = cells.iter().filter(|cell| cell.trains());
            let trained = trained.flat_map(|cell| cell.devices.iter().copied());
            outcome.last_updates = trained.zip(updates).collect();
            self.pay_edge_round(cells, books);
            if method.checks_energy {
                outcome.low = self.low_uavs(cells, books);
            }
            // A loss that is due later than the last edge round strikes after that.
            let now = |_, due: usize| due.min(method.schedule.edge_rounds()) == outcome.rounds;
            for warned in self.lose_between_edge_rounds(cells, now, books) {
                warned.join(&mut outcome.low);
            }
            if !cells.iter().any(CellWork::trains) {
                break;
            }
        }
        for warned in self.warned_aggregators() {
            warned.join(&mut outcome.low);
        }
        outcome.train_loss /= outcome.updates_computed as f64;
        Ok(outcome)
    }

    /// What devices report by way of UAVs that are still there.
    pub(super) fn device_outcomes(&self, cells: &[CellWork]) -> Vec<DeviceOutcome> {
        let heard = self.world.uavs.iter().zip(cells);
        let heard = heard.filter(|(_, cell)| cell.trains() && cell.edge_rounds > 0);
        heard
            .flat_map(|(uav, cell)| self.device_outcomes_of(uav.id, cell))
            .collect()
    }

    /// What the devices of one cell report.
    pub(super) fn device_outcomes_of(
        &self,
        uav: UavId,
        cell: &CellWork,
    ) -> impl Iterator<Item = DeviceOutcome> {
        let edge_rounds = cell.edge_rounds as f64;
        let work = cell.device_loss.iter().zip(&cell.device_time_s);
        let devices = cell.devices.iter().zip(work);
        devices.map(move |(&device, (loss, &edge_time_s))| DeviceOutcome {
            device,
            uav,
            mean_loss: loss / edge_rounds,
            samples: self.world.devices.samples[device.index()],
            edge_time_s,
        })
    }

    /// How the edge rounds went for each cell.
    pub(super) fn cell_outcomes(
        &self,
        cells: &[CellWork],
        needs: Needs,
    ) -> Result<Vec<CellOutcome>, Error> {
        let cells = self.world.uavs.iter().zip(cells);
        cells
            .map(|(uav, cell)| self.cell_outcome(uav.id, cell, needs))
            .collect()
    }

    /// How the edge rounds went for one cell.
    pub(super) fn cell_outcome(
        &self,
        uav: UavId,
        cell: &CellWork,
        needs: Needs,
    ) -> Result<CellOutcome, Error> {
        let model = cell.model.as_ref().filter(|_| needs.edge_models);
        let edge_model = model
            .map(|model| self.trainer.evaluate(model, &self.probe))
            .transpose()?;
        let edge_j = cell.cost.uav_j() + cell.cost.compute_j + cell.cost.upload_j;
        Ok(CellOutcome {
            uav,
            selected: cell.devices.len(),
            edge_model: edge_model.map(Into::into),
            energy_j: cell.edge_rounds as f64 * edge_j,
            time_s: cell.edge_time_s(),
            overrun: cell.overrun,
        })
    }

    /// Local SGD, Eq. (1): all devices of all cells at once, in the order of cells and of devices in them.
    pub(super) fn train(
        &self,
        cells: &[CellWork],
        edge_round: usize,
        method: &Method,
    ) -> Result<Vec<Update>, Error> {
        let training = &self.scenario.training;
        let sgd = aerofed_nn::Sgd {
            learning_rate: training.learning_rate as f32,
            momentum: training.momentum as f32,
            weight_decay: training.weight_decay as f32,
            proximal: method.local.proximal as f32,
            adversarial_epsilon: method.local.adversarial_epsilon as f32,
        };
        let job = |cell: &CellWork, device: DeviceId| {
            let key = (cell.pass as u64) << 32 | edge_round as u64;
            let mut rng = stream(
                self.scenario.seed,
                Stream::Batches,
                key,
                u64::from(device.0),
            );
            let held = &self.held[device.index()];
            (
                batches::draw(
                    held,
                    training.batch_size,
                    cell.plan.local_iterations,
                    &mut rng,
                ),
                held.len(),
            )
        };
        let mut jobs = Vec::new();
        for cell in cells.iter().filter(|cell| cell.trains()) {
            let start = cell.model.as_ref().or(cell.start.as_ref());
            let start = start.unwrap_or(&self.global_model);
            jobs.extend(cell.devices.iter().map(|&device| {
                let (order, held) = job(cell, device);
                Job {
                    device,
                    start,
                    order,
                    batch_size: training.batch_size.min(held),
                    sgd,
                }
            }));
        }
        self.trainer.train(&jobs)
    }

    /// Hovering and downlink come out of UAV batteries, computing and uplink out of devices'.
    fn pay_edge_round(&mut self, cells: &mut [CellWork], books: &mut Books) {
        for (uav, cell) in self.world.uavs.iter_mut().zip(cells) {
            if uav.is_active() && !cell.devices.is_empty() {
                pay_for_edge_round(uav, cell, books);
            }
        }
    }

    /// The energy check, Eq. (15). Costs do not change inside a global round, so the largest
    /// so far is the cell's own.
    fn low_uavs(&self, cells: &[CellWork], books: &mut Books) -> Vec<Leaver> {
        let worst = self.worst_links(cells);
        let cell = |uav: &Uav| &cells[uav.id.index()];
        let training = self.world.active().filter(|uav| cell(uav).trains());
        training
            .filter_map(|uav| self.if_low(uav, cell(uav), &worst, books))
            .collect()
    }
}

/// An edge round is done: what it takes from a UAV's battery and from its devices.
pub(super) fn pay_for_edge_round(uav: &mut Uav, cell: &mut CellWork, books: &mut Books) {
    cell.edge_rounds += 1;
    for (item, joules) in [
        (EnergyItem::DeviceCompute, cell.cost.compute_j),
        (EnergyItem::DeviceUpload, cell.cost.upload_j),
    ] {
        books.devices.add(item, joules);
    }
    for (item, joules) in [
        (EnergyItem::EdgeHover, cell.cost.hover_j),
        (EnergyItem::Downlink, cell.cost.downlink_j),
    ] {
        if uav.is_active() && !books.pay(uav, item, joules) {
            Simulation::lose(cell, uav, item, books);
        }
    }
}

/// Edge FedAvg, Eq. (2): `updates` are those of [`Simulation::train`], in the same order.
pub(super) fn merge_cells(
    cells: &mut [CellWork],
    updates: &[Update],
    samples: &[u32],
    method: &Method,
) {
    let (aggregation, schedule) = (&method.aggregation, method.schedule);
    let mut rest = updates;
    let mut shares = Vec::with_capacity(cells.len());
    for cell in cells.iter() {
        let count = if cell.trains() { cell.devices.len() } else { 0 };
        let (mine, others) = rest.split_at(count);
        shares.push(mine);
        rest = others;
    }
    cells
        .par_iter_mut()
        .zip(shares)
        .filter(|(_, mine)| !mine.is_empty())
        .for_each(|(cell, mine)| {
            let weight = |device: &DeviceId| f64::from(samples[device.index()]);
            let models: Vec<(&[f32], f64)> = mine
                .iter()
                .zip(&cell.devices)
                .map(|(update, device)| (&update.weights[..], weight(device)))
                .collect();
            match schedule {
                Schedule::Flat => cell.relayed = flat::relayed(&models),
                _ => cell.model = Some(aggregation.merge(&models)),
            }
            cell.updates += mine.len();
            for (sum, update) in cell.device_loss.iter_mut().zip(mine) {
                *sum += f64::from(update.mean_loss);
            }
        });
}
