//! What batteries give, how they charge, and what the sun adds.

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Checked, bad, within};

/// What batteries give, and how they charge. `uavs.battery_j` is what a new one holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Battery {
    /// Share of the capacity that may be used: the rest stays in, to spare the cells.
    pub usable: f64,
    /// State of charge from which the charging power falls, linearly; 1: never.
    pub taper_from: f64,
    /// Share of the charging power that is left when the battery is full.
    pub taper_to: f64,
    /// Share of the first capacity that a full charge takes away for good.
    pub ageing_per_cycle: f64,
}

impl Default for Battery {
    fn default() -> Self {
        Self {
            usable: 1.0,
            taper_from: 1.0,
            taper_to: 0.1,
            ageing_per_cycle: 0.0,
        }
    }
}

/// Power from the sun: half a sine wave from sunrise to sunset, every day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Solar {
    /// What a UAV's panel gives with the sun at its highest; it charges the battery in flight.
    pub uav_w: f64,
    /// What each charger of a base gets besides, with the sun at its highest.
    pub base_w: f64,
    /// Hour of sunrise.
    pub sunrise_h: f64,
    /// Hour of sunset.
    pub sunset_h: f64,
    /// Hour of the day at which the run starts.
    pub start_h: f64,
}

impl Default for Solar {
    fn default() -> Self {
        Self {
            uav_w: 0.0,
            base_w: 0.0,
            sunrise_h: 6.0,
            sunset_h: 18.0,
            start_h: 9.0,
        }
    }
}

impl Scenario {
    pub(super) fn check_battery(&self) -> Checked {
        let battery = &self.battery;
        within("battery.usable", battery.usable, 0.01..=1.0)?;
        within("battery.taper_from", battery.taper_from, 0.0..=1.0)?;
        within("battery.taper_to", battery.taper_to, 0.001..=1.0)?;
        let ageing = battery.ageing_per_cycle;
        within("battery.ageing_per_cycle", ageing, 0.0..=1.0)?;
        let solar = &self.solar;
        within("solar.uav_w", solar.uav_w, 0.0..=1e6)?;
        within("solar.base_w", solar.base_w, 0.0..=1e6)?;
        within("solar.sunrise_h", solar.sunrise_h, 0.0..=24.0)?;
        within("solar.sunset_h", solar.sunset_h, 0.0..=24.0)?;
        within("solar.start_h", solar.start_h, 0.0..=24.0)?;
        if solar.sunset_h <= solar.sunrise_h {
            return Err(bad(
                "solar.sunset_h",
                solar.sunset_h,
                format_args!("after solar.sunrise_h, {}", solar.sunrise_h),
            ));
        }
        Ok(())
    }
}
