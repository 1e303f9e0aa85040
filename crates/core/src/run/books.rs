//! The books of one round: every joule a battery loses has a line.

use crate::record::{Energy, EnergyItem, Event, EventKind, Time, UavRecord};
use crate::world::{Coverage, Status, Uav, World};

use super::closing::CellReport;

/// Opened before a round, closed after it.
pub(super) struct Books {
    pub(super) round: usize,
    /// The edge round that is over, for events.
    pub(super) edge_round: usize,
    pub(super) time: Time,
    /// What devices spent; only device items.
    pub(super) devices: Energy,
    pub(super) events: Vec<Event>,
    /// Per UAV.
    spent: Vec<Energy>,
    battery_before_j: Vec<f64>,
    recharged_j: Vec<f64>,
}

impl Books {
    pub(super) fn open(round: usize, world: &World) -> Self {
        Self {
            round,
            edge_round: 0,
            time: Time::default(),
            devices: Energy::default(),
            events: Vec::new(),
            spent: vec![Energy::default(); world.uavs.len()],
            battery_before_j: world.uavs.iter().map(|uav| uav.battery_j).collect(),
            recharged_j: vec![0.0; world.uavs.len()],
        }
    }

    /// Takes energy from a UAV's battery. A battery that cannot pay gives what it has, and the UAV
    /// is lost: then this is false.
    #[must_use]
    pub(super) fn pay(&mut self, uav: &mut Uav, item: EnergyItem, joules: f64) -> bool {
        let paid = joules.min(uav.battery_j);
        uav.battery_j -= paid;
        self.spent[uav.id.index()].add(item, paid);
        if paid < joules {
            uav.status = Status::Lost;
        }
        paid >= joules
    }

    /// Puts energy into a UAV's battery.
    pub(super) fn recharge(&mut self, uav: &mut Uav, to_j: f64) {
        self.recharged_j[uav.id.index()] += to_j - uav.battery_j;
        uav.battery_j = to_j;
    }

    pub(super) fn total_energy(&self) -> Energy {
        let mut total = self.devices;
        self.spent.iter().for_each(|spent| total.add_all(spent));
        total
    }

    pub(super) fn updates_lost(&self) -> usize {
        let lost = |event: &Event| match event.kind {
            EventKind::UavDepleted { updates_lost, .. }
            | EventKind::UavLost { updates_lost, .. }
            | EventKind::ModelStranded { updates_lost, .. } => updates_lost,
            _ => 0,
        };
        self.events.iter().map(lost).sum()
    }

    pub(super) fn tell(&mut self, kind: EventKind) {
        self.events.push(Event {
            round: self.round,
            edge_round: self.edge_round,
            kind,
        });
    }

    /// The records of all UAVs; `cells` are theirs.
    pub(super) fn close(
        &self,
        world: &World,
        coverage: &Coverage,
        cells: Vec<CellReport>,
    ) -> Vec<UavRecord> {
        let record = |(uav, cell): (&Uav, CellReport)| {
            let index = uav.id.index();
            UavRecord {
                uav: uav.id,
                status: uav.status,
                position_m: uav.position,
                covered: coverage.cells[index].len(),
                devices: cell.devices,
                local_iterations: cell.local_iterations,
                edge_time_s: cell.edge_time_s,
                battery_before_j: self.battery_before_j[index],
                battery_after_j: uav.battery_j,
                recharged_j: self.recharged_j[index],
                energy: self.spent[index],
            }
        };
        world.uavs.iter().zip(cells).map(record).collect()
    }
}
