//! Numbers of the methods that others proposed.

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Checked, bad, within};

/// What the methods named here are set to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Methods {
    /// Adversarial training.
    pub ahfed: Ahfed,
    /// The proximal term.
    pub fedprox: Fedprox,
    /// Selection by utility.
    pub oort: Oort,
}

/// Numbers of `ahfed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ahfed {
    /// How far inputs (0 to 1) are moved along the sign of their gradient.
    pub epsilon: f64,
}

/// Numbers of `fedprox`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fedprox {
    /// Pull towards the model that a device was sent (μ).
    pub proximal: f64,
}

/// Numbers of `oort`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Oort {
    /// Share of the selected devices that never trained before, in the first round (ε).
    pub exploration: f64,
    /// What is left of that share from round to round.
    pub exploration_decay: f64,
    /// The least it comes to.
    pub exploration_min: f64,
    /// Exponent of the penalty on devices slower than preferred (α).
    pub speed_penalty: f64,
    /// The preferred time, as a quantile of the times of devices that trained.
    pub preferred_time: f64,
}

impl Default for Ahfed {
    fn default() -> Self {
        Self { epsilon: 0.1 }
    }
}

impl Default for Fedprox {
    fn default() -> Self {
        Self { proximal: 0.01 }
    }
}

impl Default for Oort {
    fn default() -> Self {
        Self {
            exploration: 0.9,
            exploration_decay: 0.98,
            exploration_min: 0.2,
            speed_penalty: 2.0,
            preferred_time: 0.5,
        }
    }
}

impl Scenario {
    pub(super) fn check_methods(&self) -> Checked {
        let Methods {
            ahfed,
            fedprox,
            oort,
        } = &self.methods;
        within("methods.ahfed.epsilon", ahfed.epsilon, 0.0..=1.0)?;
        within("methods.fedprox.proximal", fedprox.proximal, 0.0..=1e3)?;
        for (field, value) in [
            ("exploration", oort.exploration),
            ("exploration_decay", oort.exploration_decay),
            ("exploration_min", oort.exploration_min),
            ("preferred_time", oort.preferred_time),
        ] {
            within(&format!("methods.oort.{field}"), value, 0.0..=1.0)?;
        }
        if oort.exploration_min > oort.exploration {
            return Err(bad(
                "methods.oort.exploration_min",
                oort.exploration_min,
                format_args!("at most methods.oort.exploration, {}", oort.exploration),
            ));
        }
        within(
            "methods.oort.speed_penalty",
            oort.speed_penalty,
            0.0..=100.0,
        )
    }
}
