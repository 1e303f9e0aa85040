//! What can go wrong with a card.

/// Why a card cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no driver.
    #[error(
        "no NVIDIA driver was found (libcuda): `--device cuda` needs a GPU and its driver; `--device cpu` does without"
    )]
    NoDriver,
    /// There is a driver, but no compiler for kernels.
    #[error(
        "NVRTC was not found (libnvrtc): it comes with the CUDA toolkit and, without it, with `pip install nvidia-cuda-nvrtc`; its folder must be on LD_LIBRARY_PATH"
    )]
    NoCompiler,
    /// The driver knows of no card.
    #[error("the NVIDIA driver knows of no GPU: {reason}")]
    NoCard {
        /// What the driver says.
        reason: String,
    },
    /// The kernels do not compile.
    #[error("the kernels of this model do not compile: {log}")]
    Compile {
        /// What the compiler says.
        log: String,
    },
    /// The card failed.
    #[error("the GPU failed to {task}: {reason}")]
    Failed {
        /// What it was to do.
        task: &'static str,
        /// What the driver says.
        reason: String,
    },
}

impl From<Error> for aerofed::Error {
    fn from(error: Error) -> Self {
        aerofed::Error::Engine {
            reason: error.to_string(),
        }
    }
}
