//! How batteries charge and age, and how much sun there is.

use std::f64::consts::PI;

use crate::scenario::{Battery, Solar};

/// How batteries charge.
#[derive(Clone, Debug)]
pub(crate) struct Charging {
    battery: Battery,
    solar: Solar,
}

/// Where the sun shines on chargers, charging is followed in steps of this length, s.
const STEP_S: f64 = 60.0;
/// Who would charge for longer than this does not come back, s.
const LONGEST_S: f64 = 30.0 * DAY_S;
const DAY_S: f64 = 86_400.0;
const HOUR_S: f64 = 3_600.0;

impl Charging {
    pub(crate) fn new(battery: &Battery, solar: &Solar) -> Self {
        Self {
            battery: battery.clone(),
            solar: solar.clone(),
        }
    }

    /// What is left of what a full battery gives, once it was charged with so much.
    pub(crate) fn aged_j(&self, full_j: f64, charged_j: f64) -> f64 {
        (full_j - self.battery.ageing_per_cycle * charged_j).max(0.0)
    }

    /// Seconds from `start_s` until a battery that gives `from_j` gives `full_j`, on a charger of so much power; none when it
    /// never does.
    pub(crate) fn charge_s(
        &self,
        start_s: f64,
        from_j: f64,
        full_j: f64,
        power_w: f64,
    ) -> Option<f64> {
        let missing_j = full_j - from_j;
        if missing_j <= 0.0 {
            return Some(0.0);
        }
        if self.solar.base_w <= 0.0 {
            return (power_w > 0.0).then(|| self.tapered_s(missing_j, full_j, power_w));
        }
        let mut charged_j = 0.0;
        let mut seconds = 0.0;
        while seconds < LONGEST_S {
            let sun_s = self.sun_s(start_s + seconds, start_s + seconds + STEP_S);
            let offered_j = power_w * STEP_S + self.solar.base_w * sun_s;
            let taken_j = offered_j * self.share_at(self.state(missing_j - charged_j, full_j));
            if charged_j + taken_j >= missing_j {
                return Some(seconds + STEP_S * (missing_j - charged_j) / taken_j);
            }
            charged_j += taken_j;
            seconds += STEP_S;
        }
        None
    }

    /// State of charge of a battery that lacks so much of what it can give: what must stay in is below.
    fn state(&self, missing_j: f64, full_j: f64) -> f64 {
        1.0 - missing_j / full_j * self.battery.usable
    }

    /// Share of the charging power at a state of charge.
    fn share_at(&self, state: f64) -> f64 {
        let Battery {
            taper_from,
            taper_to,
            ..
        } = self.battery;
        match state > taper_from && taper_from < 1.0 {
            true => 1.0 - (1.0 - taper_to) * (state - taper_from) / (1.0 - taper_from),
            false => 1.0,
        }
    }

    /// The same in one go: constant power, then one that falls linearly with the state of charge, so that what is missing
    /// dies away exponentially.
    fn tapered_s(&self, missing_j: f64, full_j: f64, power_w: f64) -> f64 {
        let Battery {
            usable,
            taper_from,
            taper_to,
            ..
        } = self.battery;
        if taper_from >= 1.0 || taper_to >= 1.0 {
            return missing_j / power_w;
        }
        let tapered_j = (full_j / usable * (1.0 - taper_from)).min(missing_j);
        let state = self.state(tapered_j, full_j);
        let slope = (1.0 - taper_to) / (1.0 - taper_from);
        let falling_s =
            full_j / usable / (power_w * slope) * (self.share_at(state) / taper_to).ln();
        (missing_j - tapered_j) / power_w + falling_s
    }

    /// What a UAV's panel gives between two moments, J.
    pub(crate) fn harvest_j(&self, from_s: f64, until_s: f64) -> f64 {
        match self.solar.uav_w > 0.0 {
            true => self.solar.uav_w * self.sun_s(from_s, until_s),
            false => 0.0,
        }
    }

    /// Whether chargers have any power at all.
    pub(crate) fn has_power(&self, recharge_w: f64) -> bool {
        recharge_w > 0.0 || self.solar.base_w > 0.0
    }

    /// Seconds of the highest sun that the sun between two moments is worth.
    fn sun_s(&self, from_s: f64, until_s: f64) -> f64 {
        self.sun_until_s(until_s) - self.sun_until_s(from_s)
    }

    /// The same from the midnight before the run.
    fn sun_until_s(&self, clock_s: f64) -> f64 {
        let solar = &self.solar;
        let now_s = solar.start_h * HOUR_S + clock_s;
        let (days, of_day_s) = ((now_s / DAY_S).floor(), now_s.rem_euclid(DAY_S));
        let (sunrise_s, light_s) = (
            solar.sunrise_h * HOUR_S,
            (solar.sunset_h - solar.sunrise_h) * HOUR_S,
        );
        let through = ((of_day_s - sunrise_s) / light_s).clamp(0.0, 1.0);
        let whole_day_s = light_s * 2.0 / PI;
        whole_day_s * (days + (1.0 - (PI * through).cos()) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charging(battery: Battery, solar: Solar) -> Charging {
        Charging { battery, solar }
    }

    #[test]
    fn a_plain_battery_charges_at_one_power() {
        let plain = charging(Battery::default(), Solar::default());
        assert_eq!(plain.charge_s(0.0, 50e3, 250e3, 400.0), Some(500.0));
        assert_eq!(plain.charge_s(0.0, 250e3, 250e3, 0.0), Some(0.0));
        assert_eq!(plain.charge_s(0.0, 0.0, 250e3, 0.0), None);
        assert_eq!(plain.aged_j(250e3, 1e9), 250e3);
    }

    /// The formula against charging second by second.
    #[test]
    fn a_taper_agrees_with_following_it() {
        let tapered = Battery {
            usable: 0.8,
            taper_from: 0.7,
            taper_to: 0.1,
            ..Battery::default()
        };
        let charging = charging(tapered, Solar::default());
        let (full_j, power_w) = (200e3, 300.0);
        for from_j in [0.0, 100e3, 170e3] {
            let (mut at_j, mut seconds) = (from_j, 0.0);
            while at_j < full_j {
                at_j += 0.01 * power_w * charging.share_at(charging.state(full_j - at_j, full_j));
                seconds += 0.01;
            }
            let found = charging.charge_s(0.0, from_j, full_j, power_w).unwrap();
            assert!((found - seconds).abs() < 0.5, "{found}, not {seconds}");
        }
    }

    /// Half a sine wave has 2/π of its height on average: 12 h of light are worth 7.64 h, and half of that until noon.
    #[test]
    fn a_day_of_sun_is_worth_two_over_pi_of_its_light() {
        let solar = Solar {
            uav_w: 10.0,
            start_h: 6.0,
            ..Solar::default()
        };
        let sun = charging(Battery::default(), solar);
        let day_j = sun.harvest_j(0.0, DAY_S);
        assert!((day_j - 10.0 * 12.0 * HOUR_S * 2.0 / PI).abs() < 1e-6);
        assert!((sun.harvest_j(0.0, 6.0 * HOUR_S) - day_j / 2.0).abs() < 1e-6);
        assert_eq!(sun.harvest_j(13.0 * HOUR_S, 23.0 * HOUR_S), 0.0);
        assert!((sun.harvest_j(0.0, 3.0 * DAY_S) - 3.0 * day_j).abs() < 1e-6);
    }

    /// At night a charger that has only the sun waits for the morning.
    #[test]
    fn a_charger_with_panels_only_waits_for_the_sun() {
        let solar = Solar {
            base_w: 500.0,
            start_h: 20.0,
            ..Solar::default()
        };
        let night = charging(Battery::default(), solar);
        let seconds = night.charge_s(0.0, 0.0, 250e3, 0.0).unwrap();
        assert!(
            seconds > 10.0 * HOUR_S && seconds < 12.0 * HOUR_S,
            "{seconds}"
        );
        let faint = Solar {
            base_w: 1e-3,
            ..Solar::default()
        };
        assert_eq!(
            charging(Battery::default(), faint).charge_s(0.0, 0.0, 250e3, 0.0),
            None
        );
    }

    #[test]
    fn charges_take_capacity_away() {
        let ageing = Battery {
            ageing_per_cycle: 0.01,
            ..Battery::default()
        };
        let ageing = charging(ageing, Solar::default());
        assert_eq!(ageing.aged_j(100e3, 50e3), 99.5e3);
        assert_eq!(ageing.aged_j(1.0, 1e9), 0.0);
    }
}
