//! Seconds and joules of scoring: UAVs train personal models and send them out, devices compare them with their own.

use crate::books::Books;
use crate::learn::batches;
use crate::nature::channel;
use crate::nature::compute;
use crate::nature::links::RoundLinks;
use crate::record::EventKind;
use crate::vocabulary::{Bill, DeviceId, EnergyItem, TimeItem, UavId};
use crate::world::{Coverage, Uav};

use super::fleet::Fleet;

/// A forward pass is a third of a training step: going back takes twice the multiplications.
const FORWARD_SHARE: f64 = 1.0 / 3.0;

/// What comparing takes in one cell.
#[derive(Default)]
struct Comparing {
    /// Sending the UAV's personal model to everybody at once, on its whole band.
    sending_s: f64,
    /// The slowest device's comparison.
    comparing_s: f64,
    /// All comparisons.
    comparing_j: f64,
}

impl Fleet {
    /// Each UAV sends its personal model to all devices it covers at
    /// once, on its whole band, and each of them runs its small batch through it. The answers are a few
    /// numbers and cost nothing. False when a UAV's battery did not bear it.
    pub(super) fn pay_for_comparing(
        &mut self,
        coverage: &Coverage,
        links: &RoundLinks,
        books: &mut Books,
    ) -> bool {
        let (mut slowest_s, mut all_bore_it) = (0.0f64, true);
        for index in 0..self.world.uavs.len() {
            let uav = &self.world.uavs[index];
            if !uav.is_active() {
                continue;
            }
            let cost = self.comparing(uav, &coverage.cells[index], links);
            let sending_j = cost.sending_s * uav.broadcast_power_w;
            let time_s = cost.sending_s + cost.comparing_s;
            slowest_s = slowest_s.max(time_s);
            books
                .devices
                .add(EnergyItem::DeviceCompute, cost.comparing_j);
            all_bore_it &= self.pay_for_scoring(index, sending_j, time_s, books);
        }
        books.time.add(TimeItem::Scoring, slowest_s);
        books.barrier(&mut self.world.uavs) && all_bore_it
    }

    /// Each UAV has trained its personal model for the first time. `personal_samples` are those of each.
    pub(super) fn pay_for_preparing(
        &mut self,
        personal_samples: &[u32],
        books: &mut Books,
    ) -> bool {
        let epochs = self.scenario.fitness.personal_epochs;
        self.pay_for_training(personal_samples, epochs, 0.0, &[], books)
    }

    /// Each UAV has trained it anew, while its devices trained and models were handed
    /// over; only what takes longer is waited for. Those that are `leaving` need no personal model.
    pub(super) fn pay_for_refreshing(
        &mut self,
        personal_samples: &[u32],
        leaving: &[UavId],
        books: &mut Books,
    ) {
        let time = &books.time;
        let spare_s = time.total_s() - time.get(TimeItem::Scoring) - time.get(TimeItem::Wait);
        let epochs = self.scenario.fitness.refresh_epochs;
        self.pay_for_training(personal_samples, epochs, spare_s, leaving, books);
    }

    /// Training the personal models, of which `spare_s` seconds go beside something else.
    fn pay_for_training(
        &mut self,
        personal_samples: &[u32],
        epochs: usize,
        spare_s: f64,
        leaving: &[UavId],
        books: &mut Books,
    ) -> bool {
        let (mut slowest_s, mut all_bore_it) = (0.0f64, true);
        for (index, &samples) in personal_samples.iter().enumerate() {
            let uav = &self.world.uavs[index];
            if !uav.is_active() || leaving.contains(&uav.id) {
                continue;
            }
            let training = self.personal_training(samples as usize, epochs);
            let late_s = (training.seconds - spare_s).max(0.0);
            slowest_s = slowest_s.max(late_s);
            all_bore_it &= self.pay_for_scoring(index, training.joules, late_s, books);
        }
        books.time.add(TimeItem::Scoring, slowest_s);
        books.barrier(&mut self.world.uavs) && all_bore_it
    }

    /// Takes joules and so many seconds of hovering from a UAV's battery. False when it did not bear it.
    fn pay_for_scoring(&mut self, uav: usize, joules: f64, time_s: f64, books: &mut Books) -> bool {
        let joules = joules + self.nature.hover(time_s).joules;
        let uav = &mut self.world.uavs[uav];
        let bore_it = books.spend(uav, EnergyItem::Scoring, Bill::new(time_s, joules));
        if !bore_it {
            books.tell(EventKind::UavDepleted {
                uav: uav.id,
                during: EnergyItem::Scoring,
                updates_lost: 0,
            });
        }
        bore_it
    }

    /// Computing one UAV's personal model, as Eqs. (8) and (9) have it for devices.
    fn personal_training(&self, samples: usize, epochs: usize) -> Bill {
        let (fitness, devices) = (&self.scenario.fitness, &self.scenario.devices);
        let size = self.scenario.training.batch_size;
        let batch_bits = size.min(samples) as f64 * self.sample_bits;
        let (cycles, hz) = (fitness.uav_cycles_per_bit, fitness.uav_cpu_hz);
        let steps = batches::steps(samples, size, epochs) as f64;
        Bill::new(
            steps * compute::iteration_time_s(devices.fixed_time_s, cycles, batch_bits, hz),
            steps * compute::iteration_energy_j(devices.capacitance, cycles, batch_bits, hz),
        )
    }

    fn comparing(&self, uav: &Uav, covered: &[DeviceId], links: &RoundLinks) -> Comparing {
        let devices = &self.world.devices;
        let mut cost = Comparing::default();
        for device in covered {
            let Some(link) = links.get(uav.id, *device) else {
                continue;
            };
            let index = device.index();
            let rate_bps = channel::rate_bps(uav.bandwidth_down_hz, link.snr_down_hz);
            cost.sending_s = cost.sending_s.max(self.model_bits / rate_bps);
            let held = devices.samples[index] as usize;
            let batch = self.scenario.training.batch_size.min(held);
            let small_batch = self.scenario.fitness.small_batch.min(held);
            let share = FORWARD_SHARE * small_batch as f64 / batch as f64;
            cost.comparing_s = cost
                .comparing_s
                .max(share * devices.iteration_time_s[index]);
            cost.comparing_j += share * devices.iteration_energy_j[index];
        }
        cost
    }
}
