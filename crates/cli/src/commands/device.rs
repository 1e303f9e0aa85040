//! What trains: this machine's cores, or a GPU.

use aerofed::run::Builder;
use anyhow::Result;
use clap::{Args, ValueEnum};

#[cfg(feature = "cuda")]
use {aerofed_gpu::Card, std::sync::Arc};

use crate::console::{self, BadInput};

#[derive(Args)]
pub(crate) struct DeviceArgs {
    /// What trains; a GPU gives the same curves but for rounding
    #[arg(long, value_enum, value_name = "NAME", default_value_t = DeviceName::Cpu)]
    device: DeviceName,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum DeviceName {
    /// A GPU where there is one, the cores elsewhere
    Auto,
    /// This machine's cores
    Cpu,
    /// An NVIDIA GPU (programs built with `--features cuda`)
    Cuda,
}

/// What was asked for, ready to train.
pub(crate) enum Device {
    Cores,
    #[cfg(feature = "cuda")]
    Card(Arc<Card>),
}

impl DeviceArgs {
    /// Finds it; says what `auto` came to, unless `quiet`.
    pub(crate) fn open(&self, quiet: bool) -> Result<Device> {
        let found = match self.device {
            DeviceName::Cpu => return Ok(Device::Cores),
            DeviceName::Auto | DeviceName::Cuda => open_card(),
        };
        match (found, self.device) {
            (Ok(device), _) => Ok(device),
            (Err(reason), DeviceName::Auto) => {
                if !quiet {
                    console::message(&format!("training on the cores: {reason}"));
                }
                Ok(Device::Cores)
            }
            (Err(reason), _) => Err(BadInput(format!("`--device` is cuda: {reason}")).into()),
        }
    }
}

#[cfg(feature = "cuda")]
fn open_card() -> Result<Device, String> {
    let card = Card::open().map_err(|error| error.to_string())?;
    Ok(Device::Card(card))
}

#[cfg(not(feature = "cuda"))]
fn open_card() -> Result<Device, String> {
    Err("this program was built without it; `cargo build --release --features cuda` has it".into())
}

impl Device {
    /// Whether it is what simulations train on by themselves.
    pub(crate) fn is_cores(&self) -> bool {
        matches!(self, Self::Cores)
    }

    /// A simulation that trains on it.
    pub(crate) fn train_on<'a>(&'a self, builder: Builder<'a>) -> Builder<'a> {
        match self {
            Self::Cores => builder,
            #[cfg(feature = "cuda")]
            Self::Card(card) => builder.engine(|network| card.engine(network)),
        }
    }
}
