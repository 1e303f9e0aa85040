//! The cost model, Eqs. (8)-(26): seconds and joules of an edge round and of a global aggregation,
//! item by item.

use serde::{Deserialize, Serialize};

use crate::decide::allocation::{Cell, CellPlan};
use crate::nature::Nature;
use crate::nature::channel::rate_bps;
use crate::world::{Uav, UavId};

/// What one edge round costs one device. Eqs. (8)-(13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceCost {
    /// H t_unit.
    pub compute_s: f64,
    /// I / r_up.
    pub upload_s: f64,
    /// I / r_down.
    pub download_s: f64,
    /// Energy of computing, J.
    pub compute_j: f64,
    /// Energy of sending, J.
    pub upload_j: f64,
    /// What the UAV spends on sending to this device, J.
    pub downlink_j: f64,
}

impl DeviceCost {
    /// t_dev, Eq. (11).
    #[must_use]
    pub fn time_s(&self) -> f64 {
        self.compute_s + (self.upload_s + self.download_s)
    }
}

/// What one edge round costs a UAV and its cell. Eqs. (14), (17), (18).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EdgeCost {
    /// The device that everybody waits for: its parts add up to the hover time.
    pub slowest: DeviceCost,
    /// The longest download, s: what passing on a global model takes, Eq. (22).
    pub slowest_download_s: f64,
    /// Hover energy of the UAV, J.
    pub hover_j: f64,
    /// The UAV's downlink energy over all devices, J.
    pub downlink_j: f64,
    /// Computing energy of all devices, J.
    pub compute_j: f64,
    /// Uplink energy of all devices, J.
    pub upload_j: f64,
}

impl EdgeCost {
    /// What the UAV's battery pays. Eq. (14).
    ///
    /// Departs from the paper: (14) prints one downlink; (29) has the sum over devices, which stands.
    #[must_use]
    pub fn uav_j(&self) -> f64 {
        self.hover_j + self.downlink_j
    }
}

/// What one edge round costs each device of a cell under a plan, in the cell's order.
pub fn device_costs<'a>(
    cell: &'a Cell,
    plan: &'a CellPlan,
) -> impl Iterator<Item = DeviceCost> + 'a {
    let iterations = plan.local_iterations as f64;
    let bands = plan.bandwidth_up_hz.iter().zip(&plan.bandwidth_down_hz);
    cell.devices
        .iter()
        .zip(bands)
        .map(move |(device, (&up_hz, &down_hz))| {
            let upload_s = cell.model_bits_up / rate_bps(up_hz, device.snr_up_hz);
            let download_s = cell.model_bits_down / rate_bps(down_hz, device.snr_down_hz);
            DeviceCost {
                compute_s: iterations * device.iteration_time_s,
                upload_s,
                download_s,
                compute_j: iterations * device.iteration_energy_j,
                upload_j: upload_s * device.tx_power_w,
                downlink_j: download_s * cell.broadcast_power_w,
            }
        })
}

/// The cost of one edge round in a cell under a plan.
#[must_use]
pub fn edge_round(cell: &Cell, plan: &CellPlan) -> EdgeCost {
    let mut cost = EdgeCost::default();
    for device in device_costs(cell, plan) {
        cost.compute_j += device.compute_j;
        cost.upload_j += device.upload_j;
        cost.downlink_j += device.downlink_j;
        cost.slowest_download_s = cost.slowest_download_s.max(device.download_s);
        if device.time_s() > cost.slowest.time_s() {
            cost.slowest = device;
        }
    }
    cost.hover_j = cost.slowest.time_s() * cell.hover_power_w;
    cost
}

/// Seconds of offloading an edge model to the aggregator, T^E2G; the aggregator's own is 0.
#[must_use]
pub fn offload_s(nature: &Nature, uav: &Uav, aggregator: &Uav, model_bits: f64) -> f64 {
    if uav.id == aggregator.id {
        return 0.0;
    }
    nature.uav_link_time_s(
        model_bits,
        uav.tx_power_w,
        uav.position,
        aggregator.position,
    )
}

/// What broadcasting the global model costs. Eqs. (22)-(24).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Broadcast {
    /// T^Broad, s.
    pub time_s: f64,
    /// What the aggregator spends on sending to the other UAVs, J.
    pub uav_link_j: f64,
    /// Per listed UAV, what it spends on passing the model on to its devices, J.
    pub relay_j: Vec<f64>,
    /// What each UAV spends on hovering meanwhile, J.
    pub hover_j: f64,
}

/// A UAV that takes part in the broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// Which one.
    pub id: UavId,
    /// Power of its downlink, W.
    pub broadcast_power_w: f64,
    /// The slowest download among its devices, s; 0 without devices.
    pub slowest_download_s: f64,
}

/// The aggregator sends the global model to all UAVs, which takes `link_s` to each, and these pass it on to their devices.
/// Eqs. (22)-(24).
#[must_use]
pub fn broadcast(
    nature: &Nature,
    aggregator: &Uav,
    receivers: &[Receiver],
    link_s: impl Fn(UavId) -> f64,
) -> Broadcast {
    let mut cost = Broadcast::default();
    let mut slowest_link_s: f64 = 0.0;
    for receiver in receivers {
        if receiver.id != aggregator.id {
            let link_s = link_s(receiver.id);
            slowest_link_s = slowest_link_s.max(link_s);
            cost.time_s = cost.time_s.max(link_s + receiver.slowest_download_s);
        }
        cost.relay_j
            .push(receiver.slowest_download_s * receiver.broadcast_power_w);
    }
    cost.uav_link_j = slowest_link_s * aggregator.tx_power_w;
    cost.hover_j = cost.time_s * nature.hover_power_w();
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::allocation::CellDevice;
    use crate::geometry::Point;
    use crate::scenario::Scenario;
    use crate::world::Status;

    /// By hand: S = B in each sub-band makes log2(1 + 1) = 1, so rates equal bandwidths.
    #[test]
    fn an_edge_round_worked_by_hand() {
        let device = |tx_power_w, iteration_time_s| CellDevice {
            snr_up_hz: 1e6,
            snr_down_hz: 2e6,
            tx_power_w,
            iteration_time_s,
            iteration_energy_j: 0.25,
        };
        let cell = Cell {
            energy_weight: 0.5,
            time_weight: 0.5,
            local_iterations: None,
            hover_power_w: 100.0,
            broadcast_power_w: 0.5,
            bandwidth_up_hz: 2e6,
            bandwidth_down_hz: 4e6,
            model_bits_up: 1e6,
            model_bits_down: 1e6,
            devices: vec![device(0.2, 0.1), device(0.8, 0.3)],
        };
        let plan = CellPlan {
            local_iterations: 5,
            bandwidth_up_hz: vec![1e6; 2],
            bandwidth_down_hz: vec![2e6; 2],
        };
        let cost = edge_round(&cell, &plan);
        // The second device: 1.5 s of computing, 1 s up, 0.5 s down.
        assert!((cost.slowest.time_s() - 3.0).abs() < 1e-12);
        assert!((cost.hover_j - 300.0).abs() < 1e-9);
        assert!((cost.downlink_j - 2.0 * 0.5 * 0.5).abs() < 1e-12);
        assert!((cost.upload_j - (0.2 + 0.8)).abs() < 1e-12);
        assert!((cost.compute_j - 2.0 * 5.0 * 0.25).abs() < 1e-12);
        assert!((cost.uav_j() - 300.5).abs() < 1e-9);
    }

    /// The aggregator waits for the slowest UAV plus that UAV's slowest device, pays the U2U link
    /// for the slowest UAV, and everybody pays the relay and the hovering.
    #[test]
    fn a_broadcast_follows_22_to_24() {
        let nature = Nature::new(&Scenario::default().check().unwrap());
        let uav = |id, x_m| Uav {
            id: UavId(id),
            position: Point::new(x_m, 0.0),
            battery_j: 1.0,
            status: Status::Active,
            tx_power_w: 0.5,
            broadcast_power_w: 2.0,
            bandwidth_up_hz: 1.0,
            bandwidth_down_hz: 1.0,
        };
        let uavs = [uav(0, 0.0), uav(1, 5_000.0), uav(2, 10_000.0)];
        let receivers: Vec<Receiver> = uavs
            .iter()
            .zip([7.0, 3.0, 0.0])
            .map(|(u, slowest_download_s)| Receiver {
                id: u.id,
                broadcast_power_w: u.broadcast_power_w,
                slowest_download_s,
            })
            .collect();
        let bits = 1e6;
        let near = nature.uav_link_time_s(bits, 0.5, uavs[0].position, uavs[1].position);
        let far = nature.uav_link_time_s(bits, 0.5, uavs[0].position, uavs[2].position);
        assert!(far > near);
        let link_s = |id: UavId| offload_s(&nature, &uavs[0], &uavs[id.index()], bits);
        let cost = broadcast(&nature, &uavs[0], &receivers, link_s);
        assert!((cost.time_s - (near + 3.0)).abs() < 1e-12);
        assert!((cost.uav_link_j - far * 0.5).abs() < 1e-12);
        assert_eq!(cost.relay_j, [14.0, 6.0, 0.0]);
        assert!((cost.hover_j - cost.time_s * 100.0).abs() < 1e-9);
        assert_eq!(offload_s(&nature, &uavs[0], &uavs[0], bits), 0.0);
        assert!((offload_s(&nature, &uavs[1], &uavs[0], bits) - near).abs() < 1e-12);
    }
}
