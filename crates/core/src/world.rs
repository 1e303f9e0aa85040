//! Who is there: devices, UAVs, batteries, the clock, and who covers whom.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::grid::Grid;
use crate::nature::mobility::{self, Mobility, Motion, Start, Surroundings, Walk, uniform_point};
use crate::nature::{Nature, compute};
use crate::scenario::{Area, Layout, ValidScenario};
use crate::seed::{Stream, stream};
use crate::vocabulary::Point;

mod layout;
mod saved;

pub(crate) use saved::SavedWorld;

pub use crate::vocabulary::{DeviceId, UavId};

/// All devices, one array per quantity.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Where each is.
    pub position: Vec<Point>,
    /// What each is in the middle of; empty where nobody moves inside a round.
    pub motion: Vec<Motion>,
    /// Uplink transmit power, W.
    pub tx_power_w: Vec<f64>,
    /// Processor clock, Hz.
    pub cpu_hz: Vec<f64>,
    /// Seconds of one local iteration, Eq. (8).
    pub iteration_time_s: Vec<f64>,
    /// Joules of one local iteration, Eq. (9).
    pub iteration_energy_j: Vec<f64>,
    /// Training samples held, |D_n|.
    pub samples: Vec<u32>,
}

/// Where a UAV is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Serving devices.
    Active,
    /// Flying home, charging, flying out; back for the first round that starts at or after this time.
    Away {
        /// When it is back above its position, s.
        returns_at_s: f64,
    },
    /// On its way to a new position, while the others go on; serves from the first round that starts at or after this time.
    Flying {
        /// When it is there, s.
        arrives_at_s: f64,
    },
    /// Safe at the base, and staying there.
    Grounded,
    /// Its battery ran empty in the air.
    Lost,
}

impl Status {
    /// One word for tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Away { .. } => "away",
            Self::Flying { .. } => "flying",
            Self::Grounded => "grounded",
            Self::Lost => "lost",
        }
    }
}

/// One UAV.
#[derive(Clone, Debug)]
pub struct Uav {
    /// Its number.
    pub id: UavId,
    /// Where it hovers (or hovered last); of one in flight, where it will.
    pub position: Point,
    /// Height above ground, m.
    pub altitude_m: f64,
    /// Ground distance up to which it covers devices, m.
    pub coverage_radius_m: f64,
    /// Energy left, J.
    pub battery_j: f64,
    /// What its battery gives when it is full, J; less as it ages.
    pub full_j: f64,
    /// Charging power, W.
    pub recharge_w: f64,
    /// What it is doing.
    pub status: Status,
    /// Power of UAV-to-UAV links, W.
    pub tx_power_w: f64,
    /// Power of UAV-to-device links, W.
    pub broadcast_power_w: f64,
    /// Uplink bandwidth of its cell, Hz.
    pub bandwidth_up_hz: f64,
    /// Downlink bandwidth of its cell, Hz.
    pub bandwidth_down_hz: f64,
}

impl Uav {
    /// Whether it serves devices now.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.status == Status::Active
    }

    /// Whether it is in the air among the others: serving devices, or on its way to where it will.
    #[must_use]
    pub fn is_airborne(&self) -> bool {
        matches!(self.status, Status::Active | Status::Flying { .. })
    }
}

/// Who covers whom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Per UAV, the devices within its radius, ascending; empty for UAVs that are not active.
    pub cells: Vec<Vec<DeviceId>>,
    /// Per device, the nearest active UAV that covers it (ties: the lower id).
    pub nearest: Vec<Option<UavId>>,
}

impl Coverage {
    /// Keeps only pairs that are in `pairs` as well, which has ascending devices per UAV.
    pub(crate) fn keep_pairs(&mut self, world: &World, pairs: &[Vec<DeviceId>]) {
        let both = self.cells.par_iter_mut().zip(pairs);
        let all_stay = both.map(|(cell, others)| {
            let before = cell.len();
            let mut others = others.iter().peekable();
            cell.retain(|device| {
                while others.next_if(|other| *other < device).is_some() {}
                others.peek() == Some(&device)
            });
            cell.len() == before
        });
        if all_stay.reduce(|| true, |a, b| a && b) {
            return;
        }
        self.nearest = world.nearest_of(&self.cells);
    }

    /// How many devices at least one UAV covers.
    #[must_use]
    pub fn covered(&self) -> usize {
        self.nearest.iter().flatten().count()
    }
}

/// Everything that exists in a run.
#[derive(Clone, Debug)]
pub struct World {
    /// The ground.
    pub area: Area,
    /// The devices.
    pub devices: Devices,
    /// The UAVs, by id.
    pub uavs: Vec<Uav>,
    /// Simulated time, s.
    pub clock_s: f64,
    /// Where UAVs hovered first and how far they covered, which is what devices' ways go by: they are the same whatever a
    /// method does.
    first_posts: Vec<(Point, f64)>,
    grid: Grid,
}

impl World {
    /// A new world: devices where the scenario's files or mobility place them, UAVs in their layout, but outside of zones, with full
    /// batteries.
    /// `samples` are the training samples of each device, `sample_bits` the size of one.
    #[must_use]
    pub fn new(scenario: &ValidScenario, samples: Vec<u32>, sample_bits: f64) -> Self {
        let mobility = mobility::from_config(scenario);
        Self::with_mobility(scenario, &*mobility, samples, sample_bits)
    }

    /// The same with a mobility of the caller's.
    pub(crate) fn with_mobility(
        scenario: &ValidScenario,
        mobility: &dyn Mobility,
        samples: Vec<u32>,
        sample_bits: f64,
    ) -> Self {
        let mut devices = draw_devices(scenario, samples, sample_bits);
        let count = devices.samples.len();
        (devices.position, devices.motion) = place(scenario, mobility, count);
        let uavs = draw_uavs(scenario, &devices.position);
        let radii_m = uavs.iter().map(|uav| uav.coverage_radius_m);
        let largest_m = radii_m.fold(0.0, f64::max);
        let Area {
            width_m, height_m, ..
        } = scenario.area;
        let mut grid = Grid::new(width_m, height_m, largest_m / 4.0);
        grid.rebuild(&devices.position);
        Self {
            area: scenario.area.clone(),
            devices,
            first_posts: uavs
                .iter()
                .map(|uav| (uav.position, uav.coverage_radius_m))
                .collect(),
            uavs,
            clock_s: 0.0,
            grid,
        }
    }

    /// UAVs that would leave for good, because the way home and back takes more than a full battery: each with the joules of one
    /// way. None where nobody could charge anyway.
    #[must_use]
    pub fn cannot_return(&self, scenario: &ValidScenario) -> Vec<(UavId, f64)> {
        let nature = Nature::new(scenario);
        let stranded = |uav: &Uav| {
            let home = nature.flight_home(uav.id, uav.position);
            let out = nature.flight_out(uav.id, uav.position);
            let charges = nature.charging.has_power(uav.recharge_w);
            let needed_j = home.joules + out.joules;
            (charges && needed_j > uav.full_j).then_some((uav.id, needed_j / 2.0))
        };
        self.uavs.iter().filter_map(stranded).collect()
    }

    /// The UAVs that serve devices now.
    pub fn active(&self) -> impl Iterator<Item = &Uav> {
        self.uavs.iter().filter(|uav| uav.is_active())
    }

    /// The devices within a distance of a point, along the ground.
    pub(crate) fn devices_within(&self, at: Point, radius_m: f64) -> Vec<u32> {
        self.grid.within(&self.devices.position, at, radius_m)
    }

    /// Who covers whom right now.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.coverage_where(|_| true, |_| true)
    }

    /// Who covers whom among UAVs and devices that work.
    pub(crate) fn coverage_where(
        &self,
        uav_works: impl Fn(&Uav) -> bool + Sync,
        device_works: impl Fn(DeviceId) -> bool + Sync,
    ) -> Coverage {
        let cell = |uav: &Uav| {
            if !uav.is_active() || !uav_works(uav) {
                return Vec::new();
            }
            let radius_m = uav.coverage_radius_m;
            let within = self
                .grid
                .within(&self.devices.position, uav.position, radius_m);
            let ids = within.into_iter().map(DeviceId);
            ids.filter(|&device| device_works(device)).collect()
        };
        let cells: Vec<Vec<DeviceId>> = self.uavs.par_iter().map(cell).collect();
        Coverage {
            nearest: self.nearest_of(&cells),
            cells,
        }
    }

    /// Per device, the nearest of the UAVs whose cells it is in; of several at the same distance, the one with the lower number.
    fn nearest_of(&self, cells: &[Vec<DeviceId>]) -> Vec<Option<UavId>> {
        let position = &self.devices.position;
        let squared = |(uav, cell): (&Uav, &Vec<DeviceId>)| -> Vec<f64> {
            let at = |device: &DeviceId| position[device.index()];
            let squares = cell
                .iter()
                .map(|device| uav.position.distance_squared(at(device)));
            squares.collect()
        };
        let squared: Vec<Vec<f64>> = self.uavs.par_iter().zip(cells).map(squared).collect();
        let mut nearest = vec![None; position.len()];
        let mut least = vec![f64::INFINITY; position.len()];
        for ((uav, cell), squared) in self.uavs.iter().zip(cells).zip(&squared) {
            for (device, &squared) in cell.iter().zip(squared) {
                let (nearest, least) = (&mut nearest[device.index()], &mut least[device.index()]);
                if nearest.is_none() || squared < *least {
                    (*nearest, *least) = (Some(uav.id), squared);
                }
            }
        }
        nearest
    }

    /// Moves every device to its place in `round`.
    pub(crate) fn move_devices(&mut self, mobility: &dyn Mobility, seed: u64, round: usize) {
        match mobility.walk() {
            Some(walk) => self.let_time_pass(walk),
            None => self.let_hop(mobility, seed, round),
        }
        self.grid.rebuild(&self.devices.position);
    }

    /// Where their ways lead until now.
    fn let_time_pass(&mut self, walk: &dyn Walk) {
        let (now_s, area) = (self.clock_s, &self.area);
        let Devices {
            position, motion, ..
        } = &mut self.devices;
        let all = position.par_iter_mut().zip(motion).enumerate();
        all.for_each(|(id, (position, motion))| {
            walk.advance(DeviceId(id as u32), motion, now_s);
            *position = inside(area, motion.at(now_s));
        });
    }

    /// Where they are in the next round.
    fn let_hop(&mut self, mobility: &dyn Mobility, seed: u64, round: usize) {
        let (posts, radii_m): (Vec<Point>, Vec<f64>) = self.first_posts.iter().copied().unzip();
        let largest_m = radii_m.iter().copied().fold(0.0, f64::max);
        let mut fleet = Grid::new(self.area.width_m, self.area.height_m, largest_m);
        fleet.rebuild(&posts);
        let covering = |point: Point| {
            let near = fleet.search(&posts, point, largest_m);
            let distances = near.map({
                let posts = &posts;
                move |post| (posts[post as usize].distance_squared(point), post)
            });
            let radii_m = &radii_m;
            let reach = move |post: u32| radii_m[post as usize] * radii_m[post as usize];
            distances.filter(move |(squared, post)| *squared <= reach(*post))
        };
        let is_covered = |point| covering(point).next().is_some();
        let nearest = |point: Point| {
            let nearest = covering(point).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            nearest.map(|(_, post)| post as usize)
        };
        let (now_s, area) = (self.clock_s, &self.area);
        let hop = |(id, position): (usize, &mut Point)| {
            let post = nearest(*position);
            let around = Surroundings {
                device: DeviceId(id as u32),
                round,
                now_s,
                width_m: area.width_m,
                height_m: area.height_m,
                covered_by: post.map(|post| posts[post]),
                coverage_radius_m: post.map_or(0.0, |post| radii_m[post]),
                is_covered: &is_covered,
            };
            let mut rng = stream(seed, Stream::Mobility, round as u64, id as u64);
            *position = mobility.next(*position, &around, &mut rng);
        };
        let devices = self.devices.position.par_iter_mut().enumerate();
        devices.for_each(hop);
    }
}

/// Where devices are at first, and what they are in the middle of: from where they are given a place, if they are.
fn place(
    scenario: &ValidScenario,
    mobility: &dyn Mobility,
    count: usize,
) -> (Vec<Point>, Vec<Motion>) {
    let area = &scenario.area;
    let places = scenario.places();
    let first = |id: usize| {
        let mut rng = stream(scenario.seed, Stream::DevicePosition, 0, id as u64);
        let given = places.device(id, &mut rng);
        given.unwrap_or_else(|| uniform_point(area.width_m, area.height_m, &mut rng))
    };
    let mut positions: Vec<Point> = (0..count).into_par_iter().map(first).collect();
    let Some(walk) = mobility.walk() else {
        return (positions, Vec::new());
    };
    let start = |(id, position): (usize, &mut Point)| {
        let motion = walk.start(&Start {
            device: DeviceId(id as u32),
            now_s: 0.0,
            number: 0,
            at: *position,
            is_given: places.gives_devices(),
        });
        *position = inside(area, motion.at(0.0));
        motion
    };
    let motions = positions.par_iter_mut().enumerate().map(start).collect();
    (positions, motions)
}

/// Without what a sum of two ways has of rounding errors, and without what somebody's own way leads out.
fn inside(area: &Area, point: Point) -> Point {
    Point::new(
        point.x_m.max(0.0).min(area.width_m),
        point.y_m.max(0.0).min(area.height_m),
    )
}

fn draw_devices(scenario: &ValidScenario, samples: Vec<u32>, sample_bits: f64) -> Devices {
    let config = &scenario.devices;
    let draw = |(id, held): (usize, &u32)| {
        let mut rng = stream(scenario.seed, Stream::DeviceHardware, 0, id as u64);
        let cpu_hz = config.cpu_hz.draw(&mut rng);
        let cycles_per_bit = config.cycles_per_bit.draw(&mut rng);
        let batch_bits = (*held as usize).min(scenario.training.batch_size) as f64 * sample_bits;
        let unit_s =
            compute::iteration_time_s(config.fixed_time_s, cycles_per_bit, batch_bits, cpu_hz);
        let unit_j =
            compute::iteration_energy_j(config.capacitance, cycles_per_bit, batch_bits, cpu_hz);
        let tx_power_w = config.tx_power_w.draw(&mut rng);
        ((cpu_hz, tx_power_w), (unit_s, unit_j))
    };
    let drawn = samples.par_iter().enumerate().map(draw);
    let ((cpu_hz, tx_power_w), (iteration_time_s, iteration_energy_j)) = drawn.unzip();
    Devices {
        cpu_hz,
        tx_power_w,
        iteration_time_s,
        iteration_energy_j,
        samples,
        ..Devices::default()
    }
}

fn draw_uavs(scenario: &ValidScenario, devices: &[Point]) -> Vec<Uav> {
    let config = &scenario.uavs;
    let positions = match &config.layout {
        Layout::Fixed { .. } => scenario.places().posts().to_vec(),
        Layout::Auto {} if config.count == 5 => layout::quincunx(&scenario.area),
        Layout::Quincunx {} => layout::quincunx(&scenario.area),
        Layout::Auto {} | Layout::KMeans {} => layout::k_means(
            devices,
            config.count,
            &mut stream(scenario.seed, Stream::Layout, 0, 0),
        ),
        Layout::Coverage {} => layout::most_covered(scenario, devices),
    };
    let draw = |(index, position)| {
        let numbers = scenario.uav(index);
        let full_j = numbers.battery_j * scenario.battery.usable;
        let zones = scenario.places().air.at(numbers.altitude_m);
        let free = zones.and_then(|zones| zones.nearest_free(position, scenario.area.bounds()));
        let position = free.unwrap_or(position);
        Uav {
            id: UavId(index as u32),
            position,
            altitude_m: numbers.altitude_m,
            coverage_radius_m: numbers.coverage_radius_m,
            battery_j: full_j,
            full_j,
            recharge_w: numbers.recharge_w,
            status: Status::Active,
            tx_power_w: numbers.tx_power_w,
            broadcast_power_w: numbers.broadcast_power_w,
            bandwidth_up_hz: numbers.bandwidth_up_hz,
            bandwidth_down_hz: numbers.bandwidth_down_hz,
        }
    };
    positions.into_iter().enumerate().map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nature::mobility::CoverageHop;
    use crate::scenario::Scenario;

    fn world(seed: u64) -> World {
        let scenario = Scenario {
            seed,
            ..Scenario::default()
        }
        .check()
        .unwrap();
        World::new(&scenario, vec![26; 150], 6_272.0)
    }

    /// The quincunx covers 84 % of uniform devices; the paper says 85 %.
    #[test]
    fn val_mean_coverage_over_100_seeds_is_84_percent() {
        let covered: usize = (0..100).map(|seed| world(seed).coverage().covered()).sum();
        let percent = covered as f64 / (150.0 * 100.0) * 100.0;
        assert!((percent - 84.0).abs() <= 1.0, "{percent}");
    }

    /// Hopping must not pile devices up under the UAVs, nor drive them out.
    #[test]
    fn coverage_stays_what_it_was_while_devices_move() {
        let hopping = CoverageHop {
            hop_probability: 0.3,
        };
        let mut covered = 0;
        for seed in 0..20 {
            let mut world = world(seed);
            for round in 2..=30 {
                world.move_devices(&hopping, seed, round);
            }
            covered += world.coverage().covered();
        }
        let percent = covered as f64 / (150.0 * 20.0) * 100.0;
        assert!((82.0..=86.0).contains(&percent), "{percent}");
    }

    #[test]
    fn nearest_is_the_closest_covering_uav_and_gone_uavs_cover_nobody() {
        let mut world = world(3);
        world.uavs[4].status = Status::Lost;
        let coverage = world.coverage();
        assert!(coverage.cells[4].is_empty());
        for (device, nearest) in coverage.nearest.iter().enumerate() {
            let at = world.devices.position[device];
            let expected = world
                .active()
                .filter(|uav| uav.position.distance(at) <= uav.coverage_radius_m)
                .min_by(|a, b| a.position.distance(at).total_cmp(&b.position.distance(at)))
                .map(|uav| uav.id);
            assert_eq!(*nearest, expected);
        }
    }
}
