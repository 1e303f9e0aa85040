//! The cells of a round: who trains under each UAV, on what terms, at what cost.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::books::Books;
use crate::learn::aggregation::Fold;
use crate::nature::channel::End;
use crate::nature::compute;
use crate::nature::cost::{self, DeviceCost, EdgeCost};
use crate::nature::links::RoundLinks;
use crate::nature::transfer::Transfers;
use crate::solve::bandwidth::LOCAL_ITERATIONS_MAX;
use crate::vocabulary::{Cell, CellDevice, CellPlan, DeviceId, UavId};
use crate::world::Uav;

use super::fleet::Fleet;
use super::leaving::{Fate, HandedOver};
use super::saved::COUNT_MAX;
use super::stage::{Decisions, Terms};

/// How often selection and allocation take turns at most.
const ALTERNATIONS: usize = 5;

/// One UAV's work between two versions of the global model; without devices it only hovers.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct CellWork {
    pub(super) devices: Vec<DeviceId>,
    pub(super) plan: CellPlan,
    /// What each edge round costs.
    pub(super) cost: EdgeCost,
    /// What an edge round costs each device.
    pub(super) device_cost: Vec<DeviceCost>,
    /// How each device's transfers end in every edge round.
    pub(super) transfers: Vec<Transfers>,
    /// When each device leaves the UAV's coverage, s from the start of the run; empty where nobody moves inside a round.
    pub(super) leaves_at_s: Vec<f64>,
    /// What becomes of their updates; empty as well.
    pub(super) fates: Vec<Fate>,
    /// What those who have left no longer spend on computing in an edge round, J ...
    pub(super) spared_compute_j: f64,
    /// ... and on sending.
    pub(super) spared_upload_j: f64,
    /// Models that will cross the link to the aggregator.
    pub(super) handovers: usize,
    /// Seconds of passing the global model on to its devices, Eq. (22).
    pub(super) relay_s: f64,
    /// By how much the slowest selected device would have missed its deadline, relative to it.
    pub(super) overrun: f64,
    /// Edge rounds done.
    pub(super) edge_rounds: usize,
    /// Each device's training loss, summed over the updates that came, and how many these were.
    pub(super) device_loss: Vec<(f64, usize)>,
    /// Device updates that went into what the UAV carries.
    pub(super) updates: usize,
    /// The edge model, with the training samples behind it; none before training, and when it is lost.
    pub(super) model: Option<(Vec<f32>, f64)>,
    /// The global model that the edge model began from; none where the aggregator can tell, and where edge models are handed
    /// over as they are.
    pub(super) began_from: Option<Vec<f32>>,
    /// Device models that the UAV only relays, on their way into the global model; none in a hierarchy, nor between rounds.
    #[serde(skip)]
    pub(super) relayed: Option<Box<dyn Fold>>,
    /// Updates of other cells' devices that the UAV gets in later edge rounds; none between rounds.
    #[serde(skip)]
    pub(super) handed_over: Vec<HandedOver>,
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
            self.device_cost.len(),
            self.transfers.len(),
            self.device_loss.len(),
        ];
        let ways = [self.leaves_at_s.len(), self.fates.len()];
        rows == [self.devices.len(); 5]
            && (ways == [0; 2] || ways == [self.devices.len(); 2])
            && self.devices.iter().all(|device| device.index() < devices)
            && plan.local_iterations <= LOCAL_ITERATIONS_MAX as usize
            && [self.updates, self.handovers, self.edge_rounds]
                .iter()
                .all(|&count| count <= COUNT_MAX)
            && self
                .device_loss
                .iter()
                .all(|(_, count)| *count <= COUNT_MAX)
            && self
                .model
                .iter()
                .all(|(model, _)| model.len() == parameters)
            && self
                .began_from
                .iter()
                .all(|model| model.len() == parameters)
    }

    /// T^Edge, Eq. (17).
    pub(super) fn edge_time_s(&self) -> f64 {
        self.edge_rounds as f64 * self.cost.slowest.time_s()
    }

    /// Attempts at transfers besides the first ones, in every edge round.
    pub(super) fn repeats(&self) -> usize {
        self.transfers.iter().map(|both| both.repeats()).sum()
    }

    /// Whether devices trained with it and it is still there.
    pub(super) fn has_devices(&self) -> bool {
        !self.lost && !self.devices.is_empty()
    }

    /// Whether any of its devices train in the coming edge round.
    pub(super) fn trains(&self) -> bool {
        self.has_devices()
            && (self.fates.is_empty() || self.fates.iter().any(|fate| *fate != Fate::Gone))
    }

    /// The devices that train in the coming edge round, each with its place among all and what becomes of its update.
    pub(super) fn training(&self) -> impl Iterator<Item = (usize, DeviceId, Fate)> {
        let fate = |place: usize| self.fates.get(place).copied().unwrap_or(Fate::Stays);
        let devices = self.devices.iter().enumerate();
        let all = devices.map(move |(place, device)| (place, *device, fate(place)));
        all.filter(|(_, _, fate)| *fate != Fate::Gone)
    }

    /// Whether there is anything to hand over.
    pub(super) fn carries(&self) -> bool {
        self.model.is_some() || self.relayed.is_some()
    }

    /// What the UAV carries is gone; returns the updates that went with it.
    pub(super) fn go_down(&mut self) -> usize {
        self.model = None;
        self.relayed = None;
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
            &mut self.leaves_at_s,
        ] {
            *values = kept(values, &flags);
        }
        self.transfers = kept(&self.transfers, &flags);
        self.fates = kept(&self.fates, &flags);
        self.device_cost = kept(&self.device_cost, &flags);
        self.device_loss = kept(&self.device_loss, &flags);
        self.devices = kept(&self.devices, &flags);
    }

    /// Updates of other cells' devices that the UAV got in this edge round. The others come one closer.
    pub(super) fn take_handed_over(&mut self) -> Vec<HandedOver> {
        let (now, mut later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.handed_over)
            .into_iter()
            .partition(|update| update.after == 0);
        later.iter_mut().for_each(|update| update.after -= 1);
        self.handed_over = later;
        now
    }

    /// Takes everybody out: nobody trains here.
    pub(super) fn dismiss(&mut self) {
        *self = Self::default();
    }
}

/// What a cell's devices are given, and what comes of it.
#[derive(Default)]
struct Allocated {
    devices: Vec<DeviceId>,
    plan: CellPlan,
    /// What an edge round costs each of them, further attempts at transfers included.
    costs: Vec<DeviceCost>,
    transfers: Vec<Transfers>,
}

/// What turns a selection into cells.
pub(super) struct Planner<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) links: &'a RoundLinks,
    pub(super) terms: Terms,
    pub(super) books: &'a Books,
}

impl Planner<'_> {
    /// Turns a selection into cells with bandwidth, local iterations and costs.
    pub(super) fn plan(
        &self,
        selection: Vec<Vec<DeviceId>>,
        decisions: &mut Decisions,
    ) -> Result<Vec<CellWork>, Error> {
        let uavs = self.fleet.world.uavs.iter().zip(selection);
        uavs.map(|(uav, devices)| match devices.is_empty() {
            true => Ok(CellWork::default()),
            false => self.plan_cell(uav, devices, decisions),
        })
        .collect()
    }

    fn plan_cell(
        &self,
        uav: &Uav,
        devices: Vec<DeviceId>,
        decisions: &mut Decisions,
    ) -> Result<CellWork, Error> {
        let mut overrun = 0.0;
        let Allocated {
            devices,
            plan,
            costs,
            transfers,
        } = self.allocate(uav, devices, decisions, &mut overrun)?;
        if devices.is_empty() {
            return Ok(CellWork {
                overrun,
                ..CellWork::default()
            });
        }
        let hover_power_w = self.fleet.nature.airframe(uav.id).hover_power_w;
        let cost = cost::edge_round(&costs, hover_power_w);
        let arrived = transfers.iter().filter(|both| both.failure().is_none());
        let (handovers, relay_s) = match self.terms.merges_at_uavs {
            true => (1, cost.slowest_download_s),
            false => (arrived.count(), 0.0),
        };
        Ok(CellWork {
            overrun,
            handovers,
            relay_s,
            cost,
            device_cost: costs,
            transfers,
            device_loss: vec![(0.0, 0); devices.len()],
            devices,
            plan,
            ..CellWork::default()
        })
    }

    /// Allocates, drops devices that would miss their deadline (44a) or leave too early (27f), and
    /// allocates again for the others, until the selection stands still.
    fn allocate(
        &self,
        uav: &Uav,
        mut devices: Vec<DeviceId>,
        decisions: &mut Decisions,
        overrun: &mut f64,
    ) -> Result<Allocated, Error> {
        let mut turns = 0;
        loop {
            let cell = self.cell_of(uav, &devices, decisions.local.compute_factor);
            if devices.is_empty() {
                return Ok(Allocated::default());
            }
            let plan = decisions.allocation.allocate(uav.id, &cell)?;
            if let Some(reason) = plan.flaw(&cell) {
                return Err(decisions.impossible(format!("UAV {}: {reason}", uav.id.0)));
            }
            let transfers = self.transfers(uav, &devices, &cell, &plan);
            let costs: Vec<DeviceCost> = cost::device_costs(&cell, &plan)
                .zip(&transfers)
                .map(|(cost, &transfers)| cost.repeated(transfers))
                .collect();
            if turns == 0 {
                *overrun = self.overrun(&costs);
            }
            let in_time = costs.iter().zip(&devices);
            let punctual: Vec<bool> = in_time
                .map(|(cost, device)| self.is_in_time(uav, *device, cost.time_s()))
                .collect();
            let all = !punctual.contains(&false);
            turns += 1;
            if all || turns == ALTERNATIONS {
                // Whoever is in time stays so with the bandwidth it has; that of the late lies idle.
                return Ok(Allocated {
                    devices: kept(&devices, &punctual),
                    plan: CellPlan {
                        local_iterations: plan.local_iterations,
                        bandwidth_up_hz: kept(&plan.bandwidth_up_hz, &punctual),
                        bandwidth_down_hz: kept(&plan.bandwidth_down_hz, &punctual),
                    },
                    costs: kept(&costs, &punctual),
                    transfers: kept(&transfers, &punctual),
                });
            }
            devices = kept(&devices, &punctual);
        }
    }

    /// How the transfers of devices end, in the bandwidths of a plan.
    fn transfers(
        &self,
        uav: &Uav,
        devices: &[DeviceId],
        cell: &Cell,
        plan: &CellPlan,
    ) -> Vec<Transfers> {
        let Fleet {
            world,
            nature,
            round,
            ..
        } = self.fleet;
        let air = End::uav(uav.id, uav.position, uav.altitude_m);
        let bands = plan.bandwidth_up_hz.iter().zip(&plan.bandwidth_down_hz);
        let links = devices.iter().zip(&cell.devices).zip(bands);
        let of =
            |((device, link), (&up_hz, &down_hz)): ((&DeviceId, &CellDevice), (&f64, &f64))| {
                let ground = End::device(*device, world.devices.position[device.index()]);
                let (up, down) = (
                    nature.path(ground, air, *round),
                    nature.path(air, ground, *round),
                );
                Transfers {
                    up: nature.transfer(&up, link.snr_up_hz, up_hz),
                    down: nature.transfer(&down, link.snr_down_hz, down_hz),
                }
            };
        links.map(of).collect()
    }

    /// G of Eq. (47a): the largest (t_dev - t_max) / t_max, at least 0.
    fn overrun(&self, costs: &[DeviceCost]) -> f64 {
        let deadline_s = self.fleet.scenario.devices.deadline_s;
        if deadline_s == 0.0 {
            return 0.0;
        }
        let late = costs.iter().map(|cost| cost.time_s() / deadline_s - 1.0);
        late.fold(0.0, f64::max)
    }

    /// Whether an edge round of so many seconds is over before a device's deadline, and before it leaves the cell.
    fn is_in_time(&self, uav: &Uav, device: DeviceId, round_s: f64) -> bool {
        let deadline_s = self.fleet.scenario.devices.deadline_s;
        if deadline_s > 0.0 && round_s > deadline_s {
            return false;
        }
        let now_s = self.fleet.now_s(uav.id, self.books);
        let end_s = now_s + round_s;
        self.fleet.leaves_at_s(uav, device, now_s, end_s) >= end_s
    }

    /// A cell as an allocation sees it. A device's arithmetic goes over its mini-batches `passes` times.
    fn cell_of(&self, uav: &Uav, devices: &[DeviceId], passes: f64) -> Cell {
        let Fleet {
            scenario,
            world,
            nature,
            model_bits,
            update_bits,
            ..
        } = self.fleet;
        let all = &world.devices;
        let describe = |device: &DeviceId| {
            let index = device.index();
            // Selected devices are covered, and covered devices have links.
            let link = self.links.get(uav.id, *device)?;
            Some(CellDevice {
                snr_up_hz: link.snr_up_hz,
                snr_down_hz: link.snr_down_hz,
                tx_power_w: all.tx_power_w[index],
                iteration_time_s: compute::repeated_time_s(
                    all.iteration_time_s[index],
                    scenario.devices.fixed_time_s,
                    passes,
                ),
                iteration_energy_j: passes * all.iteration_energy_j[index],
            })
        };
        Cell {
            energy_weight: scenario.weights.energy,
            time_weight: scenario.weights.time,
            local_iterations: None,
            hover_power_w: nature.airframe(uav.id).hover_power_w,
            broadcast_power_w: uav.broadcast_power_w,
            bandwidth_up_hz: uav.bandwidth_up_hz,
            bandwidth_down_hz: uav.bandwidth_down_hz,
            model_bits_up: *update_bits,
            model_bits_down: *model_bits,
            devices: devices.iter().filter_map(describe).collect(),
        }
    }
}

/// UAVs that cannot pay even one edge round and what they must keep back do not start it: their
/// devices sit this round out, and nothing is lost. Returns who they are.
pub(super) fn refuse_to_start(
    fleet: &Fleet,
    cells: &mut [CellWork],
    books: &mut Books,
) -> Vec<Leaver> {
    let mut unable = Vec::new();
    let worst = fleet.worst_case(cells, books);
    for uav in fleet.world.active() {
        let cell = &mut cells[uav.id.index()];
        if let Some(leaver) = fleet.if_low(uav, cell, &worst, books) {
            unable.push(leaver);
            cell.dismiss();
        }
    }
    unable
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
