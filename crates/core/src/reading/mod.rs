//! Files that people write, read so that a mistake is told in their words: the field by its whole path, the value as written, what
//! would do in its place, and the line.

mod flaw;
mod nearest;
mod values;

use std::fmt;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

pub use flaw::{Flaw, Problem, Step, dotted, path_of};
pub(crate) use nearest::distance;
pub use nearest::{choices, nearest};

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line and column, from 1, where they are known.
    pub at: Option<(usize, usize)>,
    /// What is wrong there.
    pub reason: String,
}

impl Mistake {
    /// The mistake with the name of its file.
    #[must_use]
    pub fn within(&self, file: &str) -> String {
        match self.at {
            Some(_) => format!("{file}, {self}"),
            None => format!("{file}: {self}"),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// Reads what a type says from a table.
///
/// # Errors
/// The first thing in it that does not fit.
pub fn from_table<T: DeserializeOwned>(table: &Table) -> Result<T, Flaw> {
    T::deserialize(values::Reader(&Value::Table(table.clone())))
}

/// Reads TOML into a table.
///
/// # Errors
/// When the text is no TOML: where, and the line itself below.
pub fn parse_table(text: &str) -> Result<Table, Mistake> {
    text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map(|span| position(text, span.start));
        let line = at.and_then(|(line, _)| text.lines().nth(line - 1));
        // What is not printable, or does not end, helps nobody.
        let shown = line.filter(|line| line.len() <= 120 && !line.chars().any(char::is_control));
        let below = shown.map_or(String::new(), |line| format!("\n  {}", line.trim()));
        let reason = error.message().trim_end().replace('\n', ", ");
        Mistake {
            at,
            reason: format!("not TOML: {reason}{below}"),
        }
    })
}

/// Reads what a type says from TOML.
///
/// # Errors
/// The first mistake in it.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, Mistake> {
    let read = from_table(&parse_table(text)?);
    read.map_err(|flaw: Flaw| Mistake {
        at: place(text, &flaw.path),
        reason: flaw.to_string(),
    })
}

/// Reads what a type says from JSON.
///
/// # Errors
/// The first mistake in it, in words.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let error = match serde_json::from_str(text) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    // Whoever is right is read once and without detours, a mistake is looked for value by value.
    let object = match serde_json::from_str(text) {
        Ok(serde_json::Value::Object(object)) => object,
        Ok(_) => return Err("not a JSON object, { ... }".into()),
        Err(_) => return Err(format!("not JSON: {error}")),
    };
    let table = object
        .into_iter()
        .filter_map(|(key, value)| Some((key, toml_of(value)?)));
    let read: Result<T, Flaw> = from_table(&table.collect());
    Err(match read {
        Err(flaw) => flaw.to_string(),
        Ok(_) => error.to_string(),
    })
}

/// A JSON value as TOML has it; null is what is not there.
fn toml_of(value: serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => flag.into(),
        Json::String(text) => text.into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, any) => any?.into(),
        },
        Json::Array(list) => Value::Array(
            list.into_iter()
                .map(|item| toml_of(item).unwrap_or_else(|| "null".into()))
                .collect(),
        ),
        Json::Object(object) => Value::Table(
            object
                .into_iter()
                .filter_map(|(key, value)| Some((key, toml_of(value)?)))
                .collect(),
        ),
    })
}

/// Line and column of what a path leads to in TOML, or of as much of the path as there is.
#[must_use]
pub fn place(text: &str, path: &[Step]) -> Option<(usize, usize)> {
    span(text, path).map(|span| position(text, span.start))
}

/// Where a path's last key stands in TOML, or the last one that is there.
fn span(text: &str, path: &[Step]) -> Option<std::ops::Range<usize>> {
    let root = DeTable::parse(text).ok()?.into_inner();
    let (mut here, mut found) = (DeValue::Table(root), None);
    for step in path {
        let next = match (step, here) {
            (Step::Key(key), DeValue::Table(table)) => {
                let entry = table.into_iter().find(|(known, _)| known.get_ref() == key);
                entry.map(|(key, value)| (key.span(), value.into_inner()))
            }
            (Step::Index(index), DeValue::Array(list)) => {
                let item = list.into_iter().nth(*index);
                item.map(|item| (item.span(), item.into_inner()))
            }
            _ => None,
        };
        let Some((at, value)) = next else {
            return found;
        };
        (found, here) = (Some(at), value);
    }
    found
}

/// Line and column, from 1, of a byte.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
