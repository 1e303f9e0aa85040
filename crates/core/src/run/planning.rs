//! Turns a selection into cells: bandwidth, local iterations and costs, of all cells side by side.

use rayon::prelude::*;

use crate::Error;
use crate::books::Books;
use crate::nature::channel::End;
use crate::nature::compute;
use crate::nature::cost::{self, DeviceCost};
use crate::nature::links::{GroundLink, RoundLinks};
use crate::nature::transfer::Transfers;
use crate::vocabulary::{Cell, CellDevice, CellPlan, DeviceId, UavId};
use crate::world::Uav;

use super::cells::{CellWork, kept};
use super::fleet::Fleet;
use super::stage::{Decisions, Terms};

/// How often selection and allocation take turns at most.
const ALTERNATIONS: usize = 5;

/// What turns a selection into cells.
pub(super) struct Planner<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) links: &'a RoundLinks,
    pub(super) terms: Terms,
    pub(super) books: &'a Books,
}

/// A cell for whose devices nothing is settled yet.
struct Open {
    uav: UavId,
    devices: Vec<DeviceId>,
    /// By how much the slowest selected device would have missed its deadline.
    overrun: f64,
}

/// What came of a plan.
enum Judged {
    /// Everybody who is left is in time.
    Settled(UavId, Box<CellWork>),
    /// Those who are in time need another one.
    Open(Open),
}

impl Planner<'_> {
    /// Allocates, drops devices that would miss their deadline (44a) or leave too early (27f), and
    /// allocates again for the others, until the selection stands still.
    pub(super) fn plan(
        &self,
        selection: Vec<Vec<DeviceId>>,
        decisions: &mut Decisions,
    ) -> Result<Vec<CellWork>, Error> {
        let mut cells: Vec<CellWork> = Vec::new();
        cells.resize_with(selection.len(), CellWork::default);
        let open = (0..).map(UavId).zip(selection).map(|(uav, devices)| Open {
            uav,
            devices,
            overrun: 0.0,
        });
        let mut open: Vec<Open> = open.filter(|cell| !cell.devices.is_empty()).collect();
        let passes = decisions.local.compute_factor;
        for turn in 1..=ALTERNATIONS {
            let asked = open.par_iter();
            let asked: Vec<(UavId, Cell)> = asked
                .map(|cell| (cell.uav, self.cell_of(cell.uav, &cell.devices, passes)))
                .collect();
            let plans = decisions.allocation.allocate_all(&asked)?;
            if plans.len() != asked.len() {
                let (given, due) = (plans.len(), asked.len());
                return Err(decisions.impossible(format!("{given} plans for {due} cells")));
            }
            for ((uav, cell), plan) in asked.iter().zip(&plans) {
                if let Some(reason) = plan.flaw(cell) {
                    return Err(decisions.impossible(format!("UAV {}: {reason}", uav.0)));
                }
            }
            let judged = open.into_par_iter().zip(&asked).zip(plans);
            let judged = judged.map(|((cell, asked), plan)| self.judge(cell, &asked.1, plan, turn));
            let judged: Vec<Judged> = judged.collect();
            open = Vec::new();
            for judged in judged {
                match judged {
                    Judged::Settled(uav, cell) => cells[uav.index()] = *cell,
                    Judged::Open(cell) => open.push(cell),
                }
            }
            if open.is_empty() {
                break;
            }
        }
        Ok(cells)
    }

    /// Who is in time with a plan.
    fn judge(&self, open: Open, cell: &Cell, plan: CellPlan, turn: usize) -> Judged {
        let Open {
            uav: id,
            devices,
            mut overrun,
        } = open;
        let uav = &self.fleet.world.uavs[id.index()];
        let transfers = self.transfers(uav, &devices, cell, &plan);
        let costs: Vec<DeviceCost> = cost::device_costs(cell, &plan)
            .zip(&transfers)
            .map(|(cost, &transfers)| cost.repeated(transfers))
            .collect();
        if turn == 1 {
            overrun = self.overrun(&costs);
        }
        let in_time = costs.iter().zip(&devices);
        let punctual: Vec<bool> = in_time
            .map(|(cost, device)| self.is_in_time(uav, *device, cost.time_s()))
            .collect();
        let is_settled = !punctual.contains(&false) || turn == ALTERNATIONS;
        let devices = kept(&devices, &punctual);
        if devices.is_empty() {
            let nobody = CellWork {
                overrun,
                ..CellWork::default()
            };
            return Judged::Settled(id, Box::new(nobody));
        }
        if !is_settled {
            return Judged::Open(Open {
                uav: id,
                devices,
                overrun,
            });
        }
        // Whoever is in time stays so with the bandwidth it has; that of the late lies idle.
        let plan = CellPlan {
            local_iterations: plan.local_iterations,
            bandwidth_up_hz: kept(&plan.bandwidth_up_hz, &punctual),
            bandwidth_down_hz: kept(&plan.bandwidth_down_hz, &punctual),
        };
        let costs = kept(&costs, &punctual);
        let transfers = kept(&transfers, &punctual);
        let settled = self.settled(uav, devices, plan, costs, transfers, overrun);
        Judged::Settled(id, Box::new(settled))
    }

    fn settled(
        &self,
        uav: &Uav,
        devices: Vec<DeviceId>,
        plan: CellPlan,
        device_cost: Vec<DeviceCost>,
        transfers: Vec<Transfers>,
        overrun: f64,
    ) -> CellWork {
        let hover_power_w = self.fleet.nature.airframe(uav.id).hover_power_w;
        let cost = cost::edge_round(&device_cost, hover_power_w);
        let arrived = transfers.iter().filter(|both| both.failure().is_none());
        let (handovers, relay_s) = match self.terms.merges_at_uavs {
            true => (1, cost.slowest_download_s),
            false => (arrived.count(), 0.0),
        };
        CellWork {
            overrun,
            handovers,
            relay_s,
            cost,
            device_cost,
            transfers,
            device_loss: vec![(0.0, 0); devices.len()],
            devices,
            plan,
            ..CellWork::default()
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
    fn cell_of(&self, uav: UavId, devices: &[DeviceId], passes: f64) -> Cell {
        let Fleet {
            scenario,
            world,
            nature,
            model_bits,
            update_bits,
            ..
        } = self.fleet;
        let (uav, all) = (&world.uavs[uav.index()], &world.devices);
        let describe = |(device, link): (DeviceId, GroundLink)| {
            let index = device.index();
            CellDevice {
                snr_up_hz: link.snr_up_hz,
                snr_down_hz: link.snr_down_hz,
                tx_power_w: all.tx_power_w[index],
                iteration_time_s: compute::repeated_time_s(
                    all.iteration_time_s[index],
                    scenario.devices.fixed_time_s,
                    passes,
                ),
                iteration_energy_j: passes * all.iteration_energy_j[index],
            }
        };
        // Selected devices are covered, and covered devices have links.
        let links = self.links.among(uav.id, devices);
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
            devices: links.map(describe).collect(),
        }
    }
}
