//! Radio: how much of a signal arrives, and how many bits a second that makes. Appendix A.B.
//!
//! A law says what distance and height do to a signal; one file each. [`Shadowed`] and [`Faded`] lie over whatever law there
//! is. `docs/physics.md` compares them and names their sources.

mod fading;
mod free_space;
mod line_of_sight;
mod power_law;
mod shadowing;
mod tr36777;

pub use fading::{Faded, Fading};
pub use free_space::{Antennas, FreeSpace};
pub use line_of_sight::LineOfSight;
pub use power_law::PowerLaw;
pub use shadowing::{ShadowField, Shadowed};
pub use tr36777::Tr36777;

use crate::scenario::{self, Draw, Scenario};
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::{DeviceId, Point, UavId};
use rand::RngExt;

/// The three kinds of link. They never interfere: their phases are separate, their bands orthogonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// D2U.
    DeviceToUav,
    /// U2D.
    UavToDevice,
    /// U2U.
    UavToUav,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// On the ground.
    Device(DeviceId),
    /// In the air.
    Uav(UavId),
}

/// One end of a link, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Who.
    pub node: Node,
    /// Where, on the map.
    pub at_m: Point,
    /// How high above the ground, m.
    pub height_m: f64,
}

impl End {
    /// A device, on the ground.
    #[must_use]
    pub fn device(id: DeviceId, at_m: Point) -> Self {
        Self {
            node: Node::Device(id),
            at_m,
            height_m: 0.0,
        }
    }

    /// A UAV at its altitude.
    #[must_use]
    pub fn uav(id: UavId, at_m: Point, height_m: f64) -> Self {
        Self {
            node: Node::Uav(id),
            at_m,
            height_m,
        }
    }
}

/// A link in one global round: who sends to whom, from where to where.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Path {
    /// Which kind of link.
    pub link: Link,
    /// Who sends.
    pub from: Node,
    /// Who receives.
    pub to: Node,
    /// Where the sender is, on the map.
    pub from_m: Point,
    /// Where the receiver is, on the map.
    pub to_m: Point,
    /// How high the sender is above the ground, m.
    pub from_height_m: f64,
    /// How high the receiver is, m.
    pub to_height_m: f64,
    /// The global round, from 1.
    pub round: usize,
    /// Which attempt at a transfer this is; 0 is the first. Whatever changes from moment to moment is drawn anew for each.
    pub attempt: u32,
    /// The run's seed, for whatever must be the same in every round.
    pub seed: u64,
}

/// What is drawn once for both directions of a pair. The numbers keep their streams apart from those of single directions.
#[derive(Clone, Copy)]
enum Shared {
    Sight = 4,
    Fading = 6,
}

const ID_BITS: u32 = 30;

impl Path {
    /// The first attempt over the link from one end to another.
    #[must_use]
    pub fn new(from: End, to: End, round: usize, seed: u64) -> Self {
        let link = match (from.node, to.node) {
            (Node::Device(_), _) => Link::DeviceToUav,
            (Node::Uav(_), Node::Device(_)) => Link::UavToDevice,
            (Node::Uav(_), Node::Uav(_)) => Link::UavToUav,
        };
        Self {
            link,
            from: from.node,
            to: to.node,
            from_m: from.at_m,
            to_m: to.at_m,
            from_height_m: from.height_m,
            to_height_m: to.height_m,
            round,
            attempt: 0,
            seed,
        }
    }

    /// Distance along the ground, m.
    #[must_use]
    pub fn ground_distance_m(&self) -> f64 {
        self.from_m.distance(self.to_m)
    }

    /// How much higher one end is than the other, m.
    #[must_use]
    pub fn height_m(&self) -> f64 {
        (self.from_height_m - self.to_height_m).abs()
    }

    /// Distance through the air, m; at least the reference distance of 1 m.
    #[must_use]
    pub fn distance_m(&self) -> f64 {
        libm::hypot(self.ground_distance_m(), self.height_m()).max(NEAREST_M)
    }

    /// Where the device and the UAV of a link between them are; none between UAVs.
    #[must_use]
    pub fn ground_and_air(&self) -> Option<(Point, Point)> {
        match self.link {
            Link::DeviceToUav => Some((self.from_m, self.to_m)),
            Link::UavToDevice => Some((self.to_m, self.from_m)),
            Link::UavToUav => None,
        }
    }

    /// The random stream of this link in this round and attempt, the same whoever asks and however often. The two directions
    /// between a device and a UAV have one each.
    #[must_use]
    pub fn rng(&self) -> Random {
        stream(self.seed, Stream::Links, self.moment(), self.key())
    }

    /// The same, shared by both directions: for what is reciprocal.
    #[must_use]
    pub fn pair_rng(&self) -> Random {
        let key = self.shared_key(Shared::Fading);
        stream(self.seed, Stream::Links, self.moment(), key)
    }

    /// The random stream of this link in all rounds.
    #[must_use]
    pub fn lasting_rng(&self) -> Random {
        stream(self.seed, Stream::Links, 0, self.key())
    }

    /// Whether nothing stands between the two ends in this round, which happens with this probability. Both directions agree,
    /// and so do all attempts.
    fn is_clear(&self, probability: f64) -> bool {
        let key = self.shared_key(Shared::Sight);
        let mut rng = stream(self.seed, Stream::Links, self.round as u64, key);
        rng.random::<f64>() < probability
    }

    fn moment(&self) -> u64 {
        u64::from(self.attempt) << 32 | self.round as u64
    }

    fn ids(&self) -> [u64; 2] {
        [self.from, self.to].map(|node| match node {
            Node::Device(id) => u64::from(id.0),
            Node::Uav(id) => u64::from(id.0),
        })
    }

    fn key(&self) -> u64 {
        let [from, to] = self.ids();
        (self.link as u64) << (2 * ID_BITS) | from << ID_BITS | to
    }

    fn shared_key(&self, of: Shared) -> u64 {
        let [from, to] = self.ids();
        let (kind, first, second) = match self.link {
            Link::DeviceToUav => (0, from, to),
            Link::UavToDevice => (0, to, from),
            Link::UavToUav => (1, from.min(to), from.max(to)),
        };
        (of as u64 + kind) << (2 * ID_BITS) | first << ID_BITS | second
    }
}

/// How much of the transmitted power arrives.
///
/// Asked once a round for every link between a UAV and a device that it covers, and whenever UAVs exchange models. The answer
/// must depend on the path alone (its ends, its round and its random streams), so that everybody who asks hears the same. A
/// gain need not fall with distance; 0 is a link that is out.
pub trait Channel: Send + Sync {
    /// Received over transmitted power.
    fn gain(&self, path: &Path) -> f64;

    /// The least gain of any link of a kind up to a ground distance and a difference in height, where the channel can say: it
    /// saves looking at every pair of UAVs when energy is kept back for the worst of them.
    fn least_gain(&self, _link: Link, _ground_distance_m: f64, _height_m: f64) -> Option<f64> {
        None
    }
}

impl<C: Channel + ?Sized> Channel for Box<C> {
    fn gain(&self, path: &Path) -> f64 {
        (**self).gain(path)
    }

    fn least_gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> Option<f64> {
        (**self).least_gain(link, ground_distance_m, height_m)
    }
}

/// Nearer than this the laws would amplify; it is taken as the reference distance.
const NEAREST_M: f64 = 1.0;

/// The channel of a scenario: its law, with shadowing and fading over it where asked for.
pub(super) fn from_config(scenario: &Scenario) -> Box<dyn Channel> {
    let radio = &scenario.radio;
    let antennas = Antennas {
        carrier_hz: radio.carrier_hz,
        device_gain_dbi: radio.device_gain_dbi,
        uav_gain_dbi: radio.uav_gain_dbi,
    };
    let field = || ShadowField::new(scenario.seed, radio.decorrelation_m);
    let law: Box<dyn Channel> = match scenario.channel {
        scenario::Channel::PowerLaw {
            exponent_up,
            exponent_down,
            exponent_uav,
        } => Box::new(PowerLaw {
            exponent_up,
            exponent_down,
            exponent_uav,
        }),
        scenario::Channel::FreeSpace {} => Box::new(FreeSpace(antennas)),
        scenario::Channel::LineOfSight { environment, draw } => Box::new(LineOfSight {
            environment,
            draw,
            antennas,
        }),
        scenario::Channel::Tr36777 {
            scenario: deployment,
            draw,
            shadowing,
        } => Box::new(Tr36777 {
            deployment,
            draw,
            shadowing: shadowing.then(field),
            antennas,
        }),
    };
    let shadowed: Box<dyn Channel> = match radio.shadowing_db > 0.0 {
        true => Box::new(Shadowed {
            law,
            field: field(),
            sigma_db: radio.shadowing_db,
        }),
        false => law,
    };
    let fading = match radio.fading {
        scenario::Fading::None => return shadowed,
        scenario::Fading::Rayleigh => Fading::Rayleigh,
        scenario::Fading::Rician => Fading::Rician {
            k: from_db(radio.rician_k_db),
        },
    };
    Box::new(Faded {
        law: shadowed,
        fading,
    })
}

/// Something that differs with and without line of sight, of which there is one with a probability: its mean, or the one that is
/// drawn for this path's pair and round.
fn by_sight(path: &Path, draw: Draw, probability: f64, clear: f64, blocked: f64) -> f64 {
    match draw {
        Draw::Mean => probability * clear + (1.0 - probability) * blocked,
        Draw::Link if path.is_clear(probability) => clear,
        Draw::Link => blocked,
    }
}

/// Decibels as a factor.
#[must_use]
pub fn from_db(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

/// Shannon rate r = B log2(1 + S / B), with S = p g / N0 in Hz.
#[must_use]
pub fn rate_bps(bandwidth_hz: f64, snr_hz: f64) -> f64 {
    bandwidth_hz * (snr_hz / bandwidth_hz).ln_1p() / std::f64::consts::LN_2
}

/// dBm (or dBm/Hz) in watts (or W/Hz).
#[must_use]
pub fn watts_from_dbm(dbm: f64) -> f64 {
    10f64.powf((dbm - 30.0) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device and a UAV that is so far away along the ground and so high.
    pub(super) fn upwards(ground_m: f64, height_m: f64) -> Path {
        between(1, ground_m, height_m)
    }

    /// The same for devices of other numbers.
    pub(super) fn between(device: u32, ground_m: f64, height_m: f64) -> Path {
        let device = End::device(DeviceId(device), Point::new(0.0, 0.0));
        let uav = End::uav(UavId(2), Point::new(ground_m, 0.0), height_m);
        Path::new(device, uav, 3, 7)
    }

    /// The other direction.
    pub(super) fn reversed(path: &Path) -> Path {
        let end = |node, at_m, height_m| End {
            node,
            at_m,
            height_m,
        };
        let from = end(path.to, path.to_m, path.to_height_m);
        let to = end(path.from, path.from_m, path.from_height_m);
        Path::new(from, to, path.round, path.seed)
    }

    /// Two UAVs, level.
    pub(super) fn aloft(ground_m: f64) -> Path {
        let uav = |id, x_m| End::uav(UavId(id), Point::new(x_m, 0.0), 100.0);
        Path::new(uav(4, 0.0), uav(2, ground_m), 3, 7)
    }

    #[test]
    fn streams_tell_direction_round_and_attempt_apart_and_pairs_share_theirs() {
        let up = upwards(100.0, 50.0);
        let down = reversed(&up);
        assert_eq!((up.link, down.link), (Link::DeviceToUav, Link::UavToDevice));
        let draw = |mut rng: Random| rng.random::<u64>();
        let again = Path { attempt: 1, ..up };
        let later = Path { round: 4, ..up };
        let own: Vec<u64> = [up, down, again, later].map(|path| draw(path.rng())).into();
        let shared: Vec<u64> = [up, again, later, aloft(1.0)]
            .map(|path| draw(path.pair_rng()))
            .into();
        let mut all = [own, shared].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8);
        for path in [up, aloft(1.0)] {
            assert_eq!(draw(path.pair_rng()), draw(reversed(&path).pair_rng()));
        }
        assert_eq!(draw(up.lasting_rng()), draw(later.lasting_rng()));
    }

    #[test]
    fn heights_are_those_of_the_ends_and_their_difference_counts() {
        let path = upwards(30.0, 40.0);
        assert_eq!((path.from_height_m, path.to_height_m), (0.0, 40.0));
        assert_eq!((path.height_m(), path.distance_m()), (40.0, 50.0));
        assert_eq!(aloft(30.0).height_m(), 0.0);
        assert_eq!(aloft(0.0).distance_m(), 1.0);
    }

    /// What a scenario asks for is what it gets: each of the three parts changes the gain by its own factor.
    #[test]
    fn a_scenario_lays_shadowing_and_fading_over_its_law() {
        let with = |settings: &[&str]| {
            let scenario = Scenario::parse("", settings).unwrap();
            from_config(&scenario.check().unwrap())
        };
        let path = upwards(400.0, 100.0);
        let law = with(&["channel.kind=free_space"]).gain(&path);
        let shadowing = ["channel.kind=free_space", "radio.shadowing_db=6"];
        let shadowed = with(&shadowing).gain(&path);
        let fading = ["channel.kind=free_space", "radio.fading=rayleigh"];
        let faded = with(&fading).gain(&path);
        let both = with(&[shadowing[0], shadowing[1], fading[1]]).gain(&path);
        assert!(law != shadowed && law != faded);
        assert!((both / law / (shadowed / law * faded / law) - 1.0).abs() < 1e-12);
        let bound = |settings: &[&str]| with(settings).least_gain(Link::UavToUav, 500.0, 0.0);
        assert!(bound(&shadowing).is_some() && bound(&fading).is_none());
    }
}
