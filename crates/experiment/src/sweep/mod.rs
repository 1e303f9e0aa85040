//! One scenario with fields varied, in a grid or at random: what `aerofed sweep` runs, and what comes of it.

mod axes;
mod collect;
mod front;
mod results;
mod rows;
mod sensitivity;
mod table;

use std::ops::RangeInclusive;

use aerofed::method::Registry;
use aerofed::scenario::{Scenario, ScenarioError};
use rayon::prelude::*;

use crate::Error;
use crate::plan::{Contender, PlannedRun, bad};
use crate::settings::check_shared;

pub use axes::{AxisValues, SweepAxis};
pub use collect::{folder_rows, stored_rows};
pub use front::{Costs, front};
pub use results::results;
pub use rows::{RowFiles, RowKeeper, Rows};
pub use sensitivity::{rank_correlation, variance_share};
pub use table::{SweepTable, file};

/// A scenario, what is varied in it, the contenders, and under which seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPlan {
    /// What all runs share; its method and seed do not matter.
    pub base: Scenario,
    /// One run of each at every point for every seed.
    pub contenders: Vec<Contender>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// What is varied: every combination of listed values, with every sample of what is drawn.
    pub axes: Vec<SweepAxis>,
    /// How many samples; 1 when nothing is drawn.
    pub samples: usize,
    /// The accuracy whose cost the table has.
    pub target: f64,
}

/// One run of a sweep.
#[derive(Clone, Debug)]
pub struct SweepCase {
    /// Its place among the combinations of values.
    pub point: usize,
    /// Its place among the contenders.
    pub contender: usize,
    /// Its run.
    pub run: PlannedRun,
}

impl SweepPlan {
    /// Runs at most: the plan of so many takes a gigabyte.
    pub const MOST_RUNS: usize = 100_000;

    /// Plans a sweep. `samples` counts when an axis is drawn.
    ///
    /// # Errors
    /// When a field is varied twice or is not the sweep's to vary, or there are too many runs.
    pub fn new(
        mut base: Scenario,
        contenders: Vec<Contender>,
        seeds: RangeInclusive<u64>,
        axes: Vec<SweepAxis>,
        samples: usize,
        target: f64,
    ) -> Result<Self, Error> {
        let refuse = |place: String, reason: String| Err(Error::Plan { place, reason });
        for (place, SweepAxis { path, .. }) in axes.iter().enumerate() {
            let option = option(&axes[place]);
            let instead = match path.as_str() {
                "seed" => Some("--seeds and --first-seed"),
                "method" => Some("--methods"),
                "name" => Some("fields that a run depends on"),
                "stop.targets" => Some("--target"),
                _ => None,
            };
            if let Some(instead) = instead {
                let reason = format!("is not the sweep's to vary, allowed: {instead}");
                return refuse(format!("`{option} {path}`"), reason);
            }
            if axes[..place].iter().any(|other| other.path == *path) {
                let reason = "stands there twice; one axis may have many values".into();
                return refuse(format!("`{option} {path}`"), reason);
            }
            for contender in &contenders {
                let own = |setting: &String| setting.split('=').next().map(str::trim) == Some(path);
                if contender.settings.iter().any(own) {
                    let reason = format!("sets `{path}`, which the sweep varies");
                    return Err(bad(&contender.label, &reason));
                }
            }
        }
        if contenders.is_empty() || seeds.is_empty() {
            return refuse("sweep".into(), "no methods or no seeds".into());
        }
        base.stop.targets = vec![target];
        let drawn = axes.iter().any(|axis| axis.draw(0).is_some());
        let plan = Self {
            base,
            contenders,
            seeds: seeds.collect(),
            axes,
            samples: if drawn { samples.max(1) } else { 1 },
            target,
        };
        let most = Self::MOST_RUNS;
        match plan.count() {
            Some(runs) if runs <= most => Ok(plan),
            runs => {
                let many = runs.map_or("more than can be counted".into(), |n| n.to_string());
                refuse(
                    format!("{many} runs"),
                    format!("allowed: at most {most} in a sweep"),
                )
            }
        }
    }

    /// How many runs; none: too many to count.
    fn count(&self) -> Option<usize> {
        let points = self.axes.iter().try_fold(self.samples, |all, axis| {
            all.checked_mul(listed(axis).map_or(1, <[String]>::len))
        })?;
        points
            .checked_mul(self.contenders.len())?
            .checked_mul(self.seeds.len())
    }

    /// How many combinations of values.
    #[must_use]
    pub fn points(&self) -> usize {
        let values = |axis: &SweepAxis| listed(axis).map_or(1, <[String]>::len);
        self.axes.iter().map(values).product::<usize>() * self.samples
    }

    /// What every axis is set to at a point, in the order of the axes; samples run fastest, then the last listed axis.
    #[must_use]
    pub fn values(&self, point: usize) -> Vec<String> {
        let (sample, mut rest) = (point % self.samples, point / self.samples);
        let mut values: Vec<String> = self
            .axes
            .iter()
            .rev()
            .map(|axis| match listed(axis) {
                Some(values) => {
                    let place = rest % values.len();
                    rest /= values.len();
                    values[place].clone()
                }
                None => axis.draw(sample).unwrap_or_default(),
            })
            .collect();
        values.reverse();
        values
    }

    /// The runs, by points, contenders, seeds; with `part` (i, n) every n-th from the i-th on, so that dear ones are spread.
    ///
    /// # Errors
    /// When a combination of values is no scenario that can be run, or no contender reads a field that is varied.
    pub fn cases(
        &self,
        registry: &Registry,
        part: Option<(usize, usize)>,
    ) -> Result<Vec<SweepCase>, Error> {
        let text = self.base.to_toml()?;
        let at = |point| self.cases_at(registry, &text, point, part);
        let all: Vec<Result<Vec<SweepCase>, Error>> =
            (0..self.points()).into_par_iter().map(at).collect();
        let all: Result<Vec<Vec<SweepCase>>, Error> = all.into_iter().collect();
        Ok(all?.into_iter().flatten().collect())
    }

    fn cases_at(
        &self,
        registry: &Registry,
        text: &str,
        point: usize,
        part: Option<(usize, usize)>,
    ) -> Result<Vec<SweepCase>, Error> {
        let each = self.contenders.len() * self.seeds.len();
        let mine = |place: &usize| {
            part.is_none_or(|(part, of)| (point * each + place) % of.max(1) + 1 == part)
        };
        let places: Vec<usize> = (0..each).filter(mine).collect();
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let values = self.values(point);
        let set = self.axes.iter().zip(&values);
        let settings: Vec<String> = set
            .map(|(axis, value)| format!("{}={value}", axis.path))
            .collect();
        let base = Scenario::parse(text, &settings).map_err(|error| {
            let at_fault = |axis: &&SweepAxis| match &error {
                ScenarioError::Set { given, .. } => given.starts_with(&axis.path),
                _ => false,
            };
            let axis = self.axes.iter().find(at_fault);
            in_axis(error, axis.map_or("--grid", option))
        })?;
        check_shared(registry, &base, &self.contenders)?;
        let case = |place: usize| {
            let (contender, seed) = (place / self.seeds.len(), place % self.seeds.len());
            let entry = &self.contenders[contender];
            Ok(SweepCase {
                point,
                contender,
                run: PlannedRun::new(registry, &base, entry, self.seeds[seed], |_| {})?,
            })
        };
        places.into_iter().map(case).collect()
    }

    /// What a folder of this sweep must agree on; axes, methods and seeds may change.
    ///
    /// # Errors
    /// When the scenario cannot be written as TOML.
    pub fn shared_text(&self) -> Result<String, Error> {
        let shared = Scenario {
            method: Scenario::default().method,
            seed: Scenario::default().seed,
            ..self.base.clone()
        };
        Ok(shared.to_toml()?)
    }
}

/// The values of a listed axis.
fn listed(axis: &SweepAxis) -> Option<&[String]> {
    match &axis.values {
        AxisValues::Listed(values) => Some(values),
        AxisValues::Drawn { .. } => None,
    }
}

/// The option that an axis was given with.
fn option(axis: &SweepAxis) -> &'static str {
    match axis.values {
        AxisValues::Listed(_) => "--grid",
        AxisValues::Drawn { .. } => "--random",
    }
}

/// A setting that an axis made, told as what was typed.
fn in_axis(error: ScenarioError, option: &str) -> Error {
    match error {
        ScenarioError::Set { given, reason } => Error::Plan {
            place: format!("`{option} {given}`"),
            reason,
        },
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(grid: &[&str], random: &[&str], samples: usize) -> Result<SweepPlan, Error> {
        let registry = Registry::builtin();
        let base = Scenario::default();
        let mut axes: Vec<SweepAxis> = grid
            .iter()
            .map(|text| SweepAxis::listed(text))
            .collect::<Result<_, _>>()?;
        for text in random {
            axes.push(SweepAxis::drawn(text, &base)?);
        }
        let contenders = Contender::parse_list(&registry, "cehfed,hfl")?;
        SweepPlan::new(base, contenders, 1..=2, axes, samples, 0.9)
    }

    fn reason(grid: &[&str], random: &[&str]) -> String {
        let plan = plan(grid, random, 3);
        let cases = plan.and_then(|plan| plan.cases(&Registry::builtin(), None));
        cases.unwrap_err().to_string()
    }

    #[test]
    fn every_combination_of_listed_values_meets_every_sample() {
        let plan = plan(
            &["uavs.count=3,5", "data.partition.kind=iid,noniid_a"],
            &["uavs.speed_mps=10..30"],
            4,
        )
        .unwrap();
        assert_eq!(plan.points(), 2 * 2 * 4);
        let all: Vec<Vec<String>> = (0..plan.points()).map(|point| plan.values(point)).collect();
        let first = |place: usize| (all[place][0].as_str(), all[place][1].as_str());
        assert_eq!(first(0), ("3", "iid"));
        assert_eq!(first(3), ("3", "iid"));
        assert_eq!(first(4), ("3", "noniid_a"));
        assert_eq!(first(15), ("5", "noniid_a"));
        // The same samples at every point of the grid: what differs is the grid's.
        assert_eq!(all[1][2], all[13][2]);
        let cases = plan.cases(&Registry::builtin(), None).unwrap();
        assert_eq!(cases.len(), 16 * 2 * 2);
        let last = &cases[63].run.scenario;
        assert_eq!((last.uavs.count, last.seed), (5, 2));
        assert_eq!(last.method, "hfl");
        assert_eq!(last.stop.targets, [0.9]);
    }

    #[test]
    fn parts_are_the_whole_and_share_nothing() {
        let plan = plan(&["uavs.count=3,4,5"], &[], 1).unwrap();
        let registry = Registry::builtin();
        let ids = |part| -> Vec<String> {
            let cases = plan.cases(&registry, part).unwrap();
            cases.into_iter().map(|case| case.run.id).collect()
        };
        let mut whole = ids(None);
        let mut parts: Vec<String> = (1..=5).flat_map(|part| ids(Some((part, 5)))).collect();
        whole.sort();
        parts.sort();
        assert_eq!(parts, whole);
    }

    #[test]
    fn what_cannot_be_varied_is_told_before_anything_runs() {
        for (grid, random, told) in [
            (&["uavs.cuont=3"][..], &[][..], "`uavs.count`"),
            (&["uavs.count=3,many"], &[], "`--grid uavs.count=many`"),
            (&["uavs.count=3,0"], &[], "uavs.count"),
            (&["seed=1,2"], &[], "--seeds"),
            (&["method=hfl,cehfed"], &[], "--methods"),
            (&["stop.targets=[0.5]"], &[], "--target"),
            (&["uavs.count=3", "uavs.count=4"], &[], "twice"),
            (&["uavs.count=3"], &["uavs.count=4..6"], "twice"),
            (&[], &["uavs.count=-4..6"], "uavs.count"),
            (&["selection.threshold=0.3"], &[], "no method here reads it"),
        ] {
            let message = reason(grid, random);
            assert!(message.contains(told), "{grid:?} {random:?}: {message}");
        }
        let values: Vec<String> = (1..=400).map(|value| value.to_string()).collect();
        let many = format!("uavs.count={}", values.join(","));
        let more = format!("devices.count={}", values.join(","));
        assert!(reason(&[&many, &more], &[]).contains("at most 100000"));
        let registry = Registry::builtin();
        let contenders = Contender::parse_list(&registry, "hfl:uavs.speed_mps=15").unwrap();
        let axes = vec![SweepAxis::listed("uavs.speed_mps=1,2").unwrap()];
        let plan = SweepPlan::new(Scenario::default(), contenders, 1..=1, axes, 1, 0.9);
        assert!(plan.unwrap_err().to_string().contains("the sweep varies"));
    }
}
