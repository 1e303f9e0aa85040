//! How devices move.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::check::{Checked, bad, span, within};
use super::tracks::Tracks;
use super::{Scenario, ScenarioError, Span};

/// How devices move: between global rounds (`coverage_hop`), or all the time (the others but `static`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Mobility {
    /// A device leaves its UAV's coverage with this probability per global round (ξ).
    CoverageHop {
        /// ξ.
        #[serde(default = "defaults::hop_probability")]
        hop_probability: f64,
    },
    /// Nobody moves.
    Static {},
    /// Straight to a point anywhere in the area, a pause there, and on to the next.
    RandomWaypoint {
        /// Speed of a leg.
        #[serde(default = "defaults::speed_mps")]
        speed_mps: Span,
        /// Rest between two legs.
        #[serde(default = "defaults::pause_s")]
        pause_s: Span,
    },
    /// Speed and heading that remember what they were.
    GaussMarkov {
        /// What speeds come back to.
        #[serde(default = "defaults::mean_speed_mps")]
        mean_speed_mps: f64,
        /// Standard deviation of speeds.
        #[serde(default = "defaults::speed_sigma_mps")]
        speed_sigma_mps: f64,
        /// Standard deviation of headings around a device's mean heading.
        #[serde(default = "defaults::heading_sigma_rad")]
        heading_sigma_rad: f64,
        /// How much of speed and heading is kept from step to step.
        #[serde(default = "defaults::alpha")]
        alpha: f64,
        /// From one draw to the next.
        #[serde(default = "defaults::step_s")]
        step_s: f64,
    },
    /// Along the streets of a grid, turning at crossings.
    Manhattan {
        /// From one street to the next.
        #[serde(default = "defaults::block_m")]
        block_m: f64,
        /// Speed between two crossings.
        #[serde(default = "defaults::street_speed_mps")]
        speed_mps: Span,
        /// That a device turns, left or right, where it could go straight on.
        #[serde(default = "defaults::turn_probability")]
        turn_probability: f64,
    },
    /// Crowds: each follows a point that moves by random waypoint, and its members wander around that.
    Group {
        /// How many; devices belong to them in turn.
        #[serde(default = "defaults::groups")]
        groups: usize,
        /// How far from its group's point a member may be.
        #[serde(default = "defaults::radius_m")]
        radius_m: f64,
        /// Speed of the point on a leg.
        #[serde(default = "defaults::group_speed_mps")]
        speed_mps: Span,
        /// Its rest between two legs.
        #[serde(default = "defaults::pause_s")]
        pause_s: Span,
        /// Speed of members around it.
        #[serde(default = "defaults::wander_mps")]
        wander_mps: Span,
    },
    /// As a file says: where each device is at which times, and straight ways between.
    Trace {
        /// CSV or Parquet with columns t_s, id and x_m, y_m or lon, lat.
        #[serde(default)]
        file: PathBuf,
        /// Whether it begins anew after its end; otherwise devices stay where they were last.
        #[serde(default, rename = "loop")]
        repeats: bool,
    },
}

impl Default for Mobility {
    fn default() -> Self {
        Self::CoverageHop {
            hop_probability: defaults::hop_probability(),
        }
    }
}

/// What a kind has where a scenario says nothing.
mod defaults {
    use super::Span;

    pub(super) fn hop_probability() -> f64 {
        0.3
    }
    pub(super) fn speed_mps() -> Span {
        Span::new(1.0, 19.0)
    }
    pub(super) fn pause_s() -> Span {
        Span::new(0.0, 0.0)
    }
    pub(super) fn mean_speed_mps() -> f64 {
        6.0
    }
    pub(super) fn speed_sigma_mps() -> f64 {
        2.0
    }
    pub(super) fn heading_sigma_rad() -> f64 {
        0.5
    }
    pub(super) fn alpha() -> f64 {
        0.85
    }
    pub(super) fn step_s() -> f64 {
        1.0
    }
    pub(super) fn block_m() -> f64 {
        200.0
    }
    pub(super) fn street_speed_mps() -> Span {
        Span::new(5.0, 15.0)
    }
    pub(super) fn turn_probability() -> f64 {
        0.5
    }
    pub(super) fn groups() -> usize {
        5
    }
    pub(super) fn radius_m() -> f64 {
        100.0
    }
    pub(super) fn group_speed_mps() -> Span {
        Span::new(0.5, 1.5)
    }
    pub(super) fn wander_mps() -> Span {
        Span::new(0.1, 0.5)
    }
}

/// Speeds of whatever moves, m/s. Not 0: whoever draws that never arrives.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-3..=1e3;
/// Pauses, s.
const PAUSES: std::ops::RangeInclusive<f64> = 0.0..=1e9;

impl Mobility {
    /// The file that it reads; none where it reads none.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Trace { file, .. } => Some(file),
            _ => None,
        }
    }

    /// Whether it says itself where devices are at first, so that a scenario cannot.
    #[must_use]
    pub fn places_devices(&self) -> bool {
        matches!(self, Self::Group { .. } | Self::Trace { .. })
    }
}

impl Scenario {
    pub(super) fn check_mobility(&self) -> Checked {
        let (width_m, height_m) = (self.area.width_m, self.area.height_m);
        match &self.mobility {
            Mobility::CoverageHop { hop_probability } => {
                within("mobility.hop_probability", *hop_probability, 0.0..=1.0)
            }
            Mobility::Static {} => Ok(()),
            Mobility::RandomWaypoint { speed_mps, pause_s } => {
                span("mobility.speed_mps", *speed_mps, SPEEDS)?;
                span("mobility.pause_s", *pause_s, PAUSES)
            }
            Mobility::GaussMarkov {
                mean_speed_mps,
                speed_sigma_mps,
                heading_sigma_rad,
                alpha,
                step_s,
            } => {
                within("mobility.mean_speed_mps", *mean_speed_mps, 0.0..=1e3)?;
                within("mobility.speed_sigma_mps", *speed_sigma_mps, 0.0..=1e3)?;
                within("mobility.heading_sigma_rad", *heading_sigma_rad, 0.0..=10.0)?;
                within("mobility.alpha", *alpha, 0.0..=1.0)?;
                within("mobility.step_s", *step_s, 1e-3..=1e6)
            }
            Mobility::Manhattan {
                block_m,
                speed_mps,
                turn_probability,
            } => {
                within("mobility.block_m", *block_m, 1.0..=width_m.min(height_m))?;
                span("mobility.speed_mps", *speed_mps, SPEEDS)?;
                within("mobility.turn_probability", *turn_probability, 0.0..=1.0)
            }
            Mobility::Group {
                groups,
                radius_m,
                speed_mps,
                pause_s,
                wander_mps,
            } => {
                within("mobility.groups", *groups, 1..=self.devices.count)?;
                // What is left for the groups' points to move in.
                let most_m = 0.45 * width_m.min(height_m);
                within("mobility.radius_m", *radius_m, 1e-3..=most_m)?;
                span("mobility.speed_mps", *speed_mps, SPEEDS)?;
                span("mobility.pause_s", *pause_s, PAUSES)?;
                span("mobility.wander_mps", *wander_mps, SPEEDS)
            }
            Mobility::Trace { file, .. } => match file.as_os_str().is_empty() {
                true => Err(bad(
                    "mobility.file",
                    "\"\"",
                    "a CSV or Parquet file with columns t_s, id, x_m, y_m",
                )),
                false => Ok(()),
            },
        }
    }

    /// The tracks in the file that `mobility.file` names.
    pub(super) fn read_tracks(&self) -> Result<Option<Arc<Tracks>>, ScenarioError> {
        let Some(path) = self.mobility.file() else {
            return Ok(None);
        };
        let tracks = Tracks::read(path, self.devices.count, &self.area);
        let tracks = tracks.map_err(|reason| {
            let allowed = format!("a CSV or Parquet file of tracks ({reason})");
            bad("mobility.file", format_args!("{path:?}"), allowed)
        })?;
        Ok(Some(Arc::new(tracks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_alone_will_do_and_its_numbers_have_ranges() {
        for kind in [
            "coverage_hop",
            "static",
            "random_waypoint",
            "gauss_markov",
            "manhattan",
            "group",
        ] {
            let set = format!("mobility.kind={kind}");
            Scenario::parse("", &[set]).unwrap().check().unwrap();
        }
        for (kind, setting) in [
            ("random_waypoint", "speed_mps=[0, 2]"),
            ("random_waypoint", "speed_mps=[3, 2]"),
            ("random_waypoint", "pause_s=-1"),
            ("gauss_markov", "mean_speed_mps=nan"),
            ("gauss_markov", "speed_sigma_mps=-1"),
            ("gauss_markov", "heading_sigma_rad=45"),
            ("gauss_markov", "alpha=1.5"),
            ("gauss_markov", "step_s=0"),
            ("manhattan", "block_m=30000"),
            ("manhattan", "speed_mps=0"),
            ("manhattan", "turn_probability=2"),
            ("group", "groups=0"),
            ("group", "groups=151"),
            ("group", "radius_m=10000"),
            ("group", "speed_mps=0"),
            ("group", "pause_s=-1"),
            ("group", "wander_mps=0"),
            ("trace", "file=\"\""),
        ] {
            let settings = [
                format!("mobility.kind={kind}"),
                format!("mobility.{setting}"),
            ];
            let refused = Scenario::parse("", &settings).unwrap().check();
            let field = setting.split('=').next().unwrap();
            let told = refused.unwrap_err().to_string();
            assert!(
                told.starts_with(&format!("`mobility.{field}` is ")),
                "{told}"
            );
        }
    }
}
