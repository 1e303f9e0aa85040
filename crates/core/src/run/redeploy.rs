//! UAVs fly to new positions when one of them left or came back, Eq. (84), if that is worth it.

use crate::books::Books;
use crate::decide::redeploy::{Fleet as Scene, FleetUav, Move, Redeployment};
use crate::record::EventKind;
use crate::scenario::RedeployWhen;
use crate::seed::{Stream, stream};
use crate::vocabulary::{Bill, EnergyItem, Point, UavId};

use super::cells::{CellWork, Leaver, who_leaves};
use super::fleet::Fleet;
use super::learning::Learning;

/// Who flies to new positions in a round.
pub(super) struct Flights {
    /// How long each UAV flew, s, while everybody waited.
    pub(super) flown_s: Vec<f64>,
    /// Flights of those who set off when they have handed over, while the others go on.
    pub(super) due: Vec<Move>,
}

/// First stage of Algorithm 4, for the UAVs that stay.
pub(super) fn redeploy(
    fleet: &mut Fleet,
    learning: &Learning,
    cells: &mut [CellWork],
    leaving: &[Leaver],
    redeployment: &mut dyn Redeployment,
    books: &mut Books,
) -> Flights {
    let mut flights = Flights {
        flown_s: vec![0.0; cells.len()],
        due: Vec::new(),
    };
    if !redeployment.moves() {
        return flights;
    }
    let in_the_air = fleet.world.uavs.iter().filter(|uav| uav.is_airborne());
    let leaves = who_leaves(leaving, cells.len());
    let staying = in_the_air.map(|uav| uav.id);
    let staying: Vec<UavId> = staying.filter(|id| !leaves[id.index()]).collect();
    let changed = staying != fleet.deployed;
    let rule = fleet.scenario.redeploy.when;
    let due = match rule {
        RedeployWhen::Worthwhile => {
            let asked = changed || fleet.outlook.asks_again_in(fleet.round);
            asked && !fleet.outlook.has_reached(&fleet.scenario.stop)
        }
        RedeployWhen::OnChange => changed,
        RedeployWhen::EveryRound => true,
    };
    if !due {
        return flights;
    }
    let changes = match rule {
        // Devices have moved everywhere.
        RedeployWhen::EveryRound => Vec::new(),
        RedeployWhen::Worthwhile | RedeployWhen::OnChange => fleet.changes(&staying),
    };
    let mut moves = moves(fleet, cells, (&staying, &changes), redeployment, books);
    if rule == RedeployWhen::Worthwhile {
        moves = fleet.worthwhile(moves, learning, leaving, &staying, books);
        let since = fleet.outlook.stayed_since.filter(|_| !changed);
        let stayed = moves.is_empty().then(|| since.unwrap_or(fleet.round));
        fleet.outlook.stayed_since = stayed;
        fleet.outlook.changed = match stayed {
            Some(_) => changes,
            None => Vec::new(),
        };
    }
    fleet.deployed = staying;
    match fleet.scenario.redeploy.wait {
        true => fly_now(fleet, &moves, cells, &mut flights, books),
        false => flights.due = moves,
    }
    flights
}

/// Everybody who moves does so now, and the others wait.
fn fly_now(
    fleet: &mut Fleet,
    moves: &[Move],
    cells: &mut [CellWork],
    flights: &mut Flights,
    books: &mut Books,
) {
    for flight in moves {
        let index = flight.uav.index();
        let bill = Bill::new(flight.seconds, flight.energy_j);
        let item = EnergyItem::Move;
        fleet.charge(flight.uav, &mut cells[index], item, bill, books);
        let uav = &mut fleet.world.uavs[index];
        if !uav.is_active() {
            continue;
        }
        uav.position = flight.to;
        flights.flown_s[index] = flight.seconds;
        books.tell(EventKind::UavMoved {
            uav: flight.uav,
            from_m: flight.from,
            to_m: flight.to,
            energy_j: flight.energy_j,
            arrives_at_s: None,
        });
    }
}

fn moves(
    fleet: &Fleet,
    cells: &[CellWork],
    (staying, changed): (&[UavId], &[Point]),
    redeployment: &mut dyn Redeployment,
    books: &Books,
) -> Vec<Move> {
    let worst = fleet.worst_case(cells, books);
    let seen = |id: &UavId| {
        let uav = &fleet.world.uavs[id.index()];
        let needed_j = fleet.needed_j(uav, &cells[id.index()], &worst, books);
        let slack_m = fleet.nature.routes.air().slack_m(uav.altitude_m);
        let slack_j = fleet.nature.airframe(*id).cruise.most_j(slack_m);
        FleetUav {
            id: uav.id,
            position: uav.position,
            altitude_m: uav.altitude_m,
            coverage_radius_m: uav.coverage_radius_m,
            cruise: fleet.nature.airframe(*id).cruise,
            // A metre away from here may be a metre farther from home: it is paid twice. Who is in flight ends it first.
            spare_j: match uav.is_active() {
                true => ((uav.battery_j - needed_j - slack_j) / 2.0).max(0.0),
                false => 0.0,
            },
            tx_power_w: uav.tx_power_w,
        }
    };
    let uavs: Vec<FleetUav> = staying.iter().map(seen).collect();
    if uavs.is_empty() {
        return Vec::new();
    }
    let (nature, bits, round) = (&fleet.nature, fleet.update_bits, fleet.round);
    let model_energy_j = |from: &FleetUav, to: &FleetUav| {
        let hover_power_w = nature.airframe(from.id).hover_power_w;
        nature.exchange_j(bits, &from.link_to(to, round), hover_power_w)
    };
    let scene = Scene {
        area: &fleet.world.area,
        air: nature.routes.air(),
        devices: &fleet.world.devices.position,
        uavs: &uavs,
        model_energy_j: &model_energy_j,
        changed,
    };
    let seed = fleet.scenario.seed;
    let mut rng = stream(seed, Stream::Redeployment, round as u64, 0);
    let mut moves = redeployment.redeploy(&scene, &mut rng);
    moves.retain(|flight| {
        let uav = &fleet.world.uavs[flight.uav.index()];
        uav.is_active() && fleet.gets_home_after(flight, &uavs)
    });
    moves
}

impl Fleet {
    /// Where UAVs have left or come since the fleet was placed, with those who stay.
    fn changes(&self, staying: &[UavId]) -> Vec<Point> {
        // Both are in the order of their numbers.
        let gone = (self.deployed.iter()).filter(|id| staying.binary_search(id).is_err());
        let come = (staying.iter()).filter(|id| self.deployed.binary_search(id).is_err());
        let mut places = self.outlook.changed.clone();
        for id in gone.chain(come) {
            let place = self.world.uavs[id.index()].position;
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// Whether a UAV that moves has the energy for the way home from there. Between places without zones a metre is at most a
    /// metre farther; around zones the shortest way home may be another one, and against the wind.
    fn gets_home_after(&self, flight: &Move, uavs: &[FleetUav]) -> bool {
        // They come in the order of their numbers.
        let Ok(place) = uavs.binary_search_by_key(&flight.uav, |uav| uav.id) else {
            return true;
        };
        let uav = &uavs[place];
        let home_j = |from| self.nature.flight_home(uav.id, from).joules;
        self.nature.routes.air().at(uav.altitude_m).is_none()
            || flight.energy_j + home_j(flight.to) - home_j(flight.from) <= 2.0 * uav.spare_j
    }
}
