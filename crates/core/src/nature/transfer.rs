//! Transfers that may fail: an attempt whose SNR is too low is made again, and then given up.

use serde::{Deserialize, Serialize};

use super::Nature;
use super::channel::Path;

/// How the attempts at a transfer end. They depend on pair, round and attempt alone: in every edge round of a global round they
/// end alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Transfer {
    /// Attempts after the first.
    pub(crate) repeats: u32,
    /// Whether the last of them succeeded.
    pub(crate) arrived: bool,
}

impl Default for Transfer {
    /// The first attempt succeeds.
    fn default() -> Self {
        Self {
            repeats: 0,
            arrived: true,
        }
    }
}

impl Transfer {
    /// How often the whole of it was sent.
    pub(crate) fn attempts(self) -> f64 {
        f64::from(self.repeats) + 1.0
    }
}

/// Both transfers of a device in an edge round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Transfers {
    pub(crate) up: Transfer,
    pub(crate) down: Transfer,
}

impl Transfers {
    /// Attempts after the first ones.
    pub(crate) fn repeats(self) -> usize {
        self.up.repeats as usize + self.down.repeats as usize
    }

    /// Why the device's update is lost, if it is. A device that does not get the model has nothing of use to send.
    pub(crate) fn failure(self) -> Option<&'static str> {
        match (self.down.arrived, self.up.arrived) {
            (false, _) => Some("the download's SNR stayed below radio.least_snr_db"),
            (_, false) => Some("the upload's SNR stayed below radio.least_snr_db"),
            (true, true) => None,
        }
    }
}

impl Nature {
    /// How a transfer over a path ends whose first attempt has this received power over noise density, in this bandwidth. Further attempts
    /// differ in what the channel draws for each, that is in fading; all are as long as the first, at the rate that was
    /// planned for it.
    pub(crate) fn transfer(&self, path: &Path, snr_hz: f64, bandwidth_hz: f64) -> Transfer {
        let needed_hz = self.least_snr * bandwidth_hz;
        if snr_hz >= needed_hz {
            return Transfer::default();
        }
        let first = self.channel.gain(path);
        let succeeds = |&attempt: &u32| {
            let again = Path { attempt, ..*path };
            snr_hz * (self.channel.gain(&again) / first) >= needed_hz
        };
        let success = (1..=self.retries).find(succeeds);
        Transfer {
            repeats: success.unwrap_or(self.retries),
            arrived: success.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel::{Channel, End};
    use super::*;
    use crate::scenario::Scenario;
    use crate::vocabulary::{DeviceId, Point, UavId};

    /// Each attempt is twice as good as the one before.
    struct Improving;

    impl Channel for Improving {
        fn gain(&self, path: &Path) -> f64 {
            1e-12 * f64::from(1u32 << path.attempt)
        }
    }

    /// By hand: 0.5 W over -174 dBm/Hz is S = 1.2559e8 Hz, in 100 MHz 0.99 dB; then 4.00, 7.01 and 10.02 dB.
    #[test]
    fn attempts_end_with_the_first_that_is_good_enough() {
        let expected = [
            (0.9, 0, true),
            (3.9, 1, true),
            (9.9, 3, true),
            (13.1, 3, false),
        ];
        for (least_snr_db, repeats, arrived) in expected {
            let settings = [
                format!("radio.least_snr_db={least_snr_db}"),
                "radio.retries=3".into(),
            ];
            let scenario = Scenario::parse("", &settings).unwrap();
            let mut nature = Nature::new(&scenario.check().unwrap());
            nature.channel = Box::new(Improving);
            let at = Point::new(0.0, 0.0);
            let path = nature.path(
                End::device(DeviceId(0), at),
                End::uav(UavId(0), at, 100.0),
                1,
            );
            let snr_hz = nature.snr_hz(&path, 0.5, 0.0);
            let transfer = nature.transfer(&path, snr_hz, 1e8);
            assert_eq!(transfer, Transfer { repeats, arrived }, "{least_snr_db} dB");
        }
    }

    #[test]
    fn by_default_nothing_that_can_be_used_fails() {
        let nature = Nature::new(&Scenario::default().check().unwrap());
        let at = Point::new(0.0, 0.0);
        let path = nature.path(
            End::device(DeviceId(0), at),
            End::uav(UavId(0), at, 100.0),
            1,
        );
        let weakest_hz = crate::solve::bandwidth::LEAST_SNR_HZ;
        assert_eq!(
            nature.transfer(&path, weakest_hz, 1e12),
            Transfer::default()
        );
    }
}
