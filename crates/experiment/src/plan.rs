//! Which runs: contenders, seeds, and the scenario of each run spelled out.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;

use aerofed::method::Registry;
use aerofed::reading::choices;
use aerofed::scenario::{Scenario, ValidScenario};
use sha2::{Digest, Sha256};

use super::settings::{check_own, check_shared, check_world, own_scenario};
use super::stored::StoredRun;
use crate::Error;

/// A method with settings of its own, and what it is called.
///
/// Written `METHOD`, `METHOD:PATH=VALUE:PATH=VALUE` or `LABEL=METHOD:PATH=VALUE`; nothing in it
/// needs quoting in a shell, unless a value does.
///
/// ```
/// use aerofed::method::Registry;
/// use aerofed_experiment::plan::Contender;
/// let list = "hfl,long=hfl:allocation.local_iterations=20";
/// let list = Contender::parse_list(&Registry::builtin(), list)?;
/// assert_eq!((list[0].label.as_str(), list[1].label.as_str()), ("hfl", "long"));
/// assert_eq!(list[1].settings, ["allocation.local_iterations=20"]);
/// # Ok::<(), aerofed_experiment::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    /// What tables call it: as given, or else the text as typed.
    pub label: String,
    /// The method's registered name.
    pub method: String,
    /// Settings that hold for it alone, as `path=value`.
    pub settings: Vec<String>,
}

impl Contender {
    /// Reads a list with commas between; `all` stands for every registered method.
    ///
    /// # Errors
    /// When an entry is empty, names no registered method or a label twice.
    pub fn parse_list(registry: &Registry, text: &str) -> Result<Vec<Self>, Error> {
        Self::parse_all(registry, &split(text, ','))
    }

    /// Reads entries; `all` stands for every registered method.
    ///
    /// # Errors
    /// As [`Contender::parse_list`].
    pub fn parse_all(registry: &Registry, entries: &[impl AsRef<str>]) -> Result<Vec<Self>, Error> {
        let mut all: Vec<Self> = Vec::new();
        for entry in entries {
            let found = match entry.as_ref().trim() {
                "all" => registry
                    .names()
                    .map(|name| Self::parse(registry, name))
                    .collect::<Result<_, _>>()?,
                entry => vec![Self::parse(registry, entry)?],
            };
            for contender in found {
                if all.iter().any(|other| other.label == contender.label) {
                    let reason = "stands there twice; LABEL=METHOD tells two of them apart";
                    return Err(bad(&contender.label, reason));
                }
                all.push(contender);
            }
        }
        Ok(all)
    }

    /// Reads one entry.
    ///
    /// # Errors
    /// When it names no registered method or sets what the plan sets.
    pub fn parse(registry: &Registry, text: &str) -> Result<Self, Error> {
        let contender = Self::read(text);
        let Self {
            label,
            method,
            settings,
        } = &contender;
        if registry.get(method).is_none() {
            let reason = match method.is_empty() {
                true => "an empty entry in the list of methods".into(),
                false => {
                    let known = choices(method, registry.names());
                    format!("no method {method:?}; there are: {known}")
                }
            };
            return Err(bad(text, &reason));
        }
        if label.is_empty() || label.chars().any(char::is_control) {
            return Err(bad(text, "has an empty or unprintable label"));
        }
        for setting in settings {
            let path = setting.split('=').next().unwrap_or_default().trim();
            if path.is_empty() || path == setting {
                return Err(bad(text, &format!("{setting:?} is not PATH=VALUE")));
            }
            if ["seed", "method", "name"].contains(&path) {
                return Err(bad(text, &format!("`{path}` is not the method's to set")));
            }
        }
        Ok(contender)
    }

    /// One entry as written, whether or not there is such a method.
    pub(super) fn read(text: &str) -> Self {
        let mut parts = split(text.trim(), ':').into_iter();
        let head = parts.next().unwrap_or_default();
        let (label, method) = head.split_once('=').unwrap_or((text, head));
        Self {
            label: label.trim().into(),
            method: method.trim().into(),
            settings: parts.map(|part| part.trim().into()).collect(),
        }
    }
}

pub(super) fn bad(entry: &str, reason: &str) -> Error {
    Error::Plan {
        place: format!("method {entry:?}"),
        reason: reason.into(),
    }
}

/// Splits where the separator stands outside of brackets and quotes.
pub(super) fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, c) if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// One run, ready to go.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// Everything about it, method and seed included.
    pub scenario: ValidScenario,
    /// The same as text: what its folder's `scenario.toml` must say.
    pub text: String,
    /// Twelve hexadecimal digits of the text's hash.
    pub id: String,
}

impl PlannedRun {
    /// A contender's run of a scenario under a seed; `change` has the last word. What the contender's method does not read
    /// is at its default, so that the run can be done again by itself, and equal runs are the same.
    ///
    /// # Errors
    /// When the scenario so changed cannot be run, or the contender sets a field that it does not read.
    pub fn new(
        registry: &Registry,
        base: &Scenario,
        contender: &Contender,
        seed: u64,
        change: impl FnOnce(&mut Scenario),
    ) -> Result<Self, Error> {
        let mut scenario = own_scenario(base, contender)?;
        check_own(registry, &scenario, contender)?;
        scenario.seed = seed;
        change(&mut scenario);
        let scenario = registry.without_unread(&scenario)?.check()?;
        // Finds parts that do not go together before anything runs.
        registry.method(&scenario)?;
        let text = scenario.to_toml()?;
        Ok(Self {
            id: digest(&text),
            scenario,
            text,
        })
    }

    /// The name of its folder: readable, and different for different runs.
    #[must_use]
    pub fn folder_name(&self) -> String {
        let (method, seed) = (&self.scenario.method, self.scenario.seed);
        format!("{method}-{seed}-{}", self.id)
    }
}

/// Each run once, in order: two contenders, or two figures, may ask for the same.
#[must_use]
pub fn distinct<'a>(runs: impl IntoIterator<Item = &'a PlannedRun>) -> Vec<&'a PlannedRun> {
    let mut seen = HashSet::new();
    let new = |run: &&PlannedRun| seen.insert(run.id.clone());
    runs.into_iter().filter(new).collect()
}

/// Part `part` of `of`, from 1: every `of`-th, so that dear runs are spread.
#[must_use]
pub fn part_of<T: Copy>(runs: &[T], part: usize, of: usize) -> Vec<T> {
    let mine = |index: usize| index % of.max(1) + 1 == part;
    let all = runs.iter().enumerate();
    all.filter(|(index, _)| mine(*index))
        .map(|(_, run)| *run)
        .collect()
}

/// The first twelve hexadecimal digits of a text's SHA-256: enough to tell billions of runs apart,
/// and folders are compared in full before they are taken for a run.
#[must_use]
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A scenario, the contenders in it, and under which seeds: what `aerofed compare` runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparePlan {
    /// What all contenders share; its method and seed do not matter.
    pub base: Scenario,
    /// The first is compared with each other one.
    pub contenders: Vec<Contender>,
    /// One run of each contender for each.
    pub seeds: Vec<u64>,
    /// Accuracies whose cost is compared, rising.
    pub targets: Vec<f64>,
}

impl ComparePlan {
    /// Over how many rounds a comparison averages: as asked for, or as the scenario does, or else over three, so that a lucky
    /// round is no target reached.
    #[must_use]
    pub fn smooth(asked: Option<usize>, base: &Scenario) -> usize {
        match (asked, base.stop.smooth) {
            (Some(rounds), _) => rounds,
            (None, 1) => 3,
            (None, own) => own,
        }
    }

    /// Plans a comparison: the runs stop at the largest target, or, if `full`, when the scenario
    /// says.
    ///
    /// # Errors
    /// When there is nothing to compare: no contender, no seed, no target, or targets outside 0 to
    /// 1.
    pub fn new(
        mut base: Scenario,
        contenders: Vec<Contender>,
        seeds: RangeInclusive<u64>,
        mut targets: Vec<f64>,
        full: bool,
    ) -> Result<Self, Error> {
        let refuse = |place: &str, reason: &str| Error::Plan {
            place: place.into(),
            reason: reason.into(),
        };
        if contenders.is_empty() {
            return Err(refuse("methods", "none given"));
        }
        if seeds.is_empty() {
            return Err(refuse("seeds", "0 asked for, allowed: 1 or more"));
        }
        if let Some(odd) = targets.iter().find(|&&t| !(t > 0.0 && t <= 1.0)) {
            let reason = format!("{odd} given, allowed: accuracies above 0, up to 1");
            return Err(refuse("targets", &reason));
        }
        targets.sort_by(f64::total_cmp);
        targets.dedup();
        let Some(&largest) = targets.last() else {
            return Err(refuse("targets", "none given"));
        };
        base.stop.targets.clone_from(&targets);
        if !full {
            base.stop.target_accuracy = largest;
        }
        Ok(Self {
            base,
            contenders,
            seeds: seeds.collect(),
            targets,
        })
    }

    /// The runs, for each contender one for each seed. A contender can change neither the world nor when runs stop.
    ///
    /// # Errors
    /// When a contender's settings do not fit the scenario, are not its own to set or not read by it, or when a field of the
    /// scenario is read by no contender.
    pub fn runs(&self, registry: &Registry) -> Result<Vec<Vec<PlannedRun>>, Error> {
        for contender in &self.contenders {
            check_world(&self.base, contender)?;
        }
        check_shared(registry, &self.base, &self.contenders)?;
        let of = |contender: &Contender| {
            let run = |&seed| {
                PlannedRun::new(registry, &self.base, contender, seed, |scenario| {
                    scenario.stop.target_accuracy = self.base.stop.target_accuracy;
                    scenario.stop.targets.clone_from(&self.targets);
                })
            };
            self.seeds.iter().map(run).collect()
        };
        self.contenders.iter().map(of).collect()
    }

    /// The finished runs of [`ComparePlan::runs`] in a folder.
    ///
    /// # Errors
    /// When one is missing, or its folder holds something else.
    pub fn stored(&self, registry: &Registry, folder: &Path) -> Result<Vec<Vec<StoredRun>>, Error> {
        let find = |run: &PlannedRun| {
            let missing = || aerofed::Error::Output {
                path: folder.join(run.folder_name()),
                reason: "is missing".into(),
            };
            Ok(StoredRun::find(folder, run)?.ok_or_else(missing)?)
        };
        let of_contender = |runs: &Vec<PlannedRun>| runs.iter().map(find).collect();
        self.runs(registry)?.iter().map(of_contender).collect()
    }

    /// What a folder of this comparison must agree on; methods and seeds may be added.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        Contender::parse_list(&Registry::builtin(), text)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn lists_keep_what_stands_in_brackets_and_quotes_together() {
        let list = Contender::parse_list(
            &Registry::builtin(),
            "hfl,two=hfl:stop.targets=[0.5, 0.6]:data.dir=\"a,b:c\",hfl:uavs.layout={kind=\"auto\"}",
        )
        .unwrap();
        assert_eq!(list.len(), 3);
        assert_eq!(
            list[1].settings,
            ["stop.targets=[0.5, 0.6]", "data.dir=\"a,b:c\""]
        );
        assert_eq!(list[2].label, "hfl:uavs.layout={kind=\"auto\"}");
        let all = Contender::parse_list(&Registry::builtin(), "all").unwrap();
        assert_eq!(all.len(), Registry::builtin().entries().len());
    }

    #[test]
    fn entries_that_are_none_say_why() {
        assert!(reason("hfl,telepathy").contains("direct_drop"));
        assert!(reason("hfl,hfl").contains("twice"));
        assert!(reason("all,hfl").contains("twice"));
        assert!(reason("").contains("empty entry"));
        assert!(reason("=hfl").contains("label"));
        assert!(reason("hfl:seed=3").contains("seed"));
        assert!(reason("hfl:uavs.count").contains("PATH=VALUE"));
        assert!(reason("hfl:=3").contains("PATH=VALUE"));
    }

    #[test]
    fn a_run_is_known_by_its_whole_scenario() {
        let base = Scenario::default();
        let plain = Contender::parse(&Registry::builtin(), "hfl").unwrap();
        let run = |contender: &Contender, seed| {
            PlannedRun::new(&Registry::builtin(), &base, contender, seed, |_| {}).unwrap()
        };
        let first = run(&plain, 3);
        assert_eq!(first, run(&plain, 3));
        assert_eq!(first.folder_name(), format!("hfl-3-{}", first.id));
        let named = Contender::parse(
            &Registry::builtin(),
            "other=hfl:training.max_edge_rounds=10",
        )
        .unwrap();
        assert_eq!(first.id, run(&named, 3).id, "the default spelled out");
        for other in [
            run(&plain, 4),
            run(
                &Contender::parse(&Registry::builtin(), "direct_drop").unwrap(),
                3,
            ),
            run(
                &Contender::parse(&Registry::builtin(), "hfl:uavs.speed_mps=15").unwrap(),
                3,
            ),
        ] {
            assert_ne!(first.id, other.id);
        }
    }

    #[test]
    fn settings_of_a_contender_are_checked_like_any() {
        let contender = Contender::parse(&Registry::builtin(), "hfl:uavs.battery_j=-5").unwrap();
        let error = PlannedRun::new(
            &Registry::builtin(),
            &Scenario::default(),
            &contender,
            1,
            |_| {},
        );
        assert!(error.unwrap_err().to_string().contains("uavs.battery_j"));
    }

    #[test]
    fn runs_stop_at_the_largest_target_unless_full() {
        let plan = |full| {
            let contenders =
                Contender::parse_list(&Registry::builtin(), "hfl,direct_drop").unwrap();
            let targets = vec![0.9, 0.5, 0.9];
            ComparePlan::new(Scenario::default(), contenders, 4..=6, targets, full).unwrap()
        };
        assert_eq!(plan(false).targets, [0.5, 0.9]);
        let runs = plan(false).runs(&Registry::builtin()).unwrap();
        assert_eq!((runs.len(), runs[1].len()), (2, 3));
        let last = &runs[1][2].scenario;
        assert_eq!((last.method.as_str(), last.seed), ("direct_drop", 6));
        assert_eq!(last.stop.target_accuracy, 0.9);
        let full = plan(true).runs(&Registry::builtin()).unwrap();
        assert_eq!(full[0][0].scenario.stop.target_accuracy, 1.0);
    }

    #[test]
    fn contenders_share_world_and_targets() {
        let refused = |setting: &str| {
            let contenders =
                Contender::parse_list(&Registry::builtin(), &format!("hfl,x=hfl:{setting}"))
                    .unwrap();
            let plan = ComparePlan::new(Scenario::default(), contenders, 1..=1, vec![0.5], false);
            plan.unwrap()
                .runs(&Registry::builtin())
                .err()
                .map(|error| error.to_string())
        };
        for (setting, field) in [
            ("devices.count=20", "devices"),
            ("uavs={speed_mps=15}", "uavs"),
            ("data.data_volume=3000", "data"),
            ("mobility.kind=static", "mobility"),
            ("faults=[{kind=\"loss\", uav=0, round=2}]", "faults"),
            ("stop.targets=[0.3]", "stop.targets"),
            ("stop={target_accuracy=0.3}", "stop.target_accuracy"),
            ("uavs.reserve=none:area.width_m=5e3", "area"),
        ] {
            let told = refused(setting).unwrap();
            assert!(told.contains(&format!("changes `{field}`")), "{told}");
            assert!(told.contains("\"x\""), "{told}");
        }
        for setting in [
            "uavs.reserve=none",
            "stop.max_rounds=9",
            "allocation.local_iterations=3",
        ] {
            assert_eq!(refused(setting), None, "{setting}");
        }
    }

    #[test]
    fn nothing_to_compare_is_said() {
        let plan = |methods: &str, seeds, targets: &[f64]| {
            let contenders = match methods {
                "" => Vec::new(),
                list => Contender::parse_list(&Registry::builtin(), list).unwrap(),
            };
            ComparePlan::new(
                Scenario::default(),
                contenders,
                seeds,
                targets.into(),
                false,
            )
            .unwrap_err()
            .to_string()
        };
        assert!(plan("", 1..=1, &[0.5]).contains("methods"));
        #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
        let none = 1..=0;
        assert!(plan("hfl", none, &[0.5]).contains("seeds"));
        for targets in [&[][..], &[0.0], &[1.01], &[f64::NAN]] {
            assert!(plan("hfl", 1..=1, targets).contains("targets"));
        }
    }
}
