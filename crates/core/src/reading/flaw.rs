//! What is wrong with a value, and where: in the words of somebody who writes files, not of somebody who writes Rust.

use std::fmt;

use serde::de::{Expected, Unexpected};
use toml::Value;

use super::nearest::{choices, nearest};

/// A step of a path into tables and lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a table.
    Key(String),
    /// A place in a list, from 0.
    Index(usize),
}

/// The first thing wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    /// Where.
    pub path: Vec<Step>,
    /// What.
    pub problem: Problem,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A value of another kind.
    Kind {
        /// The value as TOML.
        found: String,
        /// What should stand there.
        wanted: String,
    },
    /// A word that is not among the choices.
    Choice {
        /// The word.
        found: String,
        /// The choices.
        choices: &'static [&'static str],
    },
    /// The path's last key is not known.
    Unknown {
        /// What the table knows.
        known: &'static [&'static str],
    },
    /// The path's last key must be there.
    Missing,
    /// Something else, in words.
    Other(String),
}

impl Flaw {
    pub(super) fn new(problem: Problem) -> Self {
        Self {
            path: Vec::new(),
            problem,
        }
    }

    /// The same, seen from one level up.
    pub(super) fn below(mut self, step: Step) -> Self {
        self.path.insert(0, step);
        self
    }

    /// Where, as in `faults[0].uav`.
    #[must_use]
    pub fn field(&self) -> String {
        dotted(&self.path)
    }

    /// The path's last key.
    #[must_use]
    pub fn last(&self) -> &str {
        match self.path.last() {
            Some(Step::Key(key)) => key,
            _ => "",
        }
    }
}

/// A path as it is written.
#[must_use]
pub fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// A path from how it is written.
#[must_use]
pub fn path_of(dotted: &str) -> Vec<Step> {
    let mut path = Vec::new();
    for part in dotted.split('.') {
        let mut pieces = part.split('[');
        path.push(Step::Key(pieces.next().unwrap_or_default().into()));
        let index = |piece: &str| piece.strip_suffix(']')?.parse().ok();
        path.extend(pieces.filter_map(index).map(Step::Index));
    }
    path
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = match self.path.is_empty() {
            true => "the file".into(),
            false => format!("`{}`", self.field()),
        };
        match &self.problem {
            Problem::Kind { found, wanted } => write!(f, "{field} is {found}, allowed: {wanted}"),
            Problem::Choice { found, choices: of } => {
                let of = choices(found, of.iter().copied());
                write!(f, "{field} is {found:?}, allowed: {of}")
            }
            Problem::Unknown { known } => {
                write!(f, "no field {field}")?;
                match (nearest(self.last(), known.iter().copied()), known) {
                    (Some(word), _) => write!(f, "; did you mean `{word}`?"),
                    (None, []) => Ok(()),
                    (None, known) => write!(f, "; there are: {}", known.join(", ")),
                }
            }
            Problem::Missing => write!(f, "{field} is missing"),
            Problem::Other(reason) => write!(f, "{field}: {reason}"),
        }
    }
}

impl std::error::Error for Flaw {}

/// What a value is that was read without its place, as inside of tables with a `kind`.
fn seen(unexpected: &Unexpected) -> Value {
    match *unexpected {
        Unexpected::Bool(flag) => flag.into(),
        Unexpected::Unsigned(number) => {
            i64::try_from(number).map_or(Value::Float(number as f64), Value::Integer)
        }
        Unexpected::Signed(number) => number.into(),
        Unexpected::Float(number) => number.into(),
        Unexpected::Str(text) => text.into(),
        Unexpected::Seq => Value::Array(Vec::new()),
        Unexpected::Map => Value::Table(toml::Table::new()),
        _ => Value::String(unexpected.to_string()),
    }
}

/// What Rust calls a type, in other words.
fn words(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    let words = match expected.as_str() {
        "f64" | "f32" => "a number",
        "usize" | "u64" => "a whole number from 0",
        "u32" => "a whole number from 0 to 4294967295",
        "i64" | "isize" | "i32" => "a whole number",
        "a boolean" => "true or false",
        "a string" | "path string" | "a character" => "text",
        "a sequence" => "a list, in brackets",
        "a map" => "a table",
        "an array of length 2" => "two numbers in brackets, [a, b]",
        "2 elements in sequence" => "two numbers in brackets, [a, b]",
        _ if expected.starts_with("struct ") => "a table of fields",
        _ if expected.contains("tagged ") => "a table with `kind` in it",
        _ => return expected,
    };
    words.into()
}

/// A list of which only the length is known.
pub(super) fn length(length: usize) -> String {
    format!("a list of {length}")
}

/// A value as TOML, cut off where it gets long.
pub(super) fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

impl serde::de::Error for Flaw {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self::new(Problem::Other(reason.to_string()))
    }

    fn invalid_type(unexpected: Unexpected, expected: &dyn Expected) -> Self {
        Self::new(Problem::Kind {
            found: shown(&seen(&unexpected)),
            wanted: words(expected),
        })
    }

    fn invalid_value(unexpected: Unexpected, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(Problem::Kind {
            found: self::length(length),
            wanted: words(expected),
        })
    }

    fn unknown_variant(found: &str, choices: &'static [&'static str]) -> Self {
        Self::new(Problem::Choice {
            found: found.into(),
            choices,
        })
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::Unknown { known }).below(Step::Key(field.into()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::Missing).below(Step::Key(field.into()))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Problem::Other("stands there twice".into())).below(Step::Key(field.into()))
    }
}
