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
//! at most one for each cell. Updates count in the record in which their pass ends.
//!
//! The aggregator is chosen at the start of each round, and anew when it leaves or falls; then the
//! others hand it their last models again, besides their training. UAVs do not redeploy: at
//! any moment most of them are in the middle of a pass.

use crate::Error;
use crate::decide::association::{CellOutcome, DeviceOutcome};
use crate::learn::aggregation;
use crate::method::Method;
use crate::record::{EventKind, Time, TimeItem};
use crate::world::{Uav, UavId};

use super::books::Books;
use super::cells::CellWork;
use super::closing::{CellReport, ClosedRound, RoundWork};
use super::{Opening, Simulation};

mod event_queue;
mod passes;
mod steps;
mod tiers;

pub(super) use passes::Passes;
use passes::{Activity, Step};

/// A round in progress.
struct Round<'a> {
    passes: Passes,
    books: Books,
    method: &'a mut Method,
    began_s: f64,
    /// Per UAV, what it did with the round's time.
    path: Vec<Time>,
    cells: Vec<CellReport>,
    cell_outcomes: Vec<CellOutcome>,
    device_outcomes: Vec<DeviceOutcome>,
    edge_rounds: Vec<usize>,
    /// Over all updates computed: loss, local iterations, and how many.
    loss: f64,
    iterations: usize,
    updates: usize,
    /// Updates in models that arrived.
    delivered: usize,
    merged_by: Option<UavId>,
}

impl Round<'_> {
    /// Notes what a UAV has been doing since it began, or since the round did.
    fn note_time(&mut self, uav: UavId, activity: &Activity, now_s: f64) {
        let lasted_s = now_s - activity.began_s;
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
            }
            Step::HandOver { .. } => path.add(TimeItem::Offload, share * lasted_s),
        }
    }
}

impl Simulation {
    /// One round of passes.
    pub(super) fn asynchronous_round(
        &mut self,
        opening: Opening,
        method: &mut Method,
    ) -> Result<ClosedRound, Error> {
        let uavs = self.world.uavs.len();
        let mut passes = std::mem::take(&mut self.passes);
        if passes.cells.is_empty() {
            passes = Passes::new(uavs);
        }
        let before = self.global_model.clone();
        let idle_outcome =
            |uav: &Uav| self.cell_outcome(uav.id, &CellWork::default(), method.association.needs());
        let cell_outcomes: Result<_, Error> = self.world.uavs.iter().map(idle_outcome).collect();
        let mut round = Round {
            passes,
            books: opening.books,
            began_s: self.world.clock_s,
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
            method,
        };
        self.work_through(&mut round)?;

        let Round {
            mut passes,
            mut books,
            method,
            ..
        } = round;
        let time_s = self.world.clock_s - round.began_s;
        self.leak(time_s, &mut passes.cells, &mut books);
        passes.drop_gone(&self.world.uavs);
        let gone = |uav: UavId| !self.world.uavs[uav.index()].is_active();
        passes.tiers.retire(gone);
        self.passes = passes;
        let trained = round.updates as f64;
        let work = RoundWork {
            coverage: opening.coverage,
            cells: round.cells,
            edge_rounds: round.edge_rounds.into_iter().max().unwrap_or(0),
            local_iterations: round.iterations as f64 / trained,
            updates_computed: round.delivered + books.updates_lost(),
            train_loss: round.loss / trained,
            aggregator: round.merged_by,
            merged_anything: round.merged_by.is_some() && round.updates > 0,
            model_change: aggregation::distance(&before, &self.global_model),
            time_s,
            cell_outcomes: round.cell_outcomes,
            device_outcomes: round.device_outcomes,
        };
        self.test_and_record(work, books, method)
    }

    /// Takes event after event until as many passes ended as were under way.
    fn work_through(&mut self, round: &mut Round) -> Result<(), Error> {
        for leaver in self.warned_aggregators() {
            if !round.passes.bid_leave(leaver) {
                self.send_home(&[leaver], &mut round.books);
            }
        }
        round.passes.drop_gone(&self.world.uavs);
        self.appoint(round);
        let idle = self.world.active().map(|uav| uav.id);
        let idle = idle.filter(|id| round.passes.queue.get(*id).is_none());
        self.begin(&idle.collect::<Vec<_>>(), round)?;
        self.drain(&round.passes.cells, &mut round.books);
        round.passes.drop_gone(&self.world.uavs);

        let due = round.passes.queue.len();
        if due == 0 {
            round.books.tell(EventKind::NobodyTrained);
        }
        let mut ended = 0;
        while ended < due {
            let Some((now_s, uav, activity)) = round.passes.queue.pop() else {
                break;
            };
            self.world.clock_s = now_s;
            round.books.edge_round = round.passes.cells[uav.index()].edge_rounds;
            round.note_time(uav, &activity, now_s);
            let arrived = match activity.step {
                Step::Train => {
                    self.end_edge_round(uav, round)?;
                    false
                }
                Step::HandOver { to } => self.arrive(uav, to, now_s - activity.began_s, round)?,
            };
            ended += usize::from(arrived || round.passes.queue.get(uav).is_none());
            ended += round.passes.drop_gone(&self.world.uavs);
            if ended >= due {
                round.books.time.add_all(&round.path[uav.index()]);
            }
        }
        // Losses due after an edge round that no pass came to in this round.
        let late =
            self.lose_between_edge_rounds(&mut round.passes.cells, |_, _| true, &mut round.books);
        for leaver in late {
            if !round.passes.bid_leave(leaver) {
                self.send_home(&[leaver], &mut round.books);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::method::{Registry, Schedule};
    use crate::scenario::Scenario;

    fn simulation(name: &str, settings: &[&str]) -> (Simulation, Method) {
        let text = "[devices]\ncount = 40\n[data]\ndata_volume = 80\nprobe_samples = 10\npersonal_samples = 1\n\
                    [model]\nname = \"logistic\"\n[training]\nmax_edge_rounds = 3\n";
        let scenario = Scenario::parse(text, settings).unwrap().check().unwrap();
        let entry = Registry::builtin().get(name).unwrap().clone();
        let method = entry.build(&scenario).unwrap();
        (Simulation::new(&scenario, 2).unwrap(), method)
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
            let passes = &simulation.passes;
            let mut training = HashSet::new();
            for (_, uav, activity) in passes.queue.iter() {
                let cell = &passes.cells[uav.index()];
                if activity.step == Step::Train {
                    assert!(cell.devices.iter().all(|device| training.insert(*device)));
                }
            }
            assert_eq!(training, passes.busy());
            let nearest = simulation.world.coverage().nearest;
            let elsewhere = passes.queue.iter().flat_map(|(_, uav, _)| {
                let cell = &passes.cells[uav.index()];
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
        let (simulation, mut method) = simulation("hfedat", &[]);
        let mut passes = Passes::new(5);
        passes.cells[0].cost.slowest.compute_s = 6.0;
        passes.cells[0].cost.slowest.upload_s = 2.0;
        let mut round = Round {
            passes,
            books: Books::open(2, &simulation.world),
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
            method: &mut method,
        };
        // Began at 5 s, fetched for 2 s, then 8 s of training: of its 10 s, 5 fall into this round.
        let training = Activity {
            began_s: 5.0,
            fetch_s: 2.0,
            step: Step::Train,
        };
        round.note_time(UavId(0), &training, 15.0);
        let handing_over = Activity {
            began_s: 15.0,
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
    }
}
