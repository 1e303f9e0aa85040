//! The links between UAVs and devices, drawn once a round: everything that round reads them here.

use rayon::prelude::*;

use super::Nature;
use super::channel::{Link, Node, Path};
use crate::solve::bandwidth::{LEAST_SNR_HZ, MOST_SNR_HZ};
use crate::vocabulary::{DeviceId, Point, UavId};

/// A link's received power over noise density, Hz, if anything can be sent over it.
#[must_use]
pub(crate) fn usable(snr_hz: f64) -> Option<f64> {
    (snr_hz >= LEAST_SNR_HZ).then_some(snr_hz.min(MOST_SNR_HZ))
}

/// What there is between a device and a UAV that covers it, in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GroundLink {
    /// Received power over noise density of the uplink, Hz.
    pub(crate) snr_up_hz: f64,
    /// The same of the downlink.
    pub(crate) snr_down_hz: f64,
}

/// A UAV and the devices it covers.
pub(crate) struct Covered<'a> {
    /// Which UAV.
    pub(crate) uav: UavId,
    /// Where it hovers.
    pub(crate) above: Point,
    /// How high, m.
    pub(crate) altitude_m: f64,
    /// Power of its downlink, W.
    pub(crate) broadcast_power_w: f64,
    /// The devices, ascending.
    pub(crate) devices: &'a [DeviceId],
}

/// The links of one round, per UAV in the order of the devices it covers.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundLinks {
    devices: Vec<Vec<DeviceId>>,
    links: Vec<Vec<GroundLink>>,
}

impl RoundLinks {
    /// Draws all links of a round. Those that are too weak to be used, one way or the other, are not in the table; they are
    /// returned beside it, per UAV.
    #[must_use]
    pub(crate) fn draw(
        nature: &Nature,
        round: usize,
        covered: &[Covered],
        position: &[Point],
        tx_power_w: &[f64],
    ) -> (Self, Vec<Vec<DeviceId>>) {
        let draw_one = |cell: &Covered, device: DeviceId| {
            let at = position[device.index()];
            let (ground, air) = (Node::Device(device), Node::Uav(cell.uav));
            let path = |link, from, to, from_m, to_m| Path {
                link,
                from,
                to,
                from_m,
                to_m,
                height_m: cell.altitude_m,
                round,
                seed: nature.seed,
            };
            let up = path(Link::DeviceToUav, ground, air, at, cell.above);
            let down = path(Link::UavToDevice, air, ground, cell.above, at);
            Some(GroundLink {
                snr_up_hz: usable(nature.snr_hz(&up, tx_power_w[device.index()]))?,
                snr_down_hz: usable(nature.snr_hz(&down, cell.broadcast_power_w))?,
            })
        };
        let mut table = Self::default();
        let mut out = Vec::with_capacity(covered.len());
        for cell in covered {
            let drawn: Vec<Option<GroundLink>> = cell
                .devices
                .par_iter()
                .with_min_len(256)
                .map(|&device| draw_one(cell, device))
                .collect();
            let mut weak = Vec::new();
            let (mut devices, mut links) = (Vec::new(), Vec::new());
            for (&device, link) in cell.devices.iter().zip(drawn) {
                match link {
                    Some(link) => {
                        devices.push(device);
                        links.push(link);
                    }
                    None => weak.push(device),
                }
            }
            table.devices.push(devices);
            table.links.push(links);
            out.push(weak);
        }
        (table, out)
    }

    /// The link between a UAV and a device; none when the UAV does not cover it, or the link is out.
    #[must_use]
    pub(crate) fn get(&self, uav: UavId, device: DeviceId) -> Option<GroundLink> {
        let place = self.devices.get(uav.index())?.binary_search(&device).ok()?;
        Some(self.links[uav.index()][place])
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::channel::Channel;
    use super::*;
    use crate::scenario::Scenario;

    /// Even devices hear nothing, the others what their stream says.
    struct Odd;

    impl Channel for Odd {
        fn gain(&self, path: &Path) -> f64 {
            match (path.from, path.to) {
                (Node::Device(id), _) | (_, Node::Device(id)) if id.0 % 2 == 0 => 0.0,
                _ => path.rng().random::<f64>() + path.lasting_rng().random::<f64>(),
            }
        }
    }

    #[test]
    fn links_are_drawn_by_round_and_pair_and_those_that_are_out_are_named() {
        let mut nature = Nature::new(&Scenario::default().check().unwrap());
        nature.channel = Box::new(Odd);
        let devices: Vec<DeviceId> = (0..6).map(DeviceId).collect();
        let covered = |uav| Covered {
            uav: UavId(uav),
            above: Point::new(1.0, 2.0),
            altitude_m: 150.0,
            broadcast_power_w: 1.0,
            devices: &devices,
        };
        let draw = |round| {
            let cells = [covered(0), covered(1)];
            RoundLinks::draw(
                &nature,
                round,
                &cells,
                &[Point::new(0.0, 0.0); 6],
                &[1.0; 6],
            )
        };
        let (table, out) = draw(1);
        let even: Vec<DeviceId> = [0, 2, 4].map(DeviceId).into();
        assert_eq!(out, [even.clone(), even]);
        assert_eq!(table.get(UavId(0), DeviceId(2)), None);
        let link = |table: &RoundLinks, uav| table.get(UavId(uav), DeviceId(3)).unwrap();
        assert_eq!(link(&table, 0), link(&draw(1).0, 0));
        assert_ne!(link(&table, 0), link(&table, 1));
        assert_ne!(link(&table, 0), link(&draw(2).0, 0));
        let GroundLink {
            snr_up_hz,
            snr_down_hz,
        } = link(&table, 0);
        assert_ne!(snr_up_hz, snr_down_hz);
    }
}
