//! Folders read into a report.

use std::fs;
use std::path::{Path, PathBuf};

use aerofed::method::Registry;
use aerofed::run_folder::RunLog;
use aerofed::{Scenario, Summary};
use aerofed_experiment::comparison::{Comparison, MethodStatistics};
use aerofed_experiment::plan::{Contender, PlannedRun};
use aerofed_experiment::results::{Panel, Results, SCHEMA};
use aerofed_experiment::stored::StoredRun;
use aerofed_experiment::styles::Styles;
use serde::de::DeserializeOwned;

use super::Report;
use super::groups::{RunGroup, group, lighten};
use crate::Error;
use crate::units::counted_are;

/// Most runs of a results folder that can be replayed.
const MOST_REPLAYS: usize = 8;

impl Report {
    /// Reads one run folder or several, or the folder of a comparison or a reproduction.
    ///
    /// # Errors
    /// When a folder is none of these, a file in it cannot be read, or a run is given twice.
    pub fn read(folders: &[PathBuf]) -> Result<Self, Error> {
        if let [folder] = folders {
            let file = folder.join("results.json");
            if file.is_file() {
                return Self::of_results(folder, json(file)?);
            }
            let file = folder.join("compare.json");
            if file.is_file() {
                return Self::of_comparison(folder, json(file)?, &Registry::builtin());
            }
        }
        let mut logs: Vec<RunLog> = Vec::new();
        for folder in folders {
            let log = run(folder)?;
            // It would count as another seed.
            let same =
                |l: &RunLog| l.scenario == log.scenario && l.summary.method == log.summary.method;
            if let Some(place) = logs.iter().position(same) {
                return Err(Error::Twice {
                    path: folder.clone(),
                    other: folders[place].clone(),
                });
            }
            logs.push(log);
        }
        Ok(Self::of_runs(logs))
    }

    /// A report of runs; those that differ in their seed alone are put together.
    #[must_use]
    pub fn of_runs(logs: Vec<RunLog>) -> Self {
        Self {
            groups: group(logs),
            comparison: None,
            results: None,
            costs: Vec::new(),
        }
    }

    /// A report of a comparison whose runs are in `folder`; `registry` is the one with its methods.
    ///
    /// # Errors
    /// When a run cannot be read.
    pub fn of_comparison(
        folder: &Path,
        comparison: Comparison,
        registry: &Registry,
    ) -> Result<Self, Error> {
        let base = Scenario::load(&folder.join("scenario.toml"), &[] as &[&str])?;
        let mut groups = Vec::new();
        let mut styles = Styles::default();
        for method in &comparison.methods {
            let MethodStatistics {
                label,
                method,
                settings,
                ..
            } = method.clone();
            let contender = Contender {
                label,
                method,
                settings,
            };
            let mut runs: Vec<RunLog> = Vec::new();
            for &seed in &comparison.seeds {
                let planned = PlannedRun::new(registry, &base, &contender, seed, |scenario| {
                    // A contender cannot change when runs stop.
                    scenario.stop.target_accuracy = base.stop.target_accuracy;
                    scenario.stop.targets.clone_from(&base.stop.targets);
                })?;
                let mut log = run(&folder.join("runs").join(planned.folder_name()))?;
                if !runs.is_empty() {
                    lighten(&mut log);
                }
                runs.push(log);
            }
            groups.push(RunGroup {
                style: styles.of(&contender.method, &contender.label),
                label: contender.label,
                runs,
            });
        }
        Ok(Self {
            groups,
            comparison: Some(comparison),
            results: None,
            costs: Vec::new(),
        })
    }

    /// A report of a reproduction whose runs are in `folder`. Reads the summaries of all runs, and the whole of
    /// those that will be replayed: the first run of
    /// each series of one panel, the first in which something goes wrong on purpose, or else the first.
    ///
    /// # Errors
    /// When the results are of another schema, or a run cannot be read.
    pub fn of_results(folder: &Path, results: Results) -> Result<Self, Error> {
        if results.schema != SCHEMA {
            return Err(Error::NothingToTell {
                path: folder.join("results.json"),
                reason: format!("has schema {}, this program knows {SCHEMA}", results.schema),
            });
        }
        let place = |id: &str| {
            let entry = results.runs.iter().find(|run| run.id == id)?;
            Some(folder.join(&entry.folder))
        };
        let panels = results.figures.iter().flat_map(|figure| {
            let named = |panel| (format!("{} ({})", figure.id, panel_id(panel)), panel);
            figure.panels.iter().map(named)
        });
        let mut costs = Vec::new();
        let mut groups: Vec<RunGroup> = Vec::new();
        for (title, panel) in panels {
            let mut rows = Vec::new();
            for series in &panel.series {
                let mut summaries: Vec<Summary> = Vec::new();
                for path in series.runs.iter().filter_map(|id| place(id)) {
                    summaries.push(StoredRun::read(path)?.summary);
                }
                if !summaries.is_empty() {
                    rows.push((series.label.clone(), summaries));
                }
            }
            if rows.is_empty() {
                continue;
            }
            let eventful = |group: &RunGroup| !group.runs[0].scenario.faults.is_empty();
            if !groups.iter().any(eventful) {
                let replays = replays(panel, &place)?;
                if groups.is_empty() || replays.iter().any(eventful) {
                    groups = replays;
                }
            }
            costs.push((format!("{title} {}", panel.title), rows));
        }
        Ok(Self {
            groups,
            comparison: None,
            results: Some(results),
            costs,
        })
    }
}

fn run(folder: &Path) -> Result<RunLog, Error> {
    let refuse = |reason: &str| Error::NothingToTell {
        path: folder.into(),
        reason: reason.into(),
    };
    if !folder.is_dir() {
        return Err(refuse("no such folder"));
    }
    if !folder.join("summary.json").is_file() {
        return Err(refuse(&match finished_runs(folder) {
            0 => "tells of no finished run".into(),
            runs => unfinished(folder, runs),
        }));
    }
    Ok(RunLog::read(folder)?)
}

/// How many runs are finished in the folder of a comparison or a reproduction.
fn finished_runs(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder.join("runs")) else {
        return 0;
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let finished = |path: &PathBuf| {
        let partial = path.extension().is_some_and(|ending| ending == "partial");
        !partial && path.join("summary.json").is_file()
    };
    paths.filter(finished).count()
}

/// What to do about a comparison or a reproduction that was broken off.
fn unfinished(folder: &Path, runs: usize) -> String {
    let command = match folder.join("request.json").is_file() {
        true => "reproduce",
        false => "compare",
    };
    let finished = counted_are(runs, "run");
    format!("{finished} finished, others are missing: the same {command} command completes it")
}

fn json<T: DeserializeOwned>(path: PathBuf) -> Result<T, Error> {
    let text = fs::read_to_string(&path).map_err(aerofed::Error::io("read", &path))?;
    serde_json::from_str(&text).map_err(|source| Error::Json { path, source })
}

/// The first run of each series, whole.
fn replays(
    panel: &Panel,
    place: &impl Fn(&str) -> Option<PathBuf>,
) -> Result<Vec<RunGroup>, Error> {
    let mut groups = Vec::new();
    for series in panel.series.iter().take(MOST_REPLAYS) {
        if let Some(path) = series.runs.iter().find_map(|id| place(id)) {
            groups.push(RunGroup {
                label: series.label.clone(),
                style: series.style,
                runs: vec![run(&path)?],
            });
        }
    }
    Ok(groups)
}

fn panel_id(panel: &Panel) -> &str {
    &panel.id
}
