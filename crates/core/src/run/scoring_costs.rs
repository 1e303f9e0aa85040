//! Seconds and joules of what a method finds out: UAVs train personal models and send them out, devices compare them with
//! their own, and models pass over the validation samples.

use rayon::prelude::*;

use crate::books::Books;
use crate::learn::batches;
use crate::nature::channel;
use crate::nature::compute;
use crate::nature::links::RoundLinks;
use crate::scenario::Reserve;
use crate::vocabulary::{Bill, DeviceId, EnergyItem, TimeItem, UavId};
use crate::world::{Coverage, Uav};

use super::cells::{Leaver, who_leaves};
use super::fleet::{Fleet, if_below};

/// A forward pass is a third of a training step: going back takes twice the multiplications.
const FORWARD_SHARE: f64 = 1.0 / 3.0;

/// Joules of passes over the validation samples in a round; 0 where the method does not look. They run beside hand-over and
/// broadcast, so they take no time of their own.
#[derive(Clone, Copy, Default)]
pub(super) struct Probing {
    /// Of each UAV with an edge model.
    pub(super) edge_j: f64,
    /// Of the aggregator.
    pub(super) global_j: f64,
}

/// What scoring asks of one UAV: hovering for so many seconds, and joules besides.
struct Due {
    uav: UavId,
    bill: Bill,
}

/// How paying for scoring went.
pub(super) struct Paid {
    /// Who could not afford that and the way home, and did not begin.
    pub(super) unable: Vec<Leaver>,
    /// Whether every battery bore it.
    pub(super) all_bore_it: bool,
}

impl Fleet {
    /// Each UAV sends its personal model to all devices it covers at
    /// once, on its whole band, and each of them runs its small batch through it; those that `is_new` says are new run it through their own
    /// model too. The answers are a few numbers and cost nothing.
    pub(super) fn pay_for_comparing(
        &mut self,
        coverage: &Coverage,
        links: &RoundLinks,
        is_new: impl Fn(DeviceId) -> bool + Sync,
        checks_energy: bool,
        books: &mut Books,
    ) -> Paid {
        let active: Vec<&Uav> = self.world.active().collect();
        let due = |uav: &&Uav| {
            let covered = &coverage.cells[uav.id.index()];
            // Who is covered twice runs its own model once.
            let runs_its_own = |device: DeviceId| {
                is_new(device) && coverage.nearest[device.index()] == Some(uav.id)
            };
            let (bill, by_devices_j) = self.comparing(uav, covered, links, &runs_its_own);
            (Due { uav: uav.id, bill }, by_devices_j)
        };
        let found: Vec<(Due, f64)> = active.par_iter().map(due).collect();
        let mut comparing_j = vec![0.0; self.world.uavs.len()];
        let mut dues = Vec::with_capacity(found.len());
        for (due, by_devices_j) in found {
            comparing_j[due.uav.index()] = by_devices_j;
            dues.push(due);
        }
        let paid = self.pay_together(dues, checks_energy, books);
        for leaver in &paid.unable {
            comparing_j[leaver.uav.index()] = 0.0;
        }
        let all_j = comparing_j.iter().sum();
        books.devices.add(EnergyItem::DeviceCompute, all_j);
        paid
    }

    /// Devices that trained have run their small batch through their new models, while these were handed over.
    pub(super) fn pay_for_own_outputs(
        &self,
        devices: impl Iterator<Item = DeviceId>,
        books: &mut Books,
    ) {
        let pass_j = |device: DeviceId| self.small_pass(device).joules;
        let all_j = devices.map(pass_j).sum();
        books.devices.add(EnergyItem::DeviceCompute, all_j);
    }

    /// Each UAV trains its personal model for the first time. `personal_samples` are those of each.
    pub(super) fn pay_for_preparing(
        &mut self,
        personal_samples: &[u32],
        checks_energy: bool,
        books: &mut Books,
    ) -> Paid {
        let epochs = self.scenario.fitness.personal_epochs;
        let active = self.world.active();
        let dues = active.map(|uav| Due {
            uav: uav.id,
            bill: self.personal_training(personal_samples[uav.id.index()] as usize, epochs),
        });
        let dues = dues.collect();
        self.pay_together(dues, checks_energy, books)
    }

    /// Each UAV has trained it anew, while its devices trained and models were handed
    /// over; only what takes longer is waited for. Those that are `leaving` need no personal model.
    pub(super) fn pay_for_refreshing(
        &mut self,
        personal_samples: &[u32],
        epochs: usize,
        leaving: &[Leaver],
        checks_energy: bool,
        books: &mut Books,
    ) -> Paid {
        let time = &books.time;
        let spare_s = time.total_s() - time.get(TimeItem::Scoring) - time.get(TimeItem::Wait);
        let leaves = who_leaves(leaving, self.world.uavs.len());
        let stays = |uav: &&Uav| !leaves[uav.id.index()];
        let due = |uav: &Uav| {
            let samples = personal_samples[uav.id.index()] as usize;
            let training = self.personal_training(samples, epochs);
            let late_s = (training.seconds - spare_s).max(0.0);
            Due {
                uav: uav.id,
                bill: Bill::new(late_s, training.joules),
            }
        };
        let dues = self.world.active().filter(stays).map(due).collect();
        self.pay_together(dues, checks_energy, books)
    }

    /// Sends those home who could not pay. True when somebody is gone by now.
    pub(super) fn see_off(&mut self, paid: Paid, books: &mut Books) -> bool {
        self.send_home(&paid.unable, books);
        !(paid.all_bore_it && paid.unable.is_empty())
    }

    /// Everybody pays what is due and waits for the last. Where energy is checked, who could not pay that and the way home does
    /// not begin, and nobody waits for it.
    fn pay_together(&mut self, dues: Vec<Due>, checks_energy: bool, books: &mut Books) -> Paid {
        let slowest = |dues: &[Due]| dues.iter().map(|due| due.bill.seconds).fold(0.0, f64::max);
        let slowest_s = slowest(&dues);
        let checks = checks_energy && self.scenario.uavs.reserve == Reserve::Return;
        let (mut unable, mut able) = (Vec::new(), Vec::new());
        for due in dues {
            let uav = &self.world.uavs[due.uav.index()];
            let needed_j = self.hovering_j(uav.id, due.bill)
                + books.waiting_j(uav.id, slowest_s - due.bill.seconds)
                + self.flight_home(uav).joules;
            if checks && let Some(leaver) = if_below(uav, needed_j, books) {
                books.depart(leaver.uav);
                unable.push(leaver);
            } else {
                able.push(due);
            }
        }
        books.time.add(TimeItem::Scoring, slowest(&able));
        let mut all_bore_it = true;
        for Due { uav, bill } in able {
            let bill = Bill::new(bill.seconds, self.hovering_j(uav, bill));
            let uav = &mut self.world.uavs[uav.index()];
            all_bore_it &= books.spend_or_fall(uav, EnergyItem::Scoring, bill);
        }
        all_bore_it &= books.barrier(&mut self.world.uavs);
        Paid {
            unable,
            all_bore_it,
        }
    }

    /// A bill's joules with those of hovering for its seconds.
    fn hovering_j(&self, uav: UavId, bill: Bill) -> f64 {
        bill.joules + self.nature.hover(uav, bill.seconds).joules
    }

    /// Computing one UAV's personal model, as Eqs. (8) and (9) have it for devices.
    fn personal_training(&self, samples: usize, epochs: usize) -> Bill {
        let size = self.scenario.training.batch_size;
        let steps = batches::steps(samples, size, epochs) as f64;
        self.uav_steps(steps, size.min(samples))
    }

    /// So many training steps on a UAV's processor.
    fn uav_steps(&self, steps: f64, batch: usize) -> Bill {
        let (fitness, devices) = (&self.scenario.fitness, &self.scenario.devices);
        let batch_bits = batch as f64 * self.sample_bits;
        let (cycles, hz) = (fitness.uav_cycles_per_bit, fitness.uav_cpu_hz);
        Bill::new(
            steps * compute::iteration_time_s(devices.fixed_time_s, cycles, batch_bits, hz),
            steps * compute::iteration_energy_j(devices.capacitance, cycles, batch_bits, hz),
        )
    }

    /// What the method looks at in this round: edge models, or the global model.
    pub(super) fn set_probing(&mut self, edge_models: bool, global_model: bool) {
        let (samples, size) = (
            self.scenario.data.probe_samples,
            self.scenario.training.batch_size,
        );
        let steps = FORWARD_SHARE * samples as f64 / size as f64;
        let pass_j = self.uav_steps(steps, size).joules;
        let where_looked = |looks: bool| if looks { pass_j } else { 0.0 };
        self.probing = Probing {
            edge_j: where_looked(edge_models),
            global_j: where_looked(global_model),
        };
    }

    /// A device runs its small batch through a model.
    fn small_pass(&self, device: DeviceId) -> Bill {
        let (devices, index) = (&self.world.devices, device.index());
        let held = devices.samples[index] as usize;
        let batch = self.scenario.training.batch_size.min(held);
        let small_batch = self.scenario.fitness.small_batch.min(held);
        let share = FORWARD_SHARE * small_batch as f64 / batch as f64;
        Bill::new(
            share * devices.iteration_time_s[index],
            share * devices.iteration_energy_j[index],
        )
    }

    /// What comparing asks of a UAV, and the joules of its devices.
    fn comparing(
        &self,
        uav: &Uav,
        covered: &[DeviceId],
        links: &RoundLinks,
        runs_its_own: &impl Fn(DeviceId) -> bool,
    ) -> (Bill, f64) {
        let (mut sending_s, mut comparing_s, mut comparing_j) = (0.0f64, 0.0f64, 0.0);
        for (device, link) in links.among(uav.id, covered) {
            let rate_bps = channel::rate_bps(uav.bandwidth_down_hz, link.snr_down_hz);
            sending_s = sending_s.max(self.model_bits / rate_bps);
            let passes = if runs_its_own(device) { 2.0 } else { 1.0 };
            let pass = self.small_pass(device);
            comparing_s = comparing_s.max(passes * pass.seconds);
            comparing_j += passes * pass.joules;
        }
        let sending_j = sending_s * uav.broadcast_power_w;
        (Bill::new(sending_s + comparing_s, sending_j), comparing_j)
    }
}
