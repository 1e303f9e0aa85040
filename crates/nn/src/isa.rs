//! Which vector instructions the kernels use.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// An instruction set the kernels are written for. All give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isa {
    /// x86-64 with 512-bit vectors (F, VL, BW, DQ).
    Avx512,
    /// x86-64 with 256-bit vectors and fused multiply-add.
    Avx2,
    /// 64-bit ARM.
    Neon,
    /// Plain Rust, for every other machine.
    Portable,
}

impl Isa {
    /// All instruction sets, fastest first.
    pub const ALL: [Isa; 4] = [Isa::Avx512, Isa::Avx2, Isa::Neon, Isa::Portable];

    /// Environment variable that forces an instruction set by name.
    pub const VARIABLE: &str = "AEROFED_ISA";

    /// The name in the environment variable and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Avx512 => "avx512",
            Isa::Avx2 => "avx2",
            Isa::Neon => "neon",
            Isa::Portable => "portable",
        }
    }

    /// Whether this machine has it.
    pub fn is_supported(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && Isa::Avx2.is_supported()
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            // Every 64-bit ARM has it.
            Isa::Neon => cfg!(target_arch = "aarch64"),
            Isa::Portable => true,
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => false,
        }
    }

    /// The fastest one this machine has.
    pub fn best() -> Isa {
        let supported = |isa: &Isa| isa.is_supported();
        Isa::ALL
            .into_iter()
            .find(supported)
            .unwrap_or(Isa::Portable)
    }

    /// The one that `AEROFED_ISA` names, or the best.
    ///
    /// # Errors
    /// When the variable holds an unknown name or one this machine has not.
    pub fn from_environment() -> Result<Isa, Error> {
        match std::env::var_os(Isa::VARIABLE) {
            None => Ok(Isa::best()),
            Some(name) => name.to_string_lossy().parse::<Isa>()?.checked(),
        }
    }

    /// Itself where this machine has it.
    ///
    /// # Errors
    /// [`Error::Isa`] where it has not.
    pub fn checked(self) -> Result<Isa, Error> {
        if self.is_supported() {
            return Ok(self);
        }
        Err(Error::Isa {
            name: self.name().into(),
            reason: "this machine does not have it",
        })
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = Error;

    fn from_str(name: &str) -> Result<Isa, Error> {
        Isa::ALL
            .into_iter()
            .find(|isa| isa.name() == name)
            .ok_or_else(|| Error::Isa {
                name: name.into(),
                reason: "known are avx512, avx2, neon and portable",
            })
    }
}
