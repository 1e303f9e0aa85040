//! Interference between cells that share a band.

use rayon::prelude::*;

use super::Nature;
use super::channel::End;
use super::links::{Covered, Ground};
use crate::vocabulary::{DeviceId, UavId};

/// What cells of one group hear of each other in a round, as densities over the band: `radio.reuse`.
///
/// Every cell is taken to send all the time, in both directions, over its whole band, and all devices that are nearest to its UAV
/// at once: an upper bound on what a schedule would let through. A cell without such devices is silent. The density that a
/// device makes is its power over the band of its cell, whatever share of it the device will get: who gets how much is decided
/// later. It takes a gain for every device and UAV of a group, and one for every link and UAV: only where cells share a band.
pub(super) struct Interference<'a> {
    nature: &'a Nature,
    round: usize,
    cells: &'a [Covered<'a>],
    ground: &'a Ground<'a>,
    /// Per UAV, the devices that it is nearest to.
    own: Vec<Vec<DeviceId>>,
    /// Per UAV, what it hears of devices of other cells, W/Hz.
    up_w_per_hz: Vec<f64>,
}

impl<'a> Interference<'a> {
    /// Of the cells of a round; none where every cell has its own band.
    pub(super) fn new(
        nature: &'a Nature,
        round: usize,
        cells: &'a [Covered<'a>],
        ground: &'a Ground<'a>,
    ) -> Option<Self> {
        if nature.reuse == 0 {
            return None;
        }
        let own = |cell: &Covered| {
            let nearest = |device: &&DeviceId| ground.nearest[device.index()] == Some(cell.uav);
            cell.devices.iter().filter(nearest).copied().collect()
        };
        let mut interference = Self {
            nature,
            round,
            cells,
            ground,
            own: cells.iter().map(own).collect(),
            up_w_per_hz: Vec::new(),
        };
        interference.up_w_per_hz = cells
            .par_iter()
            .map(|cell| interference.uplink_w_per_hz(cell))
            .collect();
        Some(interference)
    }

    /// Cells that share the band of a UAV's and are not silent, each with its devices.
    fn others(&self, uav: UavId) -> impl Iterator<Item = (&'a Covered<'a>, &[DeviceId])> {
        let group = |id: UavId| id.index() % self.nature.reuse;
        let cells = self.cells.iter().zip(&self.own);
        cells
            .filter(move |(other, own)| {
                other.uav != uav && group(other.uav) == group(uav) && !own.is_empty()
            })
            .map(|(other, own)| (other, &own[..]))
    }

    fn uplink_w_per_hz(&self, cell: &Covered) -> f64 {
        let mut density = 0.0;
        for (other, devices) in self.others(cell.uav) {
            let received_w = devices.iter().map(|&device| {
                let from = self.ground.end(device);
                let path = self.nature.path(from, cell.end(), self.round);
                self.ground.tx_power_w[device.index()] * self.nature.channel.gain(&path)
            });
            density += received_w.sum::<f64>() / other.bandwidth_up_hz;
        }
        density
    }

    /// What a UAV hears of devices of other cells, W/Hz.
    pub(super) fn at_uav(&self, uav: UavId) -> f64 {
        self.up_w_per_hz[uav.index()]
    }

    /// What a device hears of other UAVs when it listens to this one, W/Hz.
    pub(super) fn at_device(&self, device: End, listens_to: UavId) -> f64 {
        let densities = self.others(listens_to).map(|(other, _)| {
            let path = self.nature.path(other.end(), device, self.round);
            other.broadcast_power_w * self.nature.channel.gain(&path) / other.bandwidth_down_hz
        });
        densities.sum()
    }
}
