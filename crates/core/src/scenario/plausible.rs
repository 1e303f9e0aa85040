//! Values that can be run and that hardly anybody means: another unit, a slip of the comma.

use std::fmt;

use aerofed_data::PartitionKind;

use super::{Channel, Mobility, NO_LEAST_SNR_DB, Scenario, Span, Speed};

/// A value that is allowed and unusual.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// The field's path.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What is usual.
    pub usual: String,
    /// What may have been meant, or what comes of it; empty: nobody knows.
    pub hint: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            value,
            usual,
            hint,
        } = self;
        write!(f, "`{field}` is {value}, usual: {usual}")?;
        match hint.is_empty() {
            true => Ok(()),
            false => write!(f, "; {hint}"),
        }
    }
}

/// A speed that surprises nobody.
const USUAL_SPEED_MPS: f64 = 20.0;

/// What an unusual value may have been meant to be.
type Hint = fn(f64) -> String;

/// A field, the least and greatest of its values, and what is usual.
struct Rule(&'static str, [f64; 2], [f64; 2], Hint);

fn none(_: f64) -> String {
    String::new()
}

fn watt_hours(value: f64) -> String {
    match value < 1e4 {
        true => format!("did you mean Wh? {value} Wh are {} J", value * 3600.0),
        false => String::new(),
    }
}

fn megahertz(value: f64) -> String {
    match value < 1e4 {
        true => format!("did you mean MHz? {value} MHz are {:e} Hz", value * 1e6),
        false => String::new(),
    }
}

fn gigahertz(value: f64) -> String {
    match value < 1e6 {
        true => format!("did you mean GHz? {value} GHz are {:e} Hz", value * 1e9),
        false => String::new(),
    }
}

fn kilometres_per_hour(value: f64) -> String {
    match value > 1.0 {
        true => format!("did you mean km/h? {value} km/h are {:.1} m/s", value / 3.6),
        false => String::new(),
    }
}

fn decibels(value: f64) -> String {
    match value > 1.0 {
        true => format!(
            "did you mean dBm? {value} dBm are {:.3} W",
            1e-3 * 10f64.powf(value / 10.0)
        ),
        false => String::new(),
    }
}

fn kilometres(value: f64) -> String {
    match value < 100.0 {
        true => format!("did you mean km? {value} km are {} m", value * 1e3),
        false => String::new(),
    }
}

fn diverges(value: f64) -> String {
    match value > 1.0 {
        true => "training will probably diverge".into(),
        false => "hardly anything will be learned".into(),
    }
}

fn per_hertz(value: f64) -> String {
    match value > -140.0 {
        true => "it is the power in one hertz, thermal noise has -174".into(),
        false => String::new(),
    }
}

impl Scenario {
    /// Values that are allowed and that hardly anybody means.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut found: Vec<Warning> = self.rules().into_iter().filter_map(warn).collect();
        found.extend(self.coverage());
        found.extend(self.law_warnings());
        found
    }

    /// Zero switches most of these off, and is usual wherever it is allowed.
    fn rules(&self) -> Vec<Rule> {
        let (uavs, devices, radio) = (&self.uavs, &self.devices, &self.radio);
        let one = |value: f64| [value, value];
        let span = |span: Span| [span.min, span.max];
        let (radios, bands, powers) = ([1e-3, 50.0], [1e4, 1e10], [10.0, 1e4]);
        let speeds = match uavs.speed_mps {
            Speed::Given(speeds) => span(speeds),
            // As usual as the wing that it is the best speed of.
            Speed::MaxRange | Speed::MaxEndurance => one(USUAL_SPEED_MPS),
        };
        let mut rules = vec![
            Rule(
                "area.width_m",
                one(self.area.width_m),
                [100.0, 2e5],
                kilometres,
            ),
            Rule(
                "area.height_m",
                one(self.area.height_m),
                [100.0, 2e5],
                kilometres,
            ),
            Rule(
                "devices.cpu_hz",
                span(devices.cpu_hz),
                [1e6, 1e11],
                gigahertz,
            ),
            Rule(
                "devices.cycles_per_bit",
                span(devices.cycles_per_bit),
                [0.1, 1e4],
                none,
            ),
            Rule(
                "devices.capacitance",
                one(devices.capacitance),
                [1e-30, 1e-25],
                none,
            ),
            Rule(
                "devices.fixed_time_s",
                one(devices.fixed_time_s),
                [0.0, 10.0],
                none,
            ),
            Rule(
                "devices.tx_power_w",
                span(devices.tx_power_w),
                radios,
                decibels,
            ),
            Rule("uavs.altitude_m", span(uavs.altitude_m), [10.0, 1e4], none),
            Rule("uavs.speed_mps", speeds, [1.0, 70.0], kilometres_per_hour),
            Rule("uavs.hover_power_w", span(uavs.hover_power_w), powers, none),
            Rule("uavs.move_power_w", span(uavs.move_power_w), powers, none),
            Rule(
                "uavs.battery_j",
                span(uavs.battery_j),
                [3e3, 1e8],
                watt_hours,
            ),
            Rule("uavs.tx_power_w", span(uavs.tx_power_w), radios, decibels),
            Rule(
                "uavs.broadcast_power_w",
                span(uavs.broadcast_power_w),
                radios,
                decibels,
            ),
            Rule(
                "uavs.bandwidth_up_hz",
                span(uavs.bandwidth_up_hz),
                bands,
                megahertz,
            ),
            Rule(
                "uavs.bandwidth_down_hz",
                span(uavs.bandwidth_down_hz),
                bands,
                megahertz,
            ),
            Rule("uavs.recharge_w", span(uavs.recharge_w), [10.0, 1e5], none),
            Rule(
                "radio.noise_dbm_per_hz",
                one(radio.noise_dbm_per_hz),
                [-180.0, -140.0],
                per_hertz,
            ),
            Rule(
                "radio.uav_link_bandwidth_hz",
                one(radio.uav_link_bandwidth_hz),
                bands,
                megahertz,
            ),
            Rule(
                "training.learning_rate",
                one(self.training.learning_rate),
                [1e-5, 1.0],
                diverges,
            ),
            Rule(
                "training.weight_decay",
                one(self.training.weight_decay),
                [0.0, 0.1],
                none,
            ),
            Rule(
                "fitness.uav_cpu_hz",
                one(self.fitness.uav_cpu_hz),
                [1e6, 1e11],
                gigahertz,
            ),
            Rule(
                "td3.learning_rate",
                one(self.td3.learning_rate),
                [1e-6, 1e-2],
                diverges,
            ),
        ];
        if let Channel::PowerLaw {
            exponent_up,
            exponent_down,
            exponent_uav,
        } = self.channel
        {
            let exponents = [1.6, 5.0];
            rules.extend([
                Rule("channel.exponent_up", one(exponent_up), exponents, none),
                Rule("channel.exponent_down", one(exponent_down), exponents, none),
                Rule("channel.exponent_uav", one(exponent_uav), exponents, none),
            ]);
        }
        rules.extend(self.radio_rules());
        rules.extend(self.mobility_rules());
        if let PartitionKind::Dirichlet { alpha } = self.data.partition {
            rules.push(Rule(
                "data.partition.alpha",
                one(alpha),
                [0.01, 100.0],
                none,
            ));
        }
        rules
    }

    fn radio_rules(&self) -> Vec<Rule> {
        let radio = &self.radio;
        let one = |value: f64| [value, value];
        let carriers = [1e8, 1e11];
        let mut rules = vec![
            Rule(
                "radio.carrier_hz",
                one(radio.carrier_hz),
                carriers,
                gigahertz,
            ),
            Rule(
                "radio.noise_figure_db",
                one(radio.noise_figure_db),
                [0.0, 15.0],
                none,
            ),
            Rule(
                "radio.shadowing_db",
                one(radio.shadowing_db),
                [1.0, 12.0],
                none,
            ),
            Rule(
                "radio.decorrelation_m",
                one(radio.decorrelation_m),
                [1.0, 1e3],
                none,
            ),
        ];
        if radio.least_snr_db > NO_LEAST_SNR_DB {
            rules.push(Rule(
                "radio.least_snr_db",
                one(radio.least_snr_db),
                [-30.0, 30.0],
                none,
            ));
        }
        rules
    }

    /// What people, cars and ships do.
    fn mobility_rules(&self) -> Vec<Rule> {
        let ground = |field, [least, most]: [f64; 2]| {
            Rule(field, [least, most], [0.01, 60.0], kilometres_per_hour)
        };
        let span = |field, span: Span| ground(field, [span.min, span.max]);
        match self.mobility {
            Mobility::RandomWaypoint { speed_mps, .. } | Mobility::Manhattan { speed_mps, .. } => {
                vec![span("mobility.speed_mps", speed_mps)]
            }
            Mobility::Group {
                speed_mps,
                wander_mps,
                ..
            } => vec![
                span("mobility.speed_mps", speed_mps),
                span("mobility.wander_mps", wander_mps),
            ],
            Mobility::GaussMarkov { mean_speed_mps, .. } => {
                vec![ground("mobility.mean_speed_mps", [mean_speed_mps; 2])]
            }
            Mobility::CoverageHop { .. } | Mobility::Static {} | Mobility::Trace { .. } => {
                Vec::new()
            }
        }
    }

    /// UAVs that together see next to nothing of the area, or each of them all of it.
    fn coverage(&self) -> Option<Warning> {
        let (width_m, height_m) = (self.area.width_m, self.area.height_m);
        let (radius_m, count) = (self.uavs.coverage_radius_m.max, self.uavs.count);
        let diagonal_m = width_m.hypot(height_m);
        let circles = std::f64::consts::PI * radius_m * radius_m * count as f64;
        let share = circles / (width_m * height_m);
        let hint = match () {
            () if radius_m > 2.0 * diagonal_m => {
                "every UAV covers the whole area from everywhere".to_owned()
            }
            () if share < 0.01 => {
                let percent = 100.0 * share;
                format!("the circles of {count} UAVs are {percent:.2} % of the area")
            }
            () => return None,
        };
        Some(Warning {
            field: "uavs.coverage_radius_m",
            value: radius_m.to_string(),
            usual: format!("some tenths of the area's width, {width_m} m"),
            hint,
        })
    }
}

fn warn(Rule(field, [min, max], [least, most], hint): Rule) -> Option<Warning> {
    let odd = [min, max]
        .into_iter()
        .find(|&value| value != 0.0 && !(least..=most).contains(&value))?;
    Some(Warning {
        field,
        value: match min == max {
            true => min.to_string(),
            false => format!("[{min}, {max}]"),
        },
        usual: format!("{} to {}", short(least), short(most)),
        hint: hint(odd),
    })
}

/// A bound as one would write it.
fn short(value: f64) -> String {
    match value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::BUILT_IN;
    use super::*;

    fn warnings(settings: &[&str]) -> Vec<String> {
        let scenario = Scenario::parse("", settings).unwrap();
        scenario
            .warnings()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn what_comes_with_the_program_is_usual() {
        for (name, text) in BUILT_IN {
            let scenario = Scenario::parse(text, &[] as &[&str]).unwrap();
            assert_eq!(scenario.warnings(), [], "{name}");
        }
    }

    #[test]
    fn a_unit_that_was_meant_is_suggested() {
        for (setting, part) in [
            ("uavs.battery_j=70", "did you mean Wh? 70 Wh are 252000 J"),
            (
                "training.learning_rate=50",
                "usual: 1e-5 to 1; training will probably diverge",
            ),
            ("uavs.speed_mps=100", "100 km/h are 27.8 m/s"),
            ("uavs.bandwidth_up_hz=20", "20 MHz are 2e7 Hz"),
            ("devices.cpu_hz=[1, 10]", "`devices.cpu_hz` is [1, 10]"),
            ("devices.tx_power_w=[0.2, 100]", "dBm"),
            ("radio.noise_dbm_per_hz=-100", "-174"),
            ("area.width_m=20", "20 km are 20000 m"),
            ("channel.exponent_up=1", "usual: 1.6 to 5"),
            ("uavs.coverage_radius_m=5", "the circles of"),
            ("uavs.coverage_radius_m=1e7", "whole area"),
            ("data.partition={kind=\"dirichlet\", alpha=1000}", "alpha"),
            (
                "mobility={kind=\"random_waypoint\", speed_mps=[5, 90]}",
                "90 km/h are 25.0 m/s",
            ),
            (
                "mobility={kind=\"gauss_markov\", mean_speed_mps=120}",
                "120 km/h are 33.3 m/s",
            ),
        ] {
            let told = warnings(&[setting]).join("\n");
            assert!(told.contains(part), "{setting}: {told}");
        }
        let carrier = warnings(&["channel.kind=free_space", "radio.carrier_hz=2.4"]).join("\n");
        assert!(carrier.contains("2.4 GHz are 2.4e9 Hz"), "{carrier}");
        assert_eq!(
            warnings(&["uavs.recharge_w=0", "devices.capacitance=0"]),
            [""; 0]
        );
    }
}
