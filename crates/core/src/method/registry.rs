//! Methods by name, and which fields of a scenario each of them reads.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::fields::{About, SWITCHES, about, covers};
use super::parts::{Overrides, Parts, aggregator_reads};
use super::{Method, Schedule};
use crate::Error;
use crate::reading::choices;
use crate::scenario::{Change, Scenario, ScenarioError, ValidScenario};

/// Makes a method for a scenario.
pub type Build = Arc<dyn Fn(&ValidScenario) -> Result<Method, Error> + Send + Sync>;

/// A registered method.
#[derive(Clone)]
pub struct Entry {
    name: Cow<'static, str>,
    summary: Cow<'static, str>,
    made: Made,
}

#[derive(Clone)]
enum Made {
    Of(Parts),
    By { reads: Vec<String>, build: Build },
}

impl Entry {
    /// A method of parts that are there.
    #[must_use]
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        summary: impl Into<Cow<'static, str>>,
        parts: Parts,
    ) -> Self {
        Self {
            name: name.into(),
            summary: summary.into(),
            made: Made::Of(parts),
        }
    }

    pub(super) const fn built_in(name: &'static str, summary: &'static str, parts: Parts) -> Self {
        Self {
            name: Cow::Borrowed(name),
            summary: Cow::Borrowed(summary),
            made: Made::Of(parts),
        }
    }

    /// A method of one's own. `reads` names the fields, or tables of fields, that `build` looks at, as in `selection.share`:
    /// a scenario that changes others which are some methods' business is refused. What a scenario asks for with
    /// `association.kind`, `allocation.kind` or `redeploy.method` takes the place of what `build` made.
    #[must_use]
    pub fn custom(
        name: impl Into<Cow<'static, str>>,
        summary: impl Into<Cow<'static, str>>,
        reads: &[&str],
        build: Build,
    ) -> Self {
        let reads = reads.iter().map(|&path| path.into()).collect();
        Self {
            name: name.into(),
            summary: summary.into(),
            made: Made::By { reads, build },
        }
    }

    /// What `--method` takes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line about it.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// What it consists of in a scenario; none when somebody's own code builds it.
    #[must_use]
    pub fn parts(&self, scenario: &Scenario) -> Option<Parts> {
        match &self.made {
            Made::Of(parts) => Some(parts.overridden(scenario)),
            Made::By { .. } => None,
        }
    }

    /// Whether it reads a field, given by its dotted path, with the parts that a scenario replaces.
    #[must_use]
    pub fn reads(&self, scenario: &Scenario, field: &str) -> bool {
        let is_field = |path: &&str| covers(path, field);
        let of_parts: Vec<&'static [&'static str]> = match &self.made {
            Made::Of(parts) => {
                let parts = parts.overridden(scenario).described();
                parts.map(|(_, part)| part.reads).into()
            }
            Made::By { reads, .. } => {
                if reads.iter().any(|path| covers(path, field)) {
                    return true;
                }
                let parts = Overrides::of(scenario).described();
                parts.into_iter().map(|(_, part)| part.reads).collect()
            }
        };
        about(field).is_none()
            || SWITCHES.iter().any(is_field)
            || aggregator_reads(scenario.aggregator).iter().any(is_field)
            || of_parts.into_iter().flatten().any(is_field)
    }

    /// The fields that a scenario changes although this method does not read them.
    ///
    /// # Errors
    /// Only when a number cannot be written in TOML.
    pub fn unread(&self, scenario: &Scenario) -> Result<Vec<Change>, ScenarioError> {
        let mut changes = scenario.changes()?;
        changes.retain(|change| !self.reads(scenario, &change.field));
        Ok(changes)
    }

    /// What it does in place of what a field is about that it does not read.
    #[must_use]
    pub fn instead_of(&self, scenario: &Scenario, field: &str) -> String {
        let parts = match &self.made {
            Made::Of(parts) => parts.overridden(scenario).described().into(),
            Made::By { .. } => Overrides::of(scenario).described(),
        };
        let about = about(field);
        if about == Some(About::Weights) {
            return "no part of it weighs energy against time".into();
        }
        match parts.iter().find(|(part, _)| Some(*part) == about) {
            Some((_, part)) => part.does.into(),
            None => "it is not among the fields that it names".into(),
        }
    }

    /// Puts the method together for a scenario, whatever fields the scenario changes in vain.
    ///
    /// # Errors
    /// When the scenario asks for a part that does not fit the method's schedule, or somebody's own code refuses it.
    pub fn build(&self, scenario: &ValidScenario) -> Result<Method, Error> {
        let overrides = Overrides::of(scenario);
        let method = match &self.made {
            Made::Of(own) => {
                let name = format!("{}{}", self.name, overrides.suffix(Some(own)));
                own.overridden(scenario).build(name, scenario)
            }
            Made::By { build, .. } => {
                let mut method = build(scenario)?;
                method.name += &overrides.suffix(None);
                if let Some(part) = overrides.association {
                    method.association = part.build(scenario);
                }
                if let Some(part) = overrides.allocation {
                    method.allocation = part.build(&scenario.allocation);
                }
                if let Some(part) = overrides.redeployment {
                    method.redeployment = part.build(&scenario.redeploy);
                }
                method
            }
        };
        if matches!(method.schedule, Schedule::Asynchronous { .. }) {
            overrides.check_asynchronous(&self.name)?;
        }
        Ok(method)
    }

    /// The refusal of a change that this method does not read.
    fn refusal(&self, scenario: &Scenario, change: Change) -> ScenarioError {
        ScenarioError::Unread {
            method: self.name.clone().into(),
            instead: self.instead_of(scenario, &change.field),
            value: change.value.unwrap_or_else(|| "unset".into()),
            at: change
                .default
                .map_or_else(|| "unset".into(), |default| format!("at {default}")),
            field: change.field,
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Methods, in the order in which they are listed.
#[derive(Clone, Debug)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Registry {
    /// The methods that come with the program.
    #[must_use]
    pub fn builtin() -> Self {
        Self {
            entries: super::BUILT_IN.into(),
        }
    }

    /// Adds a method at the end.
    ///
    /// # Errors
    /// When its name is taken, or cannot stand in a list of methods and in the name of a folder.
    pub fn add(&mut self, entry: Entry) -> Result<(), Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name = entry.name();
        let usable = (1..=60).contains(&name.len())
            && name.chars().all(plain)
            && !name.starts_with('.')
            && name != "all";
        let refuse = |allowed: &str| {
            Err(ScenarioError::Field {
                field: "method".into(),
                value: format!("{name:?}"),
                allowed: allowed.into(),
            }
            .into())
        };
        if !usable {
            return refuse("1 to 60 letters, digits, `-`, `_` or `.`, not `all`");
        }
        if self.get(name).is_some() {
            return refuse("a name that is not registered yet");
        }
        self.entries.push(entry);
        Ok(())
    }

    /// All methods.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(Entry::name)
    }

    /// The method of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The method of that name, or the refusal that lists those there are.
    ///
    /// # Errors
    /// When none has that name.
    pub fn find(&self, name: &str) -> Result<&Entry, ScenarioError> {
        self.get(name).ok_or_else(|| ScenarioError::Field {
            field: "method".into(),
            value: format!("{name:?}"),
            allowed: choices(name, self.names()),
        })
    }

    /// The method that a scenario names, put together for it.
    ///
    /// # Errors
    /// When none has that name, when the scenario changes a field that the method does not read, or asks for a part that
    /// does not fit it.
    pub fn method(&self, scenario: &ValidScenario) -> Result<Method, Error> {
        self.named(&scenario.method, scenario)
    }

    /// The method of that name, put together for a scenario that may name another.
    ///
    /// # Errors
    /// As [`Registry::method`].
    pub fn named(&self, name: &str, scenario: &ValidScenario) -> Result<Method, Error> {
        let entry = self.find(name)?;
        match entry.unread(scenario)?.into_iter().next() {
            Some(change) => Err(entry.refusal(scenario, change).into()),
            None => entry.build(scenario),
        }
    }

    /// A scenario with every field that its method does not read at its default: what is left is what is run.
    ///
    /// # Errors
    /// When there is no method of that name.
    pub fn without_unread(&self, scenario: &Scenario) -> Result<Scenario, Error> {
        let unread = self.find(&scenario.method)?.unread(scenario)?;
        let fields = unread.iter().map(|change| change.field.as_str());
        Ok(scenario.with_defaults(fields)?)
    }
}

impl Method {
    /// The method of that name that comes with the program, see [`Registry::named`].
    ///
    /// # Errors
    /// As [`Registry::method`].
    pub fn named(name: &str, scenario: &ValidScenario) -> Result<Self, Error> {
        Registry::builtin().named(name, scenario)
    }

    /// The method that the scenario names, of those that come with the program, see [`Registry::method`].
    ///
    /// # Errors
    /// As [`Registry::method`].
    pub fn of(scenario: &ValidScenario) -> Result<Self, Error> {
        Registry::builtin().method(scenario)
    }
}
