//! What the map replay of a run needs, and no more than a page can carry.

use std::collections::HashMap;

use aerofed::RoundRecord;
use aerofed::geometry::Point;
use aerofed::nature::route::Routes;
use aerofed::record::{EventKind, Part, TimeItem, UavRecord};
use aerofed::run_folder::RunLog;
use aerofed::scenario::{Places, UavNumbers};
use aerofed::world::{Status, UavId};
use serde::Serialize;

use super::data::short;
use super::events;
use crate::ground::degrees;
use crate::map::sample;
use crate::units::{count, counted};

/// Most rounds that are replayed: from the first on.
const MOST_ROUNDS: usize = 1_000;
/// Most places of devices, over all rounds together; with more, fewer devices are drawn.
const MOST_PLACES: usize = 120_000;
/// But so many are, always.
const LEAST_DEVICES: usize = 60;
/// Most UAVs drawn.
const MOST_UAVS: usize = 200;

/// A run as the map shows it. Places are whole metres, UAVs are told by their place in `uavs`.
#[derive(Serialize)]
pub(super) struct Replay {
    label: String,
    area: [f64; 2],
    radius: Vec<f64>,
    /// Longitudes of its western and eastern edge, latitudes of its southern and northern one, where it lies on the globe.
    globe: Option<[(f64, f64); 2]>,
    bases: Vec<Point>,
    zones: Vec<Zone>,
    /// Of UAVs in flight, m/s.
    speed: Vec<f64>,
    /// All devices, drawn or not.
    devices: usize,
    /// Every so-and-so-many-th is drawn.
    every: usize,
    /// All rounds, shown or not.
    rounds: usize,
    /// Numbers of the UAVs drawn.
    uavs: Vec<u32>,
    frames: Vec<Frame>,
}

/// What UAVs fly around.
#[derive(Serialize)]
struct Zone {
    name: String,
    /// 0: at every height.
    height: f64,
    corners: Vec<[i32; 2]>,
}

#[derive(Serialize)]
struct Frame {
    round: usize,
    /// Simulated time at its end, s.
    clock_s: f64,
    /// Energy until then, J.
    energy_j: f64,
    /// Seconds of waiting for somebody to return, training, flights to new positions, handing over, broadcast.
    spans: [f64; 5],
    accuracy: Option<f64>,
    summary: String,
    aggregator: Option<usize>,
    /// Edge rounds.
    edge: usize,
    fleet: Vec<FrameUav>,
    x: Vec<i32>,
    y: Vec<i32>,
    uav: Vec<i64>,
    events: Vec<FrameEvent>,
}

/// `[x, y, status, charge when the round began, charge at its end, devices]`; status 0 active,
/// 1 away, 2 grounded, 3 lost.
#[derive(Serialize)]
struct FrameUav(i32, i32, u8, f64, f64, usize);

#[derive(Serialize)]
struct FrameEvent {
    kind: &'static str,
    uav: Option<usize>,
    /// How much of the training was over, 0 to 1.
    at: f64,
    /// The flight of somebody who moves or leaves: places from the first to the last.
    way: Vec<[i32; 2]>,
    /// When somebody who leaves will be back.
    there_at_s: Option<f64>,
    text: String,
}

impl Replay {
    /// Leaves out what a page cannot carry, and says so.
    pub(super) fn new(label: String, log: &RunLog) -> Self {
        let RunLog {
            scenario, records, ..
        } = log;
        let shown = &records[..records.len().min(MOST_ROUNDS)];
        let seen = shown.iter().map(|record| record.devices.x_m.len());
        let seen = seen.min().unwrap_or(0);
        let room = (MOST_PLACES / shown.len().max(1)).max(LEAST_DEVICES);
        let step = seen.div_ceil(room).max(1);
        let fleet = records.first().map_or(0, |record| record.uavs.len());
        let uavs: Vec<usize> = sample(fleet, MOST_UAVS).collect();
        let numbers: Vec<UavNumbers> = uavs.iter().map(|&uav| scenario.uav(uav)).collect();
        let places = Places::to_draw(scenario);
        let view = View {
            routes: Routes::new(&places),
            altitude_m: (0..fleet).map(|uav| scenario.uav(uav).altitude_m).collect(),
            places: uavs.iter().enumerate().map(|(p, &uav)| (uav, p)).collect(),
            uavs: &uavs,
            devices: (0..seen).step_by(step).collect(),
            full_j: (0..fleet).map(|uav| scenario.full_battery_j(uav)).collect(),
        };
        let every = records.first().map_or(1, |record| record.devices.every);
        Self {
            label,
            area: [scenario.area.width_m, scenario.area.height_m],
            radius: numbers.iter().map(|uav| uav.coverage_radius_m).collect(),
            globe: places.frame.map(|frame| {
                let (width_m, height_m) = (scenario.area.width_m, scenario.area.height_m);
                degrees(&frame, width_m, height_m).into()
            }),
            zones: places.air.zones().iter().map(zone).collect(),
            bases: places.bases,
            speed: numbers.iter().map(|uav| uav.speed_mps).collect(),
            devices: scenario.devices.count,
            every: every.max(1) * step,
            rounds: records.len(),
            frames: shown.iter().map(|record| view.frame(record)).collect(),
            uavs: uavs.iter().map(|&uav| uav as u32).collect(),
        }
    }
}

/// Who is drawn.
struct View<'a> {
    uavs: &'a [usize],
    /// Place of each UAV that is drawn.
    places: HashMap<usize, usize>,
    /// Places in the sightings.
    devices: Vec<usize>,
    /// What each UAV's battery gives when it is full, J.
    full_j: Vec<f64>,
    routes: Routes,
    /// How high each UAV flies, m.
    altitude_m: Vec<f64>,
}

impl View<'_> {
    fn place(&self, uav: UavId) -> Option<usize> {
        self.places.get(&uav.index()).copied()
    }

    fn frame(&self, record: &RoundRecord) -> Frame {
        let seen = &record.devices;
        let part = |&device: &usize| match seen.uav[device] {
            Part::Trained(uav) => self.place(uav).map_or(-1, |place| place as i64),
            other => other.into(),
        };
        let drawn = self.uavs.iter().filter_map(|&uav| record.uavs.get(uav));
        let accuracy = record.test_accuracy;
        Frame {
            round: record.round,
            clock_s: precise(record.clock_s),
            energy_j: precise(record.cumulative_energy_j),
            spans: Self::spans(record),
            accuracy: accuracy.is_finite().then(|| short(accuracy)),
            summary: Self::summary(record),
            aggregator: record.aggregator.and_then(|uav| self.place(uav)),
            edge: record.edge_rounds,
            fleet: drawn.map(|uav| self.uav(uav)).collect(),
            x: self
                .devices
                .iter()
                .map(|&device| seen.x_m[device])
                .collect(),
            y: self
                .devices
                .iter()
                .map(|&device| seen.y_m[device])
                .collect(),
            uav: self.devices.iter().map(part).collect(),
            events: self.events(record),
        }
    }

    fn spans(record: &RoundRecord) -> [f64; 5] {
        let time = |items: &[TimeItem]| {
            let seconds = items.iter().map(|&item| record.time.get(item));
            finite(seconds.sum::<f64>())
        };
        [
            time(&[TimeItem::Wait]),
            time(&[
                TimeItem::Scoring,
                TimeItem::Download,
                TimeItem::Compute,
                TimeItem::Upload,
            ]),
            time(&[TimeItem::Move]),
            time(&[TimeItem::Offload]),
            time(&[TimeItem::Broadcast]),
        ]
    }

    fn summary(record: &RoundRecord) -> String {
        let covered = counted(record.covered, "covered device");
        format!("{} of {covered} trained", count(record.selected))
    }

    fn uav(&self, uav: &UavRecord) -> FrameUav {
        let charge = |joules: f64| {
            let share = joules / self.full_j[uav.uav.index()];
            let share = if share.is_finite() { share } else { 0.0 };
            short(share.clamp(0.0, 1.0))
        };
        let [x, y] = metres(uav.position_m);
        let status = match uav.status {
            Status::Active => 0,
            Status::Away { .. } => 1,
            Status::Grounded => 2,
            Status::Lost => 3,
            Status::Flying { .. } => 4,
        };
        FrameUav(
            x,
            y,
            status,
            charge(uav.battery_before_j + uav.recharged_j),
            charge(uav.battery_after_j),
            uav.selected(),
        )
    }

    fn way(&self, uav: UavId, from: Point, to: Point) -> Vec<[i32; 2]> {
        let legs = self.routes.legs(from, to, self.altitude_m(uav));
        legs.into_iter().map(metres).collect()
    }

    fn altitude_m(&self, uav: UavId) -> f64 {
        self.altitude_m.get(uav.index()).copied().unwrap_or(0.0)
    }

    fn way_home(&self, uav: UavId, from: Point) -> Vec<[i32; 2]> {
        let length = |&&base: &&Point| self.routes.length_m(from, base, self.altitude_m(uav));
        let bases = self.routes.bases().iter();
        let nearest = bases.min_by(|a, b| length(a).total_cmp(&length(b)));
        nearest.map_or(Vec::new(), |&base| self.way(uav, from, base))
    }

    fn events(&self, record: &RoundRecord) -> Vec<FrameEvent> {
        let told = record.events.iter().map(|event| {
            let way = match event.kind {
                EventKind::UavMoved {
                    uav, from_m, to_m, ..
                } => self.way(uav, from_m, to_m),
                EventKind::UavLeft { uav, .. } => match record.uavs.get(uav.index()) {
                    Some(seen) => self.way_home(uav, seen.position_m),
                    None => Vec::new(),
                },
                _ => Vec::new(),
            };
            let there_at_s = match event.kind {
                EventKind::UavLeft { returns_at_s, .. } => returns_at_s.map(precise),
                EventKind::UavMoved { arrives_at_s, .. } => arrives_at_s.map(precise),
                _ => None,
            };
            let over = event.edge_round as f64 / record.edge_rounds.max(1) as f64;
            FrameEvent {
                kind: events::sign(&event.kind),
                uav: events::uav(&event.kind).and_then(|uav| self.place(uav)),
                at: short(over.min(1.0)),
                way,
                there_at_s,
                text: events::words(event),
            }
        });
        told.collect()
    }
}

fn zone(zone: &aerofed::solve::airspace::Zone) -> Zone {
    Zone {
        name: zone.name.clone(),
        height: short(zone.height_m),
        corners: zone.polygon.corners().iter().copied().map(metres).collect(),
    }
}

/// Nine digits: rounds are differences of clocks.
fn precise(value: f64) -> f64 {
    let digits = format!("{value:.8e}").parse().unwrap_or(0.0);
    if f64::is_finite(digits) { digits } else { 0.0 }
}

/// What JSON can hold.
fn finite(value: f64) -> f64 {
    match value.is_finite() {
        true => short(value),
        false => 0.0,
    }
}

/// Saturating casts: areas end at 10 000 km.
fn metres(point: Point) -> [i32; 2] {
    [point.x_m.round() as i32, point.y_m.round() as i32]
}
