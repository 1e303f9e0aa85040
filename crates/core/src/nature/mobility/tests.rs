//! What every way in time must do, and what each of them is known for.

use proptest::prelude::*;

use super::*;
use crate::scenario::Scenario;

const SIDES_M: [f64; 2] = [900.0, 600.0];

/// Settings of every model that moves in time, in a small area.
const MODELS: [&str; 7] = [
    "{kind=\"random_waypoint\"}",
    "{kind=\"random_waypoint\", speed_mps=[2, 2], pause_s=[0, 60]}",
    "{kind=\"gauss_markov\"}",
    "{kind=\"gauss_markov\", mean_speed_mps=40, alpha=0.2, step_s=7.3, heading_sigma_rad=2}",
    "{kind=\"manhattan\", block_m=130}",
    "{kind=\"manhattan\", block_m=600, turn_probability=0}",
    "{kind=\"group\", groups=3, radius_m=90, speed_mps=[1, 9], pause_s=20, wander_mps=[1, 4]}",
];

fn model(mobility: &str, seed: u64) -> Box<dyn Mobility> {
    let settings = [
        format!("mobility={mobility}"),
        format!("seed={seed}"),
        format!("area.width_m={}", SIDES_M[0]),
        format!("area.height_m={}", SIDES_M[1]),
        "uavs.coverage_radius_m=200".into(),
    ];
    from_config(&Scenario::parse("", &settings).unwrap().check().unwrap())
}

fn start(walk: &dyn Walk, device: u32) -> Motion {
    walk.start(&Start {
        device: DeviceId(device),
        now_s: 0.0,
        number: 0,
        at: Point::new(1.0, 1.0),
        is_given: false,
    })
}

fn at(walk: &dyn Walk, device: u32, time_s: f64) -> Point {
    let mut motion = start(walk, device);
    walk.advance(DeviceId(device), &mut motion, time_s);
    motion.at(time_s)
}

fn is_inside(point: Point) -> bool {
    let within = |value: f64, side_m: f64| (-1e-9..=side_m + 1e-9).contains(&value);
    within(point.x_m, SIDES_M[0]) && within(point.y_m, SIDES_M[1])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However time is cut, devices go the same ways, and these stay in the area.
    #[test]
    fn ways_do_not_depend_on_who_looks_when(
        index in 0..MODELS.len(),
        seed in 0u64..1_000,
        cuts in prop::collection::vec(0.0..3_000.0f64, 1..6),
    ) {
        let mobility = model(MODELS[index], seed);
        let walk = mobility.walk().unwrap();
        let mut cuts = cuts;
        cuts.sort_by(f64::total_cmp);
        for device in 0..4 {
            let mut motion = start(walk, device);
            for &time_s in &cuts {
                walk.advance(DeviceId(device), &mut motion, time_s);
                prop_assert_eq!(motion.at(time_s), at(walk, device, time_s));
                prop_assert!(is_inside(motion.at(time_s)), "{:?}", motion);
                prop_assert!(motion.is_sound());
            }
        }
    }

    /// The moment in which a way leaves a circle is the one that a fine scan finds.
    #[test]
    fn exits_are_where_a_fine_scan_finds_them(
        index in 0..MODELS.len(),
        seed in 0u64..1_000,
        from_s in 0.0..200.0f64,
        lasts_s in 1.0..400.0f64,
        radius_m in 5.0..400.0f64,
    ) {
        let mobility = model(MODELS[index], seed);
        let walk = mobility.walk().unwrap();
        let (device, motion) = (DeviceId(5), start(walk, 5));
        let until_s = from_s + lasts_s;
        let centre = at(walk, 5, from_s);
        let centre = Point::new(centre.x_m + 0.6 * radius_m, centre.y_m);
        let circle = Circle { centre, radius_m };
        let left_s = leaves_at_s(walk, device, &motion, circle, from_s, until_s);
        let (mut motion, step_s) = (motion, 0.01);
        let mut scanned_s = f64::INFINITY;
        for step in 0..=(lasts_s / step_s) as usize {
            let now_s = from_s + step as f64 * step_s;
            walk.advance(device, &mut motion, now_s);
            if !circle.holds(motion.at(now_s)) {
                scanned_s = now_s;
                break;
            }
        }
        // Between two looks a way may leave and come back, a moment after the last look it may leave.
        if scanned_s.is_finite() {
            prop_assert!(left_s <= scanned_s && left_s >= from_s, "{left_s} {scanned_s}");
        }
        if left_s.is_finite() {
            let mut motion = start(walk, 5);
            walk.advance(device, &mut motion, left_s);
            let distance_m = motion.at(left_s).distance(centre);
            prop_assert!((distance_m - radius_m).abs() < 1e-6, "{distance_m} {radius_m}");
            let nearly = scanned_s - left_s <= step_s * (1.0 + 1e-6) || {
                // It grazed the circle for less than a step.
                let mut motion = motion;
                let soon_s = left_s + step_s;
                walk.advance(device, &mut motion, soon_s);
                circle.holds(motion.at(soon_s)) || soon_s > until_s
            };
            prop_assert!(nearly, "{left_s} {scanned_s}");
        }
    }

    /// A gap of any length costs no more than one of some thousand legs, and ends in the area.
    #[test]
    fn no_gap_is_too_long(index in 0..MODELS.len(), gap_s in 1e6..1e18f64) {
        let mobility = model(MODELS[index], 1);
        let walk = mobility.walk().unwrap();
        prop_assert!(is_inside(at(walk, 2, gap_s)));
    }
}

/// Metres in the next second, per second.
fn speed_mps(walk: &dyn Walk, device: u32, time_s: f64) -> f64 {
    let mut motion = start(walk, device);
    walk.advance(DeviceId(device), &mut motion, time_s);
    let Leg {
        from,
        to,
        from_s,
        until_s,
    } = motion.leg;
    from.distance(to) / (until_s - from_s)
}

/// (b - a) / ln(b / a) = 6.11 m/s for speeds from 1 to 19 m/s, at the start and for ever: Yoon, Liu and Noble (INFOCOM 2003)
/// for the mean, Navidi and Camp (2004) for the start. Drawn like any other, the first legs would have 10 m/s.
#[test]
fn val_mean_speed_of_random_waypoint_is_6_11_from_the_start() {
    let speeds = crate::scenario::Span {
        min: 1.0,
        max: 19.0,
    };
    let none = crate::scenario::Span { min: 0.0, max: 0.0 };
    let walk = RandomWaypoint::new(4, [1000.0, 1000.0], speeds, none);
    let expected = 18.0 / 19.0f64.ln();
    assert!((expected - 6.11).abs() < 0.005);
    for time_s in [0.0, 100.0, 3_600.0] {
        let devices = 20_000;
        let sum: f64 = (0..devices).map(|id| speed_mps(&walk, id, time_s)).sum();
        let mean = sum / f64::from(devices);
        assert!((mean / expected - 1.0).abs() < 0.02, "{time_s} s: {mean}");
    }
}

/// Navidi and Camp (2004): the share of devices at rest is that of the time they rest, from the start; and the middle ninth of
/// the area has the same share of devices at any time, which is more than a ninth.
#[test]
fn val_random_waypoint_begins_as_it_goes_on() {
    let span = |min, max| crate::scenario::Span { min, max };
    let walk = RandomWaypoint::new(9, [900.0, 900.0], span(1.0, 19.0), span(0.0, 200.0));
    let moving_s = 0.521_405 * 900.0 * 19.0f64.ln() / 18.0;
    let expected = 100.0 / (100.0 + moving_s);
    let devices = 20_000;
    let mut shares = Vec::new();
    for time_s in [0.0, 50.0, 3_600.0] {
        let (mut rests, mut middle) = (0, 0);
        for id in 0..devices {
            let mut motion = start(&walk, id);
            walk.advance(DeviceId(id), &mut motion, time_s);
            rests += u32::from(motion.leg.is_rest());
            let point = motion.at(time_s);
            let third = |metres: f64| (300.0..600.0).contains(&metres);
            middle += u32::from(third(point.x_m) && third(point.y_m));
        }
        let share = f64::from(rests) / f64::from(devices);
        assert!(
            (share - expected).abs() < 0.012,
            "{time_s} s: {share} {expected}"
        );
        shares.push(f64::from(middle) / f64::from(devices));
    }
    assert!(shares.iter().all(|share| *share > 0.13), "{shares:?}");
    assert!(
        shares.iter().all(|share| (share - shares[0]).abs() < 0.012),
        "{shares:?}"
    );
}

/// Where devices are everywhere equally often at the start, they stay so.
#[test]
fn reflection_and_turns_do_not_pile_devices_up() {
    for mobility in [
        "{kind=\"gauss_markov\", mean_speed_mps=10}",
        "{kind=\"manhattan\", block_m=100, turn_probability=0.3}",
    ] {
        let mobility = model(mobility, 11);
        let walk = mobility.walk().unwrap();
        let devices = 8_000;
        let share = |time_s: f64| {
            let west = |id: &u32| at(walk, *id, time_s).x_m < 90.0;
            (0..devices).filter(west).count() as f64 / f64::from(devices)
        };
        let (first, later) = (share(0.0), share(900.0));
        assert!((first - later).abs() < 0.015, "{first} {later}");
    }
}

#[test]
fn manhattan_stays_on_its_streets_and_turns_as_often_as_told() {
    let mobility = model("{kind=\"manhattan\", block_m=10, turn_probability=0.3}", 2);
    let walk = mobility.walk().unwrap();
    let (mut crossings, mut turns) = (0, 0);
    for id in 0..200 {
        let mut motion = start(walk, id);
        for _ in 0..100 {
            let before = motion.leg;
            motion = walk.next(DeviceId(id), &motion);
            let on_street = |value: f64| (value / 10.0 - (value / 10.0).round()).abs() < 1e-9;
            let point = motion.at((motion.leg.from_s + motion.leg.until_s) / 2.0);
            assert!(on_street(point.x_m) || on_street(point.y_m), "{point:?}");
            let Point { x_m, y_m } = before.to;
            if x_m > 5.0 && x_m < 895.0 && y_m > 5.0 && y_m < 595.0 {
                crossings += 1;
                let east_west = |leg: &Leg| leg.from.y_m == leg.to.y_m;
                turns += u32::from(east_west(&before) != east_west(&motion.leg));
            }
        }
    }
    let share = f64::from(turns) / f64::from(crossings);
    assert!((share - 0.3).abs() < 0.02, "{share}");
    // Who is put beside the streets goes to one.
    let given = walk.start(&Start {
        device: DeviceId(0),
        now_s: 0.0,
        number: 0,
        at: Point::new(14.0, 27.0),
        is_given: true,
    });
    assert_eq!(given.leg.to, Point::new(10.0, 30.0));
}

#[test]
fn members_of_a_group_stay_around_their_point() {
    let mobility = model(MODELS[6], 3);
    let walk = mobility.walk().unwrap();
    for time_s in [0.0, 77.0, 5_000.0, 1e12] {
        let places: Vec<(Point, Point)> = (0..30)
            .map(|id| {
                let mut motion = start(walk, id);
                walk.advance(DeviceId(id), &mut motion, time_s);
                (motion.carrier.at(time_s), motion.at(time_s))
            })
            .collect();
        for (id, (leader, member)) in places.iter().enumerate() {
            assert!(leader.distance(*member) <= 90.0 + 1e-9);
            assert_eq!(*leader, places[id % 3].0, "one point for all of a group");
        }
        assert_ne!(places[0].0, places[1].0);
        assert_ne!(places[0].1, places[3].1);
    }
}

#[test]
fn a_device_begins_where_it_is_told() {
    let told = Point::new(130.0, 260.0);
    for mobility in &MODELS[..6] {
        let mobility = model(mobility, 3);
        let motion = mobility.walk().unwrap().start(&Start {
            device: DeviceId(1),
            now_s: 0.0,
            number: 0,
            at: told,
            is_given: true,
        });
        assert_eq!(motion.at(0.0), told);
    }
}
