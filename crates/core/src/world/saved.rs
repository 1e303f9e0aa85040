//! What of a world changes as a run goes on.

use serde::{Deserialize, Serialize};

use super::{Devices, Status, Uav, World};
use crate::Error;
use crate::nature::mobility::Motion;
use crate::vocabulary::Point;

/// A world between rounds, less what its scenario says anyway.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedWorld {
    devices: Vec<Point>,
    motion: Vec<Motion>,
    uavs: Vec<SavedUav>,
    clock_s: f64,
}

#[derive(Serialize, Deserialize)]
struct SavedUav {
    position: Point,
    battery_j: f64,
    full_j: f64,
    status: Status,
}

impl World {
    pub(crate) fn save(&self) -> SavedWorld {
        // Spelled out: whoever adds a field decides here whether it changes.
        let Self {
            area: _,
            devices,
            uavs,
            clock_s,
            first_posts: _,
            grid: _,
        } = self;
        let Devices {
            position,
            motion,
            tx_power_w: _,
            cpu_hz: _,
            iteration_time_s: _,
            iteration_energy_j: _,
            samples: _,
        } = devices;
        let save_uav = |uav: &Uav| {
            let Uav {
                id: _,
                position,
                altitude_m: _,
                coverage_radius_m: _,
                battery_j,
                full_j,
                recharge_w: _,
                status,
                tx_power_w: _,
                broadcast_power_w: _,
                bandwidth_up_hz: _,
                bandwidth_down_hz: _,
            } = *uav;
            SavedUav {
                position,
                battery_j,
                full_j,
                status,
            }
        };
        SavedWorld {
            devices: position.clone(),
            motion: motion.clone(),
            uavs: uavs.iter().map(save_uav).collect(),
            clock_s: *clock_s,
        }
    }

    /// Puts everybody where they were saved.
    pub(crate) fn restore(&mut self, saved: SavedWorld) -> Result<(), Error> {
        if let Some(reason) = self.misfit(&saved) {
            return Err(Error::State {
                part: "world",
                reason,
            });
        }
        self.devices.position = saved.devices;
        self.devices.motion = saved.motion;
        self.grid.rebuild(&self.devices.position);
        for (uav, saved) in self.uavs.iter_mut().zip(saved.uavs) {
            (uav.position, uav.status) = (saved.position, saved.status);
            (uav.battery_j, uav.full_j) = (saved.battery_j, saved.full_j);
        }
        self.clock_s = saved.clock_s;
        Ok(())
    }

    fn misfit(&self, saved: &SavedWorld) -> Option<String> {
        let counts = (saved.devices.len(), saved.uavs.len());
        if counts != (self.devices.position.len(), self.uavs.len()) {
            return Some(format!("{} devices and {} UAVs", counts.0, counts.1));
        }
        if saved.motion.len() != self.devices.motion.len() {
            return Some("devices that move otherwise".into());
        }
        let outside = |point: &Point| {
            !((0.0..=self.area.width_m).contains(&point.x_m)
                && (0.0..=self.area.height_m).contains(&point.y_m))
        };
        let impossible = |amount: f64| !(amount >= 0.0 && amount.is_finite());
        let odd_uav = |uav: &SavedUav| {
            let odd_return = match uav.status {
                Status::Away { returns_at_s: at_s } | Status::Flying { arrives_at_s: at_s } => {
                    impossible(at_s)
                }
                Status::Active | Status::Grounded | Status::Lost => false,
            };
            outside(&uav.position)
                || impossible(uav.battery_j)
                || impossible(uav.full_j)
                || odd_return
        };
        let odd = saved.devices.iter().any(outside)
            || !saved.motion.iter().all(Motion::is_sound)
            || saved.uavs.iter().any(odd_uav)
            || impossible(saved.clock_s);
        odd.then(|| "somebody is where nobody can be".into())
    }
}
