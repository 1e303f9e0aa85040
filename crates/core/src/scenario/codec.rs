//! What models and updates are on the air.

use serde::{Deserialize, Serialize};

use super::check::{Checked, bad, within};
use super::{Model, Scenario};

/// What models and updates are on the air (`learn::codec` does it).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Codec {
    /// Numbers as they are, `model.bits_per_parameter` each.
    #[serde(rename = "f32")]
    F32 {},
    /// Half precision.
    #[serde(rename = "f16")]
    F16 {},
    /// Whole numbers from -127 to 127, and a scale for each block of 256.
    #[serde(rename = "int8")]
    Int8 {
        /// Whether a sender adds to its next update what did not arrive of the last.
        #[serde(default = "on")]
        error_feedback: bool,
    },
    /// The largest numbers of an update alone; models are sent whole.
    TopK {
        /// How many of them.
        #[serde(default = "one_in_a_hundred")]
        fraction: f64,
        /// Whether a sender adds to its next update what did not arrive of the last.
        #[serde(default = "on")]
        error_feedback: bool,
    },
}

fn on() -> bool {
    true
}

fn one_in_a_hundred() -> f64 {
    0.01
}

impl Default for Codec {
    fn default() -> Self {
        Self::F32 {}
    }
}

impl Codec {
    /// As a scenario names it.
    fn name(&self) -> &'static str {
        match self {
            Self::F32 {} => "f32",
            Self::F16 {} => "f16",
            Self::Int8 { .. } => "int8",
            Self::TopK { .. } => "top_k",
        }
    }
}

impl Scenario {
    pub(super) fn check_codec(&self) -> Checked {
        if let Codec::TopK { fraction, .. } = self.codec {
            within("codec.fraction", fraction, 1e-6..=1.0)?;
        }
        let (bits, default) = (
            self.model.bits_per_parameter,
            Model::default().bits_per_parameter,
        );
        if self.codec != Codec::default() && bits != default {
            let name = self.codec.name();
            let allowed = format!(
                "{default}, its default, with codec.kind = {name:?}, which does not read it"
            );
            return Err(bad("model.bits_per_parameter", bits, allowed));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(settings: &[&str]) -> Codec {
        Scenario::parse("", settings).unwrap().codec
    }

    #[test]
    fn a_kind_alone_will_do() {
        assert_eq!(parsed(&[]), Codec::F32 {});
        assert_eq!(parsed(&["codec.kind=f16"]), Codec::F16 {});
        let error_feedback = true;
        assert_eq!(parsed(&["codec.kind=int8"]), Codec::Int8 { error_feedback });
        let fraction = 0.01;
        assert_eq!(
            parsed(&["codec.kind=top_k"]),
            Codec::TopK {
                fraction,
                error_feedback
            }
        );
        let plain = parsed(&["codec.error_feedback=false", "codec.kind=int8"]);
        let error_feedback = false;
        assert_eq!(plain, Codec::Int8 { error_feedback });
    }

    #[test]
    fn what_a_codec_does_not_read_is_refused() {
        for settings in [
            &["codec.fraction=0.5"][..],
            &["codec.kind=f16", "codec.error_feedback=false"],
            &["codec.kind=int8", "codec.fraction=0.5"],
            &["codec.kind=zip"],
        ] {
            assert!(Scenario::parse("", settings).is_err(), "{settings:?}");
        }
        for settings in [
            ["codec.kind=int8", "model.bits_per_parameter=16"],
            ["codec.kind=top_k", "codec.fraction=0"],
            ["codec.kind=top_k", "codec.fraction=nan"],
            ["codec.kind=top_k", "codec.fraction=1.1"],
        ] {
            let told = Scenario::parse("", &settings).unwrap().check().unwrap_err();
            let field = settings[1].split('=').next().unwrap();
            assert!(told.to_string().contains(field), "{told}");
        }
    }
}
