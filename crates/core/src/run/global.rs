//! Global aggregation: edge models go to the aggregator, are merged, and come back.

use crate::decide::aggregator::Candidate;
use crate::method::Method;
use crate::nature::cost::{self, Receiver};
use crate::record::{EnergyItem, TimeItem};
use crate::world::{Uav, UavId};

use super::Simulation;
use super::books::Books;
use super::cells::CellWork;
use super::edge::EdgeOutcome;

/// What the aggregation left.
#[derive(Default)]
pub(super) struct Merged {
    pub(super) aggregator: Option<UavId>,
    /// The new global model; none when nobody had anything to merge.
    pub(super) model: Option<Vec<f32>>,
}

impl Simulation {
    /// Eqs. (3) and (19)-(26). UAVs that are low hand over and then miss the broadcast.
    pub(super) fn global_phase(
        &mut self,
        cells: &mut [CellWork],
        edge: &EdgeOutcome,
        method: &mut Method,
        books: &mut Books,
    ) -> Merged {
        let staying: Vec<UavId> = self
            .world
            .active()
            .map(|uav| uav.id)
            .filter(|id| !edge.low.iter().any(|low| low.uav == *id))
            .collect();
        let receivers: Vec<Receiver> = staying.iter().map(|&id| self.receiver(id, cells)).collect();
        let aggregator = self.choose_aggregator(&receivers, method);
        self.record_critical_path(cells, edge.rounds, aggregator.as_ref(), books);
        let Some(aggregator) = aggregator else {
            return Merged::default();
        };
        self.offload(cells, &aggregator, books);

        let models: Vec<(&[f32], f64)> = cells
            .iter()
            .filter_map(|cell| cell.model.as_deref().map(|model| (model, cell.samples)))
            .collect();
        let model = (!models.is_empty()).then(|| method.aggregation.merge(&models));
        self.broadcast(cells, &receivers, &aggregator, books);
        Merged {
            aggregator: model.is_some().then_some(aggregator.id),
            model,
        }
    }

    fn receiver(&self, id: UavId, cells: &[CellWork]) -> Receiver {
        let uav = &self.world.uavs[id.index()];
        Receiver {
            id,
            position: uav.position,
            broadcast_power_w: uav.broadcast_power_w,
            slowest_download_s: cells[id.index()].cost.slowest_download_s,
        }
    }

    /// The method's choice among those who are there; who is low can only aggregate when nobody stays.
    fn choose_aggregator(&self, receivers: &[Receiver], method: &mut Method) -> Option<Uav> {
        let can_broadcast = |uav: &Uav| {
            let Some(own) = receivers.iter().position(|r| r.id == uav.id) else {
                return false;
            };
            let cost = cost::broadcast(&self.nature, uav, receivers, self.model_bits());
            uav.battery_j
                >= cost.uav_link_j + cost.relay_j[own] + cost.hover_j + self.flight_home_j(uav)
        };
        let candidates: Vec<Candidate> = self
            .world
            .active()
            .map(|uav| Candidate {
                uav,
                can_broadcast: can_broadcast(uav),
            })
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let chosen = method.aggregator.choose(&candidates);
        candidates
            .iter()
            .find(|c| c.uav.id == chosen)
            .or(candidates.first())
            .map(|c| c.uav.clone())
    }

    /// The round lasts as long as its slowest UAV, Eq. (25): that UAV's parts are the round's.
    fn record_critical_path(
        &self,
        cells: &[CellWork],
        edge_rounds: usize,
        aggregator: Option<&Uav>,
        books: &mut Books,
    ) {
        let offload_s = |uav: &Uav| aggregator.map_or(0.0, |to| self.offload_s(cells, uav, to));
        let total_s = |uav: &&Uav| cells[uav.id.index()].edge_time_s(edge_rounds) + offload_s(uav);
        let Some(slowest) = self
            .world
            .uavs
            .iter()
            .max_by(|a, b| total_s(a).total_cmp(&total_s(b)))
        else {
            return;
        };
        let device = cells[slowest.id.index()].cost.slowest;
        books
            .time
            .add(TimeItem::Compute, edge_rounds as f64 * device.compute_s);
        books
            .time
            .add(TimeItem::Upload, edge_rounds as f64 * device.upload_s);
        books
            .time
            .add(TimeItem::Download, edge_rounds as f64 * device.download_s);
        books.time.add(TimeItem::Offload, offload_s(slowest));
    }

    /// T^E2G; a UAV that has nothing to hand over takes no time.
    fn offload_s(&self, cells: &[CellWork], uav: &Uav, aggregator: &Uav) -> f64 {
        if cells[uav.id.index()].model.is_none() {
            return 0.0;
        }
        cost::offload_s(&self.nature, uav, aggregator, self.model_bits())
    }

    fn offload(&mut self, cells: &mut [CellWork], aggregator: &Uav, books: &mut Books) {
        let hover_w = self.nature.hover_power_w();
        let times_s: Vec<f64> = self
            .world
            .uavs
            .iter()
            .map(|uav| self.offload_s(cells, uav, aggregator))
            .collect();
        for (uav, time_s) in self
            .world
            .uavs
            .iter_mut()
            .zip(times_s)
            .filter(|(uav, _)| uav.is_active())
        {
            if !books.pay(uav, EnergyItem::OffloadHover, time_s * hover_w) {
                Self::lose(
                    &mut cells[uav.id.index()],
                    uav,
                    EnergyItem::OffloadHover,
                    books,
                );
            }
        }
    }

    /// The global model is merged: a battery that ends here takes no update along.
    fn broadcast(
        &mut self,
        cells: &mut [CellWork],
        receivers: &[Receiver],
        aggregator: &Uav,
        books: &mut Books,
    ) {
        if !receivers.iter().any(|r| r.id == aggregator.id) {
            return;
        }
        let cost = cost::broadcast(&self.nature, aggregator, receivers, self.model_bits());
        books.time.add(TimeItem::Broadcast, cost.time_s);
        cells.iter_mut().for_each(|cell| cell.updates = 0);
        for (receiver, relay_j) in receivers.iter().zip(cost.relay_j) {
            let uav = &mut self.world.uavs[receiver.id.index()];
            let link_j = if uav.id == aggregator.id {
                cost.uav_link_j
            } else {
                0.0
            };
            for (item, joules) in [
                (EnergyItem::Broadcast, link_j),
                (EnergyItem::Relay, relay_j),
                (EnergyItem::BroadcastHover, cost.hover_j),
            ] {
                if uav.is_active() && !books.pay(uav, item, joules) {
                    Self::lose(&mut cells[receiver.id.index()], uav, item, books);
                }
            }
        }
    }
}
