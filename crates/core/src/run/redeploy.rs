//! UAVs fly to new posts when one of them left or came back, Eq. (84).

use crate::decide::redeploy::{Fleet, FleetUav, Move};
use crate::geometry::Point;
use crate::method::Method;
use crate::record::{EnergyItem, EventKind};
use crate::scenario::RedeployWhen;
use crate::seed::{Stream, stream};
use crate::world::UavId;

use super::Simulation;
use super::books::Books;
use super::cells::CellWork;
use super::edge::EdgeOutcome;

impl Simulation {
    /// First stage of Algorithm 4, for the UAVs that stay. Returns how long each UAV flies, s.
    pub(super) fn redeploy(
        &mut self,
        cells: &mut [CellWork],
        edge: &EdgeOutcome,
        method: &mut Method,
        books: &mut Books,
    ) -> Vec<f64> {
        let mut flown_s = vec![0.0; self.world.uavs.len()];
        let leaving = |id: UavId| edge.low.iter().any(|low| low.uav == id);
        let staying = self.world.active().map(|uav| uav.id);
        let staying: Vec<UavId> = staying.filter(|id| !leaving(*id)).collect();
        let due = match self.scenario.redeploy.when {
            RedeployWhen::OnChange => staying != self.posted,
            RedeployWhen::EveryRound => true,
        };
        if !due {
            return flown_s;
        }
        let moves = self.moves(cells, &staying, method);
        self.posted = staying;
        for Move {
            uav: id,
            from,
            to,
            path_m,
            energy_j,
        } in moves
        {
            let uav = &mut self.world.uavs[id.index()];
            if !books.pay(uav, EnergyItem::Move, energy_j) {
                Self::lose(&mut cells[id.index()], uav, EnergyItem::Move, books);
                continue;
            }
            uav.position = to;
            flown_s[id.index()] = path_m / self.nature.speed_mps;
            books.tell(EventKind::UavMoved {
                uav: id,
                from_m: from,
                to_m: to,
                energy_j,
            });
        }
        flown_s
    }

    fn moves(&self, cells: &[CellWork], staying: &[UavId], method: &mut Method) -> Vec<Move> {
        let worst = self.worst_links(cells);
        let uavs: Vec<FleetUav> = staying
            .iter()
            .map(|id| {
                let uav = &self.world.uavs[id.index()];
                let needed_j = self.needed_j(uav, &cells[uav.id.index()], &worst);
                FleetUav {
                    id: uav.id,
                    position: uav.position,
                    // A metre away from here may be a metre farther from home: it is paid twice.
                    spare_j: ((uav.battery_j - needed_j) / 2.0).max(0.0),
                    tx_power_w: uav.tx_power_w,
                }
            })
            .collect();
        if uavs.is_empty() {
            return Vec::new();
        }
        let (nature, bits) = (&self.nature, self.model_bits());
        let model_energy_j = |tx_power_w: f64, from: Point, to: Point| {
            let time_s = nature.uav_link_time_s(bits, tx_power_w, from, to);
            time_s * (tx_power_w + nature.hover_power_w())
        };
        let fleet = Fleet {
            area: &self.world.area,
            coverage_radius_m: self.world.coverage_radius_m,
            devices: &self.world.devices.position,
            uavs: &uavs,
            speed_mps: self.nature.speed_mps,
            move_power_w: self.nature.flight.power_w(self.nature.speed_mps),
            model_energy_j: &model_energy_j,
        };
        let mut rng = stream(
            self.scenario.seed,
            Stream::Redeployment,
            self.round as u64,
            0,
        );
        method.redeployment.redeploy(&fleet, &mut rng)
    }
}
