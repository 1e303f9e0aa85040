//! What a run consists of: the scenario's parts, and those that people write in Python.

use std::sync::{Arc, Mutex, PoisonError};

use aerofed::learn::Data;
use aerofed::method::{Entry, Registry};
use aerofed::{Error, Method, Simulation, ValidScenario};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::numbers::{THREADS, whole};
use crate::parts::{
    OwnAggregation, OwnAllocation, OwnAssociation, OwnDevices, OwnEvaluator, OwnRedeployment, Part,
    Slot, failed, task,
};

/// A method of which some parts are Python's.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct NativeMethod {
    name: String,
    base: String,
    parts: Arc<OwnParts>,
}

struct OwnParts {
    association: Option<Py<PyAny>>,
    allocation: Option<Py<PyAny>>,
    redeployment: Option<Py<PyAny>>,
    aggregation: Option<Py<PyAny>>,
}

#[pymethods]
impl NativeMethod {
    /// The method `base` under another name, with parts of one's own.
    #[new]
    #[pyo3(signature = (name, base, association, allocation, redeployment, aggregation))]
    fn new(
        name: String,
        base: String,
        association: Option<Py<PyAny>>,
        allocation: Option<Py<PyAny>>,
        redeployment: Option<Py<PyAny>>,
        aggregation: Option<Py<PyAny>>,
    ) -> Self {
        Self {
            name,
            base,
            parts: Arc::new(OwnParts {
                association,
                allocation,
                redeployment,
                aggregation,
            }),
        }
    }
}

/// Exceptions of the parts of all runs under way.
#[derive(Clone, Default)]
struct Slots(Arc<Mutex<Vec<Slot>>>);

impl Slots {
    fn add(&self) -> Slot {
        let slot = Slot::default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(slot.clone());
        slot
    }

    fn take(&self) -> Option<PyErr> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find_map(Slot::take)
    }
}

/// How many threads an argument asks for; all cores where it does not.
pub(crate) fn threads(name: &str, asked: Option<i64>) -> PyResult<usize> {
    match asked {
        Some(threads) => whole(name, threads, THREADS),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// Everything about runs that is not in their scenarios.
pub(crate) struct SetUp {
    pub(crate) registry: Registry,
    threads: usize,
    learner: Option<Py<PyAny>>,
    slots: Slots,
}

impl SetUp {
    /// The methods of the program and some of one's own, on so many threads (all cores, unless told).
    pub(crate) fn new(
        py: Python<'_>,
        threads: Option<i64>,
        own: &[Py<NativeMethod>],
        learner: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let slots = Slots::default();
        let mut registry = Registry::builtin();
        for method in own {
            let method = method.bind(py).get();
            let entry = method.entry(&registry, &slots).map_err(raise)?;
            registry.add(entry).map_err(raise)?;
        }
        Ok(Self {
            registry,
            threads: self::threads("threads", threads)?,
            learner,
            slots,
        })
    }

    /// The simulation and the method that a scenario asks for.
    pub(crate) fn build(&self, scenario: &ValidScenario) -> Result<(Simulation, Method), Error> {
        let method = self.registry.method(scenario)?;
        Ok((self.simulation(scenario, self.threads, None)?, method))
    }

    /// The simulation alone, with data that are there already.
    pub(crate) fn simulation(
        &self,
        scenario: &ValidScenario,
        threads: usize,
        data: Option<Data>,
    ) -> Result<Simulation, Error> {
        let mut builder = Simulation::builder(scenario).threads(threads);
        if let Some(learner) = &self.learner {
            let slot = self.slots.add();
            let part = Arc::new(own(&slot, |py| Part::copy(py, learner, &slot))?);
            let task = task(&part)?;
            let parameters = task.parameters;
            let devices = OwnDevices {
                part: Arc::clone(&part),
                seed: scenario.seed,
                parameters,
            };
            builder = builder
                .task(task)
                .devices(devices)
                .evaluator(OwnEvaluator { part, parameters });
        } else if let Some(data) = data {
            builder = builder.data(data);
        }
        builder.build()
    }

    /// Whether somebody's learner takes the place of the scenario's.
    pub(crate) fn has_learner(&self) -> bool {
        self.learner.is_some()
    }

    /// An exception of a part, if there was one.
    pub(crate) fn failed(&self) -> Option<PyErr> {
        self.slots.take()
    }

    /// What an error is in Python: the exception that a part raised, where that is what ended the run.
    pub(crate) fn exception(&self, error: Error) -> PyErr {
        self.failed().unwrap_or_else(|| raise(error))
    }
}

/// Does something in Python that belongs to setting up; its exception is raised as it is.
fn own<T>(slot: &Slot, make: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>) -> Result<T, Error> {
    Python::attach(make).map_err(|error| {
        slot.keep(error);
        failed(slot)
    })
}

impl NativeMethod {
    fn entry(&self, registry: &Registry, slots: &Slots) -> Result<Entry, Error> {
        let base = registry.find(&self.base)?.clone();
        let mut reads: Vec<&str> = Vec::new();
        if let Some(parts) = base.parts(&aerofed::Scenario::default()) {
            if self.parts.association.is_none() {
                reads.extend(parts.association.describe().reads);
            }
            if self.parts.allocation.is_none() {
                reads.extend(parts.allocation.describe().reads);
            }
            if self.parts.redeployment.is_none() {
                reads.extend(parts.redeployment.describe().reads);
            }
            reads.extend(parts.schedule.describe().reads);
            reads.extend(parts.local.describe().reads);
        }
        let summary = format!("{} with parts in Python", self.base);
        let (name, parts, slots) = (self.name.clone(), Arc::clone(&self.parts), slots.clone());
        let build = move |scenario: &ValidScenario| {
            let mut method = base.build(scenario)?;
            method.name.clone_from(&name);
            let slot = slots.add();
            own(&slot, |py| parts.replace(py, &mut method, scenario, &slot))?;
            let failure = slot.clone();
            method.failure = Some(Box::new(move || failure.told()));
            Ok(method)
        };
        Ok(Entry::custom(
            self.name.clone(),
            summary,
            &reads,
            Arc::new(build),
        ))
    }
}

impl OwnParts {
    /// Puts copies of the parts into a method.
    fn replace(
        &self,
        py: Python<'_>,
        method: &mut Method,
        scenario: &ValidScenario,
        slot: &Slot,
    ) -> PyResult<()> {
        let copy = |object: &Option<Py<PyAny>>| {
            let object = object.as_ref();
            object
                .map(|object| Part::copy(py, object, slot))
                .transpose()
        };
        if let Some(part) = copy(&self.association)? {
            method.association = Box::new(OwnAssociation::new(py, part, scenario)?);
        }
        if let Some(part) = copy(&self.allocation)? {
            method.allocation = Box::new(OwnAllocation { part });
        }
        if let Some(part) = copy(&self.redeployment)? {
            method.redeployment = Box::new(OwnRedeployment { part });
        }
        if let Some(part) = copy(&self.aggregation)? {
            let part = Arc::new(part);
            method.aggregation = Box::new(OwnAggregation { part });
        }
        Ok(())
    }
}
