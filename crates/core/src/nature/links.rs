//! The links between UAVs and devices, drawn once a round: everything that round reads them here.

use rayon::prelude::*;

use super::Nature;
use super::channel::End;
use super::interference::Interference;
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
    /// Uplink bandwidth of its cell, Hz.
    pub(crate) bandwidth_up_hz: f64,
    /// Downlink bandwidth of its cell, Hz.
    pub(crate) bandwidth_down_hz: f64,
    /// The devices, ascending.
    pub(crate) devices: &'a [DeviceId],
}

impl Covered<'_> {
    /// The UAV as the end of a link.
    pub(super) fn end(&self) -> End {
        End::uav(self.uav, self.above, self.altitude_m)
    }
}

/// All devices, as links see them.
pub(crate) struct Ground<'a> {
    /// Where each is.
    pub(crate) position: &'a [Point],
    /// Power of each one's uplink, W.
    pub(crate) tx_power_w: &'a [f64],
    /// The nearest UAV that covers it.
    pub(crate) nearest: &'a [Option<UavId>],
}

impl Ground<'_> {
    /// A device as the end of a link.
    pub(super) fn end(&self, device: DeviceId) -> End {
        End::device(device, self.position[device.index()])
    }
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
        ground: &Ground,
    ) -> (Self, Vec<Vec<DeviceId>>) {
        let interference = Interference::new(nature, round, covered, ground);
        let interference = interference.as_ref();
        let draw_one = |cell: &Covered, device: DeviceId| {
            let (here, there) = (ground.end(device), cell.end());
            let up = nature.path(here, there, round);
            let down = nature.path(there, here, round);
            let heard_up = interference.map_or(0.0, |others| others.at_uav(cell.uav));
            let heard_down = interference.map_or(0.0, |others| others.at_device(here, cell.uav));
            let power_w = ground.tx_power_w[device.index()];
            Some(GroundLink {
                snr_up_hz: usable(nature.snr_hz(&up, power_w, heard_up))?,
                snr_down_hz: usable(nature.snr_hz(&down, cell.broadcast_power_w, heard_down))?,
            })
        };
        let draw_cell = |cell: &Covered| {
            let devices = cell.devices.par_iter().with_min_len(1024);
            let drawn: Vec<Option<GroundLink>> =
                devices.map(|&device| draw_one(cell, device)).collect();
            let mut weak = Vec::new();
            let (mut devices, mut links) = (
                Vec::with_capacity(drawn.len()),
                Vec::with_capacity(drawn.len()),
            );
            for (&device, link) in cell.devices.iter().zip(drawn) {
                match link {
                    Some(link) => {
                        devices.push(device);
                        links.push(link);
                    }
                    None => weak.push(device),
                }
            }
            ((devices, links), weak)
        };
        let ((devices, links), weak) = covered.par_iter().map(draw_cell).unzip();
        (Self { devices, links }, weak)
    }

    /// Per UAV, the devices to which it has a link, ascending.
    pub(crate) fn pairs(&self) -> &[Vec<DeviceId>] {
        &self.devices
    }

    /// Those of some devices to which a UAV has a link, with it.
    pub(crate) fn among<'a>(
        &'a self,
        uav: UavId,
        devices: &'a [DeviceId],
    ) -> impl Iterator<Item = (DeviceId, GroundLink)> + 'a {
        let none = (&[][..], &[][..]);
        let cell = self
            .devices
            .get(uav.index())
            .zip(self.links.get(uav.index()));
        let (linked, links) = cell.map_or(none, |(linked, links)| (&linked[..], &links[..]));
        let mut next = 0;
        devices.iter().filter_map(move |device| {
            // Where all of them are asked about, each is the one after the last.
            let place = match linked.get(next) == Some(device) {
                true => next,
                false => linked.binary_search(device).ok()?,
            };
            next = place + 1;
            Some((*device, links[place]))
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::channel::{Channel, Node, Path};
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

    fn one_of(table: &RoundLinks, uav: u32, device: u32) -> GroundLink {
        let found: Vec<_> = table.among(UavId(uav), &[DeviceId(device)]).collect();
        assert_eq!((found.len(), found[0].0), (1, DeviceId(device)));
        found[0].1
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
            bandwidth_up_hz: 1e6,
            bandwidth_down_hz: 1e6,
            devices: &devices,
        };
        let ground = Ground {
            position: &[Point::new(0.0, 0.0); 6],
            tx_power_w: &[1.0; 6],
            nearest: &[Some(UavId(0)); 6],
        };
        let draw = |round| {
            let cells = [covered(0), covered(1)];
            RoundLinks::draw(&nature, round, &cells, &ground)
        };
        let (table, out) = draw(1);
        let even: Vec<DeviceId> = [0, 2, 4].map(DeviceId).into();
        assert_eq!(out, [even.clone(), even]);
        assert_eq!(table.among(UavId(0), &[DeviceId(2)]).count(), 0);
        let link = |table: &RoundLinks, uav| one_of(table, uav, 3);
        assert_eq!(link(&table, 0), link(&draw(1).0, 0));
        assert_ne!(link(&table, 0), link(&table, 1));
        assert_ne!(link(&table, 0), link(&draw(2).0, 0));
        let GroundLink {
            snr_up_hz,
            snr_down_hz,
        } = link(&table, 0);
        assert_ne!(snr_up_hz, snr_down_hz);
        // In any order, and without those that have none.
        let mixed = [5, 0, 3, 1, 9].map(DeviceId);
        let found: Vec<u32> = table.among(UavId(1), &mixed).map(|(id, _)| id.0).collect();
        assert_eq!(found, [5, 3, 1]);
    }

    /// Everything arrives at a tenth per kilometre of ground distance.
    struct Tenths;

    impl Channel for Tenths {
        fn gain(&self, path: &Path) -> f64 {
            0.1f64.powf(path.ground_distance_m() / 1e3)
        }
    }

    /// By hand: UAVs 0, 1 and 2 at 0, 2 and 4 km, each with a device right below it, and a second one below UAV 0 that UAV 1 is not
    /// nearer to. Powers are 1 W up and 2 W down in bands of 1 and 2 Hz, noise is nothing beside them.
    #[test]
    fn cells_that_share_a_band_hear_each_other() {
        let mut nature = Nature::new(&Scenario::default().check().unwrap());
        nature.channel = Box::new(Tenths);
        let [x0, x1, x2] = [0.0, 2e3, 4e3].map(|x_m| Point::new(x_m, 0.0));
        let cells_of = [vec![0, 3], vec![1, 3], vec![2]];
        let cells_of = cells_of.map(|cell| cell.into_iter().map(DeviceId).collect::<Vec<_>>());
        let ground = Ground {
            position: &[x0, x1, x2, x0],
            tx_power_w: &[1.0; 4],
            nearest: &[0, 1, 2, 0].map(|uav| Some(UavId(uav))),
        };
        let covered = |uav: u32, above| Covered {
            uav: UavId(uav),
            above,
            altitude_m: 100.0,
            broadcast_power_w: 2.0,
            bandwidth_up_hz: 1.0,
            bandwidth_down_hz: 2.0,
            devices: &cells_of[uav as usize],
        };
        let cells = [covered(0, x0), covered(1, x1), covered(2, x2)];
        let mut draw = |reuse| {
            nature.reuse = reuse;
            let (table, _) = RoundLinks::draw(&nature, 1, &cells, &ground);
            move |uav, device| one_of(&table, uav, device)
        };
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9);
        let all = draw(1);
        // UAV 0 hears device 1 at 0.01 and device 2 at 0.0001; UAV 1 hears devices 0 and 3 and device 2 at 0.01 each.
        close(all(0, 0).snr_up_hz, 1.0 / 0.0101);
        close(all(1, 1).snr_up_hz, 1.0 / 0.03);
        // Device 3 listens to UAV 1 at 2 x 0.01 W, while UAV 0 is above it and UAV 2 is 4 km away: densities of 1 and 0.0001.
        close(all(1, 3).snr_down_hz, 0.02 / 1.0001);
        // In two groups, UAVs 0 and 2 share a band, and UAV 1 has one to itself.
        let two = draw(2);
        close(two(0, 0).snr_up_hz, 1.0 / 0.0001);
        let alone = draw(0);
        assert_eq!(two(1, 1), alone(1, 1));
        close(alone(0, 0).snr_up_hz, 1.0 / nature.noise_w_per_hz);
    }
}
