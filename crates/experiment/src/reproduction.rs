//! Several experiments together: runs that two of them share are done once, and everything that
//! was found goes into one [`Results`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use aerofed::disk::replace_file;
use serde::{Deserialize, Serialize};

use super::check_place;
use super::claims::{against, judge, samples};
use super::description::Description;
use super::experiment_sweep::{ExperimentSweep, Finished};
use super::figures::panels;
use super::losses::study;
use super::overview::{experiment, tidy_runs};
use super::plan::{PlannedRun, distinct};
use super::regret;
use super::results::{Figure, Results, RunEntry, SCHEMA, Scale, Skipped};
use super::stored::{StoredRun, word};
use super::tidy::TidyTables;
use crate::Error;
use aerofed::method::Registry;

/// What was asked for: `request.json`, complete enough to do it again anywhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// How much is run.
    pub scale: Scale,
    /// Seeds of every experiment; none: as many as each says.
    pub seeds: Option<u64>,
    /// The first of them; none: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seed: Option<u64>,
    /// Global rounds of each run at most; none: as many as each experiment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// Over how many rounds accuracies are averaged before they are held against targets; none: as each says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smooth: Option<usize>,
    /// Folder of the experiments that need one.
    pub data_dir: Option<PathBuf>,
    /// The experiments' files, as text.
    pub experiments: Vec<String>,
    /// What messages call them, one for each; where there is none, `request.json`.
    #[serde(skip)]
    pub files: Vec<String>,
}

const REQUEST: &str = "request.json";

impl Request {
    /// Reads the request that a results folder belongs to.
    ///
    /// # Errors
    /// When the folder has none.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(REQUEST);
        let text = fs::read_to_string(&path).map_err(|error| aerofed::Error::Output {
            path: folder.into(),
            reason: format!("not a results folder: {REQUEST}: {error}"),
        })?;
        let unreadable = |error: serde_json::Error| aerofed::Error::Output {
            path,
            reason: error.to_string(),
        };
        Ok(serde_json::from_str(&text).map_err(unreadable)?)
    }

    /// Refuses a folder in which something else than results stands.
    ///
    /// # Errors
    /// When it is not empty and no results folder, or has a request of somebody else.
    pub fn check_place(folder: &Path) -> Result<(), Error> {
        check_place(folder, REQUEST, "reproduction")?;
        match folder.join(REQUEST).exists() {
            true => Self::read(folder).map(|_| ()),
            false => Ok(()),
        }
    }

    /// Leaves it in a results folder.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(aerofed::Error::io("create", folder))?;
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        Ok(replace_file(
            &folder.join(REQUEST),
            (text + "\n").as_bytes(),
        )?)
    }

    /// Adds the experiments of another request, which must agree in everything else.
    ///
    /// # Errors
    /// When the two cannot be one.
    pub fn join(&mut self, other: Self) -> Result<(), Error> {
        let refuse = |what: &str| Error::Plan {
            place: "merge".into(),
            reason: format!("the folders differ in {what}"),
        };
        if self.scale != other.scale {
            return Err(refuse("`--scale`"));
        }
        if self.seeds != other.seeds {
            return Err(refuse("`--seeds`"));
        }
        if self.first_seed != other.first_seed {
            return Err(refuse("`--first-seed`"));
        }
        if self.rounds != other.rounds {
            return Err(refuse("`--rounds`"));
        }
        if self.smooth != other.smooth {
            return Err(refuse("`--smooth`"));
        }
        if self.data_dir != other.data_dir {
            return Err(refuse("`--data-dir`"));
        }
        for text in other.experiments {
            if self.experiments.contains(&text) {
                continue;
            }
            let name = Description::parse(&text, "experiment")?.name;
            for known in &self.experiments {
                if Description::parse(known, "experiment")?.name == name {
                    return Err(refuse(&format!("experiment {name:?}")));
                }
            }
            self.experiments.push(text);
        }
        Ok(())
    }
}

/// A request spelled out.
pub struct Reproduction {
    scale: Scale,
    sweeps: Vec<ExperimentSweep>,
    skipped: Vec<Skipped>,
}

impl Reproduction {
    /// Spells a request out. Experiments that need a data folder are skipped without one.
    ///
    /// # Errors
    /// When an experiment cannot be run as written.
    pub fn new(registry: &Registry, request: &Request) -> Result<Self, Error> {
        let mut reproduction = Self {
            scale: request.scale,
            sweeps: Vec::new(),
            skipped: Vec::new(),
        };
        let mut names = BTreeSet::new();
        let mut trains = false;
        for (index, text) in request.experiments.iter().enumerate() {
            let file = request.files.get(index).map_or(REQUEST, String::as_str);
            let description = Description::parse(text, file)?;
            trains |= description.redeployment.is_none();
            if !names.insert(description.name.clone()) {
                return Err(Error::Plan {
                    place: format!("experiment {}", description.name),
                    reason: "asked for twice".into(),
                });
            }
            if description.needs_data_dir && request.data_dir.is_none() {
                reproduction.skipped.push(Skipped {
                    experiment: description.name,
                    reason: "needs a folder of images, one subfolder a class: --data-dir".into(),
                });
                continue;
            }
            reproduction
                .sweeps
                .push(ExperimentSweep::new(registry, description, request)?);
        }
        match without_runs(request).filter(|_| !trains) {
            Some(place) => Err(Error::Plan {
                place,
                reason: format!(
                    "applies to experiments that train; in {} UAVs are lost in random layouts (`redeployment.layouts`), and nobody trains",
                    names.into_iter().collect::<Vec<_>>().join(", ")
                ),
            }),
            None => Ok(reproduction),
        }
    }

    /// Every run that is needed, each once.
    #[must_use]
    pub fn runs(&self) -> Vec<&PlannedRun> {
        distinct(
            self.sweeps
                .iter()
                .flat_map(|s| s.cases.iter().map(|case| &case.run)),
        )
    }

    /// Experiments that will not be done, and why.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The runs that `folder`, a results folder, holds.
    ///
    /// # Errors
    /// When a run's folder holds something else.
    pub fn finished(&self, folder: &Path) -> Result<Finished, Error> {
        let mut finished = Finished::new();
        for run in self.runs() {
            if let Some(stored) = StoredRun::find(&folder.join("runs"), run)? {
                finished.insert(run.id.clone(), stored);
            }
        }
        Ok(finished)
    }

    /// Sums up what was found.
    ///
    /// # Errors
    /// When a redeployment cannot be computed.
    pub fn results(&self, finished: &Finished) -> Result<Results, Error> {
        let runs = self.runs();
        // A study of lost UAVs has layouts instead of runs.
        let with_runs = self.sweeps.iter().filter(|sweep| !sweep.cases.is_empty());
        let seeds: BTreeSet<u64> = with_runs.flat_map(|sweep| sweep.seeds.clone()).collect();
        let mut results = Results {
            schema: SCHEMA,
            version: aerofed::VERSION.into(),
            scale: self.scale,
            seeds: seeds.into_iter().collect(),
            sources: String::new(),
            experiments: self
                .sweeps
                .iter()
                .map(|s| experiment(s, finished))
                .collect(),
            figures: Vec::new(),
            tables: Vec::new(),
            claims: Vec::new(),
            runs: self.index(&runs, finished),
            runs_missing: runs.len() - finished.len(),
            skipped: self.skipped.clone(),
        };
        for sweep in &self.sweeps {
            let description = &sweep.description;
            let mut figure = Figure {
                id: description.name.clone(),
                title: description.title.clone(),
                caption: description.caption.clone(),
                panels: panels(sweep, finished),
                maps: Vec::new(),
            };
            if let Some(plan) = &description.redeployment {
                let found = study(description, plan, &sweep.base(&[])?)?;
                figure.maps = found.maps;
                results.tables.extend(found.table);
                results.claims.extend(found.claims);
            } else {
                let judged = description.claims.iter().map(|claim| {
                    let side = |choice| samples(sweep, finished, claim, choice);
                    judge(
                        &description.name,
                        claim,
                        &side(&claim.of),
                        &side(&against(claim)),
                    )
                });
                results.claims.extend(judged);
                let regrets = description.regrets.iter();
                let tables = regrets.map(|plan| regret::table(sweep, finished, plan));
                results.tables.extend(tables);
            }
            if !figure.panels.is_empty() || !figure.maps.is_empty() {
                results.figures.push(figure);
            }
        }
        Ok(results)
    }

    /// The runs as tables for plots of one's own; the panels are those of [`results`](Self::results).
    #[must_use]
    pub fn tidy(&self, finished: &Finished, results: &Results) -> TidyTables {
        let mut rows = Vec::new();
        for sweep in &self.sweeps {
            let figure = results
                .figures
                .iter()
                .find(|figure| figure.id == sweep.description.name);
            rows.extend(tidy_runs(sweep, finished, figure));
        }
        TidyTables::new(&rows)
    }

    fn index(&self, runs: &[&PlannedRun], finished: &Finished) -> Vec<RunEntry> {
        let mut users: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for sweep in &self.sweeps {
            for case in &sweep.cases {
                let names = users.entry(&case.run.id).or_default();
                if names.last() != Some(&sweep.description.name) {
                    names.push(sweep.description.name.clone());
                }
            }
        }
        let entry = |run: &&PlannedRun| {
            let summary = &finished.get(&run.id)?.summary;
            Some(RunEntry {
                id: run.id.clone(),
                folder: format!("runs/{}", run.folder_name()),
                method: summary.method.clone(),
                seed: summary.seed,
                experiments: users.remove(run.id.as_str()).unwrap_or_default(),
                rounds: summary.rounds,
                stopped_by: word(summary.stopped_by),
                best_accuracy: summary.best_accuracy,
                total_time_s: summary.total_time_s,
                total_energy_j: summary.total_energy_j,
            })
        };
        runs.iter().filter_map(entry).collect()
    }
}

/// The flag of a request that says something about runs alone.
fn without_runs(request: &Request) -> Option<String> {
    let seeds = request.seeds.map(|seeds| format!("`--seeds {seeds}`"));
    let first = request
        .first_seed
        .map(|seed| format!("`--first-seed {seed}`"));
    let smooth = request.smooth.map(|rounds| format!("`--smooth {rounds}`"));
    seeds.or(first).or(smooth)
}
