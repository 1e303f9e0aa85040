//! The cells of a round: who trains under each UAV, on what terms, at what cost.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::decide::allocation::{Cell, CellDevice, CellPlan};
use crate::method::{Method, Schedule};
use crate::nature::channel::Link;
use crate::nature::compute;
use crate::nature::cost::{self, EdgeCost};
use crate::record::{EnergyItem, EventKind};
use crate::solve::bandwidth::LOCAL_ITERATIONS_MAX;
use crate::world::{DeviceId, Uav, UavId};

use super::Simulation;
use super::books::Books;
use super::flat;
use super::fleet::WorstLinks;
use super::saved::COUNT_MAX;

/// How often selection and allocation take turns at most.
const ALTERNATIONS: usize = 5;

/// One UAV's work in a round; without devices it only carries a model.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct CellWork {
    pub(super) devices: Vec<DeviceId>,
    pub(super) plan: CellPlan,
    /// What each edge round costs.
    pub(super) cost: EdgeCost,
    /// Edge rounds done.
    pub(super) edge_rounds: usize,
    /// Seconds of each device's edge round, t_dev.
    pub(super) device_time_s: Vec<f64>,
    /// Each device's training loss, summed over edge rounds.
    pub(super) device_loss: Vec<f64>,
    /// What keeps the random streams of its training apart from those of other cells and rounds.
    pub(super) pass: usize,
    /// What its devices start from, when it is not the global model: the UAV missed that.
    pub(super) start: Option<Vec<f32>>,
    /// Training samples behind the edge model.
    pub(super) samples: f64,
    /// The edge model; none before training, and when it is lost.
    pub(super) model: Option<Vec<f32>>,
    /// Device models that the UAV only passes on, with their samples; none in a hierarchy.
    pub(super) relayed: Vec<(Vec<f32>, f64)>,
    /// Models that will cross the link to the aggregator.
    pub(super) handovers: usize,
    /// Seconds of passing the global model on to its devices, Eq. (22).
    pub(super) relay_s: f64,
    /// Device updates that went into the edge model in this round.
    pub(super) updates: usize,
    /// By how much the slowest selected device would have missed its deadline, relative to it.
    pub(super) overrun: f64,
    /// Whether the UAV went down while its devices trained.
    pub(super) lost: bool,
}

impl CellWork {
    /// Whether this can be the work of a cell among so many devices, on a model of so many numbers.
    pub(super) fn fits(&self, devices: usize, parameters: usize) -> bool {
        let plan = &self.plan;
        let rows = [
            plan.bandwidth_up_hz.len(),
            plan.bandwidth_down_hz.len(),
            self.device_time_s.len(),
            self.device_loss.len(),
        ];
        let own = self.start.iter().chain(&self.model);
        let models = own.chain(self.relayed.iter().map(|(model, _)| model));
        rows == [self.devices.len(); 4]
            && self.devices.iter().all(|device| device.index() < devices)
            && plan.local_iterations <= LOCAL_ITERATIONS_MAX as usize
            && [self.updates, self.handovers, self.pass, self.edge_rounds]
                .iter()
                .all(|&count| count <= COUNT_MAX)
            && models.into_iter().all(|model| model.len() == parameters)
    }

    /// T^Edge, Eq. (17).
    pub(super) fn edge_time_s(&self) -> f64 {
        self.edge_rounds as f64 * self.cost.slowest.time_s()
    }

    /// Whether its devices train in the coming edge round.
    pub(super) fn trains(&self) -> bool {
        !self.lost && !self.devices.is_empty()
    }

    /// The models that the UAV hands over, each with the samples behind it.
    pub(super) fn carried(&self) -> impl Iterator<Item = (&[f32], f64)> {
        let own = self.model.as_deref().map(|model| (model, self.samples));
        let relayed = self
            .relayed
            .iter()
            .map(|(model, samples)| (&model[..], *samples));
        own.into_iter().chain(relayed)
    }

    /// Whether there is anything to hand over.
    pub(super) fn carries(&self) -> bool {
        self.carried().next().is_some()
    }

    /// What the UAV carries is gone; returns the updates that went with it.
    pub(super) fn go_down(&mut self) -> usize {
        self.model = None;
        self.relayed.clear();
        self.lost = true;
        std::mem::take(&mut self.updates)
    }

    /// Takes devices out that do not stay. What was planned for them lies idle.
    pub(super) fn keep_devices(&mut self, stays: impl Fn(DeviceId) -> bool) {
        let flags: Vec<bool> = self.devices.iter().map(|device| stays(*device)).collect();
        if !flags.contains(&false) {
            return;
        }
        for values in [
            &mut self.plan.bandwidth_up_hz,
            &mut self.plan.bandwidth_down_hz,
            &mut self.device_time_s,
            &mut self.device_loss,
        ] {
            *values = kept(values, &flags);
        }
        self.devices = kept(&self.devices, &flags);
    }

    /// Takes everybody out: nobody trains here.
    pub(super) fn dismiss(&mut self) {
        *self = Self::default();
    }
}

impl Simulation {
    /// Turns a selection into cells with bandwidth, local iterations and costs.
    pub(super) fn plan_cells(
        &self,
        selection: Vec<Vec<DeviceId>>,
        method: &mut Method,
    ) -> Result<Vec<CellWork>, Error> {
        let mut cells = Vec::with_capacity(selection.len());
        for (uav, devices) in self.world.uavs.iter().zip(selection) {
            if devices.is_empty() {
                cells.push(CellWork::default());
                continue;
            }
            let mut overrun = 0.0;
            let (devices, cell, plan) = self.plan_cell(uav, devices, method, &mut overrun)?;
            if devices.is_empty() {
                cells.push(CellWork {
                    overrun,
                    ..CellWork::default()
                });
                continue;
            }
            let cost = cost::edge_round(&cell, &plan);
            let (handovers, relay_s) = match method.schedule {
                Schedule::Flat => (devices.len(), flat::RELAY_S),
                _ => (1, cost.slowest_download_s),
            };
            cells.push(CellWork {
                overrun,
                pass: self.round,
                handovers,
                relay_s,
                cost,
                device_time_s: cost::device_costs(&cell, &plan)
                    .map(|cost| cost.time_s())
                    .collect(),
                device_loss: vec![0.0; devices.len()],
                samples: devices
                    .iter()
                    .map(|d| f64::from(self.world.devices.samples[d.index()]))
                    .sum(),
                devices,
                plan,
                ..CellWork::default()
            });
        }
        Ok(cells)
    }

    /// Allocates, drops devices that would miss their deadline (44a) or leave too early (27f), and
    /// allocates again for the others, until the selection stands still.
    fn plan_cell(
        &self,
        uav: &Uav,
        mut devices: Vec<DeviceId>,
        method: &mut Method,
        overrun: &mut f64,
    ) -> Result<(Vec<DeviceId>, Cell, CellPlan), Error> {
        let mut turns = 0;
        loop {
            let cell = self.cell_of(uav, &devices, method);
            if devices.is_empty() {
                return Ok((devices, cell, CellPlan::default()));
            }
            let plan = method.allocation.allocate(uav.id, &cell)?;
            if let Some(reason) = plan.flaw(&cell) {
                let reason = format!("UAV {}: {reason}", uav.id.0);
                return Err(Error::Decision {
                    method: method.name.clone(),
                    reason,
                });
            }
            if turns == 0 {
                *overrun = self.overrun(&cell, &plan);
            }
            let punctual: Vec<bool> = cost::device_costs(&cell, &plan)
                .zip(&devices)
                .map(|(cost, device)| cost.time_s() <= self.longest_round_s(*device))
                .collect();
            if !punctual.contains(&false) {
                return Ok((devices, cell, plan));
            }
            devices = kept(&devices, &punctual);
            turns += 1;
            if turns == ALTERNATIONS {
                // Whoever is in time stays so with the bandwidth it has; that of the late lies idle.
                let cell = self.cell_of(uav, &devices, method);
                let plan = CellPlan {
                    local_iterations: plan.local_iterations,
                    bandwidth_up_hz: kept(&plan.bandwidth_up_hz, &punctual),
                    bandwidth_down_hz: kept(&plan.bandwidth_down_hz, &punctual),
                };
                return Ok((devices, cell, plan));
            }
        }
    }

    /// G of Eq. (47a): the largest (t_dev - t_max) / t_max, at least 0.
    fn overrun(&self, cell: &Cell, plan: &CellPlan) -> f64 {
        let deadline_s = self.scenario.devices.deadline_s;
        if deadline_s == 0.0 {
            return 0.0;
        }
        let late = cost::device_costs(cell, plan).map(|cost| cost.time_s() / deadline_s - 1.0);
        late.fold(0.0, f64::max)
    }

    /// The lesser of a device's deadline and the time it stays in the cell, s.
    fn longest_round_s(&self, device: DeviceId) -> f64 {
        let deadline_s = match self.scenario.devices.deadline_s {
            0.0 => f64::INFINITY,
            limit_s => limit_s,
        };
        deadline_s.min(
            self.nature
                .mobility
                .dwell_s(self.world.devices.position[device.index()]),
        )
    }

    fn cell_of(&self, uav: &Uav, devices: &[DeviceId], method: &Method) -> Cell {
        let passes = method.local.compute_factor;
        let all = &self.world.devices;
        let describe = |device: &DeviceId| {
            let index = device.index();
            let snr_hz = |link, tx_power_w| {
                self.nature
                    .ground_snr_hz(link, tx_power_w, all.position[index], uav.position)
            };
            CellDevice {
                snr_up_hz: snr_hz(Link::DeviceToUav, all.tx_power_w[index]),
                snr_down_hz: snr_hz(Link::UavToDevice, uav.broadcast_power_w),
                tx_power_w: all.tx_power_w[index],
                iteration_time_s: compute::repeated_time_s(
                    all.iteration_time_s[index],
                    self.scenario.devices.fixed_time_s,
                    passes,
                ),
                iteration_energy_j: passes * all.iteration_energy_j[index],
            }
        };
        Cell {
            energy_weight: self.scenario.weights.energy,
            time_weight: self.scenario.weights.time,
            local_iterations: None,
            hover_power_w: self.nature.hover_power_w(),
            broadcast_power_w: uav.broadcast_power_w,
            bandwidth_up_hz: uav.bandwidth_up_hz,
            bandwidth_down_hz: uav.bandwidth_down_hz,
            model_bits_up: self.model_bits(),
            model_bits_down: self.model_bits(),
            devices: devices.iter().map(describe).collect(),
        }
    }

    /// UAVs that cannot pay even one edge round and what they must keep back do not start it: their
    /// devices sit this round out, and nothing is lost. Returns who they are.
    pub(super) fn refuse_to_start(&self, cells: &mut [CellWork], books: &mut Books) -> Vec<Leaver> {
        let mut unable = Vec::new();
        let worst = self.worst_links(cells);
        for uav in self.world.active() {
            let cell = &mut cells[uav.id.index()];
            if let Some(leaver) = self.if_low(uav, cell, &worst, books) {
                unable.push(leaver);
                cell.dismiss();
            }
        }
        unable
    }

    /// The energy check, Eq. (15): a UAV that cannot pay another edge round and what it must keep
    /// back has to go.
    pub(super) fn if_low(
        &self,
        uav: &Uav,
        cell: &CellWork,
        worst: &WorstLinks,
        books: &mut Books,
    ) -> Option<Leaver> {
        let needed_j = self.needed_j(uav, cell, worst);
        if uav.battery_j >= needed_j {
            return None;
        }
        books.tell(EventKind::UavLow {
            uav: uav.id,
            battery_j: uav.battery_j,
            needed_j,
        });
        Some(Leaver {
            uav: uav.id,
            needed_j,
        })
    }

    /// A battery ran empty: the UAV is gone, and its edge model with it.
    pub(super) fn lose(cell: &mut CellWork, uav: &Uav, during: EnergyItem, books: &mut Books) {
        let updates_lost = cell.go_down();
        books.tell(EventKind::UavDepleted {
            uav: uav.id,
            during,
            updates_lost,
        });
    }
}

/// The items whose flag is set.
fn kept<T: Copy>(items: &[T], flags: &[bool]) -> Vec<T> {
    items
        .iter()
        .zip(flags)
        .filter(|(_, flag)| **flag)
        .map(|(&item, _)| item)
        .collect()
}

/// A UAV that must go home, and what it would have needed to stay.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Leaver {
    pub(super) uav: UavId,
    /// Infinite: it does not come back.
    pub(super) needed_j: f64,
}

impl Leaver {
    /// A UAV that goes home and stays there.
    pub(super) fn for_good(uav: UavId) -> Self {
        Self {
            uav,
            needed_j: f64::INFINITY,
        }
    }

    /// Of two reasons for the same UAV to leave, the one that keeps it away longer.
    pub(super) fn or(self, other: Option<Self>) -> Self {
        other
            .filter(|other| other.needed_j > self.needed_j)
            .unwrap_or(self)
    }

    /// Puts it on a list that has each UAV once.
    pub(super) fn join(self, list: &mut Vec<Self>) {
        match list.iter_mut().find(|other| other.uav == self.uav) {
            Some(known) => *known = self.or(Some(*known)),
            None => list.push(self),
        }
    }
}
