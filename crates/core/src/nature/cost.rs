//! The cost model, Eqs. (8)-(26): seconds and joules of an edge round and of a global aggregation,
//! item by item.

use serde::{Deserialize, Serialize};

use crate::nature::channel::rate_bps;
use crate::nature::transfer::Transfers;
use crate::vocabulary::{Cell, CellPlan, UavId};

/// What one edge round costs one device. Eqs. (8)-(13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeviceCost {
    /// H t_unit.
    pub(crate) compute_s: f64,
    /// I / r_up.
    pub(crate) upload_s: f64,
    /// I / r_down.
    pub(crate) download_s: f64,
    /// Energy of computing, J.
    pub(crate) compute_j: f64,
    /// Energy of sending, J.
    pub(crate) upload_j: f64,
    /// What the UAV spends on sending to this device, J.
    pub(crate) downlink_j: f64,
}

impl DeviceCost {
    /// The same when all of it is sent as often as the transfers took.
    #[must_use]
    pub(crate) fn repeated(self, transfers: Transfers) -> Self {
        let (up, down) = (transfers.up.attempts(), transfers.down.attempts());
        Self {
            upload_s: up * self.upload_s,
            upload_j: up * self.upload_j,
            download_s: down * self.download_s,
            downlink_j: down * self.downlink_j,
            ..self
        }
    }

    /// t_dev, Eq. (11).
    #[must_use]
    pub(crate) fn time_s(&self) -> f64 {
        self.compute_s + (self.upload_s + self.download_s)
    }
}

/// What one edge round costs a UAV and its cell. Eqs. (14), (17), (18).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EdgeCost {
    /// The device that everybody waits for: its parts add up to the hover time.
    pub(crate) slowest: DeviceCost,
    /// The longest download, s: what passing on a global model takes, Eq. (22).
    pub(crate) slowest_download_s: f64,
    /// Hover energy of the UAV, J.
    pub(crate) hover_j: f64,
    /// The UAV's downlink energy over all devices, J.
    pub(crate) downlink_j: f64,
    /// Computing energy of all devices, J.
    pub(crate) compute_j: f64,
    /// Uplink energy of all devices, J.
    pub(crate) upload_j: f64,
}

impl EdgeCost {
    /// What the UAV's battery pays. Eq. (14).
    ///
    /// Departs from the paper: (14) prints one downlink; (29) has the sum over devices, which stands.
    #[must_use]
    pub(crate) fn uav_j(&self) -> f64 {
        self.hover_j + self.downlink_j
    }
}

/// What one edge round costs each device of a cell under a plan, in the cell's order.
pub(crate) fn device_costs<'a>(
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

/// The cost of one edge round in a cell whose devices have these.
#[must_use]
pub(crate) fn edge_round(devices: &[DeviceCost], hover_power_w: f64) -> EdgeCost {
    let mut cost = EdgeCost::default();
    for &device in devices {
        cost.compute_j += device.compute_j;
        cost.upload_j += device.upload_j;
        cost.downlink_j += device.downlink_j;
        cost.slowest_download_s = cost.slowest_download_s.max(device.download_s);
        if device.time_s() > cost.slowest.time_s() {
            cost.slowest = device;
        }
    }
    cost.hover_j = cost.slowest.time_s() * hover_power_w;
    cost
}

/// What broadcasting the global model costs. Eqs. (22)-(24).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Broadcast {
    /// T^Broad, s: every UAV hovers meanwhile.
    pub(crate) hover_s: f64,
    /// What the aggregator spends on sending to the other UAVs, J.
    pub(crate) uav_link_j: f64,
    /// Per listed UAV, what it spends on passing the model on to its devices, J.
    pub(crate) relay_j: Vec<f64>,
}

/// A UAV that takes part in the broadcast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    /// Which one.
    pub(crate) id: UavId,
    /// Power of its downlink, W.
    pub(crate) broadcast_power_w: f64,
    /// The slowest download among its devices, s; 0 without devices.
    pub(crate) slowest_download_s: f64,
}

/// `aggregator` sends the global model to all UAVs with the power `tx_power_w`, which takes `link_s` to each, and these pass it on
/// to their devices. Eqs. (22)-(24).
#[must_use]
pub(crate) fn broadcast(
    aggregator: UavId,
    tx_power_w: f64,
    receivers: &[Receiver],
    link_s: impl Fn(UavId) -> f64,
) -> Broadcast {
    let mut cost = Broadcast::default();
    let mut slowest_link_s: f64 = 0.0;
    for receiver in receivers {
        if receiver.id != aggregator {
            let link_s = link_s(receiver.id);
            slowest_link_s = slowest_link_s.max(link_s);
            cost.hover_s = cost.hover_s.max(link_s + receiver.slowest_download_s);
        }
        cost.relay_j
            .push(receiver.slowest_download_s * receiver.broadcast_power_w);
    }
    cost.uav_link_j = slowest_link_s * tx_power_w;
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nature::transfer::Transfer;
    use crate::vocabulary::CellDevice;

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
        let devices: Vec<DeviceCost> = device_costs(&cell, &plan).collect();
        let cost = edge_round(&devices, 100.0);
        // The second device: 1.5 s of computing, 1 s up, 0.5 s down.
        assert!((cost.slowest.time_s() - 3.0).abs() < 1e-12);
        assert!((cost.hover_j - 300.0).abs() < 1e-9);
        assert!((cost.downlink_j - 2.0 * 0.5 * 0.5).abs() < 1e-12);
        assert!((cost.upload_j - (0.2 + 0.8)).abs() < 1e-12);
        assert!((cost.compute_j - 2.0 * 5.0 * 0.25).abs() < 1e-12);
        assert!((cost.uav_j() - 300.5).abs() < 1e-9);
    }

    /// Two uploads and three downloads take two and three times the seconds and joules of one; computing is done once.
    #[test]
    fn transfers_are_paid_as_often_as_they_are_made() {
        let once = DeviceCost {
            compute_s: 1.0,
            upload_s: 10.0,
            download_s: 100.0,
            compute_j: 2.0,
            upload_j: 20.0,
            downlink_j: 200.0,
        };
        let transfer = |repeats| Transfer {
            repeats,
            arrived: true,
        };
        let transfers = Transfers {
            up: transfer(1),
            down: transfer(2),
        };
        let expected = DeviceCost {
            upload_s: 20.0,
            download_s: 300.0,
            upload_j: 40.0,
            downlink_j: 600.0,
            ..once
        };
        assert_eq!(once.repeated(transfers), expected);
        assert_eq!(once.repeated(Transfers::default()), once);
    }

    /// The aggregator waits for the slowest UAV plus that UAV's slowest device, pays the U2U link
    /// for the slowest UAV, and everybody pays the relay and the hovering.
    #[test]
    fn a_broadcast_follows_22_to_24() {
        let receivers: Vec<Receiver> = (0..)
            .zip([7.0, 3.0, 0.0])
            .map(|(id, slowest_download_s)| Receiver {
                id: UavId(id),
                broadcast_power_w: 2.0,
                slowest_download_s,
            })
            .collect();
        let (near_s, far_s) = (1.25, 2.5);
        let link_s = |id: UavId| [0.0, near_s, far_s][id.index()];
        let cost = broadcast(UavId(0), 0.5, &receivers, link_s);
        assert_eq!(cost.hover_s, near_s + 3.0);
        assert_eq!(cost.uav_link_j, far_s * 0.5);
        assert_eq!(cost.relay_j, [14.0, 6.0, 0.0]);
    }
}
