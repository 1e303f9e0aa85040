//! Worked by hand: four devices on a line.

use super::*;
use crate::vocabulary::UavId;

/// Four devices at 0, 1, 2 and 3 m, with ten samples each.
fn near(at: Point, radius_m: f64) -> Vec<u32> {
    let within = |device: &u32| (f64::from(*device) - at.x_m).abs() <= radius_m;
    (0..4).filter(within).collect()
}

fn from(x_m: f64, radius_m: f64, from_s: f64) -> Service {
    Service {
        at: Point::new(x_m, 0.0),
        radius_m,
        from_s,
        until_s: f64::INFINITY,
    }
}

/// Ten rounds are behind it, at its pace the target is ten more away: a round takes 2 s and 100 J with four UAVs.
fn stakes<'a>(mixes: &'a LabelMixes, weights: &'a Weights, so_far: &'a [Service]) -> Stakes<'a> {
    Stakes {
        near: &near,
        devices: 4,
        mixes,
        weights,
        curve: Curve {
            slope: 0.3,
            rounds: 10.0,
            level: 0.7 * libm::log(2.0),
            near_for: 0.0,
        },
        target: 0.5,
        rounds_left: 1_000.0,
        round: RoundCost {
            seconds: 2.0,
            joules: 100.0,
            uavs: 4.0,
        },
        arrival_rate: 0.0,
        so_far,
        wait: false,
        waiting_power_w: 100.0,
    }
}

/// A UAV that covers two devices from 0 m, or all of them after a flight of 2 s.
fn candidate(energy_j: f64) -> Candidate {
    Candidate {
        flight: Move {
            uav: UavId(0),
            from: Point::new(0.0, 0.0),
            to: Point::new(1.5, 0.0),
            way_m: 1.5,
            seconds: 2.0,
            energy_j,
        },
        stays: vec![from(0.0, 1.0, 0.0)],
        moves: vec![from(1.5, 2.0, 2.0)],
        waiting_power_w: 100.0,
    }
}

const WEIGHTS: Weights = Weights {
    energy: 0.5,
    time: 0.5,
};

fn all_alike() -> LabelMixes {
    LabelMixes::of(&[10, 10, 10, 10], 1, &[])
}

/// Stays: half the samples, so a round counts as 0.5^0.3 = 0.81225 and the 10 that are left take 12.3115: 24.623 s, and of 100 J a quarter
/// each, 307.79 J: 166.2 by weight. Moves: 2 s until the first round with all, then 10 rounds, 22 s and 250 J.
#[test]
fn a_hand_worked_flight() {
    let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
    let stakes = stakes(&mixes, &WEIGHTS, &so_far);
    let (made, verdict) = stakes.weigh(&[candidate(20.0)], &[]);
    assert_eq!(made.len(), 1);
    assert!((verdict.rounds_left - 12.3115).abs() < 1e-3, "{verdict:?}");
    assert!((verdict.saved.seconds - 2.623).abs() < 1e-3, "{verdict:?}");
    assert!((verdict.saved.joules - 57.79).abs() < 0.01, "{verdict:?}");
    // 0.5 (57.79 - 20) + 0.5 x 2.623, more than 0.05 x 166.2 = 8.31
    assert!((verdict.worth - 20.20).abs() < 0.01, "{verdict:?}");
    // 0.5 (57.79 - 45) + 0.5 x 2.623 is less.
    let (made, verdict) = stakes.weigh(&[candidate(45.0)], &[]);
    assert!((verdict.worth - 7.70).abs() < 0.01, "{verdict:?}");
    assert!(made.is_empty());
}

/// If everybody waits, 2 s pass without a round, and three others hover meanwhile.
#[test]
fn waiting_is_counted() {
    let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
    let mut stakes = stakes(&mixes, &WEIGHTS, &so_far);
    (stakes.wait, stakes.waiting_power_w) = (true, 400.0);
    let (_, verdict) = stakes.weigh(&[candidate(0.0)], &[]);
    assert!((verdict.saved.seconds - 2.623).abs() < 1e-3, "{verdict:?}");
    // 307.79 - 250 - 2 x 300
    assert!((verdict.saved.joules + 542.21).abs() < 0.01, "{verdict:?}");
}

/// Who is back in 1 s closes the gap as well, and nobody need fly: 20.375 s with both, 22 s if one flies meanwhile.
#[test]
fn a_gap_that_closes_by_itself_is_left() {
    let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
    let stakes = stakes(&mixes, &WEIGHTS, &so_far);
    let back = from(1.5, 2.0, 1.0);
    let (made, verdict) = stakes.weigh(&[candidate(100.0)], &[back]);
    assert!((verdict.saved.seconds + 1.625).abs() < 1e-3, "{verdict:?}");
    assert!(made.is_empty());
}

/// Flights that bring nothing are left out of a plan that is worth it as a whole.
#[test]
fn only_flights_that_pay_are_made() {
    let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
    let stakes = stakes(&mixes, &WEIGHTS, &so_far);
    let mut idle = candidate(40.0);
    idle.flight.uav = UavId(1);
    idle.stays = vec![from(0.0, 0.5, 0.0)];
    idle.moves = vec![from(1.0, 0.5, 2.0)];
    let (made, _) = stakes.weigh(&[candidate(20.0), idle], &[]);
    let who: Vec<UavId> = made.iter().map(|flight| flight.uav).collect();
    assert_eq!(who, [UavId(0)]);
}

/// Device 3 alone holds the second class, a quarter of all samples: without it the error must come down to a quarter, not to a half,
/// which takes 10 x 2 x 2^(1 / 0.3) = 201.6 rounds, of which 13 times those behind are believed.
#[test]
fn a_class_that_nobody_covers_weighs_heavily() {
    let outputs = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(Vec::from);
    let mixes = LabelMixes::of(&[10; 4], 2, &outputs);
    let so_far = [from(1.5, 2.0, 0.0)];
    let stakes = stakes(&mixes, &WEIGHTS, &so_far);
    let reference = stakes.reference();
    let rounds = |course: Course| course.bill.seconds / 2.0;
    let with = rounds(stakes.outcome(&[from(2.5, 1.0, 0.0)], &reference));
    assert!((with - 12.3115).abs() < 1e-3, "{with}");
    let without = rounds(stakes.outcome(&[from(0.5, 1.0, 0.0)], &reference));
    assert!((without - 120.0 / 0.81225).abs() < 0.01, "{without}");
    // Where devices come within reach by themselves, that is no matter.
    let roaming = Stakes {
        arrival_rate: 0.5,
        ..stakes
    };
    let reference = roaming.reference();
    let without = rounds(roaming.outcome(&[from(0.5, 1.0, 0.0)], &reference));
    assert!((without - with).abs() < 1e-3, "{without}");
}

/// Two classes of two devices each. One that was out of reach and is covered again: the error need only come down to all of it.
#[test]
fn a_class_that_is_covered_again_makes_the_target_easier() {
    let outputs = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]].map(Vec::from);
    let mixes = LabelMixes::of(&[10; 4], 2, &outputs);
    let so_far = [from(0.5, 1.0, 0.0)];
    let stakes = stakes(&mixes, &WEIGHTS, &so_far);
    let reference = stakes.reference();
    let rounds = |course: Course| course.bill.seconds / 2.0;
    let as_before = rounds(stakes.outcome(&so_far, &reference));
    assert!((as_before - 10.0).abs() < 1e-3, "{as_before}");
    // At least a tenth of the rounds behind; twice the samples, so a round counts as 2^0.3.
    let with = rounds(stakes.outcome(&[from(1.5, 2.0, 0.0)], &reference));
    assert!((with - 1.0 / 1.2311).abs() < 1e-3, "{with}");
}

/// The same for a run that has hung just below the target for 20 rounds: it takes 20 more, or one when the class is covered again.
#[test]
fn a_run_that_hangs_below_the_target_for_want_of_a_class_moves() {
    let outputs = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]].map(Vec::from);
    let mixes = LabelMixes::of(&[10; 4], 2, &outputs);
    let so_far = [from(0.5, 1.0, 0.0)];
    let mut stakes = stakes(&mixes, &WEIGHTS, &so_far);
    stakes.curve.level = 0.99 * libm::log(2.0);
    stakes.curve.near_for = 20.0;
    let reference = stakes.reference();
    let rounds = |course: Course| course.bill.seconds / 2.0;
    let stays = rounds(stakes.outcome(&so_far, &reference));
    assert!((stays - 20.0).abs() < 1e-3, "{stays}");
    let moves = rounds(stakes.outcome(&[from(1.5, 2.0, 0.0)], &reference));
    assert!((moves - 1.0 / 1.2311).abs() < 1e-3, "{moves}");
}

/// 2^(0.1 / 0.3) = 1.26 times the rounds behind are needed: with a few to go nothing is forgotten, with a target farther away it is.
#[test]
fn a_class_that_goes_does_not_put_off_a_target_that_is_near() {
    let outputs = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(Vec::from);
    let mixes = LabelMixes::of(&[10; 4], 2, &outputs);
    let so_far = [from(1.5, 2.0, 0.0)];
    let mut stakes = stakes(&mixes, &WEIGHTS, &so_far);
    let reference = stakes.reference();
    stakes.curve.level = 0.9 * libm::log(2.0);
    let rounds = |course: Course| course.bill.seconds / 2.0;
    let without = rounds(stakes.outcome(&[from(1.0, 1.0, 0.0)], &reference));
    // Three quarters of the samples: 0.75^0.3 = 0.91731.
    assert!((without - 2.5992 / 0.91731).abs() < 1e-3, "{without}");
}

/// Neither gets there in 8 rounds. Who stays has done 8 x 0.81225 = 6.498 by then, for 200 J; who flies misses the first and does 7, for 175 J:
/// 0.502 rounds more, worth 1.004 s and 50.2 J.
#[test]
fn what_is_done_when_the_run_ends_counts() {
    let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
    let mut stakes = stakes(&mixes, &WEIGHTS, &so_far);
    stakes.rounds_left = 8.0;
    let (made, verdict) = stakes.weigh(&[candidate(50.0)], &[]);
    assert_eq!(made.len(), 1);
    assert!((verdict.saved.seconds - 1.004).abs() < 1e-3, "{verdict:?}");
    assert!((verdict.saved.joules - 75.20).abs() < 0.01, "{verdict:?}");
    assert_eq!(verdict.rounds_left, 8.0);
    // What UAVs in flight do not take for hovering is no gain if it is paid for with a round's work.
    stakes.rounds_left = 1.0;
    let (made, verdict) = stakes.weigh(&[candidate(0.0)], &[]);
    assert!(made.is_empty(), "{verdict:?}");
    assert!(
        (verdict.saved.joules - (25.0 - 81.225)).abs() < 0.01,
        "{verdict:?}"
    );
}
