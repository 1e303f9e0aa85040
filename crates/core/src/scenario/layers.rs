//! Where the values of a scenario come from: the defaults, what a file extends, the file, and settings, each laid over those
//! before it. What is wrong is told with the layer that it stands in.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::diagnose::explain;
use super::library::{self, BUILT_IN};
use super::{Scenario, ScenarioError};
use crate::reading::{Flaw, Mistake, Problem, Step, from_table, nearest, parse_table, place};

/// A scenario is a page of text; more than this is something else.
const LARGEST_FILE_BYTES: u64 = 16 << 20;

/// The key that names the scenario which a file changes.
const EXTENDS: &str = "extends";

/// A text that sets fields.
pub(super) struct Source {
    /// What messages call it; none: nothing, because there is only one.
    name: Option<String>,
    /// Where relative paths in it start; none: it is no file.
    folder: Option<PathBuf>,
    text: String,
    /// Where the scenario stands in the text; empty: it is all of it.
    inside: Vec<Step>,
    table: Table,
}

impl Source {
    pub(super) fn new(name: Option<&str>, text: &str) -> Result<Self, ScenarioError> {
        let source = Self {
            name: name.map(Into::into),
            folder: None,
            text: text.into(),
            inside: Vec::new(),
            table: Table::new(),
        };
        match parse_table(text) {
            Ok(table) => Ok(Self { table, ..source }),
            Err(mistake) => Err(source.refuse(&mistake)),
        }
    }

    pub(super) fn file(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let text = read(path).map_err(|reason| ScenarioError::Text(format!("{name}: {reason}")))?;
        Ok(Self {
            folder: Some(path.parent().unwrap_or(Path::new("")).into()),
            ..Self::new(Some(&name), &text)?
        })
    }

    /// A table of a larger file.
    pub(super) fn part(self, key: &str) -> Result<Self, ScenarioError> {
        let inside = vec![Step::Key(key.into())];
        match self.table.get(key) {
            None => Ok(Self {
                table: Table::new(),
                inside,
                ..self
            }),
            Some(Value::Table(table)) => Ok(Self {
                table: table.clone(),
                inside,
                ..self
            }),
            Some(other) => Err(self.refuse(&Mistake {
                at: place(&self.text, &inside),
                reason: format!("`{key}` is {other}, allowed: a table of fields"),
            })),
        }
    }

    fn refuse(&self, mistake: &Mistake) -> ScenarioError {
        ScenarioError::Text(match &self.name {
            Some(name) => mistake.within(name),
            None => mistake.to_string(),
        })
    }

    /// The refusal of what stands at a path.
    fn refuse_at(&self, path: &[Step], reason: String) -> ScenarioError {
        let at = place(&self.text, &[&self.inside, path].concat());
        self.refuse(&Mistake { at, reason })
    }

    /// What it extends, and the mark by which that is known again.
    fn base(&mut self) -> Result<Option<(Self, PathBuf)>, ScenarioError> {
        let path = [Step::Key(EXTENDS.into())];
        let Some(value) = self.table.remove(EXTENDS) else {
            return Ok(None);
        };
        let Value::String(name) = value else {
            let reason = format!(
                "`{EXTENDS}` is {value}, allowed: {} or a file, in quotes",
                built_in_names().join(", ")
            );
            return Err(self.refuse_at(&path, reason));
        };
        if let Some(text) = library::built_in(&name) {
            return Ok(Some((Self::new(Some(&name), text)?, name.into())));
        }
        let Some(folder) = &self.folder else {
            let names = crate::reading::choices(&name, built_in_names());
            let reason = format!("`{EXTENDS}` is {name:?}, allowed here: {names}");
            return Err(self.refuse_at(&path, reason));
        };
        let file = folder.join(&name);
        let base = Self::file(&file).map_err(|error| match file.exists() {
            true => error,
            false => self.refuse_at(&path, format!("`{EXTENDS}`: {error}")),
        })?;
        let mark = file.canonicalize().unwrap_or(file);
        Ok(Some((base, mark)))
    }
}

fn built_in_names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

fn read(path: &Path) -> Result<String, String> {
    let told = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(path),
        _ => error.to_string(),
    };
    let size = fs::metadata(path).map_err(told)?;
    if !size.is_file() {
        return Err("not a file".into());
    }
    if size.len() > LARGEST_FILE_BYTES {
        let size = size.len();
        return Err(format!(
            "{size} bytes, a scenario has at most {LARGEST_FILE_BYTES}"
        ));
    }
    let bytes = fs::read(path).map_err(told)?;
    String::from_utf8(bytes).map_err(|_| "not UTF-8 text".into())
}

/// That there is no such file, and which one was probably meant.
fn missing(path: &Path) -> String {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let there = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = there
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort_unstable();
    let is_name = path.components().count() == 1;
    let built_in = match is_name {
        true => built_in_names(),
        false => Vec::new(),
    };
    let known = built_in.iter().copied();
    let known = known.chain(names.iter().map(String::as_str));
    let given = path.file_name().and_then(|name| name.to_str());
    let mut told = match is_name {
        true => format!(
            "no such file, and no scenario of that name (there are {})",
            built_in.join(", ")
        ),
        false => "no such file".to_owned(),
    };
    if let Some(name) = given.and_then(|given| nearest(given, known)) {
        let shown = match is_name {
            true => name.into(),
            false => path.with_file_name(name).display().to_string(),
        };
        told += &format!("; did you mean `{shown}`?");
    }
    told
}

/// A source with all that it extends, and settings on top.
pub(super) struct Layers {
    /// The lowest first.
    sources: Vec<Source>,
    settings: Vec<(String, Table)>,
}

impl Layers {
    pub(super) fn new(source: Source, settings: &[impl AsRef<str>]) -> Result<Self, ScenarioError> {
        let mut sources = vec![source];
        let mut marks: Vec<PathBuf> = Vec::new();
        if let Some(Source {
            name: Some(name),
            folder: Some(_),
            ..
        }) = sources.first()
        {
            marks.push(Path::new(name).canonicalize().unwrap_or(name.into()));
        }
        while let Some((base, mark)) = sources[0].base()? {
            if marks.contains(&mark) {
                let chain = sources.iter().rev().chain([&base]);
                let names: Vec<&str> = chain.filter_map(|s| s.name.as_deref()).collect();
                let reason = format!("`{EXTENDS}` goes in a circle: {}", names.join(" -> "));
                return Err(ScenarioError::Text(reason));
            }
            marks.push(mark);
            sources.insert(0, base);
        }
        let settings = settings.iter().map(|setting| {
            let given = setting.as_ref();
            match parse_setting(given) {
                Ok(table) => Ok((given.to_owned(), table)),
                Err(reason) => Err(ScenarioError::Set {
                    given: given.into(),
                    reason: reason.into(),
                }),
            }
        });
        Ok(Self {
            settings: settings.collect::<Result<_, _>>()?,
            sources,
        })
    }

    /// The scenario that comes of it.
    pub(super) fn read(&self) -> Result<Scenario, ScenarioError> {
        let mut table = super::fields::table(&Scenario::default())?;
        for source in &self.sources {
            overlay(&mut table, source.table.clone());
        }
        // Together, so that it does not matter whether a kind comes before or after its fields.
        let mut all = Table::new();
        for (_, setting) in &self.settings {
            join(&mut all, setting.clone());
        }
        overlay(&mut table, all);
        from_table(&table).map_err(|flaw| self.blame(&flaw, explain(&flaw, &table)))
    }

    /// The refusal of what is wrong, by whoever wrote it.
    fn blame(&self, flaw: &Flaw, reason: String) -> ScenarioError {
        let mut paths = vec![flaw.path.clone()];
        if let (Problem::Missing, Some((_, table))) = (&flaw.problem, flaw.path.split_last()) {
            paths.push([table, &[Step::Key("kind".into())]].concat());
        }
        paths.extend((1..flaw.path.len()).rev().map(|n| flaw.path[..n].to_vec()));
        for path in paths {
            let mut settings = self.settings.iter().rev();
            if let Some((given, _)) = settings.find(|(_, table)| leads(table, &path)) {
                return ScenarioError::Set {
                    given: given.clone(),
                    reason,
                };
            }
            let mut sources = self.sources.iter().rev();
            if let Some(source) = sources.find(|source| leads(&source.table, &path)) {
                return source.refuse_at(&path, reason);
            }
        }
        ScenarioError::Text(reason)
    }
}

/// Whether there is something at the end of a path.
fn leads(table: &Table, path: &[Step]) -> bool {
    let mut steps = path.iter();
    let Some(Step::Key(first)) = steps.next() else {
        return false;
    };
    let found = steps.try_fold(table.get(first), |here, step| {
        let next = match (here?, step) {
            (Value::Table(table), Step::Key(key)) => table.get(key)?,
            (Value::Array(list), Step::Index(index)) => list.get(*index)?,
            _ => return None,
        };
        Some(Some(next))
    });
    found.flatten().is_some()
}

/// Its `kind` names one of the ways in which all its fields are used: another one leaves them as they are.
const OF_ALL_KINDS: &str = "allocation";

/// Lays `top` over `bottom`, table by table. A table of another `kind` replaces what was there:
/// its fields are its own.
fn overlay(bottom: &mut Table, top: Table) {
    for (key, value) in top {
        match (bottom.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new))
                if key == OF_ALL_KINDS || same_kind(old, &new) =>
            {
                overlay(old, new);
            }
            (_, value) => _ = bottom.insert(key, value),
        }
    }
}

fn same_kind(old: &Table, new: &Table) -> bool {
    new.get("kind")
        .is_none_or(|kind| old.get("kind") == Some(kind))
}

/// Puts settings together; of two for the same field the later counts.
fn join(all: &mut Table, more: Table) {
    for (key, value) in more {
        match (all.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => join(old, new),
            (_, value) => _ = all.insert(key, value),
        }
    }
}

/// `a.b=value` as nested tables; the value is TOML, or else taken as a plain string.
pub(super) fn parse_setting(setting: &str) -> Result<Table, &'static str> {
    let (path, value) = setting
        .split_once('=')
        .ok_or("allowed: PATH=VALUE, as in uavs.speed_mps=15")?;
    if path.split('.').any(|key| key.trim().is_empty()) {
        return Err("the path has an empty part, allowed: PATH=VALUE, as in uavs.speed_mps=15");
    }
    let nest =
        |inner: Value, key: &str| Value::Table(Table::from_iter([(key.trim().into(), inner)]));
    match path.rsplit('.').fold(parse_value(value.trim()), nest) {
        Value::Table(table) => Ok(table),
        _ => Err("the path is empty"),
    }
}

fn parse_value(text: &str) -> Value {
    toml_value(text).unwrap_or_else(|| text.into())
}

/// A text as a TOML value, if it is one.
pub(super) fn toml_value(text: &str) -> Option<Value> {
    let mut table: Table = format!("value = {text}").parse().ok()?;
    match table.len() {
        1 => table.remove("value"),
        _ => None,
    }
}
