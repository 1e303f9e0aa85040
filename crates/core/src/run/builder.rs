//! Putting a simulation together: what the caller brings, and what the scenario says about the rest.

use std::sync::Arc;

use aerofed_nn::Network;

use crate::Error;
use crate::learn::codec::{self, Air, Codec};
use crate::learn::data::network_for;
use crate::learn::local::LocalLearner;
use crate::learn::sampled::SampledDevices;
use crate::learn::surrogate::SurrogateLearner;
use crate::learn::{Data, Devices, Engine, Evaluator, Task};
use crate::nature::Nature;
use crate::nature::channel::Channel;
use crate::nature::flight::Flight;
use crate::nature::mobility::Mobility;
use crate::scenario::{self, ScenarioError, ValidScenario};
use crate::world::World;

use super::Simulation;
use super::fleet::Fleet;
use super::learning::Learning;
use super::scoring::Scoring;

/// A simulation in the making. Whatever is not given is as the scenario says.
///
/// ```
/// use aerofed::{Method, Scenario, Simulation, nature::channel::{Channel, Path}};
///
/// /// Everybody hears everybody equally well.
/// struct Cable;
/// impl Channel for Cable {
///     fn gain(&self, _: &Path) -> f64 {
///         1e-12
///     }
/// }
///
/// let settings = ["devices.count=10", "data.data_volume=50", "model.name=logistic"];
/// let scenario = Scenario::parse("", &settings)?.check()?;
/// let mut simulation = Simulation::builder(&scenario).channel(Cable).threads(1).build()?;
/// let record = simulation.step(&mut Method::of(&scenario)?)?;
/// assert!(record.is_some());
/// # Ok::<(), aerofed::Error>(())
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<'a> {
    scenario: &'a ValidScenario,
    data: Option<Data>,
    channel: Option<Box<dyn Channel>>,
    mobility: Option<Box<dyn Mobility>>,
    flight: Option<Box<dyn Flight>>,
    codec: Option<Box<dyn Codec>>,
    task: Option<Task>,
    devices: Option<Box<dyn Devices>>,
    evaluator: Option<Box<dyn Evaluator>>,
    engine: Option<Box<MakeEngine<'a>>>,
    threads: Option<usize>,
}

/// What computes with a network.
type MakeEngine<'a> = dyn FnOnce(Network) -> Result<Arc<dyn Engine>, Error> + 'a;

impl<'a> Builder<'a> {
    pub(super) fn new(scenario: &'a ValidScenario) -> Self {
        Self {
            scenario,
            data: None,
            channel: None,
            mobility: None,
            flight: None,
            codec: None,
            task: None,
            devices: None,
            evaluator: None,
            engine: None,
            threads: None,
        }
    }

    /// Data that are in memory already, such as those of a [`DataStore`](crate::learn::DataStore); otherwise the scenario's are
    /// loaded.
    pub fn data(mut self, data: Data) -> Self {
        self.data = Some(data);
        self
    }

    /// How much of a signal arrives.
    pub fn channel(mut self, channel: impl Channel + 'static) -> Self {
        self.channel = Some(Box::new(channel));
        self
    }

    /// How devices move.
    pub fn mobility(mut self, mobility: impl Mobility + 'static) -> Self {
        self.mobility = Some(Box::new(mobility));
        self
    }

    /// What flying costs.
    pub fn flight(mut self, flight: impl Flight + 'static) -> Self {
        self.flight = Some(Box::new(flight));
        self
    }

    /// What models and updates are on the air.
    pub fn codec(mut self, codec: impl Codec + 'static) -> Self {
        self.codec = Some(Box::new(codec));
        self
    }

    /// Who trains. They hold the samples that the scenario divides among devices, unless [`task`](Self::task) says otherwise.
    pub fn devices(mut self, devices: impl Devices + 'static) -> Self {
        self.devices = Some(Box::new(devices));
        self
    }

    /// Who tests models and trains those of UAVs.
    pub fn evaluator(mut self, evaluator: impl Evaluator + 'static) -> Self {
        self.evaluator = Some(Box::new(evaluator));
        self
    }

    /// What computes when the scenario's devices and evaluator train and test: made for its network. Otherwise this machine's cores do.
    pub fn engine(
        mut self,
        make: impl FnOnce(Network) -> Result<Arc<dyn Engine>, Error> + 'a,
    ) -> Self {
        self.engine = Some(Box::new(make));
        self
    }

    /// What is learned, in numbers. With [`devices`](Self::devices) and [`evaluator`](Self::evaluator) given as well, the scenario's
    /// data and model are not looked at.
    pub fn task(mut self, task: Task) -> Self {
        self.task = Some(task);
        self
    }

    /// Worker threads (all cores, unless told); the results are the same for any number.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Loads and divides the data, draws the world and the first model.
    ///
    /// # Errors
    /// When the data cannot be loaded or divided, the model does not fit it, or what the caller brought does not fit the scenario.
    pub fn build(self) -> Result<Simulation, Error> {
        let scenario = Arc::new(self.scenario.clone());
        let threads = self
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let (task, devices, mut evaluator, network, data_checksum, trained_on) =
            match (self.task, self.devices, self.evaluator) {
                (Some(task), Some(devices), Some(evaluator)) => {
                    (task, devices, evaluator, None, None, None)
                }
                (task, devices, evaluator) => {
                    let data = match self.data {
                        Some(data) => data,
                        None => Data::load(&scenario)?,
                    };
                    let make = self.engine.unwrap_or_else(|| {
                        Box::new(move |network| {
                            Ok(Arc::new(aerofed_nn::Engine::new(network, threads)))
                        })
                    });
                    let own = learner(&scenario, &data, make)?;
                    (
                        task.unwrap_or(own.task),
                        devices.unwrap_or(own.devices),
                        evaluator.unwrap_or(own.evaluator),
                        own.network,
                        data.checksum(),
                        own.trained_on,
                    )
                }
            };
        check_task(&task, &scenario)?;
        let global_model = match (scenario.start(), &network) {
            (None, _) => evaluator.first_model()?,
            (Some(file), Some(network)) => read_start(file, network, &scenario)?,
            (Some(_), None) => {
                return Err(misfit(
                    "`model.start` names a file, but the network is the caller's".into(),
                ));
            }
        };
        if global_model.len() != task.model_values {
            return Err(misfit(format!(
                "a first model of {} numbers, the task has {}",
                global_model.len(),
                task.model_values
            )));
        }
        let quality = evaluator.probe(&global_model)?;
        let mut nature = Nature::new(&scenario);
        nature.channel = self.channel.unwrap_or(nature.channel);
        nature.mobility = self.mobility.unwrap_or(nature.mobility);
        if let Some(flight) = self.flight {
            nature.fly_by(&scenario, &*flight);
        }
        let samples = task.device_samples.clone();
        let world = World::with_mobility(&scenario, &*nature.mobility, samples, task.sample_bits);
        let codec = self.codec.unwrap_or_else(|| codec::of(&scenario));
        let bits = |size: f64| match size > 0.0 && size.is_finite() {
            true => Ok(size),
            false => Err(misfit(format!("a codec that sends {size} bit"))),
        };
        let model_bits = bits(codec.model_bits(task.parameters))?;
        let update_bits = bits(codec.update_bits(task.parameters))?;
        let fleet = Fleet::new(
            scenario.clone(),
            world,
            nature,
            (model_bits, update_bits),
            task.sample_bits,
        );
        Ok(Simulation {
            fleet,
            learning: Learning {
                scenario: scenario.clone(),
                task,
                devices,
                evaluator,
                global_model,
                quality,
                stale_models: Default::default(),
                air: Air::new(codec),
                scoring: Scoring::default(),
            },
            scenario,
            scheduler: None,
            cumulative_energy_j: 0.0,
            network,
            data_checksum,
            trained_on,
            threads,
        })
    }
}

/// What learns, as a scenario asks for it.
struct Learner {
    task: Task,
    devices: Box<dyn Devices>,
    evaluator: Box<dyn Evaluator>,
    /// What the weights belong to; none where there are none.
    network: Option<Network>,
    /// The name of the engine; none where nobody trains.
    trained_on: Option<String>,
}

fn learner(
    scenario: &ValidScenario,
    data: &Data,
    make_engine: Box<MakeEngine>,
) -> Result<Learner, Error> {
    if scenario.learner == scenario::Learner::Surrogate {
        let surrogate = SurrogateLearner::new(scenario, data)?;
        return Ok(Learner {
            task: surrogate.task,
            devices: Box::new(surrogate.devices),
            evaluator: Box::new(surrogate.evaluator),
            network: None,
            trained_on: None,
        });
    }
    let network = network_for(scenario, &data.train)?;
    let engine = make_engine(network.clone())?;
    let trained_on = Some(engine.name().to_owned());
    let local = LocalLearner::new(scenario, data, engine)?;
    let devices: Box<dyn Devices> = match scenario.learner {
        scenario::Learner::Sampled => Box::new(SampledDevices {
            devices: local.devices,
            most: scenario.sampled.devices,
            samples: local.task.device_samples.clone(),
            seed: scenario.seed,
        }),
        scenario::Learner::Train | scenario::Learner::Surrogate => Box::new(local.devices),
    };
    Ok(Learner {
        task: local.task,
        devices,
        evaluator: Box::new(local.evaluator),
        network: Some(network),
        trained_on,
    })
}

/// The first global model out of the file that `model.start` names.
fn read_start(
    file: &[u8],
    network: &Network,
    scenario: &ValidScenario,
) -> Result<Vec<f32>, ScenarioError> {
    let refuse = |reason: String| ScenarioError::Field {
        field: "model.start".into(),
        value: format!("{:?}", scenario.model.start),
        allowed: format!("a safetensors file with this network's weights ({reason})"),
    };
    let weights = aerofed_nn::from_safetensors(network, file);
    let weights = weights.map_err(|error| refuse(error.to_string()))?;
    match weights.iter().find(|weight| !weight.is_finite()) {
        Some(weight) => Err(refuse(format!("a weight is {weight}"))),
        None => Ok(weights),
    }
}

fn misfit(reason: String) -> Error {
    Error::Learner { reason }
}

/// Whether a task is one for the scenario's devices and UAVs.
fn check_task(task: &Task, scenario: &ValidScenario) -> Result<(), Error> {
    let (devices, uavs) = (task.device_samples.len(), task.personal_samples.len());
    if (devices, uavs) != (scenario.devices.count, scenario.uavs.count) {
        return Err(misfit(format!(
            "samples of {devices} devices and {uavs} UAVs, the scenario has {} and {}",
            scenario.devices.count, scenario.uavs.count
        )));
    }
    let sizes = [
        task.parameters,
        task.model_values,
        task.classes,
        task.small_batch,
    ];
    if sizes.contains(&0) || task.device_samples.contains(&0) {
        return Err(misfit(
            "no parameters, no model, no classes, no small batch, or a device without samples"
                .into(),
        ));
    }
    if !(task.sample_bits > 0.0 && task.sample_bits.is_finite()) {
        return Err(misfit(format!("samples of {} bit", task.sample_bits)));
    }
    Ok(())
}
