//! The steps of a pass: fetch, train, hand over, arrive.

use crate::Error;
use crate::decide::association::{Scene, flaw};
use crate::nature::cost::Receiver;
use crate::record::{EnergyItem, EventKind};
use crate::seed::{Stream, stream};
use crate::world::UavId;

use super::super::Simulation;
use super::super::edge::{merge_cells, pay_for_edge_round};
use super::Round;
use super::passes::{Activity, Step};

impl Simulation {
    /// UAVs that have nothing to do fetch the global model and set their devices to work. Who covers
    /// nobody, or is out of the aggregator's reach, stays idle; who is too low goes home.
    pub(super) fn begin(&mut self, uavs: &[UavId], round: &mut Round) -> Result<(), Error> {
        round.passes.begun += 1;
        if uavs.is_empty() {
            return Ok(());
        }
        let coverage = self.working_coverage();
        let scene = Scene {
            round: self.round,
            world: &self.world,
            coverage: &coverage,
            answers: &[],
            altitude_m: self.nature.altitude_m,
            quality: self.quality,
        };
        let pass = round.passes.begun;
        let mut rng = stream(self.scenario.seed, Stream::Association, pass as u64, 0);
        let mut selection = round.method.association.select(&scene, &mut rng);
        if let Some(reason) = flaw(&selection, &coverage) {
            return Err(Error::Decision {
                method: round.method.name.clone(),
                reason,
            });
        }
        let busy = round.passes.busy();
        for (devices, uav) in selection.iter_mut().zip(&self.world.uavs) {
            devices.retain(|device| uavs.contains(&uav.id) && !busy.contains(device));
        }
        let mut cells = self.plan_cells(selection, round.method)?;
        for id in uavs {
            let cell = &mut round.passes.cells[id.index()];
            *cell = std::mem::take(&mut cells[id.index()]);
            cell.pass = pass;
            self.begin_pass(*id, round);
        }
        Ok(())
    }

    fn begin_pass(&mut self, id: UavId, round: &mut Round) {
        let index = id.index();
        if !self.world.uavs[index].is_active() {
            return;
        }
        let cell = &round.passes.cells[index];
        if round.method.checks_energy {
            let worst = self.worst_links(&round.passes.cells);
            let low = self.if_low(&self.world.uavs[index], cell, &worst, &mut round.books);
            if let Some(leaver) = low {
                round.passes.cells[index].dismiss();
                self.send_home(&[leaver], &mut round.books);
                return;
            }
        }
        if !cell.trains() {
            return;
        }
        let Some(fetch_s) = self.fetch(id, round) else {
            round.passes.cells[index].dismiss();
            return;
        };
        round.passes.tiers.fetch(id);
        let cell = &mut round.passes.cells[index];
        cell.model = Some(self.global_model.clone());
        let activity = Activity {
            began_s: self.world.clock_s,
            fetch_s,
            step: Step::Train,
        };
        let until_s = activity.began_s + (fetch_s + cell.cost.slowest.time_s());
        round.passes.queue.schedule(until_s, id, activity);
    }

    /// The aggregator sends the global model to one UAV, and that to its devices, as Eqs. (22)-(24) have it
    /// for all. Returns the seconds it takes; none when it does not arrive. The first model is
    /// everywhere from the start.
    fn fetch(&mut self, id: UavId, round: &mut Round) -> Option<f64> {
        if round.passes.tiers.is_new() {
            return Some(0.0);
        }
        if round.passes.aggregator.is_none() {
            self.appoint(round);
        }
        let aggregator = round.passes.aggregator?;
        let sender = &self.world.uavs[aggregator.index()];
        let uav = &self.world.uavs[id.index()];
        let link_s = match aggregator == id {
            true => 0.0,
            false => self.crossing_s(sender, uav)?,
        };
        let relay_s = round.passes.cells[id.index()].relay_s;
        let fetch_s = link_s + relay_s;
        let hover_w = self.nature.hover_power_w();
        let bills = [
            (
                aggregator,
                EnergyItem::Broadcast,
                link_s * sender.tx_power_w,
            ),
            (id, EnergyItem::Relay, relay_s * uav.broadcast_power_w),
            (id, EnergyItem::BroadcastHover, fetch_s * hover_w),
        ];
        for (payer, item, joules) in bills {
            let uav = &mut self.world.uavs[payer.index()];
            if uav.is_active() && !round.books.pay(uav, item, joules) {
                let cell = &mut round.passes.cells[payer.index()];
                Self::lose(cell, uav, item, &mut round.books);
            }
        }
        let both = [aggregator, id].map(|uav| self.world.uavs[uav.index()].is_active());
        (both == [true, true]).then_some(fetch_s)
    }

    /// Who aggregates from now on. A new one gets the last models of the others.
    pub(super) fn appoint(&mut self, round: &mut Round) {
        let passes = &mut round.passes;
        let staying = self.world.active().map(|uav| uav.id);
        let staying = staying.filter(|id| passes.leaving[id.index()].is_none());
        let receivers: Vec<Receiver> = staying.map(|id| self.receiver(id, &passes.cells)).collect();
        let chosen = self.choose_aggregator(&passes.cells, &receivers, round.method);
        let Some(chosen) = chosen.filter(|chosen| passes.aggregator != Some(chosen.id)) else {
            return;
        };
        passes.aggregator = Some(chosen.id);
        for index in 0..self.world.uavs.len() {
            let uav = &self.world.uavs[index];
            if uav.id == chosen.id || !passes.tiers.holds(uav.id) {
                continue;
            }
            let way = uav.is_active().then(|| self.crossing_s(uav, &chosen));
            let Some(time_s) = way.flatten() else {
                passes.tiers.forget(uav.id);
                continue;
            };
            let joules = time_s * self.nature.hover_power_w();
            let uav = &mut self.world.uavs[index];
            let item = EnergyItem::OffloadHover;
            if !round.books.pay(uav, item, joules) {
                Self::lose(&mut passes.cells[index], uav, item, &mut round.books);
                passes.tiers.forget(UavId(index as u32));
            }
        }
    }

    /// An edge round is over: the UAV merges, its battery pays, and then the next one or the hand-over follows.
    pub(super) fn end_edge_round(&mut self, id: UavId, round: &mut Round) -> Result<(), Error> {
        let index = id.index();
        let cell = &mut round.passes.cells[index];
        let done = cell.edge_rounds + 1;
        round.books.edge_round = done;
        round.edge_rounds[index] += 1;
        // Who went down since the pass began is waited for in vain.
        let (crashed, cut_off) = (self.crashed(), self.cut_off(id));
        cell.keep_devices(|device| !cut_off && !crashed.contains(&device));
        let updates = self.train(std::slice::from_ref(cell), done, round.method)?;
        let samples = &self.world.devices.samples;
        merge_cells(std::slice::from_mut(cell), &updates, samples, round.method);
        round.updates += updates.len();
        round.loss += updates.iter().map(|u| f64::from(u.mean_loss)).sum::<f64>();
        round.iterations += updates.len() * cell.plan.local_iterations;
        let report = &mut round.cells[index];
        report.edge_time_s += cell.cost.slowest.time_s();
        report.local_iterations = cell.plan.local_iterations;
        report.devices.extend(&cell.devices);
        report.devices.sort_unstable();
        report.devices.dedup();
        pay_for_edge_round(&mut self.world.uavs[index], cell, &mut round.books);

        let cells = &mut round.passes.cells;
        if round.method.checks_energy && self.world.uavs[index].is_active() {
            let worst = self.worst_links(cells);
            let low = self.if_low(
                &self.world.uavs[index],
                &cells[index],
                &worst,
                &mut round.books,
            );
            let leaving = &mut round.passes.leaving[index];
            *leaving = low.map(|low| low.or(*leaving)).or(*leaving);
        }
        let now = |uav, due| uav == id && due <= done;
        let warned = self.lose_between_edge_rounds(cells, now, &mut round.books);
        let leaving = &mut round.passes.leaving[index];
        *leaving = warned.first().copied().or(*leaving);
        if round.passes.leaving[index].is_some() {
            // What it knows must not leave with it.
            round.passes.aggregator = round.passes.aggregator.filter(|uav| *uav != id);
        }
        if !self.world.uavs[index].is_active() {
            return Ok(());
        }
        let cell = &round.passes.cells[index];
        let more = done < round.method.schedule.edge_rounds() && cell.trains();
        if more && round.passes.leaving[index].is_none() {
            let activity = Activity {
                began_s: self.world.clock_s,
                fetch_s: 0.0,
                step: Step::Train,
            };
            let until_s = activity.began_s + cell.cost.slowest.time_s();
            round.passes.queue.schedule(until_s, id, activity);
        } else if cell.updates > 0 {
            self.hand_over(id, round);
        } else {
            round.passes.cells[index].dismiss();
            if let Some(leaver) = round.passes.leaving[index].take() {
                self.send_home(&[leaver], &mut round.books);
            }
        }
        Ok(())
    }

    /// The edge model sets out for the aggregator; without a way there it stays behind.
    fn hand_over(&mut self, id: UavId, round: &mut Round) {
        if round.passes.aggregator.is_none() {
            self.appoint(round);
        }
        let uav = &self.world.uavs[id.index()];
        let cell = &mut round.passes.cells[id.index()];
        let way = round.passes.aggregator.and_then(|to| {
            let time_s = self.handover_s(uav, cell, &self.world.uavs[to.index()])?;
            Some((to, time_s))
        });
        if let Some((to, time_s)) = way {
            let activity = Activity {
                began_s: self.world.clock_s,
                fetch_s: 0.0,
                step: Step::HandOver { to },
            };
            let until_s = activity.began_s + time_s;
            round.passes.queue.schedule(until_s, id, activity);
            return;
        }
        let updates_lost = cell.go_down();
        round.books.tell(EventKind::ModelStranded {
            uav: id,
            updates_lost,
        });
        if let Some(leaver) = round.passes.leaving[id.index()].take() {
            self.send_home(&[leaver], &mut round.books);
        }
    }

    /// An edge model is there: the global model is merged anew, and the cell goes on. False when it has
    /// to go to another aggregator, or is lost.
    pub(super) fn arrive(
        &mut self,
        id: UavId,
        to: UavId,
        handover_s: f64,
        round: &mut Round,
    ) -> Result<bool, Error> {
        let index = id.index();
        let item = EnergyItem::OffloadHover;
        let joules = handover_s * self.nature.hover_power_w();
        let uav = &mut self.world.uavs[index];
        if !round.books.pay(uav, item, joules) {
            let cell = &mut round.passes.cells[index];
            Self::lose(cell, uav, item, &mut round.books);
            return Ok(false);
        }
        if round.passes.aggregator == Some(to) && self.falls_aggregating(to) {
            let cell = &mut round.passes.cells[to.index()];
            self.lose_suddenly(to, Some(cell), &mut round.books);
            round.passes.aggregator = None;
            round.passes.tiers.forget(to);
        }
        if round.passes.aggregator != Some(to) {
            if self.world.uavs[index].is_active() {
                self.hand_over(id, round);
            }
            return Ok(false);
        }
        let cell = &mut round.passes.cells[index];
        let needs = round.method.association.needs();
        round.cell_outcomes[index] = self.cell_outcome(id, cell, needs)?;
        round
            .device_outcomes
            .extend(self.device_outcomes_of(id, cell));
        round.delivered += std::mem::take(&mut cell.updates);
        if let Some(model) = cell.model.take() {
            let staleness = round.passes.tiers.deliver(id, model);
            let merged = round.passes.tiers.merge(&*round.method.aggregation);
            self.global_model = merged.unwrap_or_default();
            round.merged_by = Some(to);
            round.books.tell(EventKind::ModelArrived {
                uav: id,
                time_s: self.world.clock_s,
                staleness,
            });
        }
        match round.passes.leaving[index].take() {
            Some(leaver) => self.send_home(&[leaver], &mut round.books),
            None => self.begin(&[id], round)?,
        }
        Ok(true)
    }
}
