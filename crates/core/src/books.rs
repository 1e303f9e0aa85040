//! The books of one round, in time and in energy: every second of every UAV and every joule of its battery has a line.
//!
//! A UAV's battery changes in [`Books::spend`] and [`Books::recharge`] only. Its seconds run on in `spend` and in
//! [`Books::barrier`], which lets everybody wait for the last.

use crate::record::{Event, EventKind, UavRecord, listed};
use crate::vocabulary::{Bill, DeviceId, Energy, EnergyItem, Time, UavId, UavTime};
use crate::world::{Coverage, Status, Uav, World};

/// What a UAV's record says of its cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellReport {
    pub(crate) devices: Vec<DeviceId>,
    pub(crate) local_iterations: usize,
    pub(crate) edge_time_s: f64,
}

/// Opened before a round, closed after it.
pub(crate) struct Books {
    pub(crate) round: usize,
    /// The edge round that is over, for events.
    pub(crate) edge_round: usize,
    /// What the round's length is made of, on the path of whoever everybody waits for.
    pub(crate) time: Time,
    /// What devices spent; only device items.
    pub(crate) devices: Energy,
    pub(crate) events: Vec<Event>,
    /// Whether UAVs wait for each other at all.
    barriers: bool,
    /// Per UAV.
    accounts: Vec<Account>,
}

/// One UAV's lines.
#[derive(Clone, Default)]
struct Account {
    energy: Energy,
    time: UavTime,
    /// Seconds in which it was not above its cell: at the base, on the way, or lost.
    away_s: f64,
    /// Whether it has left for the base in this round.
    departed: bool,
    battery_before_j: f64,
    recharged_j: f64,
    harvested_j: f64,
    /// What a second of waiting takes from its battery, W.
    waiting_power_w: f64,
}

impl Account {
    fn elapsed_s(&self) -> f64 {
        self.away_s + self.time.total_s()
    }
}

impl Books {
    /// Waiting takes `waiting_power_w` of a UAV; 0 where it is free.
    pub(crate) fn open(
        round: usize,
        world: &World,
        waiting_power_w: impl Fn(UavId) -> f64,
    ) -> Self {
        let account = |uav: &Uav| Account {
            battery_before_j: uav.battery_j,
            waiting_power_w: waiting_power_w(uav.id),
            ..Account::default()
        };
        Self {
            round,
            edge_round: 0,
            time: Time::default(),
            devices: Energy::default(),
            events: Vec::new(),
            barriers: true,
            accounts: world.uavs.iter().map(account).collect(),
        }
    }

    /// Lets a UAV's time run and takes energy from its battery. A battery that cannot pay gives what it has, for as long as that
    /// lasts, and the UAV is lost: then this is false.
    #[must_use]
    pub(crate) fn spend(&mut self, uav: &mut Uav, item: EnergyItem, bill: Bill) -> bool {
        let Bill { seconds, joules } = bill;
        let paid = joules.min(uav.battery_j);
        uav.battery_j -= paid;
        let account = &mut self.accounts[uav.id.index()];
        account.energy.add(item, paid);
        if paid < joules {
            account.time.add(item, seconds * (paid / joules));
            uav.status = Status::Lost;
            return false;
        }
        account.time.add(item, seconds);
        true
    }

    /// The same for a UAV that carries no updates: if it falls, that is told.
    pub(crate) fn spend_or_fall(&mut self, uav: &mut Uav, item: EnergyItem, bill: Bill) -> bool {
        let bore_it = self.spend(uav, item, bill);
        if !bore_it {
            self.tell(EventKind::UavDepleted {
                uav: uav.id,
                during: item,
                updates_lost: 0,
            });
        }
        bore_it
    }

    /// Lets a UAV's time run with something that is paid for in another round.
    pub(crate) fn pass_time(&mut self, uav: UavId, item: EnergyItem, seconds: f64) {
        self.accounts[uav.index()].time.add(item, seconds);
    }

    /// Puts energy into a UAV's battery.
    pub(crate) fn recharge(&mut self, uav: &mut Uav, to_j: f64) {
        self.accounts[uav.id.index()].recharged_j += to_j - uav.battery_j;
        uav.battery_j = to_j;
    }

    /// Puts what its panel gave into a UAV's battery, as far as there is room.
    pub(crate) fn harvest(&mut self, uav: &mut Uav, joules: f64) {
        let taken_j = joules.min(uav.full_j - uav.battery_j).max(0.0);
        self.accounts[uav.id.index()].harvested_j += taken_j;
        uav.battery_j += taken_j;
    }

    /// Nobody served for so long: all were away, or in flight to new positions.
    pub(crate) fn nobody_serves(&mut self, uavs: &[Uav], seconds: f64) {
        for (account, uav) in self.accounts.iter_mut().zip(uavs) {
            match uav.status {
                Status::Flying { .. } => account.time.add(EnergyItem::Move, seconds),
                _ => account.away_s += seconds,
            }
        }
    }

    /// A UAV leaves: it waits for nobody any more, and nobody for it.
    pub(crate) fn depart(&mut self, uav: UavId) {
        self.accounts[uav.index()].departed = true;
    }

    /// UAVs do not wait for each other in this round, only for its end.
    pub(crate) fn without_barriers(&mut self) {
        self.barriers = false;
    }

    /// Whether UAVs wait for each other.
    pub(crate) fn has_barriers(&self) -> bool {
        self.barriers
    }

    /// Whether waiting for each other takes energy.
    pub(crate) fn charges_barriers(&self) -> bool {
        self.barriers && self.accounts.iter().any(|a| a.waiting_power_w > 0.0)
    }

    /// How far a UAV's time has run, s from the start of the round.
    pub(crate) fn elapsed_s(&self, uav: UavId) -> f64 {
        self.accounts[uav.index()].elapsed_s()
    }

    /// What waiting for so long takes from a UAV, J.
    pub(crate) fn waiting_j(&self, uav: UavId, seconds: f64) -> f64 {
        seconds.max(0.0) * self.accounts[uav.index()].waiting_power_w
    }

    /// Whether a UAV takes part in barriers.
    fn is_there(&self, uav: &Uav) -> bool {
        uav.is_active() && !self.accounts[uav.id.index()].departed
    }

    /// How far the time of the last has run, of those who are there, s.
    pub(crate) fn latest_s(&self, uavs: &[Uav]) -> f64 {
        let there = uavs.iter().filter(|uav| self.is_there(uav));
        there.map(|uav| self.elapsed_s(uav.id)).fold(0.0, f64::max)
    }

    /// Everybody who is there waits for the last. False when a battery did not bear it.
    pub(crate) fn barrier(&mut self, uavs: &mut [Uav]) -> bool {
        let latest_s = self.latest_s(uavs);
        self.wait_until(uavs, latest_s)
    }

    /// Everybody who is there waits until so many seconds of the round are over.
    fn wait_until(&mut self, uavs: &mut [Uav], end_s: f64) -> bool {
        let mut all_bore_it = true;
        for uav in uavs {
            let seconds = end_s - self.elapsed_s(uav.id);
            if seconds <= 0.0 || !self.is_there(uav) {
                continue;
            }
            let bill = Bill::new(seconds, self.waiting_j(uav.id, seconds));
            all_bore_it &= self.spend_or_fall(uav, EnergyItem::Waiting, bill);
        }
        all_bore_it
    }

    pub(crate) fn total_energy(&self) -> Energy {
        let mut total = self.devices;
        let accounts = self.accounts.iter();
        accounts.for_each(|account| total.add_all(&account.energy));
        total
    }

    pub(crate) fn updates_lost(&self) -> usize {
        let lost = |event: &Event| match event.kind {
            EventKind::UavDepleted { updates_lost, .. }
            | EventKind::UavLost { updates_lost, .. }
            | EventKind::ModelStranded { updates_lost, .. } => updates_lost,
            EventKind::UpdateLost { .. } => 1,
            _ => 0,
        };
        self.events.iter().map(lost).sum()
    }

    pub(crate) fn tell(&mut self, kind: EventKind) {
        self.events.push(Event {
            round: self.round,
            edge_round: self.edge_round,
            kind,
        });
    }

    /// The round is over after `round_s` seconds: whoever is still there has waited until now, and whoever is not has been
    /// away for the rest.
    pub(crate) fn end_round(&mut self, uavs: &mut [Uav], round_s: f64) {
        self.wait_until(uavs, round_s);
        for account in &mut self.accounts {
            let rest_s = round_s - account.elapsed_s();
            if rest_s > 0.0 {
                account.away_s += rest_s;
            }
        }
    }

    /// The records of all UAVs; `cells` are theirs.
    pub(crate) fn close(
        &self,
        world: &World,
        coverage: &Coverage,
        cells: Vec<CellReport>,
    ) -> Vec<UavRecord> {
        let record = |(uav, cell): (&Uav, CellReport)| {
            let index = uav.id.index();
            let account = &self.accounts[index];
            let (devices, unlisted) = listed(cell.devices, coverage.nearest.len());
            UavRecord {
                uav: uav.id,
                status: uav.status,
                position_m: uav.position,
                covered: coverage.cells[index].len(),
                devices,
                unlisted,
                local_iterations: cell.local_iterations,
                edge_time_s: cell.edge_time_s,
                battery_before_j: account.battery_before_j,
                battery_after_j: uav.battery_j,
                recharged_j: account.recharged_j,
                harvested_j: account.harvested_j,
                energy: account.energy,
                time: account.time,
                away_s: account.away_s,
            }
        };
        world.uavs.iter().zip(cells).map(record).collect()
    }
}
