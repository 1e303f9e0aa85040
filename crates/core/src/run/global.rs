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
    /// Eqs. (3) and (19)-(26). UAVs that are low hand over and then miss the broadcast, as those do that have no
    /// way to the aggregator. When that falls, the others hand over again, to another one.
    pub(super) fn global_phase(
        &mut self,
        cells: &mut [CellWork],
        edge: &EdgeOutcome,
        method: &mut Method,
        books: &mut Books,
    ) -> Merged {
        let flown_s = self.redeploy(cells, edge, method, books);
        let mut before = Some(&flown_s[..]);
        loop {
            let staying = self.world.active().map(|uav| uav.id);
            let staying = staying.filter(|id| !edge.low.iter().any(|low| low.uav == *id));
            let receivers: Vec<Receiver> = staying.map(|id| self.receiver(id, cells)).collect();
            let aggregator = self.choose_aggregator(cells, &receivers, method);
            self.record_critical_path(cells, before.take(), aggregator.as_ref(), books);
            let Some(aggregator) = aggregator else {
                return Merged::default();
            };
            self.offload(cells, &aggregator, books);
            if self.falls_aggregating(aggregator.id) {
                let cell = &mut cells[aggregator.id.index()];
                self.lose_suddenly(aggregator.id, Some(cell), books);
                continue;
            }
            let models: Vec<(&[f32], f64)> = cells.iter().flat_map(CellWork::carried).collect();
            let model = (!models.is_empty()).then(|| method.aggregation.merge(&models));
            cells.iter_mut().for_each(|cell| cell.updates = 0);
            if model.is_none() {
                return Merged::default();
            }
            self.broadcast(cells, &receivers, &aggregator, books);
            return Merged {
                aggregator: Some(aggregator.id),
                model,
            };
        }
    }

    pub(super) fn receiver(&self, id: UavId, cells: &[CellWork]) -> Receiver {
        let uav = &self.world.uavs[id.index()];
        Receiver {
            id,
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
        let stays = |uav: &&Uav| receivers.iter().any(|receiver| receiver.id == uav.id);
        let candidates: Vec<Candidate> = self
            .world
            .active()
            .filter(|uav| receivers.is_empty() || stays(uav))
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
        let broadcast = self.broadcast_cost(uav, receivers);
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

    /// The round lasts as long as its slowest UAV, Eq. (25): that UAV's parts are the round's. `flown_s` are the flights that
    /// came after the edge rounds; none when models are only handed over once more.
    fn record_critical_path(
        &self,
        cells: &[CellWork],
        flown_s: Option<&[f64]>,
        aggregator: Option<&Uav>,
        books: &mut Books,
    ) {
        let offload_s = |uav: &Uav| aggregator.map_or(0.0, |to| self.offload_s(cells, uav, to));
        let before_s = |index: usize| {
            flown_s.map_or(0.0, |flown_s| cells[index].edge_time_s() + flown_s[index])
        };
        let total_s = |uav: &&Uav| before_s(uav.id.index()) + offload_s(uav);
        let Some(slowest) = self
            .world
            .uavs
            .iter()
            .max_by(|a, b| total_s(a).total_cmp(&total_s(b)))
        else {
            return;
        };
        let time = &mut books.time;
        if let Some(flown_s) = flown_s {
            let cell = &cells[slowest.id.index()];
            let (edge_rounds, device) = (cell.edge_rounds as f64, cell.cost.slowest);
            time.add(TimeItem::Compute, edge_rounds * device.compute_s);
            time.add(TimeItem::Upload, edge_rounds * device.upload_s);
            time.add(TimeItem::Download, edge_rounds * device.download_s);
            time.add(TimeItem::Move, flown_s[slowest.id.index()]);
        }
        time.add(TimeItem::Offload, offload_s(slowest));
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

    fn broadcast_cost(&self, aggregator: &Uav, receivers: &[Receiver]) -> cost::Broadcast {
        let link_s = |id: UavId| {
            let way = self.crossing_s(aggregator, &self.world.uavs[id.index()]);
            way.unwrap_or(0.0)
        };
        cost::broadcast(&self.nature, aggregator, receivers, link_s)
    }

    /// The global model is merged: a battery that ends here takes no update along. Whom it does not reach
    /// goes on from the model it has.
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
        let reached = |receiver: &Receiver| {
            let uav = &self.world.uavs[receiver.id.index()];
            uav.id == aggregator.id || self.crossing_s(aggregator, uav).is_some()
        };
        let (receivers, missed): (Vec<_>, Vec<_>) = receivers.iter().copied().partition(reached);
        for Receiver { id, .. } in missed {
            let old = || self.global_model.clone();
            self.behind.entry(id).or_insert_with(old);
        }
        let cost = self.broadcast_cost(aggregator, &receivers);
        books.time.add(TimeItem::Broadcast, cost.time_s);
        for (receiver, relay_j) in receivers.iter().zip(cost.relay_j) {
            self.behind.remove(&receiver.id);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    /// UAVs 0 - 1 - 2 - 3 in a chain for two rounds; 3, in the middle of the area, merges.
    #[test]
    fn who_misses_the_broadcast_goes_on_from_the_model_it_has() {
        let text = r#"
            method = "fedprox"
            faults = [
                {kind = "link_outage", uavs = [0, 2], from = 1, until = 2},
                {kind = "link_outage", uavs = [0, 3], from = 1, until = 2},
                {kind = "link_outage", uavs = [1, 3], from = 1, until = 2},
            ]
            [devices]
            count = 40
            [data]
            data_volume = 80
            probe_samples = 10
            [model]
            name = "logistic"
            [uavs]
            count = 4
            layout = {kind = "fixed", positions_m = [[2000, 10000], [18000, 10000], [10000, 17000], [9900, 10000]]}
        "#;
        let scenario = Scenario::parse(text, &[""; 0]).unwrap().check().unwrap();
        let mut simulation = Simulation::new(&scenario, 1).unwrap();
        let mut method = Method::of(&scenario).unwrap();
        let first_model = simulation.global_model.clone();
        for _ in 0..2 {
            let record = simulation.step(&mut method).unwrap().unwrap();
            assert_eq!(record.aggregator, Some(UavId(3)));
            assert_ne!(simulation.global_model, first_model);
            let behind: Vec<_> = simulation.behind.iter().collect();
            assert_eq!(behind, [(&UavId(0), &first_model)]);
        }

        // A few steps do not lead far from where they start.
        let device = simulation.world.coverage().cells[0][0];
        let mut cells = simulation
            .plan_cells(
                vec![vec![device], Vec::new(), Vec::new(), Vec::new()],
                &mut method,
            )
            .unwrap();
        cells[0].start = Some(vec![0.25; first_model.len()]);
        let updates = simulation.train(&cells, 1, &method).unwrap();
        assert!(updates[0].weights.iter().all(|w| (w - 0.25).abs() < 0.2));

        simulation.step(&mut method).unwrap().unwrap();
        assert!(simulation.behind.is_empty());
    }
}
