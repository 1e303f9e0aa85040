//! What a sweep varies: fields of the scenario, each with listed values or between two ends.

use aerofed::Scenario;
use aerofed::seed::{Stream, stream};
use rand::RngExt;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::plan::split;

/// A field of the scenario that a sweep varies.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepAxis {
    /// Its path, as in `uavs.speed_mps`.
    pub path: String,
    /// What it is set to.
    pub values: AxisValues,
}

/// What a field is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValues {
    /// Each of these, with every value of every other axis.
    Listed(Vec<String>),
    /// Anything between two ends, drawn anew for each sample.
    Drawn {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// Whether every decade is as likely as any other, rather than every unit.
        log: bool,
        /// Whether only whole numbers are drawn, because the field holds no others.
        whole: bool,
    },
}

impl SweepAxis {
    /// Reads `PATH=VALUE,VALUE,...`; commas in brackets and quotes belong to a value.
    ///
    /// ```
    /// use aerofed_experiment::sweep::{AxisValues, SweepAxis};
    /// let axis = SweepAxis::listed("uavs.count=3,5")?;
    /// assert_eq!(axis.values, AxisValues::Listed(vec!["3".into(), "5".into()]));
    /// # Ok::<(), aerofed_experiment::Error>(())
    /// ```
    ///
    /// # Errors
    /// When it is not of that form, or names a value twice.
    pub fn listed(text: &str) -> Result<Self, Error> {
        let refuse = |reason: &str| refused(&format!("--grid {text}"), reason);
        let Some((path, values)) = parts(text) else {
            return Err(refuse("allowed: PATH=VALUE,VALUE,..."));
        };
        let values: Vec<String> = split(values, ',')
            .into_iter()
            .map(|value| value.trim().to_owned())
            .collect();
        for (place, value) in values.iter().enumerate() {
            if value.is_empty() {
                return Err(refuse("a value is empty"));
            }
            if values[..place].contains(value) {
                return Err(refuse(&format!("{value} stands there twice")));
            }
        }
        Ok(Self {
            path: path.into(),
            values: AxisValues::Listed(values),
        })
    }

    /// Reads `PATH=LOW..HIGH` or `PATH=LOW..HIGH,log`. Whether the field holds whole numbers alone, the scenario tells.
    ///
    /// # Errors
    /// When it is not of that form, or there is nothing between its ends.
    pub fn drawn(text: &str, base: &Scenario) -> Result<Self, Error> {
        let refuse = |reason: &str| refused(&format!("--random {text}"), reason);
        let form = "allowed: PATH=LOW..HIGH with two numbers, or PATH=LOW..HIGH,log";
        let Some((path, range)) = parts(text) else {
            return Err(refuse(form));
        };
        let (range, log) = match range.split_once(',') {
            None => (range, false),
            Some((range, word)) if word.trim() == "log" => (range, true),
            Some(_) => return Err(refuse(form)),
        };
        let number = |text: &str| text.trim().parse().ok().filter(|n: &f64| n.is_finite());
        let ends = range
            .split_once("..")
            .and_then(|(low, high)| Some((number(low)?, number(high)?)));
        let Some((low, high)) = ends else {
            return Err(refuse(form));
        };
        if low >= high {
            return Err(refuse("allowed: a lower end that is below the upper one"));
        }
        if log && low <= 0.0 {
            return Err(refuse("allowed with `log`: ends above 0"));
        }
        let whole = holds_whole_numbers(base, path, low)?;
        if whole && low.ceil() > high.floor() {
            return Err(refuse("no whole number lies between its ends"));
        }
        Ok(Self {
            path: path.into(),
            values: AxisValues::Drawn {
                low,
                high,
                log,
                whole,
            },
        })
    }

    /// Its value in a sample, as TOML has it; a listed axis has none. A draw depends on the axis and the sample alone: more samples, or
    /// another axis beside it, leave those that were drawn as they are.
    #[must_use]
    pub fn draw(&self, sample: usize) -> Option<String> {
        let AxisValues::Drawn {
            low,
            high,
            log,
            whole,
        } = self.values
        else {
            return None;
        };
        let name = Sha256::digest(self.path.as_bytes());
        let id = name
            .iter()
            .take(8)
            .fold(0, |id, &byte| id << 8 | u64::from(byte));
        let way: f64 = stream(0, Stream::Sweep, sample as u64, id).random();
        let between = |from: f64, to: f64| match log {
            true => libm::exp(libm::log(from) + way * (libm::log(to) - libm::log(from))),
            false => from + way * (to - from),
        };
        Some(match whole {
            true => {
                // Every whole number has a unit of its own.
                let (least, most) = (low.ceil(), high.floor());
                let drawn = between(least, most + 1.0).floor();
                format!("{}", drawn.clamp(least, most))
            }
            false => {
                // Six digits: more make tables that nobody reads.
                let drawn = format!("{:.5e}", between(low, high));
                let drawn: f64 = drawn.parse().unwrap_or(low);
                format!("{:?}", drawn.clamp(low, high))
            }
        })
    }
}

fn refused(place: &str, reason: &str) -> Error {
    Error::Plan {
        place: format!("`{place}`"),
        reason: reason.into(),
    }
}

/// The path and what it is set to.
fn parts(text: &str) -> Option<(&str, &str)> {
    let (path, values) = text.split_once('=')?;
    let (path, values) = (path.trim(), values.trim());
    (!path.is_empty() && !values.is_empty()).then_some((path, values))
}

/// Whether a field takes whole numbers and no others: found out by asking for both.
fn holds_whole_numbers(base: &Scenario, path: &str, near: f64) -> Result<bool, Error> {
    let text = base.to_toml()?;
    let takes = |value: String| Scenario::parse(&text, &[format!("{path}={value}")]);
    let whole = near.ceil();
    match (
        takes(format!("{:?}", whole + 0.5)),
        takes(format!("{whole}")),
    ) {
        (Ok(_), _) => Ok(false),
        (Err(_), Ok(_)) => Ok(true),
        (Err(error), Err(_)) => Err(super::in_axis(error, "--random")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> Result<SweepAxis, String> {
        SweepAxis::drawn(text, &Scenario::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn draws_stay_between_the_ends_and_fill_them() {
        for (text, low, high) in [
            ("uavs.speed_mps=10..30", 10.0, 30.0),
            ("training.learning_rate=1e-3..1,log", 1e-3, 1.0),
            ("devices.count=50..52", 50.0, 52.0),
            ("devices.count=1..1000,log", 1.0, 1000.0),
        ] {
            let axis = drawn(text).unwrap();
            let values: Vec<f64> = (0..500)
                .map(|sample| axis.draw(sample).unwrap().parse().unwrap())
                .collect();
            assert!(
                values.iter().all(|v| (low..=high).contains(v)),
                "{text}: {values:?}"
            );
            let whole = text.starts_with("devices.count");
            assert_eq!(values.iter().all(|v| v.fract() == 0.0), whole, "{text}");
            let middle = match text.ends_with("log") {
                true => (low * high).sqrt(),
                false => 0.5 * (low + high),
            };
            let below = values.iter().filter(|v| **v <= middle).count();
            assert!((200..=370).contains(&below), "{text}: {below} of 500");
        }
        let ends: Vec<String> = (0..99)
            .filter_map(|sample| drawn("devices.count=50..52").unwrap().draw(sample))
            .collect();
        for end in ["50", "51", "52"] {
            assert!(ends.iter().any(|value| value == end), "{ends:?}");
        }
    }

    #[test]
    fn a_draw_depends_on_its_axis_and_sample_alone() {
        let speed = drawn("uavs.speed_mps=10..30").unwrap();
        let power = drawn("uavs.tx_power_w=10..30").unwrap();
        assert_eq!(speed.draw(7), speed.draw(7));
        assert_ne!(speed.draw(7), speed.draw(8));
        assert_ne!(speed.draw(7), power.draw(7));
    }

    #[test]
    fn what_is_no_axis_says_why() {
        for (text, told) in [
            ("uavs.speed_mps", "PATH=LOW..HIGH"),
            ("uavs.speed_mps=3", "PATH=LOW..HIGH"),
            ("uavs.speed_mps=1..2,lin", "PATH=LOW..HIGH"),
            ("uavs.speed_mps=1..x", "PATH=LOW..HIGH"),
            ("uavs.speed_mps=5..5", "below the upper"),
            ("uavs.speed_mps=0..5,log", "ends above 0"),
            ("devices.count=1.2..1.8", "no whole number"),
            ("uavs.sped_mps=1..2", "`uavs.speed_mps`"),
            ("uavs.layout.kind=1..2", "uavs.layout"),
        ] {
            let told_here = drawn(text).unwrap_err();
            assert!(told_here.contains(told), "{text}: {told_here}");
        }
        for (text, told) in [
            ("uavs.count", "PATH=VALUE"),
            ("=3", "PATH=VALUE"),
            ("uavs.count=", "PATH=VALUE"),
            ("uavs.count=3,,4", "empty"),
            ("uavs.count=3,4,3", "3 stands there twice"),
        ] {
            let error = SweepAxis::listed(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
