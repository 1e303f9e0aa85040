//! An experiment spelled out: every combination of axis points, contenders and seeds is a run.

use std::collections::HashMap;

use aerofed::method::Registry;
use aerofed::scenario::{Scenario, ScenarioError};

use super::description::{Choice, Description};
use super::plan::{Contender, PlannedRun};
use super::reproduction::Request;
use super::settings::check_shared;
use super::stored::StoredRun;
use crate::Error;

/// Finished runs by [`PlannedRun::id`].
pub type Finished = HashMap<String, StoredRun>;

/// One run of an experiment.
#[derive(Clone, Debug)]
pub struct Case {
    /// The labels of its points, in the order of the axes.
    pub labels: Vec<String>,
    /// What its points set.
    pub settings: Vec<String>,
    /// The accuracy that its points ask for, if one does.
    pub target: Option<f64>,
    /// Its place among the contenders.
    pub contender: usize,
    /// Its run.
    pub run: PlannedRun,
}

/// An experiment at a scale.
#[derive(Clone, Debug)]
pub struct ExperimentSweep {
    /// What was written, less what the scale leaves out.
    pub description: Description,
    /// Who is compared.
    pub contenders: Vec<Contender>,
    /// Under which seeds.
    pub seeds: Vec<u64>,
    /// Every run, by points, contenders, seeds.
    pub cases: Vec<Case>,
}

impl ExperimentSweep {
    /// Spells an experiment out, at the scale and under the seeds of a request.
    ///
    /// # Errors
    /// When it names a method that is not registered, a scenario that cannot be run, or a setting that nobody reads.
    pub fn new(
        registry: &Registry,
        description: Description,
        request: &Request,
    ) -> Result<Self, Error> {
        let (file, name) = (&description.place, &description.name);
        let place = match file.ends_with(name.as_str()) {
            true => file.clone(),
            false => format!("{file}, experiment {name}"),
        };
        let in_place = |error: Error| match error.is_bad_input() {
            true => Error::Plan {
                place: place.clone(),
                reason: error.to_string(),
            },
            false => error,
        };
        let description = description.at(request.scale);
        let contenders = Contender::parse_all(registry, &description.methods).map_err(in_place)?;
        let first = request.first_seed.unwrap_or(1);
        let count = request.seeds.unwrap_or(description.seeds);
        let Some(end) = first.checked_add(count) else {
            return Err(Error::Plan {
                place,
                reason: format!("the first seed, {first}, is too large for {count} of them"),
            });
        };
        let mut sweep = Self {
            description,
            contenders,
            seeds: (first..end).collect(),
            cases: Vec::new(),
        };
        if sweep.description.redeployment.is_none() {
            for places in sweep.combinations() {
                let cases = sweep
                    .cases_at(registry, &places, request)
                    .map_err(in_place)?;
                sweep.cases.extend(cases);
            }
        }
        Ok(sweep)
    }

    /// The scenario before axes and contenders change it.
    ///
    /// # Errors
    /// When it is none.
    pub fn base(&self, settings: &[String]) -> Result<Scenario, Error> {
        let text = self.description.scenario.to_string();
        Scenario::parse(&text, settings).map_err(|error| match error {
            ScenarioError::Set { given, reason } => Error::Plan {
                place: format!("`{}`: `{given}`", self.description.list_with(&given)),
                reason,
            },
            other => other.into(),
        })
    }

    /// Every combination of places on the axes; the last axis runs fastest.
    fn combinations(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for axis in &self.description.axes {
            let longer = |places: &Vec<usize>| {
                let places = places.clone();
                (0..axis.points.len()).map(move |place| [&places[..], &[place]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    fn cases_at(
        &self,
        registry: &Registry,
        places: &[usize],
        request: &Request,
    ) -> Result<Vec<Case>, Error> {
        let axes = self.description.axes.iter();
        let points: Vec<_> = axes
            .zip(places)
            .map(|(axis, &place)| &axis.points[place])
            .collect();
        let mut settings: Vec<String> = points.iter().flat_map(|p| p.set.clone()).collect();
        settings.extend(self.description.quick.set.iter().cloned());
        let rounds = request.rounds.iter();
        settings.extend(rounds.map(|rounds| format!("stop.max_rounds={rounds}")));
        let mut base = self.base(&settings)?;
        if self.description.needs_data_dir {
            base.data.dir = request.data_dir.clone().unwrap_or_default();
        }
        if let Some(smooth) = request.smooth {
            base.stop.smooth = smooth;
        }
        check_shared(registry, &base, &self.contenders)?;
        let mut cases = Vec::new();
        for (contender, entry) in self.contenders.iter().enumerate() {
            for &seed in &self.seeds {
                cases.push(Case {
                    labels: points.iter().map(|point| point.label.clone()).collect(),
                    settings: points.iter().flat_map(|p| p.set.clone()).collect(),
                    target: points.iter().rev().find_map(|point| point.target),
                    contender,
                    run: PlannedRun::new(registry, &base, entry, seed, |_| {})?,
                });
            }
        }
        Ok(cases)
    }

    /// Accuracies that panels and claims ask of a case; where they ask for none, those of its scenario.
    #[must_use]
    pub fn targets(&self, case: &Case) -> Vec<f64> {
        let (panels, claims) = (&self.description.panels, &self.description.claims);
        let asked = panels.iter().map(|panel| panel.target);
        let asked = asked
            .chain(claims.iter().map(|claim| claim.target))
            .flatten();
        let listed = panels
            .iter()
            .flat_map(|panel| panel.targets.iter().copied());
        let mut targets: Vec<f64> = match case.target {
            Some(own) => listed.chain([own]).collect(),
            None => listed.chain(asked).collect(),
        };
        if targets.is_empty() {
            targets.clone_from(&case.run.scenario.stop.targets);
        }
        targets.sort_by(f64::total_cmp);
        targets.dedup();
        targets
    }

    /// The label of a case's point on an axis.
    #[must_use]
    pub fn label<'a>(&self, case: &'a Case, axis: &str) -> Option<&'a str> {
        let place = self.description.axes.iter().position(|a| a.name == axis)?;
        case.labels.get(place).map(String::as_str)
    }

    /// Whether a case is of the points, and the `method`, of a choice.
    #[must_use]
    pub fn is_of(&self, case: &Case, choice: &Choice) -> bool {
        choice.iter().all(|(name, label)| match name.as_str() {
            "method" => self.contenders[case.contender].label == *label,
            axis => self.label(case, axis) == Some(label),
        })
    }
}
