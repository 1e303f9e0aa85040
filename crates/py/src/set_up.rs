//! What a run consists of.

use aerofed::method::Registry;
use aerofed::{Error, Method, Simulation, ValidScenario};
use pyo3::prelude::*;

use crate::errors::raise;

/// Everything about a run that is not in its scenario.
pub(crate) struct SetUp {
    registry: Registry,
    threads: usize,
}

impl SetUp {
    /// Methods of the program, on so many threads (all cores, unless told).
    pub(crate) fn new(threads: Option<usize>) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            registry: Registry::builtin(),
            threads: threads.unwrap_or_else(cores),
        }
    }

    /// The simulation and the method that a scenario asks for.
    pub(crate) fn build(&self, scenario: &ValidScenario) -> Result<(Simulation, Method), Error> {
        let method = self.registry.method(scenario)?;
        let builder = Simulation::builder(scenario).threads(self.threads);
        Ok((builder.build()?, method))
    }

    /// What an error is in Python.
    pub(crate) fn exception(&self, error: Error) -> PyErr {
        raise(error)
    }
}
