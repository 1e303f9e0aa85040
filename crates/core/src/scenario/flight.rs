//! What flying takes, and the wind.

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Checked, bad, within};

/// What flying takes, and the wind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flight {
    /// Power by air speed.
    pub power: FlightPower,
    /// Where the air goes, towards east and towards north.
    pub wind_mps: [f64; 2],
    /// Vertical speed on the way up from a base; 0: heights take no time and no energy.
    pub climb_mps: f64,
    /// Vertical speed on the way down to a base; 0: likewise.
    pub descent_mps: f64,
}

/// Power by air speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlightPower {
    /// `uavs.hover_power_w` while hovering, `uavs.move_power_w` while flying, whatever the speed. Table II.
    Constant {},
    /// The curve of a rotary wing.
    RotaryWing(RotaryWing),
}

/// A rotary wing: what its curve of power by speed follows from (Zeng, Xu and Zhang 2019, Eq. (12)). The defaults are that paper's UAV of 20 N.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RotaryWing {
    /// Weight of the UAV with its load (W).
    pub weight_n: f64,
    /// Speed of the blades' tips (U = Ω R).
    pub tip_speed_mps: f64,
    /// Area that the rotors sweep (A).
    pub disc_area_m2: f64,
    /// Blade area over disc area (s).
    pub solidity: f64,
    /// Drag of the body over that of the rotor (d_0).
    pub drag_ratio: f64,
    /// Profile drag coefficient of the blades (δ).
    pub profile_drag: f64,
    /// How much more the induced power is than momentum theory says (k).
    pub induced_excess: f64,
    /// Density of the air, kg/m³ (ρ).
    pub air_density: f64,
}

impl Default for RotaryWing {
    fn default() -> Self {
        Self {
            weight_n: 20.0,
            tip_speed_mps: 120.0,
            disc_area_m2: 0.503,
            solidity: 0.05,
            drag_ratio: 0.6,
            profile_drag: 0.012,
            induced_excess: 0.1,
            air_density: 1.225,
        }
    }
}

impl Default for Flight {
    fn default() -> Self {
        Self {
            power: FlightPower::Constant {},
            wind_mps: [0.0, 0.0],
            climb_mps: 0.0,
            descent_mps: 0.0,
        }
    }
}

impl RotaryWing {
    /// P_0: what the blades' own drag takes while hovering, W.
    #[must_use]
    pub fn blade_power_w(&self) -> f64 {
        let tips = self.tip_speed_mps * self.tip_speed_mps * self.tip_speed_mps;
        self.profile_drag / 8.0 * self.air_density * self.solidity * self.disc_area_m2 * tips
    }

    /// v_0: how fast air goes down through the rotors while hovering, m/s.
    #[must_use]
    pub fn induced_speed_mps(&self) -> f64 {
        (self.weight_n / (2.0 * self.air_density * self.disc_area_m2)).sqrt()
    }

    /// P_i: what pushing air down takes while hovering, W.
    #[must_use]
    pub fn induced_power_w(&self) -> f64 {
        (1.0 + self.induced_excess) * self.weight_n * self.induced_speed_mps()
    }

    /// Power at an air speed, W: P(V) = P_0 (1 + 3 V²/U²) + P_i (√(1 + V⁴/4v_0⁴) - V²/2v_0²)^½ + ½ d_0 ρ s A V³.
    #[must_use]
    pub fn power_w(&self, speed_mps: f64) -> f64 {
        let squared = speed_mps * speed_mps;
        let blades = 1.0 + 3.0 * squared / (self.tip_speed_mps * self.tip_speed_mps);
        // V² / 2v_0²; the difference of the root and it is written so that it does not cancel at high speed.
        let inflow = squared / (2.0 * self.induced_speed_mps() * self.induced_speed_mps());
        let induced = (1.0 / ((1.0 + inflow * inflow).sqrt() + inflow)).sqrt();
        let body = 0.5
            * self.drag_ratio
            * self.air_density
            * self.solidity
            * self.disc_area_m2
            * squared
            * speed_mps;
        self.blade_power_w() * blades + self.induced_power_w() * induced + body
    }

    /// The speed that takes the least power, m/s, and that power, W.
    #[must_use]
    pub fn most_enduring(&self) -> (f64, f64) {
        let speed_mps = least(|speed| self.power_w(speed));
        (speed_mps, self.power_w(speed_mps))
    }

    /// The speed at which a joule carries farthest, m/s, and the joules of a metre.
    #[must_use]
    pub fn farthest(&self) -> (f64, f64) {
        let per_metre = |speed: f64| self.power_w(speed) / speed;
        let speed_mps = least(per_metre);
        (speed_mps, per_metre(speed_mps))
    }
}

/// The speed at which something that first falls and then rises is least, m/s: golden section.
fn least(of: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (1e-3, FASTEST_MPS);
    while high - low > 1e-9 * high {
        let (a, b) = (high - RATIO * (high - low), low + RATIO * (high - low));
        match of(a) <= of(b) {
            true => high = b,
            false => low = a,
        }
    }
    (low + high) / 2.0
}

/// Beyond this no rotary wing flies.
const FASTEST_MPS: f64 = 300.0;

impl Scenario {
    pub(super) fn check_flight(&self) -> Checked {
        let flight = &self.flight;
        for wind in flight.wind_mps {
            within("flight.wind_mps", wind, -100.0..=100.0)?;
        }
        for (field, speed) in [
            ("flight.climb_mps", flight.climb_mps),
            ("flight.descent_mps", flight.descent_mps),
        ] {
            if speed != 0.0 && !(0.1..=100.0).contains(&speed) {
                return Err(bad(field, speed, "0, or 0.1 to 100"));
            }
        }
        let FlightPower::RotaryWing(wing) = &flight.power else {
            return Ok(());
        };
        for (name, value, range) in [
            ("weight_n", wing.weight_n, 0.1..=1e5),
            ("tip_speed_mps", wing.tip_speed_mps, 10.0..=340.0),
            ("disc_area_m2", wing.disc_area_m2, 1e-3..=1e3),
            ("solidity", wing.solidity, 1e-3..=1.0),
            ("drag_ratio", wing.drag_ratio, 1e-3..=100.0),
            ("profile_drag", wing.profile_drag, 1e-4..=1.0),
            ("induced_excess", wing.induced_excess, 0.0..=10.0),
            ("air_density", wing.air_density, 0.01..=10.0),
        ] {
            within(&format!("flight.power.{name}"), value, range)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 100 N example of the same source.
    fn heavy() -> RotaryWing {
        RotaryWing {
            weight_n: 100.0,
            tip_speed_mps: 200.0,
            disc_area_m2: 0.79,
            drag_ratio: 0.3,
            ..RotaryWing::default()
        }
    }

    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found - expected).abs() <= tolerance,
            "{found}, not {expected}"
        );
    }

    /// Zeng, Xu, Zhang, "Energy Minimization for Wireless Communication with Rotary-Wing UAV", IEEE TWC 2019, Table I.
    #[test]
    fn val_rotary_wing_of_20_n() {
        let wing = RotaryWing::default();
        near(wing.blade_power_w(), 79.86, 0.01);
        near(wing.induced_power_w(), 88.63, 0.01);
        near(wing.induced_speed_mps(), 4.03, 0.005);
        near(wing.power_w(0.0), 168.48, 0.02);
        let (speed, power) = wing.most_enduring();
        near(speed, 10.21, 0.02);
        near(power, 126.00, 0.05);
        let (speed, per_metre) = wing.farthest();
        near(speed, 18.30, 0.02);
        near(per_metre, 8.829, 0.003);
    }

    /// The same source's 100 N UAV. It rounds v_0 = 7.188 m/s to 7.2, which moves the least power by 0.1 %.
    #[test]
    fn val_rotary_wing_of_100_n() {
        let wing = heavy();
        near(wing.blade_power_w(), 580.65, 0.01);
        near(wing.induced_power_w(), 790.67, 0.05);
        near(wing.power_w(0.0), 1371.3, 0.1);
        let (speed, power) = wing.most_enduring();
        near(speed, 21.5, 0.1);
        near(power, 936.1, 1.0);
        let (speed, per_metre) = wing.farthest();
        near(speed, 38.3, 0.1);
        near(per_metre, 31.35, 0.02);
    }

    /// However fast, no power is lost to cancellation, and drag wins in the end.
    #[test]
    fn the_curve_falls_once_and_rises_once() {
        for wing in [RotaryWing::default(), heavy()] {
            let powers: Vec<f64> = (0..3000)
                .map(|v| wing.power_w(f64::from(v) / 10.0))
                .collect();
            let turns = powers
                .windows(3)
                .filter(|p| (p[1] - p[0]).signum() != (p[2] - p[1]).signum())
                .count();
            assert_eq!(turns, 1);
            assert!(powers.iter().all(|p| p.is_finite() && *p > 0.0));
        }
    }
}
