//! Global aggregation: edge models go to the aggregator, are merged, and come back.

use crate::decide::aggregator::Candidate;
use crate::method::Method;
use crate::nature::cost::{self, Receiver};
use crate::record::{EnergyItem, EventKind, TimeItem};
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
    /// Eqs. (3) and (19)-(26). UAVs that are low hand over and then miss the broadcast. When the
    /// aggregator falls, the others hand over again, to another one.
    pub(super) fn global_phase(
        &mut self,
        cells: &mut [CellWork],
        edge: &EdgeOutcome,
        method: &mut Method,
        books: &mut Books,
    ) -> Merged {
        let mut edge_rounds = edge.rounds;
        let mut flown_s = self.redeploy(cells, edge, method, books);
        loop {
            let staying = self.world.active().map(|uav| uav.id);
            let staying = staying.filter(|id| !edge.low.iter().any(|low| low.uav == *id));
            let receivers: Vec<Receiver> = staying.map(|id| self.receiver(id, cells)).collect();
            let aggregator = self.choose_aggregator(cells, &receivers, method);
            self.record_critical_path(cells, edge_rounds, &flown_s, aggregator.as_ref(), books);
            let Some(aggregator) = aggregator else {
                return Merged::default();
            };
            self.offload(cells, &aggregator, books);
            if self.falls_aggregating(aggregator.id) {
                let cell = &mut cells[aggregator.id.index()];
                self.lose_suddenly(aggregator.id, Some(cell), books);
                edge_rounds = 0;
                flown_s.fill(0.0);
                continue;
            }
            let models: Vec<(&[f32], f64)> = cells.iter().flat_map(CellWork::carried).collect();
            let model = (!models.is_empty()).then(|| method.aggregation.merge(&models));
            cells.iter_mut().for_each(|cell| cell.updates = 0);
            self.broadcast(cells, &receivers, &aggregator, books);
            let aggregator = model.is_some().then_some(aggregator.id);
            return Merged { aggregator, model };
        }
    }

    pub(super) fn receiver(&self, id: UavId, cells: &[CellWork]) -> Receiver {
        let uav = &self.world.uavs[id.index()];
        Receiver {
            id,
            position: uav.position,
            broadcast_power_w: uav.broadcast_power_w,
            slowest_download_s: cells[id.index()].relay_s,
        }
    }

    /// The method's choice among those who are there; who is low can only aggregate when nobody stays.
    pub(super) fn choose_aggregator(
        &self,
        cells: &[CellWork],
        receivers: &[Receiver],
        method: &mut Method,
    ) -> Option<Uav> {
        let candidates: Vec<Candidate> = self
            .world
            .active()
            .map(|uav| self.candidate(cells, receivers, uav))
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let chosen = method.aggregator.choose(&candidates);
        let found = candidates
            .iter()
            .find(|candidate| candidate.uav.id == chosen);
        found
            .or(candidates.first())
            .map(|candidate| candidate.uav.clone())
    }

    /// What it would mean if a UAV aggregated, Eq. (56).
    fn candidate<'a>(
        &self,
        cells: &[CellWork],
        receivers: &[Receiver],
        uav: &'a Uav,
    ) -> Candidate<'a> {
        let broadcast = cost::broadcast(&self.nature, uav, receivers, self.model_bits());
        let own = receivers.iter().position(|receiver| receiver.id == uav.id);
        let relay_j = own.map_or(0.0, |own| broadcast.relay_j[own]);
        let battery_needed_j =
            broadcast.uav_link_j + relay_j + broadcast.hover_j + self.flight_home_j(uav);
        let heard = receivers
            .iter()
            .all(|receiver| self.hears(uav.id, receiver.id));

        let handovers = || {
            self.world
                .active()
                .map(|other| self.offload_s(cells, other, uav))
        };
        let hover_j = handovers().sum::<f64>() * self.nature.hover_power_w();
        let broadcast_j = broadcast.uav_link_j
            + broadcast.relay_j.iter().sum::<f64>()
            + broadcast.hover_j * receivers.len() as f64;
        let time_s = broadcast.time_s + handovers().fold(0.0, f64::max);
        let weights = &self.scenario.weights;
        Candidate {
            uav,
            can_broadcast: own.is_some() && heard && uav.battery_j >= battery_needed_j,
            cost: weights.energy * (broadcast_j + hover_j) + weights.time * time_s,
        }
    }

    /// The round lasts as long as its slowest UAV, Eq. (25): that UAV's parts are the round's.
    fn record_critical_path(
        &self,
        cells: &[CellWork],
        edge_rounds: usize,
        flown_s: &[f64],
        aggregator: Option<&Uav>,
        books: &mut Books,
    ) {
        let offload_s = |uav: &Uav| aggregator.map_or(0.0, |to| self.offload_s(cells, uav, to));
        let total_s = |uav: &&Uav| {
            let index = uav.id.index();
            cells[index].edge_time_s(edge_rounds) + flown_s[index] + offload_s(uav)
        };
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
        books.time.add(TimeItem::Move, flown_s[slowest.id.index()]);
        books.time.add(TimeItem::Offload, offload_s(slowest));
    }

    /// T^E2G; a UAV that has nothing to hand over, or nobody to hand it to, takes no time.
    fn offload_s(&self, cells: &[CellWork], uav: &Uav, aggregator: &Uav) -> f64 {
        let cell = &cells[uav.id.index()];
        match cell.carries() {
            true => self.handover_s(uav, cell, aggregator).unwrap_or(0.0),
            false => 0.0,
        }
    }

    /// Seconds of handing over what a UAV carries.
    pub(super) fn handover_s(&self, uav: &Uav, cell: &CellWork, aggregator: &Uav) -> Option<f64> {
        let one_s = self.crossing_s(uav, aggregator)?;
        Some(cell.handovers as f64 * one_s)
    }

    /// Seconds of sending a model from one UAV to another, by way of the quickest third one when the
    /// two do not hear each other; none when there is no way.
    pub(super) fn crossing_s(&self, from: &Uav, to: &Uav) -> Option<f64> {
        let link_s = |from: &Uav, to: &Uav| {
            let heard = self.hears(from.id, to.id);
            heard.then(|| cost::offload_s(&self.nature, from, to, self.model_bits()))
        };
        link_s(from, to).or_else(|| {
            let between = self.world.active().filter(|other| other.id != from.id);
            let ways = between.filter_map(|other| Some(link_s(from, other)? + link_s(other, to)?));
            ways.min_by(f64::total_cmp)
        })
    }

    fn offload(&mut self, cells: &mut [CellWork], aggregator: &Uav, books: &mut Books) {
        let hover_w = self.nature.hover_power_w();
        for (index, cell) in cells.iter_mut().enumerate() {
            let uav = &self.world.uavs[index];
            if !uav.is_active() || !cell.carries() {
                continue;
            }
            let Some(time_s) = self.handover_s(uav, cell, aggregator) else {
                let (uav, updates_lost) = (uav.id, cell.go_down());
                books.tell(EventKind::ModelStranded { uav, updates_lost });
                continue;
            };
            let uav = &mut self.world.uavs[index];
            if !books.pay(uav, EnergyItem::OffloadHover, time_s * hover_w) {
                Self::lose(cell, uav, EnergyItem::OffloadHover, books);
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
