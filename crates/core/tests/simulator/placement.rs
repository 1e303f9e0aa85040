//! The placement engine beside an exact solver and beside plain greedy, on fleets small enough for both.

use aerofed::decide::redeploy::{Fleet, FleetUav, MarginalGains, Move, Redeployment};
use aerofed::geometry::Point;
use aerofed::nature::flight::Cruise;
use aerofed::scenario::Area;
use aerofed::seed::{Random, Stream, stream};
use aerofed::solve::airspace::Airspace;
use aerofed::world::UavId;
use rand::RngExt;

const SIDE_M: f64 = 20_000.0;

/// Devices and UAVs of one kind or another.
struct Case {
    kind: &'static str,
    area: Area,
    devices: Vec<Point>,
    uavs: Vec<FleetUav>,
}

impl Case {
    /// Uniform or clustered devices, UAVs anywhere or at one base, alike or not: all eight kinds in turn.
    fn random(seed: u64) -> Self {
        let mut rng = stream(seed, Stream::DevicePosition, 0, 0);
        let (clustered, one_base, unlike) = (seed & 1 > 0, seed & 2 > 0, seed & 4 > 0);
        let devices = devices(clustered, &mut rng);
        let count = rng.random_range(2..=6);
        let base = anywhere(&mut rng);
        let radius_m = rng.random_range(1_500.0..4_500.0);
        let spare_j = rng.random_range(40e3..200e3);
        let uavs = (0..count).map(|id| {
            let mut unlike_by = |least: f64, most: f64| {
                let share = rng.random::<f64>();
                if unlike {
                    least + share * (most - least)
                } else {
                    1.0
                }
            };
            let radius_m = radius_m * unlike_by(0.6, 1.5);
            let cruise = Cruise::calm(20.0 * unlike_by(0.6, 1.4), 160.0 * unlike_by(0.7, 1.3));
            let spare_j = spare_j * unlike_by(0.2, 1.5);
            FleetUav {
                id: UavId(id),
                position: if one_base { base } else { anywhere(&mut rng) },
                altitude_m: 100.0,
                coverage_radius_m: radius_m,
                cruise,
                spare_j,
                tx_power_w: 0.75,
            }
        });
        let uavs = uavs.collect();
        let kinds = [
            "uniform",
            "clustered",
            "uniform, one base",
            "clustered, one base",
            "uniform, unlike",
            "clustered, unlike",
            "uniform, one base, unlike",
            "clustered, one base, unlike",
        ];
        Self {
            kind: kinds[(seed & 7) as usize],
            area: Area::new(SIDE_M, SIDE_M),
            devices,
            uavs,
        }
    }

    fn fleet(&self) -> Fleet<'_> {
        Fleet {
            area: &self.area,
            air: Airspace::open(),
            devices: &self.devices,
            uavs: &self.uavs,
            model_energy_j: &|_, _| 0.0,
            changed: &[],
        }
    }

    fn moves(&self, method: MarginalGains) -> Vec<Move> {
        let mut method = method;
        method.redeploy(&self.fleet(), &mut stream(1, Stream::Redeployment, 0, 0))
    }

    /// How many devices are covered after moves.
    fn covered(&self, moves: &[Move]) -> u32 {
        let sets = self.uavs.iter().map(|uav| {
            let moved = moves.iter().find(|m| m.uav == uav.id);
            self.set(uav, moved.map_or(uav.position, |m| m.to))
        });
        sets.fold(0, |all, set| all | set).count_ones()
    }

    fn set(&self, uav: &FleetUav, at: Point) -> u128 {
        let near = |d: &Point| d.distance_squared(at) <= uav.coverage_radius_m.powi(2);
        let bits = self.devices.iter().enumerate();
        bits.map(|(bit, device)| u128::from(near(device)) << bit)
            .sum()
    }

    /// All sets of devices that a UAV can cover, without those that are part of others. For any set the nearest point that covers
    /// it is home, the nearest point of a circle, or a crossing of two: none is missing.
    fn sets(&self, uav: &FleetUav) -> Vec<u128> {
        let (home, radius_m) = (uav.position, uav.coverage_radius_m * (1.0 - 1e-9));
        let mut posts = vec![home];
        for (i, a) in self.devices.iter().enumerate() {
            let away_m = a.distance(home);
            let share = (1.0 - radius_m / away_m).max(0.0);
            posts.push(Point::new(
                home.x_m + share * (a.x_m - home.x_m),
                home.y_m + share * (a.y_m - home.y_m),
            ));
            for b in &self.devices[..i] {
                let (dx, dy) = ((b.x_m - a.x_m) / 2.0, (b.y_m - a.y_m) / 2.0);
                let half_m = dx.hypot(dy);
                if half_m > 0.0 && half_m <= radius_m {
                    let up = (radius_m * radius_m - half_m * half_m).sqrt() / half_m;
                    for up in [up, -up] {
                        let (x, y) = (a.x_m + dx - up * dy, a.y_m + dy + up * dx);
                        posts.push(Point::new(x.clamp(0.0, SIDE_M), y.clamp(0.0, SIDE_M)));
                    }
                }
            }
        }
        posts.retain(|post| uav.cruise.flight(home, *post).joules <= uav.spare_j);
        let mut sets: Vec<u128> = posts.iter().map(|&post| self.set(uav, post)).collect();
        sets.sort_by_key(|set| (u128::BITS - set.count_ones(), *set));
        sets.dedup();
        let mut largest: Vec<u128> = Vec::new();
        for set in sets {
            if largest.iter().all(|large| set & !large != 0) {
                largest.push(set);
            }
        }
        largest
    }

    /// Each UAV in turn takes what covers most devices that nobody covers yet.
    fn greedy(&self) -> u32 {
        let mut covered = 0u128;
        for uav in &self.uavs {
            let sets = self.sets(uav);
            let best = sets.iter().max_by_key(|set| (*set & !covered).count_ones());
            covered |= best.unwrap_or(&0);
        }
        covered.count_ones()
    }

    /// The most devices that can be covered: every combination that cannot be excluded. None where there are too many.
    fn exact(&self) -> Option<u32> {
        let mut sets: Vec<Vec<u128>> = self.uavs.iter().map(|uav| self.sets(uav)).collect();
        sets.sort_by_key(Vec::len);
        let mut search = Exhaustive {
            sets: &sets,
            best: self.greedy(),
            nodes: 0,
        };
        search.descend(0, 0);
        (search.nodes < MOST_NODES).then_some(search.best)
    }
}

const MOST_NODES: usize = 400_000;

struct Exhaustive<'a> {
    sets: &'a [Vec<u128>],
    best: u32,
    nodes: usize,
}

impl Exhaustive<'_> {
    fn descend(&mut self, depth: usize, covered: u128) {
        self.best = self.best.max(covered.count_ones());
        let Some(own) = self.sets.get(depth) else {
            return;
        };
        let more = |set: &u128| (set & !covered).count_ones();
        let most = |sets: &Vec<u128>| sets.iter().map(more).max().unwrap_or(0);
        let later: u32 = self.sets[depth + 1..].iter().map(most).sum();
        let mut own: Vec<(u32, u128)> = own.iter().map(|set| (more(set), *set)).collect();
        own.sort_unstable_by(|a, b| b.cmp(a));
        for (gain, set) in own {
            self.nodes += 1;
            let possible = covered.count_ones() + gain + later;
            if possible <= self.best || self.nodes >= MOST_NODES {
                return;
            }
            self.descend(depth + 1, covered | set);
        }
    }
}

fn anywhere(rng: &mut Random) -> Point {
    Point::new(rng.random::<f64>() * SIDE_M, rng.random::<f64>() * SIDE_M)
}

fn devices(clustered: bool, rng: &mut Random) -> Vec<Point> {
    let count = rng.random_range(20..=100);
    if !clustered {
        return (0..count).map(|_| anywhere(rng)).collect();
    }
    let clusters: Vec<(Point, f64)> = (0..rng.random_range(2..=6))
        .map(|_| (anywhere(rng), rng.random_range(300.0..4_000.0)))
        .collect();
    let near = |_| {
        let (middle, spread_m) = clusters[rng.random_range(0..clusters.len())];
        let mut off = || (rng.random::<f64>() - 0.5) * 2.0 * spread_m;
        let (x, y) = (middle.x_m + off(), middle.y_m + off());
        Point::new(x.clamp(0.0, SIDE_M), y.clamp(0.0, SIDE_M))
    };
    (0..count).map(near).collect()
}

/// Coverage first, and no margin: what exact and greedy count.
fn coverage_first() -> MarginalGains {
    MarginalGains {
        movement_weight: 0.0,
        margin_m: Some(0.0),
        ..MarginalGains::default()
    }
}

/// Compares fleets, and returns how many the exact solver could do.
#[allow(clippy::print_stdout, reason = "the documents have the numbers")]
fn compare(seeds: std::ops::Range<u64>) -> usize {
    let (mut solved, mut equal, mut above) = (0, 0, 0);
    for seed in seeds {
        let case = Case::random(seed);
        let moves = case.moves(coverage_first());
        for m in &moves {
            assert!(
                m.energy_j <= case.uavs[m.uav.index()].spare_j,
                "{seed} {m:?}"
            );
        }
        let (ours, greedy) = (case.covered(&moves), case.greedy());
        assert!(ours >= greedy, "{seed} ({}): {ours} < {greedy}", case.kind);
        above += usize::from(ours > greedy);
        if let Some(exact) = case.exact() {
            solved += 1;
            equal += usize::from(ours == exact);
            let share = f64::from(ours) / f64::from(exact.max(1));
            assert!(
                exact == 0 || share >= 0.99,
                "{seed} ({}): {ours} of {exact}",
                case.kind
            );
        }
    }
    println!("{equal} of {solved} as the exact solver, {above} above greedy");
    solved
}

#[test]
fn val_small_fleets_cover_what_an_exact_solver_covers_and_never_less_than_greedy() {
    assert!(compare(0..40) >= 35);
}

/// `cargo test --workspace --test simulator val_200_fleets -- --ignored --nocapture`
#[test]
#[ignore = "a minute, 200 fleets; 40 are always tested: cargo test --workspace --test simulator val_200_fleets -- --ignored --nocapture"]
fn val_200_fleets_cover_what_an_exact_solver_covers_and_never_less_than_greedy() {
    assert!(compare(0..200) >= 170);
}

/// Five UAVs at one base, three villages kilometres wide: what plain greedy covers with 260 kJ each, and more.
#[test]
fn three_villages_are_served_from_one_base() {
    let base = Point::new(3_000.0, 3_000.0);
    let villages = [
        (Point::new(4_000.0, 16_000.0), 2_600.0),
        (Point::new(15_500.0, 15_000.0), 2_200.0),
        (Point::new(16_000.0, 4_500.0), 1_600.0),
    ];
    let mut rng = stream(7, Stream::DevicePosition, 0, 0);
    let device = |i: usize| {
        let (middle, spread_m) = villages[i % 3];
        let angle = rng.random::<f64>() * std::f64::consts::TAU;
        let away_m = spread_m * rng.random::<f64>().sqrt();
        let (x, y) = (away_m * angle.cos(), away_m * angle.sin());
        Point::new(middle.x_m + x, middle.y_m + y)
    };
    let devices: Vec<Point> = (0..120).map(device).collect();
    let uav = |id| FleetUav {
        id: UavId(id),
        position: base,
        altitude_m: 100.0,
        coverage_radius_m: 2_000.0,
        cruise: Cruise::calm(20.0, 160.0),
        spare_j: 260e3,
        tx_power_w: 0.75,
    };
    let case = Case {
        kind: "villages",
        area: Area::new(SIDE_M, SIDE_M),
        devices,
        uavs: (0..5).map(uav).collect(),
    };
    let greedy = case.greedy();
    let ours = case.covered(&case.moves(coverage_first()));
    let with_margin = MarginalGains {
        movement_weight: 0.0,
        ..MarginalGains::default()
    };
    let robust = case.moves(with_margin);
    assert!(ours >= 117 && ours >= greedy, "{ours} {greedy}");
    assert!(greedy < 120, "an instance that anybody solves says nothing");
    assert!(case.covered(&robust) >= 117, "{}", case.covered(&robust));
    // All of them would still be covered if the UAVs covered 19 m less.
    let mut tighter = case;
    for uav in &mut tighter.uavs {
        uav.coverage_radius_m -= 19.0;
    }
    assert!(
        tighter.covered(&robust) >= 116,
        "{}",
        tighter.covered(&robust)
    );
}

/// Nobody nearby, and batteries for most of the way only: as far as devices are covered from.
#[test]
fn who_sees_nobody_flies_to_where_somebody_is_if_its_battery_allows() {
    let mut case = Case::random(0);
    case.devices = vec![Point::new(19_000.0, 19_000.0); 9];
    case.uavs.truncate(2);
    for uav in &mut case.uavs {
        uav.position = Point::new(1_000.0, 1_000.0);
        uav.coverage_radius_m = 1_000.0;
        uav.cruise = Cruise::calm(20.0, 160.0);
    }
    let away_m = 18_000.0 * 2f64.sqrt();
    for (spare_m, moves) in [(away_m - 999.0, 1), (away_m - 1_001.0, 0)] {
        for uav in &mut case.uavs {
            uav.spare_j = spare_m * 8.0;
        }
        let found = case.moves(coverage_first());
        assert_eq!(found.len(), moves, "{found:?}");
    }
}

/// A far move that gains less than a move must gain, 0.002 of a UAV's share, is not made, and not looked for forever.
#[test]
fn a_far_device_that_gains_too_little_is_left_alone() {
    let mut case = Case::random(0);
    let base = Point::new(3_000.0, 3_000.0);
    let beside = |i: u32| Point::new(base.x_m + f64::from(i % 40), base.y_m + f64::from(i / 40));
    case.devices = (0..1_200).map(beside).collect();
    case.devices.push(Point::new(19_000.0, 19_000.0));
    case.uavs.truncate(2);
    for uav in &mut case.uavs {
        uav.position = base;
        uav.coverage_radius_m = 1_000.0;
        uav.spare_j = 1e6;
    }
    assert_eq!(case.moves(coverage_first()), []);
    // With fewer devices at home it gains enough.
    case.devices.drain(..400);
    assert_eq!(case.moves(coverage_first()).len(), 1);
}

/// With a relay of so many metres UAVs make one network, and cover less than without.
#[test]
fn a_relay_keeps_everybody_within_hops() {
    let mut joined = 0;
    for seed in 0..24 {
        let mut case = Case::random(seed);
        let base = Point::new(10_000.0, 10_000.0);
        for uav in &mut case.uavs {
            uav.position = base;
        }
        let relay_m = 5_000.0;
        let method = MarginalGains {
            relay_m,
            ..coverage_first()
        };
        let moves = case.moves(method);
        let mut left: Vec<Point> = case
            .uavs
            .iter()
            .map(|uav| {
                let moved = moves.iter().find(|m| m.uav == uav.id);
                moved.map_or(uav.position, |m| m.to)
            })
            .collect();
        let mut reached = vec![left.pop().unwrap()];
        while let Some(from) = reached.pop() {
            let (near, far) = left
                .into_iter()
                .partition(|to| to.distance(from) <= relay_m);
            left = far;
            let near: Vec<Point> = near;
            reached.extend(near);
        }
        assert!(left.is_empty(), "{seed}: {left:?}");
        for m in &moves {
            assert!(
                m.energy_j <= case.uavs[m.uav.index()].spare_j,
                "{seed} {m:?}"
            );
        }
        let alone = case.covered(&case.moves(coverage_first()));
        assert!(case.covered(&moves) <= alone, "{seed}");
        assert!(case.covered(&moves) >= case.covered(&[]), "{seed}");
        joined += usize::from(case.covered(&moves) > case.covered(&[]));
    }
    assert!(joined >= 12, "{joined}");
}

/// Two UAVs with the same radius, each nearer to the other's place: they do not cross.
#[test]
fn those_fly_where_it_takes_least() {
    let mut case = Case::random(0);
    case.devices = vec![
        Point::new(2_000.0, 2_000.0),
        Point::new(18_000.0, 2_000.0),
        Point::new(18_000.0, 2_100.0),
    ];
    case.uavs.truncate(2);
    for (uav, x_m) in case.uavs.iter_mut().zip([5_000.0, 15_000.0]) {
        uav.position = Point::new(x_m, 10_000.0);
        uav.spare_j = 1e6;
        uav.coverage_radius_m = 500.0;
    }
    let moves = case.moves(coverage_first());
    assert_eq!((moves.len(), case.covered(&moves)), (2, 3));
    assert!(
        moves[0].to.x_m < 5_000.0 && moves[1].to.x_m > 15_000.0,
        "{moves:?}"
    );
}

/// `uavs.layout.kind = "coverage"` covers more devices than the centres of crowds and the five of a die.
#[test]
fn a_run_may_start_where_most_devices_are_covered() {
    let covered = |kind: &str, seed: u64| {
        let settings = [
            format!("uavs.layout.kind={kind}"),
            format!("seed={seed}"),
            "uavs.coverage_radius_m=3000".into(),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let scenario = aerofed::Scenario::parse("", &settings)
            .unwrap()
            .check()
            .unwrap();
        aerofed::world::World::new(&scenario, vec![26; 150], 6_272.0)
            .coverage()
            .covered()
    };
    for seed in 0..3 {
        let best = covered("coverage", seed);
        assert!(
            best > covered("k_means", seed) && best > covered("auto", seed),
            "{seed}: {best}"
        );
    }
}

/// So many UAVs, each with about 100 devices in its disc; all discs together are as large as the ground.
fn large(uavs: u32, position: impl Fn(&mut Random) -> Point) -> Case {
    let mut rng = stream(5, Stream::Layout, 0, 0);
    let uav = |id| FleetUav {
        id: UavId(id),
        position: position(&mut rng),
        altitude_m: 100.0,
        coverage_radius_m: SIDE_M / (f64::from(uavs) * std::f64::consts::PI).sqrt(),
        cruise: Cruise::calm(20.0, 160.0),
        spare_j: 250e3,
        tx_power_w: 0.75,
    };
    let uavs: Vec<FleetUav> = (0..uavs).map(uav).collect();
    Case {
        kind: "large",
        area: Area::new(SIDE_M, SIDE_M),
        devices: (0..uavs.len() * 100).map(|_| anywhere(&mut rng)).collect(),
        uavs,
    }
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

/// One of 300 is gone: who is far from there stays, the hole is covered again as far as that, and threads make no difference.
#[test]
fn a_loss_in_a_large_fleet_is_its_neighbours_affair() {
    let mut case = large(300, anywhere);
    let lost = case.uavs.remove(150).position;
    let changed = [lost];
    let fleet = Fleet {
        changed: &changed,
        ..case.fleet()
    };
    let moves = |threads| {
        on_threads(threads, || {
            let mut rng = stream(1, Stream::Redeployment, 0, 0);
            coverage_first().redeploy(&fleet, &mut rng)
        })
    };
    let near = moves(1);
    assert_eq!(near, moves(3));
    let mut away_m: Vec<f64> = (case.uavs.iter())
        .map(|uav| uav.position.distance(lost))
        .collect();
    away_m.sort_by(f64::total_cmp);
    let farthest_m = |moves: &[Move]| {
        let away = moves.iter().map(|flight| flight.from.distance(lost));
        away.fold(0.0, f64::max)
    };
    assert!(!near.is_empty() && farthest_m(&near) <= away_m[31]);
    let all = case.moves(coverage_first());
    assert!(
        farthest_m(&all) > away_m[31],
        "without a place it is the whole fleet"
    );
    let covered = |moves: &[Move]| {
        let mut counts = fleet.coverage();
        for flight in moves {
            counts.shift(flight.from, flight.to, case.uavs[0].coverage_radius_m);
        }
        counts.covered()
    };
    let gained = covered(&near) - covered(&[]);
    assert!(
        gained >= 300,
        "{gained}: three UAVs' devices, where they overlapped at random"
    );
    assert!(covered(&all) > covered(&near));
}

/// All at one base: they spread over the ground, and threads make no difference.
#[test]
fn a_large_fleet_from_one_base_covers_the_ground() {
    let case = large(300, |_| Point::new(6_000.0, 4_000.0));
    let moves = on_threads(1, || case.moves(coverage_first()));
    assert_eq!(moves, on_threads(3, || case.moves(coverage_first())));
    let mut counts = case.fleet().coverage();
    for flight in &moves {
        counts.shift(flight.from, flight.to, case.uavs[0].coverage_radius_m);
    }
    // Discs without gaps and overlaps would cover all; the densest packing without overlaps covers 90.7 %.
    assert!(counts.share() > 0.92, "{}", counts.share());
}

/// Ten times the fleet and its devices on ten times the ground: in proportion would be 10, squared 100.
#[test]
fn the_engine_grows_in_proportion_to_the_fleet() {
    let seconds = |uavs: usize| {
        let side_m = (uavs as f64 * 80.0).sqrt() * 1e3;
        let mut rng = stream(3, Stream::Layout, 0, 0);
        let mut point = || Point::new(rng.random::<f64>() * side_m, rng.random::<f64>() * side_m);
        let devices: Vec<Point> = (0..uavs * 200).map(|_| point()).collect();
        let uav = |id| FleetUav {
            id: UavId(id),
            position: point(),
            altitude_m: 100.0,
            coverage_radius_m: 5e3,
            cruise: Cruise::calm(20.0, 160.0),
            spare_j: 250e3,
            tx_power_w: 0.75,
        };
        let case = Case {
            kind: "large",
            area: Area::new(side_m, side_m),
            uavs: (0..uavs as u32).map(uav).collect(),
            devices,
        };
        // The shorter of two, so that what else the machine does counts little.
        let time = || {
            let start = std::time::Instant::now();
            assert!(!case.moves(MarginalGains::default()).is_empty());
            start.elapsed().as_secs_f64()
        };
        time().min(time())
    };
    let ratio = seconds(1_500) / seconds(150);
    assert!(ratio < 40.0, "{ratio}");
}
