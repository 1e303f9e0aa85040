//! A card: its memory, its compiler, its kernels. The only file that talks to the driver.
#![allow(unsafe_code)]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aerofed_data::{Dataset, Values as DataValues};
use aerofed_nn::Network;
use cudarc::driver::sys::{
    CUdevice_attribute, CUfunction_attribute, CUmemPool_attribute, cuDeviceGetDefaultMemPool,
    cuMemPoolSetAttribute,
};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg,
};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use crate::Error;
use crate::source::{Phase, Source, Variant, source};
use crate::work::{Cell, Job, Look};

// SAFETY: plain numbers in the layout of C, as `kernels.cu` has them.
unsafe impl DeviceRepr for Job {}
// SAFETY: as above.
unsafe impl DeviceRepr for Look {}
// SAFETY: as above.
unsafe impl DeviceRepr for Cell {}

/// Numbers in the card's memory.
pub(crate) type Numbers = CudaSlice<f32>;

/// A GPU, and what was put on it.
pub struct Card {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    name: String,
    multiprocessors: usize,
    /// Bytes of shared memory that one block can have.
    shared_bytes: usize,
    kernels: Mutex<Vec<(Network, Variant, Arc<Kernels>)>>,
    /// Data sets, kept as long as the card, so that a set is known by its address.
    sets: Mutex<Vec<(Arc<Dataset>, Arc<DeviceSet>)>>,
}

/// Compiled kernels of a network, and the memory that their blocks work in.
pub(crate) struct Kernels {
    train: CudaFunction,
    look: CudaFunction,
    average: CudaFunction,
    source: Source,
    variant: Variant,
    /// Blocks that run at a time.
    blocks: usize,
    scratch: Mutex<CudaSlice<f32>>,
    /// What each phase of training took so far, where the variant counts it.
    cycles: Mutex<CudaSlice<u64>>,
}

/// A data set in the card's memory.
pub(crate) struct DeviceSet {
    inputs: DeviceValues,
    labels: CudaSlice<u8>,
}

enum DeviceValues {
    Pixels(CudaSlice<u8>),
    Numbers(CudaSlice<f32>),
}

/// What forward passes say, sample after sample.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) outputs: Vec<f32>,
    pub(crate) losses: Vec<f32>,
    pub(crate) correct: Vec<u8>,
}

/// What a driver's answer means.
fn failed(task: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Failed {
        task,
        reason: error.to_string(),
    }
}

/// A lock is held for the time of one call; what a panic leaves behind is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets memory that is freed stay with this program: to have it mapped anew takes longer than many a kernel.
fn keep_freed_memory(context: &CudaContext) -> Result<(), DriverError> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let all = u64::MAX;
    let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    let mut pool = std::ptr::null_mut();
    // SAFETY: the context is there; the attribute is a 64-bit number.
    unsafe {
        cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()).result()?;
        cuMemPoolSetAttribute(pool, attribute, (&raw const all).cast_mut().cast()).result()
    }
}

impl Card {
    /// The first GPU of this machine.
    ///
    /// # Errors
    /// When there is no driver, no compiler or no GPU.
    pub fn open() -> Result<Arc<Self>, Error> {
        // SAFETY: libraries of the driver and of NVRTC are loaded, nothing else.
        if !unsafe { cudarc::driver::sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        // SAFETY: as above.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return Err(Error::NoCompiler);
        }
        let context = CudaContext::new(0).map_err(|error| Error::NoCard {
            reason: error.to_string(),
        })?;
        keep_freed_memory(&context).map_err(failed("reserve memory"))?;
        let about = |attribute| {
            context
                .attribute(attribute)
                .map_err(failed("say what it is"))
        };
        let multiprocessors = about(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let shared =
            about(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        Ok(Arc::new(Self {
            stream: context.default_stream(),
            name: context.name().map_err(failed("say its name"))?,
            multiprocessors: usize::try_from(multiprocessors).unwrap_or(1),
            shared_bytes: usize::try_from(shared).unwrap_or(0),
            context,
            kernels: Mutex::default(),
            sets: Mutex::default(),
        }))
    }

    /// What the maker calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of its memory that are free now.
    pub(crate) fn free_bytes(&self) -> usize {
        self.context.mem_get_info().map_or(0, |(free, _)| free)
    }

    /// A data set on the card; put there the first time.
    pub(crate) fn set(&self, set: &Arc<Dataset>) -> Result<Arc<DeviceSet>, Error> {
        let mut sets = lock(&self.sets);
        if let Some((_, there)) = sets.iter().find(|(known, _)| Arc::ptr_eq(known, set)) {
            return Ok(there.clone());
        }
        let failed = failed("take the data set");
        let inputs = match &set.inputs {
            DataValues::Pixels(pixels) => {
                DeviceValues::Pixels(self.stream.clone_htod(&pixels[..]).map_err(&failed)?)
            }
            DataValues::Numbers(numbers) => {
                DeviceValues::Numbers(self.stream.clone_htod(&numbers[..]).map_err(&failed)?)
            }
        };
        let labels = self.stream.clone_htod(&set.labels[..]).map_err(&failed)?;
        let there = Arc::new(DeviceSet { inputs, labels });
        sets.push((set.clone(), there.clone()));
        Ok(there)
    }

    /// The kernels for a network; compiled the first time.
    pub(crate) fn kernels(
        &self,
        network: &Network,
        variant: Variant,
    ) -> Result<Arc<Kernels>, Error> {
        let mut kernels = lock(&self.kernels);
        let mut all = kernels.iter();
        if let Some((.., known)) = all.find(|(of, with, _)| of == network && *with == variant) {
            return Ok(known.clone());
        }
        let made = Arc::new(self.compile(network, variant)?);
        kernels.push((network.clone(), variant, made.clone()));
        Ok(made)
    }

    fn compile(&self, network: &Network, variant: Variant) -> Result<Kernels, Error> {
        let source = source(network, variant, self.shared_bytes);
        let capability = self.context.compute_capability();
        let (major, minor) = capability.map_err(failed("say what it is"))?;
        let options = CompileOptions {
            options: vec![
                format!("--gpu-architecture=compute_{major}{minor}"),
                "--std=c++17".into(),
            ],
            ..CompileOptions::default()
        };
        let ptx = compile_ptx_with_opts(&source.text, options).map_err(|error| Error::Compile {
            log: match error {
                CompileError::CompileError { log, .. } => log.to_string_lossy().into(),
                other => format!("{other:?}"),
            },
        })?;
        let module = self
            .context
            .load_module(ptx)
            .map_err(failed("load the kernels"))?;
        let function = |name: &str| module.load_function(name).map_err(failed("load a kernel"));
        let (train, look, average) = (function("train")?, function("look")?, function("average")?);
        for kernel in [&train, &look] {
            let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let set = kernel.set_attribute(most, source.shared_bytes as i32);
            set.map_err(failed("reserve shared memory"))?;
        }
        let blocks = self.multiprocessors * variant.blocks;
        let scratch = self.stream.alloc_zeros(blocks * source.scratch.max(1));
        let cycles = self.stream.alloc_zeros(source.phases.len().max(1));
        Ok(Kernels {
            train,
            look,
            average,
            scratch: Mutex::new(scratch.map_err(failed("reserve memory"))?),
            cycles: Mutex::new(cycles.map_err(failed("reserve memory"))?),
            source,
            variant,
            blocks,
        })
    }

    /// Puts models one after the other.
    pub(crate) fn upload(&self, models: &[&[f32]]) -> Result<Numbers, Error> {
        let uploaded = match models {
            [one] => self.stream.clone_htod(*one),
            many => self.stream.clone_htod(&many.concat()),
        };
        uploaded.map_err(failed("take the models"))
    }

    /// Trains jobs; leaves their models and losses on the card.
    pub(crate) fn train(
        &self,
        kernels: &Kernels,
        set: &DeviceSet,
        (jobs, orders): (&[Job], &[u32]),
        starts: &Numbers,
        parameters: usize,
    ) -> Result<(Numbers, Numbers), Error> {
        let failed = failed("train");
        let stream = &self.stream;
        let mut models = stream
            .alloc_zeros::<f32>(jobs.len() * parameters)
            .map_err(&failed)?;
        let mut losses = stream.alloc_zeros::<f32>(jobs.len()).map_err(&failed)?;
        let mut next = stream.alloc_zeros::<u32>(1).map_err(&failed)?;
        let count = jobs.len() as u32;
        let (jobs, orders) = (
            stream.clone_htod(jobs).map_err(&failed)?,
            stream.clone_htod(orders).map_err(&failed)?,
        );
        let mut scratch = lock(&kernels.scratch);
        let mut cycles = lock(&kernels.cycles);
        let mut launch = stream.launch_builder(&kernels.train);
        match &set.inputs {
            DeviceValues::Pixels(pixels) => launch.arg(pixels),
            DeviceValues::Numbers(numbers) => launch.arg(numbers),
        };
        launch.arg(&set.labels).arg(&orders).arg(&jobs).arg(starts);
        launch.arg(&mut models).arg(&mut losses).arg(&mut *cycles);
        launch.arg(&count).arg(&mut next).arg(&mut *scratch);
        // SAFETY: the arguments are those of `train` in `source.rs`; indices, labels and lengths were checked by the engine.
        unsafe { launch.launch(kernels.config(count)) }.map_err(&failed)?;
        drop(launch);
        Ok((models, losses))
    }

    /// Runs samples through models on the card.
    pub(crate) fn look(
        &self,
        kernels: &Kernels,
        set: &DeviceSet,
        (looks, orders): (&[Look], &[u32]),
        models: &Numbers,
        classes: usize,
    ) -> Result<Said, Error> {
        if orders.is_empty() {
            return Ok(Said::default());
        }
        let failed = failed("evaluate");
        let (stream, samples) = (&self.stream, orders.len());
        let mut outputs = stream
            .alloc_zeros::<f32>(samples * classes)
            .map_err(&failed)?;
        let mut losses = stream.alloc_zeros::<f32>(samples).map_err(&failed)?;
        let mut correct = stream.alloc_zeros::<u8>(samples).map_err(&failed)?;
        let mut next = stream.alloc_zeros::<u32>(1).map_err(&failed)?;
        let count = looks.len() as u32;
        let (looks, orders) = (
            stream.clone_htod(looks).map_err(&failed)?,
            stream.clone_htod(orders).map_err(&failed)?,
        );
        let mut scratch = lock(&kernels.scratch);
        let mut launch = stream.launch_builder(&kernels.look);
        match &set.inputs {
            DeviceValues::Pixels(pixels) => launch.arg(pixels),
            DeviceValues::Numbers(numbers) => launch.arg(numbers),
        };
        launch.arg(&set.labels).arg(&orders).arg(&looks).arg(models);
        launch.arg(&mut outputs).arg(&mut losses).arg(&mut correct);
        launch.arg(&count).arg(&mut next).arg(&mut *scratch);
        // SAFETY: the arguments are those of `look` in `source.rs`; indices and labels were checked by the engine.
        unsafe { launch.launch(kernels.config(count)) }.map_err(&failed)?;
        drop(launch);
        Ok(Said {
            outputs: stream.clone_dtoh(&outputs).map_err(&failed)?,
            losses: stream.clone_dtoh(&losses).map_err(&failed)?,
            correct: stream.clone_dtoh(&correct).map_err(&failed)?,
        })
    }

    /// The weighted means of cells of models.
    pub(crate) fn average(
        &self,
        kernels: &Kernels,
        models: &Numbers,
        cells: &[Cell],
        shares: &[f64],
        parameters: usize,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let failed = failed("average models");
        let stream = &self.stream;
        let mut means = stream
            .alloc_zeros::<f32>(cells.len() * parameters)
            .map_err(&failed)?;
        let config = LaunchConfig {
            grid_dim: (parameters.div_ceil(256) as u32, cells.len() as u32, 1),
            block_dim: (256, 1, 1),
            shared_mem_bytes: 0,
        };
        let (cells, shares) = (
            stream.clone_htod(cells).map_err(&failed)?,
            stream.clone_htod(shares).map_err(&failed)?,
        );
        let count = parameters as u32;
        let mut launch = stream.launch_builder(&kernels.average);
        launch
            .arg(models)
            .arg(&shares)
            .arg(&cells)
            .arg(&count)
            .arg(&mut means);
        // SAFETY: the arguments are those of `average` in `kernels.cu`; cells lie within the models.
        unsafe { launch.launch(config) }.map_err(&failed)?;
        drop(launch);
        let means = stream.clone_dtoh(&means).map_err(&failed)?;
        Ok(means
            .chunks_exact(parameters)
            .map(<[f32]>::to_vec)
            .collect())
    }

    /// Multiplications and additions a second that the card could do, in 1e9: every lane one of both in every cycle at its highest clock.
    pub(crate) fn peak_gflops(&self) -> Result<f64, Error> {
        let clock = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
        let khz = self
            .context
            .attribute(clock)
            .map_err(failed("say what it is"))?;
        Ok(self.multiprocessors as f64 * 128.0 * 2.0 * f64::from(khz) * 1e3 / 1e9)
    }

    /// Phases of training and the cycles that blocks spent in each.
    pub(crate) fn profile(&self, kernels: &Kernels) -> Result<Vec<(Phase, u64)>, Error> {
        let cycles = self.stream.clone_dtoh(&*lock(&kernels.cycles));
        let cycles = cycles.map_err(failed("hand over its results"))?;
        Ok(kernels.source.phases.iter().cloned().zip(cycles).collect())
    }

    /// Brings numbers back.
    pub(crate) fn download(&self, numbers: &Numbers) -> Result<Vec<f32>, Error> {
        let came = self.stream.clone_dtoh(numbers);
        came.map_err(failed("hand over its results"))
    }
}

impl Kernels {
    /// As many blocks as there are jobs, or as the card runs at a time: they take the next job until none is left.
    fn config(&self, jobs: u32) -> LaunchConfig {
        LaunchConfig {
            grid_dim: (jobs.clamp(1, self.blocks as u32), 1, 1),
            block_dim: (self.variant.threads() as u32, 1, 1),
            shared_mem_bytes: self.source.shared_bytes as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There is a card, or a sentence about what is missing.
    #[test]
    fn what_is_missing_is_named() {
        match Card::open() {
            Ok(card) => assert!(!card.name().is_empty()),
            Err(error @ (Error::NoDriver | Error::NoCompiler | Error::NoCard { .. })) => {
                let said = error.to_string();
                assert!(said.contains("NVIDIA") || said.contains("NVRTC"), "{said}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}
