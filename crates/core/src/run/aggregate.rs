//! Global aggregation: edge models go to the aggregator, are merged, and come back.

use crate::books::Books;
use crate::decide::aggregator::{AggregatorChoice, Candidate, Prospects};
use crate::learn::aggregation::Aggregation;
use crate::nature::cost::{self, Receiver};
use crate::record::EventKind;
use crate::vocabulary::{Bill, EnergyItem, TimeItem, UavId};
use crate::world::Uav;

use super::cells::{CellWork, Leaver, who_leaves};
use super::fleet::Fleet;
use super::learning::Learning;
use super::redeploy::Flights;

/// What the aggregation left.
#[derive(Default)]
pub(super) struct Merged {
    pub(super) aggregator: Option<UavId>,
    /// The new global model; none when nobody had anything to merge.
    pub(super) model: Option<Vec<f32>>,
    /// UAVs that the broadcast did not reach, though they stay.
    pub(super) missed: Vec<UavId>,
    /// UAVs that got it.
    pub(super) reached: Vec<UavId>,
}

/// Eqs. (3) and (19)-(26). UAVs that are `low` hand over and then miss the broadcast, as those do that have no
/// way to the aggregator. When that falls, the others hand over again, to another one. Who cannot afford to wait for the others
/// joins those that are low. Of `flights`, those that everybody waits for came after the edge rounds; the others hand over and set
/// off, and miss the broadcast as well.
pub(super) fn aggregate(
    fleet: &mut Fleet,
    learning: &mut Learning,
    cells: &mut [CellWork],
    flights: &Flights,
    low: &mut Vec<Leaver>,
    deciding: Deciding,
    books: &mut Books,
) -> Merged {
    let mut before = Some(&flights.flown_s[..]);
    loop {
        let mut receivers = receivers(fleet, cells, &who_goes(low, flights));
        let aggregator = choose_aggregator(fleet, cells, &receivers, &mut *deciding.choice, books);
        record_critical_path(fleet, cells, before.take(), aggregator.as_ref(), books);
        let Some(aggregator) = aggregator else {
            return Merged::default();
        };
        offload(fleet, cells, &aggregator, books);
        low.iter().for_each(|leaver| books.depart(leaver.uav));
        let due = flights.due.iter();
        due.for_each(|flight| books.depart(flight.uav));
        if deciding.checks_energy {
            send_off_who_cannot_wait(fleet, cells, &aggregator, flights, low, books);
        }
        books.barrier(&mut fleet.world.uavs);
        if fleet.falls_aggregating(aggregator.id) {
            let cell = &mut cells[aggregator.id.index()];
            fleet.lose_suddenly(aggregator.id, Some(cell), books);
            continue;
        }
        fleet.set_off(&flights.due, books);
        let model = learning.merge(cells, aggregator.id, deciding.aggregation);
        cells.iter_mut().for_each(|cell| cell.updates = 0);
        if model.is_none() {
            return Merged::default();
        }
        let goes = who_goes(low, flights);
        receivers.retain(|receiver| !goes[receiver.id.index()]);
        let (reached, missed) = broadcast(fleet, cells, &receivers, &aggregator, books);
        return Merged {
            aggregator: Some(aggregator.id),
            model,
            missed,
            reached,
        };
    }
}

/// What an aggregation needs of a method.
pub(super) struct Deciding<'a> {
    pub(super) choice: &'a mut dyn AggregatorChoice,
    pub(super) aggregation: &'a dyn Aggregation,
    pub(super) checks_energy: bool,
}

/// Per UAV, whether it does not stay for the broadcast.
fn who_goes(low: &[Leaver], flights: &Flights) -> Vec<bool> {
    let mut goes = who_leaves(low, flights.flown_s.len());
    for flight in &flights.due {
        goes[flight.uav.index()] = true;
    }
    goes
}

/// Everybody who is there and stays.
fn receivers(fleet: &Fleet, cells: &[CellWork], goes: &[bool]) -> Vec<Receiver> {
    let staying = fleet.world.active().map(|uav| uav.id);
    let staying = staying.filter(|id| !goes[id.index()]);
    staying.map(|id| receiver(fleet, id, cells)).collect()
}

pub(super) fn receiver(fleet: &Fleet, id: UavId, cells: &[CellWork]) -> Receiver {
    let uav = &fleet.world.uavs[id.index()];
    Receiver {
        id,
        broadcast_power_w: uav.broadcast_power_w,
        slowest_download_s: cells[id.index()].relay_s,
    }
}

/// The method's choice among those who are there; who is low can only aggregate when nobody stays.
pub(super) fn choose_aggregator(
    fleet: &Fleet,
    cells: &[CellWork],
    receivers: &[Receiver],
    choice: &mut dyn AggregatorChoice,
    books: &Books,
) -> Option<Uav> {
    let prospects = IfChosen::new(fleet, cells, receivers, books);
    let stays = |uav: &&Uav| prospects.places[uav.id.index()].is_some();
    let candidates: Vec<Candidate> = fleet
        .world
        .active()
        .filter(|uav| receivers.is_empty() || stays(uav))
        .map(|uav| Candidate {
            uav,
            prospects: &prospects,
        })
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let chosen = choice.choose(&candidates);
    let found = candidates
        .iter()
        .find(|candidate| candidate.uav.id == chosen);
    found
        .or(candidates.first())
        .map(|candidate| candidate.uav.clone())
}

/// What it would mean if a UAV aggregated, Eq. (56).
struct IfChosen<'a> {
    fleet: &'a Fleet,
    receivers: &'a [Receiver],
    books: &'a Books,
    /// Per UAV, the models that it hands over.
    handovers: Vec<usize>,
    /// Per UAV, its place among the receivers.
    places: Vec<Option<usize>>,
}

impl<'a> IfChosen<'a> {
    fn new(
        fleet: &'a Fleet,
        cells: &'a [CellWork],
        receivers: &'a [Receiver],
        books: &'a Books,
    ) -> Self {
        let mut places = vec![None; fleet.world.uavs.len()];
        for (place, receiver) in receivers.iter().enumerate() {
            places[receiver.id.index()] = Some(place);
        }
        let handovers = |cell: &CellWork| if cell.carries() { cell.handovers } else { 0 };
        Self {
            fleet,
            receivers,
            books,
            handovers: cells.iter().map(handovers).collect(),
            places,
        }
    }

    /// Everybody who is there, and how long handing over takes.
    fn handovers(&self, to: &Uav) -> impl Iterator<Item = (UavId, f64)> {
        let fleet = self.fleet;
        let handover_s = |from: &Uav| match self.handovers[from.id.index()] {
            0 => 0.0,
            models => {
                let one_s = fleet.crossing_s(from, to, fleet.update_bits);
                one_s.map_or(0.0, |one_s| models as f64 * one_s)
            }
        };
        let active = fleet.world.active();
        active.map(move |other| (other.id, handover_s(other)))
    }
}

impl Prospects for IfChosen<'_> {
    fn can_broadcast(&self, uav: &Uav) -> bool {
        let Some(own) = self.places[uav.id.index()] else {
            return false;
        };
        let (fleet, books) = (self.fleet, self.books);
        let broadcast = broadcast_cost(fleet, uav, self.receivers);
        let hover = fleet.nature.hover(uav.id, broadcast.hover_s);
        let mut needed_j = broadcast.uav_link_j
            + broadcast.relay_j[own]
            + hover.joules
            + fleet.flight_home(uav).joules;
        needed_j += fleet.probing.global_j;
        if books.charges_barriers() {
            let arrivals = self.handovers(uav);
            let arrivals_s = arrivals.map(|(id, time_s)| books.elapsed_s(id) + time_s);
            let wait_s = arrivals_s.fold(0.0, f64::max) - books.elapsed_s(uav.id);
            needed_j += books.waiting_j(uav.id, wait_s);
        }
        let hears = |receiver: &Receiver| {
            let other = &fleet.world.uavs[receiver.id.index()];
            fleet.link_s(uav, other, fleet.model_bits).is_some()
        };
        uav.battery_j >= needed_j && self.receivers.iter().all(hears)
    }

    fn cost(&self, uav: &Uav) -> f64 {
        let fleet = self.fleet;
        let broadcast = broadcast_cost(fleet, uav, self.receivers);
        let hover_j = |id, seconds| fleet.nature.hover(id, seconds).joules;
        let receivers = self.receivers.iter();
        let broadcast_j = broadcast.uav_link_j
            + broadcast.relay_j.iter().sum::<f64>()
            + receivers
                .map(|receiver| hover_j(receiver.id, broadcast.hover_s))
                .sum::<f64>();
        let (mut handovers_j, mut longest_s) = (0.0, 0.0f64);
        for (id, time_s) in self.handovers(uav) {
            handovers_j += hover_j(id, time_s);
            longest_s = longest_s.max(time_s);
        }
        let time_s = broadcast.hover_s + longest_s;
        let weights = &fleet.scenario.weights;
        weights.energy * (broadcast_j + handovers_j) + weights.time * time_s
    }
}

/// The round lasts as long as its slowest UAV, Eq. (25): that UAV's parts are the round's. `flown_s` are the flights that
/// came after the edge rounds; none when models are only handed over once more.
fn record_critical_path(
    fleet: &Fleet,
    cells: &[CellWork],
    flown_s: Option<&[f64]>,
    aggregator: Option<&Uav>,
    books: &mut Books,
) {
    let offload_s = |uav: &Uav| aggregator.map_or(0.0, |to| offload_s(fleet, cells, uav, to));
    let before_s =
        |index: usize| flown_s.map_or(0.0, |flown_s| cells[index].edge_time_s() + flown_s[index]);
    let total_s = |uav: &&Uav| before_s(uav.id.index()) + offload_s(uav);
    let Some(slowest) = fleet
        .world
        .uavs
        .iter()
        .max_by(|a, b| total_s(a).total_cmp(&total_s(b)))
    else {
        return;
    };
    let time = &mut books.time;
    if let Some(flown_s) = flown_s {
        let cell = &cells[slowest.id.index()];
        let (edge_rounds, device) = (cell.edge_rounds as f64, cell.cost.slowest);
        time.add(TimeItem::Compute, edge_rounds * device.compute_s);
        time.add(TimeItem::Upload, edge_rounds * device.upload_s);
        time.add(TimeItem::Download, edge_rounds * device.download_s);
        time.add(TimeItem::Move, flown_s[slowest.id.index()]);
    }
    time.add(TimeItem::Offload, offload_s(slowest));
}

/// T^E2G; a UAV that has nothing to hand over, or nobody to hand it to, takes no time.
fn offload_s(fleet: &Fleet, cells: &[CellWork], uav: &Uav, aggregator: &Uav) -> f64 {
    let cell = &cells[uav.id.index()];
    match cell.carries() {
        true => handover_s(fleet, uav, cell, aggregator).unwrap_or(0.0),
        false => 0.0,
    }
}

/// Seconds of handing over what a UAV carries.
pub(super) fn handover_s(
    fleet: &Fleet,
    uav: &Uav,
    cell: &CellWork,
    aggregator: &Uav,
) -> Option<f64> {
    let one_s = fleet.crossing_s(uav, aggregator, fleet.update_bits)?;
    Some(cell.handovers as f64 * one_s)
}

fn offload(fleet: &mut Fleet, cells: &mut [CellWork], aggregator: &Uav, books: &mut Books) {
    for (index, cell) in cells.iter_mut().enumerate() {
        let uav = &fleet.world.uavs[index];
        if !uav.is_active() || !cell.carries() {
            continue;
        }
        let id = uav.id;
        match handover_s(fleet, uav, cell, aggregator) {
            Some(time_s) => {
                let hover = fleet.nature.hover(id, time_s);
                fleet.charge(id, cell, EnergyItem::OffloadHover, hover, books);
            }
            None => {
                let updates_lost = cell.go_down();
                books.tell(EventKind::ModelStranded {
                    uav: id,
                    updates_lost,
                });
            }
        }
    }
}

/// UAVs whose battery does not last until the others are there and for the way home have handed over and leave, rather
/// than fall while they wait. The aggregator cannot.
fn send_off_who_cannot_wait(
    fleet: &Fleet,
    cells: &[CellWork],
    aggregator: &Uav,
    flights: &Flights,
    low: &mut Vec<Leaver>,
    books: &mut Books,
) {
    if !books.charges_barriers() {
        return;
    }
    let latest_s = books.latest_s(&fleet.world.uavs);
    let worst = fleet.worst_case(cells, books);
    let goes = who_goes(low, flights);
    for uav in fleet.world.active() {
        if goes[uav.id.index()] || uav.id == aggregator.id {
            continue;
        }
        let wait_s = latest_s - books.elapsed_s(uav.id);
        if let Some(leaver) = fleet.if_too_low_to_wait(uav, wait_s, &worst, books) {
            books.depart(uav.id);
            low.push(leaver);
        }
    }
}

fn broadcast_cost(fleet: &Fleet, aggregator: &Uav, receivers: &[Receiver]) -> cost::Broadcast {
    let link_s = |id: UavId| {
        let to = &fleet.world.uavs[id.index()];
        let way = fleet.crossing_s(aggregator, to, fleet.model_bits);
        way.unwrap_or(0.0)
    };
    cost::broadcast(aggregator.id, aggregator.tx_power_w, receivers, link_s)
}

/// The global model is merged: a battery that ends here takes no update along. Returns whom it reached, and whom not.
fn broadcast(
    fleet: &mut Fleet,
    cells: &mut [CellWork],
    receivers: &[Receiver],
    aggregator: &Uav,
    books: &mut Books,
) -> (Vec<UavId>, Vec<UavId>) {
    if !receivers.iter().any(|r| r.id == aggregator.id) {
        return (Vec::new(), Vec::new());
    }
    let is_reached = |receiver: &Receiver| {
        let uav = &fleet.world.uavs[receiver.id.index()];
        let way = fleet.crossing_s(aggregator, uav, fleet.model_bits);
        way.is_some()
    };
    let (receivers, missed): (Vec<_>, Vec<_>) = receivers.iter().copied().partition(is_reached);
    let cost = broadcast_cost(fleet, aggregator, &receivers);
    books.time.add(TimeItem::Broadcast, cost.hover_s);
    for (receiver, relay_j) in receivers.iter().zip(cost.relay_j) {
        let link_j = match receiver.id == aggregator.id {
            true => cost.uav_link_j,
            false => 0.0,
        };
        for (item, bill) in [
            (EnergyItem::Broadcast, Bill::beside(link_j)),
            (EnergyItem::Relay, Bill::beside(relay_j)),
            (
                EnergyItem::BroadcastHover,
                fleet.nature.hover(receiver.id, cost.hover_s),
            ),
        ] {
            let cell = &mut cells[receiver.id.index()];
            fleet.charge(receiver.id, cell, item, bill, books);
        }
    }
    let ids = |list: Vec<Receiver>| list.into_iter().map(|receiver| receiver.id).collect();
    (ids(receivers), ids(missed))
}
