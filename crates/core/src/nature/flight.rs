//! What keeps a UAV in the air: power by air speed, wind, and heights.

use crate::scenario::{FlightPower, RotaryWing, UavNumbers, ValidScenario};
use crate::vocabulary::{Bill, Point};

/// Power drawn at a speed through the air.
pub trait Flight: Send + Sync {
    /// Watts at an air speed.
    fn power_w(&self, airspeed_mps: f64) -> f64;

    /// Watts of standing still above a point while the wind blows.
    fn hover_power_w(&self, wind_mps: f64) -> f64 {
        self.power_w(wind_mps)
    }

    /// Watts of going straight up.
    fn climb_power_w(&self, _climb_mps: f64) -> f64 {
        self.power_w(0.0)
    }
}

/// One power for hovering, one for moving, whatever the wind. Table II.
#[derive(Clone, Copy, Debug)]
pub struct ConstantPower {
    /// While hovering.
    pub hover_power_w: f64,
    /// While moving, at any speed, also up.
    pub move_power_w: f64,
}

impl Flight for ConstantPower {
    fn power_w(&self, airspeed_mps: f64) -> f64 {
        if airspeed_mps > 0.0 {
            self.move_power_w
        } else {
            self.hover_power_w
        }
    }

    fn hover_power_w(&self, _: f64) -> f64 {
        self.hover_power_w
    }

    fn climb_power_w(&self, _: f64) -> f64 {
        self.move_power_w
    }
}

impl Flight for RotaryWing {
    fn power_w(&self, airspeed_mps: f64) -> f64 {
        RotaryWing::power_w(self, airspeed_mps)
    }

    /// Momentum theory of axial climb: the weight is lifted, and the rotors, which meet the air from above, push less of it
    /// down: P_0 + W V_c + (1 + k) W v_i, v_i = √(V_c²/4 + v_0²) - V_c/2.
    fn climb_power_w(&self, climb_mps: f64) -> f64 {
        let half = climb_mps / 2.0;
        let induced_mps = half.hypot(self.induced_speed_mps()) - half;
        let lifting_w = self.weight_n * climb_mps;
        let pushing_w = (1.0 + self.induced_excess) * self.weight_n * induced_mps;
        self.blade_power_w() + lifting_w + pushing_w
    }
}

/// How a UAV gets from one place to another: at one air speed, through the wind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cruise {
    /// Speed through the air, m/s.
    pub speed_mps: f64,
    /// What that takes, W.
    pub power_w: f64,
    /// Where the air goes, towards east and north, m/s; slower than the UAV.
    pub wind_mps: [f64; 2],
}

impl Cruise {
    /// Through still air.
    #[must_use]
    pub fn calm(speed_mps: f64, power_w: f64) -> Self {
        Self {
            speed_mps,
            power_w,
            wind_mps: [0.0; 2],
        }
    }

    /// A straight flight.
    #[must_use]
    pub fn flight(&self, from: Point, to: Point) -> Bill {
        let distance_m = from.distance(to);
        let seconds = distance_m / self.ground_speed_mps(from, to, distance_m);
        Bill::new(seconds, seconds * self.power_w)
    }

    /// A flight from the first of some places over the others to the last.
    #[must_use]
    pub fn along(&self, way: &[Point]) -> Bill {
        let legs = way.windows(2).map(|leg| self.flight(leg[0], leg[1]));
        legs.fold(Bill::default(), |sum, leg| sum + leg)
    }

    /// How fast the ground goes by: the UAV heads so far into the wind that it stays on its line.
    fn ground_speed_mps(&self, from: Point, to: Point, distance_m: f64) -> f64 {
        let [east, north] = self.wind_mps;
        if (east, north) == (0.0, 0.0) || distance_m <= 0.0 {
            return self.speed_mps;
        }
        let (dx, dy) = (
            (to.x_m - from.x_m) / distance_m,
            (to.y_m - from.y_m) / distance_m,
        );
        let (along, across) = (east * dx + north * dy, east * dy - north * dx);
        along + (self.speed_mps * self.speed_mps - across * across).sqrt()
    }

    /// Joules of flying so far at most: against the wind.
    #[must_use]
    pub fn most_j(&self, distance_m: f64) -> f64 {
        distance_m / self.slowest_mps() * self.power_w
    }

    /// Metres that it can fly for `energy_j` whatever the direction, a hair less than exactly, so that rounding never
    /// overdraws.
    #[must_use]
    pub fn reach_m(&self, energy_j: f64) -> f64 {
        if self.power_w > 0.0 {
            energy_j.max(0.0) / self.power_w * self.slowest_mps() * (1.0 - 1e-12)
        } else {
            f64::INFINITY
        }
    }

    fn slowest_mps(&self) -> f64 {
        self.speed_mps - self.wind_mps[0].hypot(self.wind_mps[1])
    }
}

/// What one UAV's flights take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Airframe {
    /// From place to place.
    pub cruise: Cruise,
    /// How high, m.
    pub altitude_m: f64,
    /// Standing still, W.
    pub hover_power_w: f64,
    /// From a base up to its height.
    pub climb: Bill,
    /// From there down to a base.
    pub descent: Bill,
}

impl Airframe {
    /// One of a scenario's UAVs under a law of flight.
    pub(super) fn new(scenario: &ValidScenario, numbers: &UavNumbers, flight: &dyn Flight) -> Self {
        let config = &scenario.flight;
        let wind_mps = config.wind_mps;
        let hover_power_w = flight.hover_power_w(wind_mps[0].hypot(wind_mps[1]));
        let vertical = |speed_mps: f64, power_w: f64| match speed_mps > 0.0 {
            true => {
                let seconds = numbers.altitude_m / speed_mps;
                Bill::new(seconds, seconds * power_w)
            }
            false => Bill::default(),
        };
        Self {
            cruise: Cruise {
                speed_mps: numbers.speed_mps,
                power_w: flight.power_w(numbers.speed_mps),
                wind_mps,
            },
            altitude_m: numbers.altitude_m,
            hover_power_w,
            climb: vertical(config.climb_mps, flight.climb_power_w(config.climb_mps)),
            // Going down through one's own downwash takes about what hovering takes, and theory does not know it better.
            descent: vertical(config.descent_mps, hover_power_w),
        }
    }

    /// The law of flight that a scenario gives a UAV.
    pub(super) fn law(scenario: &ValidScenario, numbers: &UavNumbers) -> Box<dyn Flight> {
        match &scenario.flight.power {
            FlightPower::Constant {} => Box::new(ConstantPower {
                hover_power_w: numbers.hover_power_w,
                move_power_w: numbers.move_power_w,
            }),
            FlightPower::RotaryWing(wing) => Box::new(*wing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hovering_and_moving_differ() {
        let flight = ConstantPower {
            hover_power_w: 100.0,
            move_power_w: 160.0,
        };
        assert_eq!((flight.power_w(0.0), flight.power_w(20.0)), (100.0, 160.0));
        assert_eq!(flight.hover_power_w(10.0), 100.0);
    }

    /// By hand: at 20 m/s with 12 m/s from the west. East 32 m/s, west 8 m/s, north √(20² - 12²) = 16 m/s.
    #[test]
    fn wind_carries_and_holds() {
        let cruise = Cruise {
            speed_mps: 20.0,
            power_w: 150.0,
            wind_mps: [12.0, 0.0],
        };
        let home = Point::new(0.0, 0.0);
        let seconds = |x, y| cruise.flight(home, Point::new(x, y)).seconds;
        assert!((seconds(3200.0, 0.0) - 100.0).abs() < 1e-9);
        assert!((seconds(-800.0, 0.0) - 100.0).abs() < 1e-9);
        assert!((seconds(0.0, 1600.0) - 100.0).abs() < 1e-9);
        let bill = cruise.flight(home, Point::new(-800.0, 0.0));
        assert!((bill.joules - 15_000.0).abs() < 1e-6);
        assert!((cruise.most_j(800.0) - 15_000.0).abs() < 1e-6);
        assert!((cruise.reach_m(15_000.0) - 800.0).abs() < 1e-6);
        assert_eq!(cruise.flight(home, home), Bill::default());
    }

    /// Hovering is climbing at no speed, and lifting 20 N at 3 m/s takes more than hovering and less than lifting besides.
    #[test]
    fn climbing_takes_the_lift_less_what_the_inflow_saves() {
        let wing = RotaryWing::default();
        assert!((wing.climb_power_w(0.0) - Flight::power_w(&wing, 0.0)).abs() < 1e-9);
        let more = wing.climb_power_w(3.0) - wing.climb_power_w(0.0);
        assert!(more > 0.0 && more < 60.0, "{more}");
    }

    proptest! {
        /// No flight takes more than the bound, and there and back takes longer than without wind.
        #[test]
        fn wind_never_pays_on_a_round_trip(
            east in -14.0..14.0f64, north in -10.0..10.0f64,
            x in -5e3..5e3f64, y in -5e3..5e3f64,
        ) {
            let (calm, windy) = (Cruise::calm(20.0, 160.0), Cruise { wind_mps: [east, north], ..Cruise::calm(20.0, 160.0) });
            let (a, b) = (Point::new(0.0, 0.0), Point::new(x, y));
            let there = windy.flight(a, b);
            prop_assert!(there.joules <= windy.most_j(a.distance(b)) * (1.0 + 1e-12));
            let both = there.seconds + windy.flight(b, a).seconds;
            prop_assert!(both >= 2.0 * calm.flight(a, b).seconds * (1.0 - 1e-12));
        }
    }
}
