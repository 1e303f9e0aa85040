//! Edge rounds: devices train, UAVs merge, batteries pay.

use crate::Error;
use crate::books::Books;
use crate::decide::association::{CellOutcome, DeviceOutcome, Needs};
use crate::learn::aggregation::distance;
use crate::record::EventKind;
use crate::vocabulary::{Bill, DeviceId, EnergyItem, UavId};
use crate::world::Uav;

use super::cells::{CellWork, Leaver};
use super::fleet::Fleet;
use super::learning::{EdgeTraining, Learning, Trained};
use super::leaving;
use super::stage::{Decisions, Terms};

/// What the edge rounds of a global round came to.
#[derive(Default)]
pub(super) struct EdgeOutcome {
    /// K.
    pub(super) rounds: usize,
    /// UAVs that must go home after the aggregation, Eq. (15).
    pub(super) low: Vec<Leaver>,
    pub(super) updates_computed: usize,
    /// Mean over devices and steps; NaN when nobody trained.
    pub(super) train_loss: f64,
    /// Softmax outputs of local models after the last edge round, where wanted.
    pub(super) outputs: Vec<(DeviceId, Vec<f32>)>,
}

/// The random draws of one edge round of a global round, or of a pass.
pub(super) fn draw_key(pass: usize, edge_round: usize) -> u64 {
    (pass as u64) << 32 | edge_round as u64
}

/// Trains until K^Max edge rounds are done or a UAV runs low, Eq. (16).
pub(super) fn edge_rounds(
    fleet: &mut Fleet,
    learning: &mut Learning,
    cells: &mut [CellWork],
    terms: Terms,
    decisions: &Decisions,
    needs: Needs,
    books: &mut Books,
) -> Result<EdgeOutcome, Error> {
    let mut outcome = EdgeOutcome::default();
    if !cells.iter().any(CellWork::trains) {
        books.tell(EventKind::NobodyTrained);
        outcome.train_loss = f64::NAN;
        return Ok(outcome);
    }
    let mut received = 0;
    while outcome.low.is_empty() && outcome.rounds < terms.edge_rounds {
        outcome.rounds += 1;
        books.edge_round = outcome.rounds;
        let may_be_last = outcome.rounds == terms.edge_rounds
            || fleet.may_lose_after(outcome.rounds, terms.edge_rounds)
            || may_run_low(fleet, cells, books)
            || leaving::is_last(fleet, cells, books);
        for (uav, cell) in (0..).map(UavId).zip(cells.iter_mut()) {
            leaving::foresee(cell, fleet.now_s(uav, books));
        }
        if decisions.hands_over && terms.merges_at_uavs {
            let more = terms.edge_rounds + 1 - outcome.rounds;
            leaving::find_takers(fleet, cells, more, books);
        }
        let training = EdgeTraining {
            key: draw_key(fleet.round, outcome.rounds),
            local: decisions.local,
            aggregation: decisions.aggregation,
            merges_at_uavs: terms.merges_at_uavs,
            wants_outputs: needs.answers && may_be_last,
        };
        let mut all: Vec<(UavId, &mut CellWork)> = (0..).map(UavId).zip(cells.iter_mut()).collect();
        let trained = learning.train(&mut all, &training)?;
        outcome.updates_computed += trained.computed;
        outcome.train_loss += trained.loss;
        received += trained.received();
        tell_lost(&trained, books);
        leaving::tell_handed_over(&trained, books);
        outcome.outputs = trained.outputs;
        for uav in (0..cells.len() as u32).map(UavId) {
            let cell = &mut cells[uav.index()];
            if fleet.world.uavs[uav.index()].is_active() && cell.trains() {
                let lasted_s = cell.cost.slowest.time_s();
                pay_for_edge_round(fleet, uav, cell, lasted_s, books);
                leaving::see_off(cell, fleet.now_s(uav, books));
            }
        }
        if decisions.checks_energy {
            outcome.low = low_uavs(fleet, cells, books);
        }
        // A loss that is due later than the last edge round strikes after that.
        let now = |_, due: usize| due.min(terms.edge_rounds) == outcome.rounds;
        for warned in fleet.lose_between_edge_rounds(cells, now, books) {
            warned.join(&mut outcome.low);
        }
        if !cells.iter().any(CellWork::trains) {
            break;
        }
    }
    leaving::lose_late_ones(cells, books);
    for warned in fleet.warned_aggregators() {
        warned.join(&mut outcome.low);
    }
    outcome.train_loss /= received as f64;
    Ok(outcome)
}

/// Updates that never came are told one by one.
pub(super) fn tell_lost(trained: &Trained, books: &mut Books) {
    for (device, uav, lost) in &trained.lost {
        books.tell(EventKind::UpdateLost {
            device: *device,
            uav: *uav,
            reason: lost.reason.clone(),
        });
    }
}

/// Whether the coming edge round may leave a UAV low, or lost. Only a guess that is never wrong the other way: what devices are
/// asked for after the last edge round costs time, so it is not asked for after each.
fn may_run_low(fleet: &Fleet, cells: &[CellWork], books: &Books) -> bool {
    let worst = fleet.worst_case(cells, books);
    let longest_s = cells.iter().map(|cell| cell.cost.slowest.time_s());
    // By so much the last cell can get further ahead of the others until then.
    let lag_s = longest_s.fold(0.0, f64::max);
    fleet.world.active().any(|uav| {
        let cell = &cells[uav.id.index()];
        let left_j = uav.battery_j - cell.cost.uav_j();
        let needed_j = fleet.needed_j(uav, cell, &worst, books) + books.waiting_j(uav.id, lag_s);
        left_j < needed_j + 1e-6 * needed_j.max(1.0)
    })
}

/// What devices report by way of UAVs that are still there.
pub(super) fn device_outcomes(fleet: &Fleet, cells: &[CellWork]) -> Vec<DeviceOutcome> {
    let heard = fleet.world.uavs.iter().zip(cells);
    let heard = heard.filter(|(_, cell)| cell.has_devices() && cell.edge_rounds > 0);
    heard
        .flat_map(|(uav, cell)| device_outcomes_of(fleet, uav.id, cell))
        .collect()
}

/// What the devices of one cell report.
pub(super) fn device_outcomes_of(
    fleet: &Fleet,
    uav: UavId,
    cell: &CellWork,
) -> impl Iterator<Item = DeviceOutcome> {
    let work = cell.device_loss.iter().zip(&cell.device_cost);
    let devices = cell.devices.iter().zip(work);
    let heard = devices.filter(|(_, ((_, updates), _))| *updates > 0);
    heard.map(move |(&device, ((loss, updates), cost))| DeviceOutcome {
        device,
        uav,
        mean_loss: loss / *updates as f64,
        samples: fleet.world.devices.samples[device.index()],
        edge_time_s: cost.time_s(),
    })
}

/// How the edge rounds went for one cell.
pub(super) fn cell_outcome(
    learning: &mut Learning,
    uav: UavId,
    cell: &CellWork,
    needs: Needs,
) -> Result<CellOutcome, Error> {
    let model = cell.model.as_ref().filter(|_| needs.edge_models);
    let edge_model = model
        .map(|(model, _)| learning.evaluator.probe(model))
        .transpose()?;
    let model = cell.model.as_ref();
    let start = learning.stale_models.get(&uav);
    let start = start.unwrap_or(&learning.global_model);
    let moved = model.filter(|_| needs.moves);
    let cost = &cell.cost;
    let edge_j = cost.uav_j() + cost.compute_j + cost.upload_j;
    let edge_s = cost.slowest.time_s();
    let shared_s = cost.slowest.upload_s + cost.slowest.download_s;
    let hover_j = cost.hover_j * if edge_s > 0.0 { shared_s / edge_s } else { 0.0 };
    let shared_j = hover_j + cost.downlink_j + cost.compute_j + cost.upload_j;
    let edge_rounds = cell.edge_rounds as f64;
    Ok(CellOutcome {
        uav,
        selected: cell.devices.len(),
        edge_model,
        energy_j: edge_rounds * edge_j,
        time_s: cell.edge_time_s(),
        shared_j: edge_rounds * shared_j,
        shared_s: edge_rounds * shared_s,
        samples: model.map_or(0.0, |(_, samples)| *samples),
        moved: moved.map(|(model, _)| distance(model, start)),
        overrun: cell.overrun,
    })
}

/// The energy check, Eq. (15), of UAVs whose devices train, and of all where waiting takes energy. Costs do not change inside a
/// global round, so the largest so far is the cell's own.
fn low_uavs(fleet: &Fleet, cells: &[CellWork], books: &mut Books) -> Vec<Leaver> {
    let worst = fleet.worst_case(cells, books);
    let cell = |uav: &Uav| &cells[uav.id.index()];
    let all = books.charges_barriers();
    let checking = fleet.world.active().filter(|uav| all || cell(uav).trains());
    checking
        .filter_map(|uav| fleet.if_low(uav, cell(uav), &worst, books))
        .collect()
}

/// An edge round is done: what it takes from a UAV's battery and from its devices. `seconds` is its length, or 0 where that stands
/// in the books already.
pub(super) fn pay_for_edge_round(
    fleet: &mut Fleet,
    uav: UavId,
    cell: &mut CellWork,
    seconds: f64,
    books: &mut Books,
) {
    cell.edge_rounds += 1;
    let attempts = cell.repeats();
    if attempts > 0 {
        books.tell(EventKind::TransfersRepeated { uav, attempts });
    }
    for (item, joules) in [
        (
            EnergyItem::DeviceCompute,
            cell.cost.compute_j - cell.spared_compute_j,
        ),
        (
            EnergyItem::DeviceUpload,
            cell.cost.upload_j - cell.spared_upload_j,
        ),
    ] {
        // A difference of sums may miss 0 by a rounding error.
        books.devices.add(item, joules.max(0.0));
    }
    let hover = Bill::new(seconds, cell.cost.hover_j);
    let downlink = Bill::beside(cell.cost.downlink_j);
    fleet.charge(uav, cell, EnergyItem::EdgeHover, hover, books);
    fleet.charge(uav, cell, EnergyItem::Downlink, downlink, books);
}
