//! What came of a plan for a fleet, in numbers.

use serde::Serialize;

use super::{CoverageCounts, Deployment, DeploymentMethod, Fleet, FleetFile, Selection};
use crate::vocabulary::Point;

const SECONDS_PER_MINUTE: f64 = 60.0;

/// A plan for a fleet, as `aerofed deploy` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Who found it.
    pub method: DeploymentMethod,
    /// Devices on the ground.
    pub devices: usize,
    /// Share of them that is covered now, 0 to 1.
    pub coverage_before: f64,
    /// Share that is covered then.
    pub coverage_after: f64,
    /// Of all flights.
    pub energy_j: f64,
    /// Of the longest flight.
    pub seconds: f64,
    /// UAVs that serve anybody then.
    pub uavs_needed: usize,
    /// The share that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    /// Minutes of service after which a device's minute has taken less energy than if all stayed; none: never.
    pub pays_after_min: Option<f64>,
    /// Every UAV.
    pub uavs: Vec<UavAnswer>,
}

/// One UAV of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct UavAnswer {
    /// Its place in the file.
    pub uav: usize,
    /// Whether it is needed for the goal.
    pub needed: bool,
    /// Where it is.
    pub from_m: Point,
    /// Where it goes.
    pub to_m: Point,
    /// The same on Earth, where the file says where that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Degrees>,
    /// The same of where it goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Degrees>,
    /// Metres of its way.
    pub distance_m: f64,
    /// Seconds of its flight.
    pub seconds: f64,
    /// Joules of its flight.
    pub energy_j: f64,
    /// What its battery holds on arrival, J.
    pub battery_left_j: f64,
    /// Minutes of hovering there until the reserve; none: without end.
    pub endurance_min: Option<f64>,
    /// Devices within its radius, whoever else covers them.
    pub covered: usize,
}

/// A place on Earth.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Degrees {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
}

impl Answer {
    /// The plan that was chosen for a fleet.
    #[must_use]
    pub fn new(request: &Deployment, file: &FleetFile, fleet: &Fleet, chosen: &Selection) -> Self {
        let before = fleet.coverage();
        let mut after = before.clone();
        for uav in fleet.uavs {
            after.remove(uav.position, uav.coverage_radius_m);
        }
        let uavs: Vec<UavAnswer> = (0..fleet.uavs.len())
            .map(|uav| UavAnswer::new(file, fleet, chosen, uav, &before))
            .collect();
        for (uav, told) in fleet.uavs.iter().zip(&uavs).filter(|(_, told)| told.needed) {
            after.add(told.to_m, uav.coverage_radius_m);
        }
        let hover_w = |needed: bool| -> f64 {
            let some = uavs.iter().filter(|uav| uav.needed || !needed);
            some.map(|uav| file.uavs[uav.uav].hover_power_w).sum()
        };
        let energy_j = uavs.iter().map(|uav| uav.energy_j).sum::<f64>() + 0.0;
        Self {
            method: request.method,
            devices: file.devices_m.len(),
            coverage_before: before.share(),
            coverage_after: after.share(),
            energy_j,
            seconds: uavs.iter().map(|uav| uav.seconds).fold(0.0, f64::max),
            uavs_needed: chosen.uavs.len(),
            goal: request.goal,
            pays_after_min: pays_after_min(
                energy_j,
                (before.covered(), hover_w(false)),
                (after.covered(), hover_w(true)),
            ),
            uavs,
        }
    }
}

/// Minutes t of service after which (E + P_1 t) / (n_1 t) is P_0 / n_0, with n devices covered and P watts of hovering before and
/// after, and E joules of flights.
fn pays_after_min(energy_j: f64, before: (usize, f64), after: (usize, f64)) -> Option<f64> {
    let ((devices_0, watts_0), (devices_1, watts_1)) = (before, after);
    if devices_1 == 0 || (devices_0 == devices_1 && watts_0 == watts_1) {
        // Nobody is covered, or it is as it was: then there is nothing to pay back either.
        return (energy_j == 0.0 && devices_1 > 0).then_some(0.0);
    }
    if devices_0 == 0 {
        return Some(0.0);
    }
    let saved_w = watts_0 * devices_1 as f64 / devices_0 as f64 - watts_1;
    (saved_w > 0.0).then(|| energy_j / saved_w / SECONDS_PER_MINUTE)
}

impl UavAnswer {
    fn new(
        file: &FleetFile,
        fleet: &Fleet,
        chosen: &Selection,
        index: usize,
        devices: &CoverageCounts,
    ) -> Self {
        let (uav, entry) = (&fleet.uavs[index], &file.uavs[index]);
        let flight = chosen.moves.iter().find(|flight| flight.uav == uav.id);
        let to_m = flight.map_or(uav.position, |flight| flight.to);
        let energy_j = flight.map_or(0.0, |flight| flight.energy_j);
        let degrees = |at: Point| {
            file.frame.map(|frame| {
                let place = frame.degrees(at);
                Degrees {
                    lat: place.lat,
                    lon: place.lon,
                }
            })
        };
        let battery_left_j = entry.battery_j - energy_j;
        let seconds_left = (battery_left_j - entry.reserve_j).max(0.0) / entry.hover_power_w;
        let needed = chosen.uavs.binary_search(&index).is_ok();
        Self {
            uav: index,
            needed,
            from_m: uav.position,
            to_m,
            from: degrees(uav.position),
            to: degrees(to_m),
            distance_m: flight.map_or(0.0, |flight| flight.way_m),
            seconds: flight.map_or(0.0, |flight| flight.seconds),
            energy_j,
            battery_left_j,
            endurance_min: (entry.hover_power_w > 0.0).then_some(seconds_left / SECONDS_PER_MINUTE),
            covered: match needed {
                true => devices.within(to_m, uav.coverage_radius_m),
                false => 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pays_after_min;

    /// By hand: 12 kJ of flights, 400 W of hovering, 20 devices before and 60 after. Staying takes 20 W a device, there it is 6.67 W
    /// and 200 J/min of each device-minute: 12 000 J are 800 W for 15 s.
    #[test]
    fn a_flight_pays_when_it_has_saved_what_it_took() {
        let minutes = pays_after_min(12e3, (20, 400.0), (60, 400.0)).unwrap();
        assert!((minutes - 0.25).abs() < 1e-12, "{minutes}");
        // Half of the UAVs cover as much: what the others do not take is saved.
        assert_eq!(pays_after_min(12e3, (20, 400.0), (20, 200.0)), Some(1.0));
        assert_eq!(pays_after_min(12e3, (0, 400.0), (60, 400.0)), Some(0.0));
        assert_eq!(pays_after_min(12e3, (60, 400.0), (20, 400.0)), None);
        assert_eq!(pays_after_min(12e3, (20, 400.0), (20, 400.0)), None);
        assert_eq!(pays_after_min(0.0, (20, 400.0), (20, 400.0)), Some(0.0));
        assert_eq!(pays_after_min(0.0, (0, 400.0), (0, 400.0)), None);
    }
}
