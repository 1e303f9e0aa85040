//! Scenarios, as the command line reads them.

use std::path::PathBuf;

use aerofed::method::Registry;
use aerofed::reading::nearest;
use aerofed::scenario::{BUILT_IN, DEFAULTS, QUICKSTART, first_sentence};
use pyo3::prelude::*;

use crate::errors::{raise, refuse};

/// A scenario whose fields are all in their ranges.
#[pyclass(frozen, eq, module = "aerofed._aerofed")]
#[derive(Clone, PartialEq)]
pub(crate) struct NativeScenario {
    pub(crate) valid: aerofed::ValidScenario,
}

/// Path, value and default of a field.
type Changed = (String, Option<String>, Option<String>);

impl NativeScenario {
    pub(crate) fn new(scenario: aerofed::Scenario) -> PyResult<Self> {
        let valid = scenario.check().map_err(refuse)?;
        Ok(Self { valid })
    }
}

#[pymethods]
impl NativeScenario {
    /// The scenario of the library that has this name, or else the file, with settings `path=value`; the quick start without a name.
    #[staticmethod]
    #[pyo3(signature = (name, settings))]
    fn open(name: Option<PathBuf>, settings: Vec<String>) -> PyResult<Self> {
        Self::new(match name {
            Some(name) => aerofed::Scenario::open(&name, &settings).map_err(raise)?,
            None => aerofed::Scenario::parse(QUICKSTART, &settings).map_err(refuse)?,
        })
    }

    /// A scenario written as TOML, with settings `path=value`.
    #[staticmethod]
    fn parse(text: &str, settings: Vec<String>) -> PyResult<Self> {
        Self::new(aerofed::Scenario::parse(text, &settings).map_err(refuse)?)
    }

    /// Every field as TOML.
    fn to_toml(&self) -> PyResult<String> {
        self.valid.to_toml().map_err(refuse)
    }

    /// The fields that differ from the defaults: path, value and default, as TOML.
    fn changes(&self) -> PyResult<Vec<Changed>> {
        let changes = self.valid.changes().map_err(refuse)?.into_iter();
        Ok(changes.map(|c| (c.field, c.value, c.default)).collect())
    }

    /// Values that hardly anybody means.
    fn warnings(&self) -> Vec<String> {
        self.valid
            .warnings()
            .iter()
            .map(ToString::to_string)
            .collect()
    }
}

/// The scenarios that come with the program: name and first sentence.
#[pyfunction]
pub(crate) fn scenarios() -> Vec<(&'static str, String)> {
    BUILT_IN
        .iter()
        .map(|(name, text)| (*name, first_sentence(text)))
        .collect()
}

/// The methods that come with the program: name and a line about each.
#[pyfunction]
pub(crate) fn methods() -> Vec<(String, String)> {
    let registry = Registry::builtin();
    let entries = registry.entries().iter();
    entries
        .map(|entry| (entry.name().to_owned(), entry.summary().to_owned()))
        .collect()
}

/// Every field with a comment, as TOML.
#[pyfunction]
pub(crate) fn defaults() -> &'static str {
    DEFAULTS
}

/// The one of these words that was probably meant.
#[pyfunction]
pub(crate) fn meant(word: &str, known: Vec<String>) -> Option<String> {
    nearest(word, known.iter().map(String::as_str)).map(Into::into)
}
