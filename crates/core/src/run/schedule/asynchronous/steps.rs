//! The steps of a pass: fetch, train, hand over, arrive.

use crate::Error;
use crate::decide::association::Scene;
use crate::learn::codec::Sender;
use crate::nature::cost::Receiver;
use crate::record::EventKind;
use crate::vocabulary::{Bill, EnergyItem, UavId};

use super::super::super::aggregate::{choose_aggregator, handover_s, receiver};
use super::super::super::edge::{
    cell_outcome, device_outcomes_of, draw_key, pay_for_edge_round, tell_lost,
};
use super::super::super::fleet::if_below;
use super::super::super::learning::EdgeTraining;
use super::super::super::leaving;
use super::super::super::planning::Planner;
use super::Round;
use super::passes::{Activity, Step};

impl Round<'_, '_> {
    /// UAVs that have nothing to do fetch the global model and set their devices to work. Who covers
    /// nobody, or is out of the aggregator's reach, stays idle; who is too low goes home.
    pub(super) fn begin(&mut self, uavs: &[UavId]) -> Result<(), Error> {
        self.passes.begun += 1;
        if uavs.is_empty() {
            return Ok(());
        }
        let fleet = &*self.fleet;
        let coverage = fleet.working_coverage(&mut self.links, &mut self.books);
        let scene = Scene {
            round: fleet.round,
            world: &fleet.world,
            coverage: &coverage,
            answers: &[],
            quality: self.learning.quality,
        };
        let pass = self.passes.begun;
        let mut selection = self.decisions.select(&scene, fleet.scenario.seed, pass)?;
        let busy = self.passes.busy();
        for (devices, uav) in selection.iter_mut().zip(&fleet.world.uavs) {
            devices.retain(|device| uavs.contains(&uav.id) && !busy.contains(device));
        }
        let planner = Planner {
            fleet,
            links: self.links.get_or_insert_default(),
            terms: self.terms,
            books: &self.books,
        };
        let mut cells = planner.plan(selection, &mut self.decisions)?;
        for id in uavs {
            self.passes.cells[id.index()] = std::mem::take(&mut cells[id.index()]);
            self.passes.pass[id.index()] = pass;
            self.begin_pass(*id);
        }
        Ok(())
    }

    fn begin_pass(&mut self, id: UavId) {
        let index = id.index();
        if !self.fleet.world.uavs[index].is_active() {
            return;
        }
        let cell = &self.passes.cells[index];
        if self.decisions.checks_energy {
            let worst = self.fleet.worst_case(&self.passes.cells, &self.books);
            let uav = &self.fleet.world.uavs[index];
            let low = self.fleet.if_low(uav, cell, &worst, &mut self.books);
            if let Some(leaver) = low {
                self.passes.cells[index].dismiss();
                self.fleet.send_home(&[leaver], &mut self.books);
                return;
            }
        }
        if !cell.trains() {
            return;
        }
        let Some(fetch_s) = self.fetch(id) else {
            self.passes.cells[index].dismiss();
            return;
        };
        self.passes.tiers.fetch(id);
        let cell = &mut self.passes.cells[index];
        let model = &self.learning.global_model;
        cell.model = Some((model.clone(), 0.0));
        cell.began_from = self.learning.air.is_lossy().then(|| model.clone());
        let begins_s = self.fleet.world.clock_s + fetch_s;
        self.fleet
            .look_ahead(id, cell, begins_s, self.terms.edge_rounds);
        let train_s = fetch_s + cell.cost.slowest.time_s();
        self.schedule(id, train_s, fetch_s, Step::Train);
    }

    /// A UAV will be busy for so long, of which it fetches a model at first.
    fn schedule(&mut self, id: UavId, lasts_s: f64, fetch_s: f64, step: Step) {
        let began_s = self.fleet.world.clock_s;
        let until_s = began_s + lasts_s;
        let activity = Activity {
            began_s,
            until_s,
            fetch_s,
            step,
        };
        self.passes.queue.schedule(until_s, id, activity);
    }

    /// The aggregator sends the global model to one UAV, and that to its devices, as Eqs. (22)-(24) have it
    /// for all. Returns the seconds it takes; none when it does not arrive. The first model is
    /// everywhere from the start.
    fn fetch(&mut self, id: UavId) -> Option<f64> {
        if self.passes.tiers.is_new() {
            return Some(0.0);
        }
        let aggregator = self.sender_to(id)?;
        let sender = &self.fleet.world.uavs[aggregator.index()];
        let uav = &self.fleet.world.uavs[id.index()];
        let link_s = self.fleet.crossing_s(sender, uav, self.fleet.model_bits)?;
        let relay_s = self.passes.cells[id.index()].relay_s;
        let fetch_s = link_s + relay_s;
        let hover_j = self.fleet.nature.hover(id, fetch_s).joules;
        let bills = [
            (
                aggregator,
                EnergyItem::Broadcast,
                link_s * sender.tx_power_w,
            ),
            (id, EnergyItem::Relay, relay_s * uav.broadcast_power_w),
            (id, EnergyItem::BroadcastHover, hover_j),
        ];
        for (payer, item, joules) in bills {
            let cell = &mut self.passes.cells[payer.index()];
            let bill = Bill::beside(joules);
            self.fleet.charge(payer, cell, item, bill, &mut self.books);
        }
        let uavs = &self.fleet.world.uavs;
        let both = [aggregator, id].map(|uav| uavs[uav.index()].is_active());
        (both == [true, true]).then_some(fetch_s)
    }

    /// Who sends the global model to a UAV: the aggregator, or its successor if it could not afford that.
    fn sender_to(&mut self, id: UavId) -> Option<UavId> {
        for _ in 0..self.fleet.world.uavs.len() {
            if self.passes.aggregator.is_none() {
                self.appoint();
            }
            let aggregator = self.passes.aggregator?;
            let uavs = &self.fleet.world.uavs;
            let sender = &uavs[aggregator.index()];
            let (to, bits) = (&uavs[id.index()], self.fleet.model_bits);
            let link_s = self.fleet.crossing_s(sender, to, bits)?;
            if self.can_afford(aggregator, link_s * sender.tx_power_w) {
                return Some(aggregator);
            }
        }
        None
    }

    /// Whether a UAV can spend so much besides what it needs anyway. Who cannot is let go.
    pub(super) fn can_afford(&mut self, id: UavId, joules: f64) -> bool {
        if !self.decisions.checks_energy || joules == 0.0 {
            return true;
        }
        let cells = &self.passes.cells;
        let worst = self.fleet.worst_case(cells, &self.books);
        let uav = &self.fleet.world.uavs[id.index()];
        let cell = &cells[id.index()];
        let needed_j = self.fleet.needed_j(uav, cell, &worst, &self.books);
        let Some(leaver) = if_below(uav, needed_j + joules, &mut self.books) else {
            return true;
        };
        self.let_go(leaver);
        self.passes.aggregator = self.passes.aggregator.filter(|uav| *uav != id);
        false
    }

    /// Who aggregates from now on. A new one gets the last models of the others.
    pub(super) fn appoint(&mut self) {
        let (fleet, passes) = (&mut *self.fleet, &mut *self.passes);
        let staying = fleet.world.active().map(|uav| uav.id);
        let staying = staying.filter(|id| passes.leaving[id.index()].is_none());
        let receivers: Vec<Receiver> = staying
            .map(|id| receiver(fleet, id, &passes.cells))
            .collect();
        let choice = &mut *self.decisions.aggregator;
        let chosen = choose_aggregator(fleet, &passes.cells, &receivers, choice, &self.books);
        let Some(chosen) = chosen.filter(|chosen| passes.aggregator != Some(chosen.id)) else {
            return;
        };
        passes.aggregator = Some(chosen.id);
        for uav in &fleet.world.uavs {
            let id = uav.id;
            if id == chosen.id || !passes.tiers.holds(id) {
                continue;
            }
            // Besides whatever it is doing, which the hovering is paid for with.
            let way = || fleet.crossing_s(uav, &chosen, fleet.update_bits);
            if !(uav.is_active() && way().is_some()) {
                passes.tiers.forget(id);
            }
        }
    }

    /// An edge round is over: the UAV merges, its battery pays, and then the next one or the hand-over follows.
    pub(super) fn end_edge_round(&mut self, id: UavId) -> Result<(), Error> {
        let index = id.index();
        let done = self.passes.cells[index].edge_rounds + 1;
        self.books.edge_round = done;
        self.edge_rounds[index] += 1;
        self.train(id, done)?;
        let cell = &mut self.passes.cells[index];
        let report = &mut self.cells[index];
        report.edge_time_s += cell.cost.slowest.time_s();
        report.local_iterations = cell.plan.local_iterations;
        report.devices.extend(&cell.devices);
        report.devices.sort_unstable();
        report.devices.dedup();
        // Its seconds are noted as they pass.
        pay_for_edge_round(self.fleet, id, cell, 0.0, &mut self.books);
        leaving::see_off(cell, self.fleet.world.clock_s);
        self.see_who_leaves(id, done);
        if !self.fleet.world.uavs[index].is_active() {
            return Ok(());
        }
        let cell = &self.passes.cells[index];
        let more = done < self.terms.edge_rounds && cell.trains();
        if more && self.passes.leaving[index].is_none() {
            let train_s = cell.cost.slowest.time_s();
            self.schedule(id, train_s, 0.0, Step::Train);
        } else if cell.updates > 0 {
            self.hand_over(id);
        } else {
            self.passes.cells[index].dismiss();
            self.leave_now(id);
        }
        Ok(())
    }

    /// The devices of a cell train, and its UAV merges.
    fn train(&mut self, id: UavId, edge_round: usize) -> Result<(), Error> {
        let cell = &mut self.passes.cells[id.index()];
        // Who went down since the pass began is waited for in vain.
        let (crashed, cut_off) = (self.fleet.crashed(), self.fleet.cut_off(id));
        cell.keep_devices(|device| !cut_off && !crashed.contains(&device));
        let began_s = self.fleet.world.clock_s - cell.cost.slowest.time_s();
        leaving::foresee(cell, began_s);
        let training = EdgeTraining {
            key: draw_key(self.passes.pass[id.index()], edge_round),
            local: self.decisions.local,
            aggregation: self.decisions.aggregation,
            merges_at_uavs: true,
            wants_outputs: false,
        };
        let trained = self.learning.train(&mut [(id, &mut *cell)], &training)?;
        self.updates += trained.received();
        self.loss += trained.loss;
        self.iterations += trained.received() * cell.plan.local_iterations;
        tell_lost(&trained, &mut self.books);
        Ok(())
    }

    /// A UAV whose edge round is over may be low, or fall, or be warned.
    fn see_who_leaves(&mut self, id: UavId, edge_round: usize) {
        let index = id.index();
        let (fleet, passes) = (&mut *self.fleet, &mut *self.passes);
        let cells = &mut passes.cells;
        if self.decisions.checks_energy && fleet.world.uavs[index].is_active() {
            let worst = fleet.worst_case(cells, &self.books);
            let uav = &fleet.world.uavs[index];
            let low = fleet.if_low(uav, &cells[index], &worst, &mut self.books);
            let leaving = &mut passes.leaving[index];
            *leaving = low.map(|low| low.or(*leaving)).or(*leaving);
        }
        let now = |uav, due| uav == id && due <= edge_round;
        let warned = fleet.lose_between_edge_rounds(cells, now, &mut self.books);
        let leaving = &mut passes.leaving[index];
        *leaving = warned.first().copied().or(*leaving);
        if leaving.is_some() {
            // What it knows must not leave with it.
            passes.aggregator = passes.aggregator.filter(|uav| *uav != id);
        }
    }

    /// A UAV that was to leave goes home.
    fn leave_now(&mut self, id: UavId) {
        if let Some(leaver) = self.passes.leaving[id.index()].take() {
            self.fleet.send_home(&[leaver], &mut self.books);
        }
    }

    /// The edge model sets out for the aggregator; without a way there it stays behind.
    fn hand_over(&mut self, id: UavId) {
        if self.passes.aggregator.is_none() {
            self.appoint();
        }
        let fleet = &*self.fleet;
        let uav = &fleet.world.uavs[id.index()];
        let cell = &mut self.passes.cells[id.index()];
        let way = self.passes.aggregator.and_then(|to| {
            let time_s = handover_s(fleet, uav, cell, &fleet.world.uavs[to.index()])?;
            Some((to, time_s))
        });
        if let Some((to, time_s)) = way {
            self.schedule(id, time_s, 0.0, Step::HandOver { to });
            return;
        }
        let updates_lost = cell.go_down();
        self.books.tell(EventKind::ModelStranded {
            uav: id,
            updates_lost,
        });
        self.leave_now(id);
    }

    /// An edge model is there: the global model is merged anew, and the cell goes on. False when it has
    /// to go to another aggregator, or is lost.
    pub(super) fn arrive(&mut self, id: UavId, to: UavId, handover_s: f64) -> Result<bool, Error> {
        let index = id.index();
        let bill = Bill::beside(self.fleet.nature.hover(id, handover_s).joules);
        let cell = &mut self.passes.cells[index];
        let item = EnergyItem::OffloadHover;
        self.fleet.charge(id, cell, item, bill, &mut self.books);
        if !self.fleet.world.uavs[index].is_active() {
            return Ok(false);
        }
        if self.passes.aggregator == Some(to) && self.fleet.falls_aggregating(to) {
            let cell = &mut self.passes.cells[to.index()];
            self.fleet.lose_suddenly(to, Some(cell), &mut self.books);
            self.passes.aggregator = None;
            self.passes.tiers.forget(to);
        }
        if self.passes.aggregator != Some(to) {
            if self.fleet.world.uavs[index].is_active() {
                self.hand_over(id);
            }
            return Ok(false);
        }
        let cell = &mut self.passes.cells[index];
        self.cell_outcomes[index] = cell_outcome(self.learning, id, cell, self.needs)?;
        if self.cell_outcomes[index].edge_model.is_some() {
            let bill = Bill::beside(self.fleet.probing.edge_j);
            let item = EnergyItem::Scoring;
            self.fleet.charge(id, cell, item, bill, &mut self.books);
        }
        self.device_outcomes
            .extend(device_outcomes_of(self.fleet, id, cell));
        self.delivered += std::mem::take(&mut cell.updates);
        if let Some((mut model, _)) = cell.model.take() {
            if let Some(start) = cell.began_from.take().filter(|_| id != to) {
                self.learning.air.send(Sender::Uav(id), &start, &mut model);
            }
            let staleness = self.passes.tiers.deliver(id, model);
            let merged = self.passes.tiers.merge(self.decisions.aggregation);
            self.learning.global_model = merged.unwrap_or_default();
            let learning = &mut *self.learning;
            learning.air.send_model(&mut learning.global_model);
            self.merged_by = Some(to);
            self.books.tell(EventKind::ModelArrived {
                uav: id,
                time_s: self.fleet.world.clock_s,
                staleness,
            });
        }
        match self.passes.leaving[index].is_some() {
            true => self.leave_now(id),
            false => self.begin(&[id])?,
        }
        Ok(true)
    }
}
