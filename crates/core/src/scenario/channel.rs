//! Radio: what all links share, and how much of a signal arrives.

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Checked, bad, within};

/// What all radio links share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Radio {
    /// Noise power density (N_0).
    pub noise_dbm_per_hz: f64,
    /// What receivers add to it.
    pub noise_figure_db: f64,
    /// Bandwidth of each UAV-to-UAV link.
    pub uav_link_bandwidth_hz: f64,
    /// Carrier frequency, for channels that have one.
    pub carrier_hz: f64,
    /// Gain of a device's antenna, likewise.
    pub device_gain_dbi: f64,
    /// Gain of a UAV's antenna, likewise.
    pub uav_gain_dbi: f64,
    /// Standard deviation of log-normal shadowing between devices and UAVs; 0: none.
    pub shadowing_db: f64,
    /// Distance over which the correlation of shadowing falls to 1/e.
    pub decorrelation_m: f64,
    /// How links vary from round to round.
    pub fading: Fading,
    /// Power of the direct ray over that of the echoes, for Rician fading.
    pub rician_k_db: f64,
    /// SNR below which an attempt at a transfer fails; [`NO_LEAST_SNR_DB`]: none does.
    pub least_snr_db: f64,
    /// Further attempts at a transfer that failed.
    pub retries: u32,
    /// Into how many groups of cells the band is divided, each of which has it to itself: 1, all cells share one band; 0, every cell
    /// has its own.
    pub reuse: usize,
}

/// No link that can be used is as weak: 1e-6 Hz of received power over noise density in the widest band, 1e12 Hz, are -180 dB.
pub const NO_LEAST_SNR_DB: f64 = -200.0;

impl Default for Radio {
    fn default() -> Self {
        Self {
            noise_dbm_per_hz: -174.0,
            noise_figure_db: 0.0,
            uav_link_bandwidth_hz: 2e6,
            carrier_hz: 2e9,
            device_gain_dbi: 0.0,
            uav_gain_dbi: 0.0,
            shadowing_db: 0.0,
            decorrelation_m: 50.0,
            fading: Fading::None,
            rician_k_db: 15.0,
            least_snr_db: NO_LEAST_SNR_DB,
            retries: 0,
            reuse: 0,
        }
    }
}

/// How links vary from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fading {
    /// They do not.
    None,
    /// Echoes without a direct ray.
    Rayleigh,
    /// A direct ray and echoes.
    Rician,
}

/// How much of a signal arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Channel {
    /// Gain d^-α over the 3-D distance d, Appendix A.B.
    PowerLaw {
        /// α of device-to-UAV links.
        #[serde(default = "cubic")]
        exponent_up: f64,
        /// α of UAV-to-device links.
        #[serde(default = "cubic")]
        exponent_down: f64,
        /// α of UAV-to-UAV links.
        #[serde(default = "cubic")]
        exponent_uav: f64,
    },
    /// Nothing between the antennas.
    FreeSpace {},
    /// Line of sight by elevation (Al-Hourani, Kandeepan, Lardner 2014).
    LineOfSight {
        /// What stands on the ground.
        #[serde(default)]
        environment: Environment,
        /// The mean loss, or line of sight drawn.
        #[serde(default)]
        draw: Draw,
    },
    /// Aerial users of a cellular network (3GPP TR 36.777, Annex B).
    Tr36777 {
        /// Which of its scenarios.
        #[serde(default)]
        scenario: Deployment,
        /// The mean loss, or line of sight drawn.
        #[serde(default)]
        draw: Draw,
        /// Whether there is shadowing, with the report's deviations.
        #[serde(default)]
        shadowing: bool,
    },
}

fn cubic() -> f64 {
    3.0
}

impl Default for Channel {
    fn default() -> Self {
        Self::PowerLaw {
            exponent_up: cubic(),
            exponent_down: cubic(),
            exponent_uav: cubic(),
        }
    }
}

/// What stands on the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Environment {
    /// Low houses far apart.
    Suburban,
    /// A town.
    #[default]
    Urban,
    /// The middle of a town.
    DenseUrban,
    /// Towers.
    HighRise,
}

/// What becomes of the probability of line of sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// It weighs the two losses, in dB.
    #[default]
    Mean,
    /// There is line of sight or there is not, drawn for each pair and round.
    Link,
}

/// A deployment of TR 36.777.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deployment {
    /// Rural macro cells.
    RmaAv,
    /// Urban macro cells.
    #[default]
    UmaAv,
    /// Urban micro cells.
    UmiAv,
}

impl Scenario {
    pub(super) fn check_radio(&self) -> Checked {
        let radio = &self.radio;
        for (field, value, least, most) in [
            ("noise_dbm_per_hz", radio.noise_dbm_per_hz, -250.0, 0.0),
            ("noise_figure_db", radio.noise_figure_db, 0.0, 60.0),
            (
                "uav_link_bandwidth_hz",
                radio.uav_link_bandwidth_hz,
                1.0,
                1e12,
            ),
            ("carrier_hz", radio.carrier_hz, 1.0, 1e12),
            ("device_gain_dbi", radio.device_gain_dbi, -60.0, 60.0),
            ("uav_gain_dbi", radio.uav_gain_dbi, -60.0, 60.0),
            ("shadowing_db", radio.shadowing_db, 0.0, 30.0),
            ("decorrelation_m", radio.decorrelation_m, 0.1, 1e6),
            ("rician_k_db", radio.rician_k_db, -60.0, 60.0),
            ("least_snr_db", radio.least_snr_db, NO_LEAST_SNR_DB, 100.0),
        ] {
            within(&format!("radio.{field}"), value, least..=most)?;
        }
        within("radio.retries", radio.retries, 0..=100)?;
        within("radio.reuse", radio.reuse, 0..=10_000)?;
        if let Channel::PowerLaw {
            exponent_up,
            exponent_down,
            exponent_uav,
        } = self.channel
        {
            within("channel.exponent_up", exponent_up, 1.0..=6.0)?;
            within("channel.exponent_down", exponent_down, 1.0..=6.0)?;
            within("channel.exponent_uav", exponent_uav, 1.0..=6.0)?;
        }
        self.check_unread_radio()
    }

    /// What the chosen kinds do not look at stays at its default.
    fn check_unread_radio(&self) -> Checked {
        let (radio, usual) = (&self.radio, Radio::default());
        let own_shadowing = matches!(
            self.channel,
            Channel::Tr36777 {
                shadowing: true,
                ..
            }
        );
        let no_carrier = matches!(self.channel, Channel::PowerLaw { .. });
        let power_law = "with channel.kind = \"power_law\", which has neither carrier nor antennas";
        for (unread, field, value, default, why) in [
            (
                no_carrier,
                "radio.carrier_hz",
                radio.carrier_hz,
                usual.carrier_hz,
                power_law,
            ),
            (
                no_carrier,
                "radio.device_gain_dbi",
                radio.device_gain_dbi,
                usual.device_gain_dbi,
                power_law,
            ),
            (
                no_carrier,
                "radio.uav_gain_dbi",
                radio.uav_gain_dbi,
                usual.uav_gain_dbi,
                power_law,
            ),
            (
                own_shadowing,
                "radio.shadowing_db",
                radio.shadowing_db,
                usual.shadowing_db,
                "with channel.shadowing = true, which has its own deviations",
            ),
            (
                radio.shadowing_db == 0.0 && !own_shadowing,
                "radio.decorrelation_m",
                radio.decorrelation_m,
                usual.decorrelation_m,
                "without shadowing (radio.shadowing_db, or channel.shadowing with tr36777)",
            ),
            (
                radio.fading != Fading::Rician,
                "radio.rician_k_db",
                radio.rician_k_db,
                usual.rician_k_db,
                "unless radio.fading = \"rician\"",
            ),
            (
                radio.least_snr_db == NO_LEAST_SNR_DB,
                "radio.retries",
                f64::from(radio.retries),
                f64::from(usual.retries),
                "while radio.least_snr_db lets no transfer fail",
            ),
        ] {
            if unread && value != default {
                return Err(bad(field, value, format_args!("{default} {why}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(settings: &[&str]) -> String {
        let scenario = Scenario::parse("", settings).unwrap();
        scenario.check().unwrap_err().to_string()
    }

    #[test]
    fn a_kind_alone_is_enough_and_comes_back_as_it_was_written() {
        for (kind, expected) in [
            ("power_law", Channel::default()),
            ("free_space", Channel::FreeSpace {}),
            (
                "line_of_sight",
                Channel::LineOfSight {
                    environment: Environment::Urban,
                    draw: Draw::Mean,
                },
            ),
            (
                "tr36777",
                Channel::Tr36777 {
                    scenario: Deployment::UmaAv,
                    draw: Draw::Mean,
                    shadowing: false,
                },
            ),
        ] {
            let scenario = Scenario::parse("", &[format!("channel.kind={kind}")]).unwrap();
            assert_eq!(scenario.channel, expected);
            let text = scenario.to_toml().unwrap();
            assert_eq!(Scenario::parse(&text, &[] as &[&str]).unwrap(), scenario);
            scenario.check().unwrap();
        }
    }

    #[test]
    fn settings_that_nothing_reads_are_refused_by_name() {
        for (settings, field) in [
            (&["radio.carrier_hz=5e9"][..], "radio.carrier_hz"),
            (&["radio.device_gain_dbi=2"], "radio.device_gain_dbi"),
            (&["radio.uav_gain_dbi=2"], "radio.uav_gain_dbi"),
            (&["radio.decorrelation_m=20"], "radio.decorrelation_m"),
            (&["radio.rician_k_db=3"], "radio.rician_k_db"),
            (
                &["radio.rician_k_db=3", "radio.fading=rayleigh"],
                "radio.rician_k_db",
            ),
            (&["radio.retries=2"], "radio.retries"),
            (
                &[
                    "channel={kind=\"tr36777\", shadowing=true}",
                    "radio.shadowing_db=6",
                ],
                "radio.shadowing_db",
            ),
        ] {
            let told = refusal(settings);
            assert!(told.starts_with(&format!("`{field}`")), "{told}");
        }
        for settings in [
            &["channel.kind=free_space", "radio.carrier_hz=5e9"][..],
            &["radio.shadowing_db=6", "radio.decorrelation_m=20"],
            &["radio.fading=rician", "radio.rician_k_db=3"],
            &["radio.least_snr_db=0", "radio.retries=2"],
        ] {
            Scenario::parse("", settings).unwrap().check().unwrap();
        }
    }
}
