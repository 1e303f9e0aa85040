//! The asynchronous schedule: FedAT (Chai et al., arXiv 2010.05958) with UAV cells as tiers.
//!
//! ```text
//! one pass of a cell
//!   fetch      the global model comes from the aggregator, and devices are chosen
//!   edge       K times: devices train, the UAV merges, its battery pays; a low UAV ends the phase
//!   hand over  the edge model goes to the aggregator
//!   merge      the latest models of all cells, slow cells weighted up (`tiers.rs`), make the new
//!              global model, and only this cell gets it
//! ```
//!
//! Inside a cell everybody waits for everybody; cells do not wait for each other. An event queue on
//! simulated time says which cell comes next. A pass has K edge rounds as in the other hierarchical
//! methods, so that the scarce UAV-to-UAV links carry as many models per local step; FedAT's single
//! training round per pass is K = 1.
//!
//! A *round* (and its record) ends with as many passes as were under way when it began, so it holds about
//! the work of a synchronous one: accuracy per round, mobility, faults and `stop.max_rounds` mean the
//! same. It ends in the moment of a merge. Devices move and UAVs return between rounds; a pass that is
//! under way then goes on with the devices and links it has, and these devices are in nobody else's
//! reach until it ends. The clock is simulated time. The time items are those of the cell
//! whose pass ended the round: it was busy throughout. Batteries pay for what has ended, so
//! edge rounds in progress stand in the next record, and those in progress at the end of a run in none:
//! at most one for each cell. Seconds stand in the round in which they pass. Updates count in the record in which their pass ends.
//!
//! The aggregator is chosen at the start of each round, and anew when it leaves or falls; then the
//! others hand it their last models again, besides their training. UAVs do not redeploy: at
//! any moment most of them are in the middle of a pass.

use crate::Error;
use crate::books::{Books, CellReport};
use crate::checkpoint;
use crate::decide::association::{CellOutcome, DeviceOutcome, Needs};
use crate::learn::aggregation;
use crate::nature::links::RoundLinks;
use crate::record::{EventKind, Time, TimeItem};
use crate::vocabulary::{Bill, EnergyItem, UavId};

use super::super::cells::{CellWork, Leaver};
use super::super::edge::cell_outcome;
use super::super::fleet::Fleet;
use super::super::learning::Learning;
use super::super::stage::{Decisions, Opening, RoundWork, Stage, Terms};
use super::Scheduler;

mod event_queue;
mod passes;
mod steps;
mod tiers;

use passes::{Activity, Passes, Step};

/// Cells that do not wait for each other, and what they are in the middle of.
pub(super) struct Asynchronous {
    edge_rounds: usize,
    passes: Passes,
}

impl Asynchronous {
    /// Before the first round; `edge_rounds` lie between two hand-overs.
    pub(super) fn new(edge_rounds: usize, uavs: usize) -> Self {
        Self {
            edge_rounds,
            passes: Passes::new(uavs),
        }
    }
}

/// A round in progress.
struct Round<'p, 'a> {
    passes: &'p mut Passes,
    fleet: &'a mut Fleet,
    learning: &'a mut Learning,
    decisions: Decisions<'a>,
    links: Option<RoundLinks>,
    terms: Terms,
    needs: Needs,
    books: Books,
    began_s: f64,
    /// Per UAV, what it did with the round's time.
    path: Vec<Time>,
    cells: Vec<CellReport>,
    cell_outcomes: Vec<CellOutcome>,
    device_outcomes: Vec<DeviceOutcome>,
    edge_rounds: Vec<usize>,
    /// Over all updates that came: loss, local iterations, and how many.
    loss: f64,
    iterations: usize,
    updates: usize,
    /// Updates in models that arrived.
    delivered: usize,
    merged_by: Option<UavId>,
}

impl Round<'_, '_> {
    /// Notes what a UAV has been doing since it began, or since the round did.
    fn note_time(&mut self, uav: UavId, activity: &Activity, now_s: f64) {
        let lasted_s = activity.until_s - activity.began_s;
        if lasted_s <= 0.0 {
            return;
        }
        let share = (now_s - activity.began_s.max(self.began_s)) / lasted_s;
        let device = self.passes.cells[uav.index()].cost.slowest;
        let path = &mut self.path[uav.index()];
        match activity.step {
            Step::Train => {
                path.add(TimeItem::Broadcast, share * activity.fetch_s);
                path.add(TimeItem::Compute, share * device.compute_s);
                path.add(TimeItem::Upload, share * device.upload_s);
                path.add(TimeItem::Download, share * device.download_s);
                let fetch_s = share * activity.fetch_s;
                let train_s = share * (lasted_s - activity.fetch_s);
                self.books
                    .pass_time(uav, EnergyItem::BroadcastHover, fetch_s);
                self.books.pass_time(uav, EnergyItem::EdgeHover, train_s);
            }
            Step::HandOver { .. } => {
                path.add(TimeItem::Offload, share * lasted_s);
                self.books
                    .pass_time(uav, EnergyItem::OffloadHover, share * lasted_s);
            }
        }
    }
}

impl Scheduler for Asynchronous {
    fn round(&mut self, stage: Stage) -> Result<RoundWork, Error> {
        let Stage {
            fleet,
            learning,
            decisions,
            opening,
        } = stage;
        let Opening {
            needs,
            mut books,
            coverage,
            links,
            ..
        } = opening;
        books.without_barriers();
        let uavs = fleet.world.uavs.len();
        let before = learning.global_model.clone();
        let idle = CellWork::default();
        let cell_outcomes: Result<_, Error> = (0..uavs as u32)
            .map(|uav| cell_outcome(learning, UavId(uav), &idle, needs))
            .collect();
        let mut round = Round {
            passes: &mut self.passes,
            began_s: fleet.world.clock_s,
            fleet,
            learning,
            decisions,
            links: Some(links),
            terms: Terms {
                edge_rounds: self.edge_rounds,
                merges_at_uavs: true,
            },
            needs,
            books,
            path: vec![Time::default(); uavs],
            cells: vec![CellReport::default(); uavs],
            cell_outcomes: cell_outcomes?,
            device_outcomes: Vec::new(),
            edge_rounds: vec![0; uavs],
            loss: 0.0,
            iterations: 0,
            updates: 0,
            delivered: 0,
            merged_by: None,
        };
        round.work_through()?;
        let time_s = round.fleet.world.clock_s - round.began_s;
        round.end(time_s);
        let trained = round.updates as f64;
        Ok(RoundWork {
            coverage,
            edge_rounds: round.edge_rounds.into_iter().max().unwrap_or(0),
            local_iterations: round.iterations as f64 / trained,
            updates_computed: round.delivered + round.books.updates_lost(),
            train_loss: round.loss / trained,
            aggregator: round.merged_by,
            merged_anything: round.merged_by.is_some() && round.updates > 0,
            model_change: aggregation::distance(&before, &round.learning.global_model),
            time_s,
            cells: round.cells,
            cell_outcomes: round.cell_outcomes,
            device_outcomes: round.device_outcomes,
            books: round.books,
        })
    }

    fn refuses(&self, needs: Needs) -> Option<&'static str> {
        needs
            .answers
            .then_some("an asynchronous fleet has no moment to compare models in")
    }

    fn cell_of(&mut self, uav: UavId) -> Option<&mut CellWork> {
        self.passes.cells.get_mut(uav.index())
    }

    fn leaves_after_handover(&mut self, leaver: Leaver) -> bool {
        self.passes.leaves_after_handover(leaver)
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::encode(&self.passes)
    }

    fn restore(
        &mut self,
        saved: &[u8],
        uavs: usize,
        devices: usize,
        parameters: usize,
    ) -> Result<(), Error> {
        let part = "schedule";
        let passes: Passes = checkpoint::decode(part, saved)?;
        if !passes.fits(uavs, devices, parameters) {
            return Err(Error::State {
                part,
                reason: "of other UAVs, devices or models".into(),
            });
        }
        self.passes = passes;
        Ok(())
    }
}

impl Round<'_, '_> {
    /// Takes event after event until as many passes ended as were under way.
    fn work_through(&mut self) -> Result<(), Error> {
        for leaver in self.fleet.warned_aggregators() {
            self.let_go(leaver);
        }
        self.passes.drop_gone(&self.fleet.world.uavs);
        self.appoint();
        let idle = self.fleet.world.active().map(|uav| uav.id);
        let idle = idle.filter(|id| self.passes.queue.get(*id).is_none());
        let idle: Vec<UavId> = idle.collect();
        self.begin(&idle)?;
        self.fleet.drain(&self.passes.cells, &mut self.books);
        self.passes.drop_gone(&self.fleet.world.uavs);

        let due = self.passes.queue.len();
        if due == 0 {
            self.books.tell(EventKind::NobodyTrained);
        }
        let mut ended = 0;
        while ended < due {
            let Some((now_s, uav, activity)) = self.passes.queue.pop() else {
                break;
            };
            self.fleet.world.clock_s = now_s;
            self.books.edge_round = self.passes.cells[uav.index()].edge_rounds;
            self.note_time(uav, &activity, now_s);
            let arrived = match activity.step {
                Step::Train => {
                    self.end_edge_round(uav)?;
                    false
                }
                Step::HandOver { to } => self.arrive(uav, to, now_s - activity.began_s)?,
            };
            ended += usize::from(arrived || self.passes.queue.get(uav).is_none());
            ended += self.passes.drop_gone(&self.fleet.world.uavs);
            if ended >= due {
                self.books.time.add_all(&self.path[uav.index()]);
            }
        }
        // Losses due after an edge round that no pass came to in this round.
        let (fleet, cells) = (&mut *self.fleet, &mut self.passes.cells);
        let late = fleet.lose_between_edge_rounds(cells, |_, _| true, &mut self.books);
        for leaver in late {
            self.let_go(leaver);
        }
        Ok(())
    }

    /// Sends a UAV home, after its next hand-over if it is in the middle of a pass.
    pub(super) fn let_go(&mut self, leaver: Leaver) {
        if !self.passes.leaves_after_handover(leaver) {
            self.fleet.send_home(&[leaver], &mut self.books);
        }
    }

    /// Whoever merged last has passed the validation samples through the global model, if the method looks at that.
    fn pay_for_looking_at_the_model(&mut self) {
        let joules = self.fleet.probing.global_j;
        let Some(aggregator) = self.merged_by.filter(|_| joules > 0.0) else {
            return;
        };
        let _leaves_otherwise = self.can_afford(aggregator, joules);
        let cell = &mut self.passes.cells[aggregator.index()];
        let (item, bill) = (EnergyItem::Scoring, Bill::beside(joules));
        self.fleet
            .charge(aggregator, cell, item, bill, &mut self.books);
    }

    /// UAVs that had nothing to do and whose battery does not last until the end of the round leave before.
    fn send_off_who_cannot_wait(&mut self, round_s: f64) {
        if !self.decisions.checks_energy {
            return;
        }
        let worst = self.fleet.worst_case(&self.passes.cells, &self.books);
        let mut unable = Vec::new();
        for uav in self.fleet.world.active() {
            if self.passes.queue.get(uav.id).is_some() {
                continue;
            }
            let wait_s = round_s - self.books.elapsed_s(uav.id);
            let books = &mut self.books;
            unable.extend(self.fleet.if_too_low_to_wait(uav, wait_s, &worst, books));
        }
        self.fleet.send_home(&unable, &mut self.books);
    }

    /// The round is over: time and leaks of what goes on are noted, and what is gone is dropped.
    fn end(&mut self, time_s: f64) {
        let now_s = self.fleet.world.clock_s;
        let under_way: Vec<(UavId, Activity)> = self
            .passes
            .queue
            .iter()
            .filter(|(_, uav, _)| self.fleet.world.uavs[uav.index()].is_active())
            .map(|(_, uav, activity)| (uav, *activity))
            .collect();
        for (uav, activity) in under_way {
            self.note_time(uav, &activity, now_s);
        }
        self.pay_for_looking_at_the_model();
        let round_s = self.books.time.get(TimeItem::Wait) + time_s;
        self.send_off_who_cannot_wait(round_s);
        // Nobody sets off here, but another schedule may have run before.
        let span = (self.began_s - self.books.time.get(TimeItem::Wait), round_s);
        let checks_energy = self.decisions.checks_energy;
        let cells = &self.passes.cells;
        let unable = (self.fleet).fly_on(span, cells, checks_energy, &mut self.books);
        self.fleet.send_home(&unable, &mut self.books);
        self.books.end_round(&mut self.fleet.world.uavs, round_s);
        let cells = &mut self.passes.cells;
        self.fleet.leak(time_s, cells, &mut self.books);
        self.fleet.harvest(time_s, &mut self.books);
        self.passes.drop_gone(&self.fleet.world.uavs);
        let gone = |uav: UavId| !self.fleet.world.uavs[uav.index()].is_active();
        self.passes.tiers.retire(gone);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::decide::association::Needs;
    use crate::method::{Method, Registry, Schedule};
    use crate::run::Simulation;
    use crate::scenario::Scenario;

    fn simulation(name: &str, settings: &[&str]) -> (Simulation, Method) {
        let text = "[devices]\ncount = 40\n[data]\ndata_volume = 80\nprobe_samples = 10\npersonal_samples = 1\n\
                    [model]\nname = \"logistic\"\n[training]\nmax_edge_rounds = 3\n";
        let scenario = Scenario::parse(text, settings).unwrap().check().unwrap();
        let entry = Registry::builtin().get(name).unwrap().clone();
        let method = entry.build(&scenario).unwrap();
        (
            Simulation::builder(&scenario).threads(2).build().unwrap(),
            method,
        )
    }

    /// Devices move into other cells while their pass goes on: nobody else may take them.
    #[test]
    fn nobody_trains_in_two_cells_at_once() {
        let moving = ["mobility.hop_probability=0.9", "selection.share=1"];
        for entry in Registry::builtin().entries() {
            let (simulation, method) = simulation(entry.name(), &moving);
            if matches!(method.schedule, Schedule::Asynchronous { .. }) {
                assert_trains_in_one_cell(simulation, method);
            }
        }
    }

    fn assert_trains_in_one_cell(mut simulation: Simulation, mut method: Method) {
        let mut moved = 0;
        for _ in 0..12 {
            simulation.step(&mut method).unwrap().unwrap();
            let (_, scheduler) = simulation.scheduler.as_ref().unwrap();
            let passes: Passes = checkpoint::decode("schedule", &scheduler.save()).unwrap();
            let mut training = HashSet::new();
            for (_, uav, activity) in passes.queue.iter() {
                let cell = &passes.cells[uav.index()];
                if activity.step == Step::Train {
                    assert!(cell.devices.iter().all(|device| training.insert(*device)));
                }
            }
            assert_eq!(training, passes.busy());
            let nearest = simulation.world().coverage().nearest;
            let cells = &passes.cells;
            let elsewhere = passes.queue.iter().flat_map(|(_, uav, _)| {
                let cell = &cells[uav.index()];
                cell.devices.iter().map(move |device| (uav, *device))
            });
            moved += elsewhere
                .filter(|(uav, device)| nearest[device.index()] != Some(*uav))
                .count();
        }
        assert!(moved > 0, "the world never put it to the test");
    }

    /// A pass that is under way when a round ends costs the next round only the rest of its time.
    #[test]
    fn time_is_shared_between_rounds() {
        let (mut simulation, mut method) = simulation("hfedat", &[]);
        let mut passes = Passes::new(5);
        passes.cells[0].cost.slowest.compute_s = 6.0;
        passes.cells[0].cost.slowest.upload_s = 2.0;
        let mut round = Round {
            passes: &mut passes,
            books: Books::open(2, simulation.world(), |_| 0.0),
            fleet: &mut simulation.fleet,
            learning: &mut simulation.learning,
            decisions: Decisions::of(&mut method),
            links: None,
            terms: Terms {
                edge_rounds: 3,
                merges_at_uavs: true,
            },
            needs: Needs::default(),
            began_s: 10.0,
            path: vec![Time::default(); 5],
            cells: Vec::new(),
            cell_outcomes: Vec::new(),
            device_outcomes: Vec::new(),
            edge_rounds: Vec::new(),
            loss: 0.0,
            iterations: 0,
            updates: 0,
            delivered: 0,
            merged_by: None,
        };
        // Began at 5 s, fetched for 2 s, then 8 s of training: of its 10 s, 5 fall into this round.
        let training = Activity {
            began_s: 5.0,
            until_s: 15.0,
            fetch_s: 2.0,
            step: Step::Train,
        };
        round.note_time(UavId(0), &training, 15.0);
        let handing_over = Activity {
            began_s: 15.0,
            until_s: 16.5,
            fetch_s: 0.0,
            step: Step::HandOver { to: UavId(1) },
        };
        round.note_time(UavId(0), &handing_over, 16.5);
        let path = round.path[0];
        assert_eq!(path.get(TimeItem::Broadcast), 1.0);
        assert_eq!(path.get(TimeItem::Compute), 3.0);
        assert_eq!(path.get(TimeItem::Upload), 1.0);
        assert_eq!(path.get(TimeItem::Offload), 1.5);
        assert_eq!(path.total_s(), 6.5);
        assert_eq!(round.books.elapsed_s(UavId(0)), 6.5);
    }
}
