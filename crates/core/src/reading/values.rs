//! From values to types, with the place of what does not fit.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::{Table, Value};

use super::flaw::{Flaw, Problem, Step, length, shown};

/// A value being read.
pub(super) struct Reader<'a>(pub(super) &'a Value);

/// A flaw with the value that it is about, when nothing below named that.
fn told(flaw: Flaw, value: &Value) -> Flaw {
    if !flaw.path.is_empty() {
        return flaw;
    }
    let (path, value) = match value {
        Value::Table(table) => culprit(table, &flaw.problem),
        _ => None,
    }
    .unwrap_or((flaw.path, value));
    Flaw {
        path,
        problem: with_value(flaw.problem, value),
    }
}

fn with_value(problem: Problem, value: &Value) -> Problem {
    match problem {
        Problem::Kind { wanted, .. } => Problem::Kind {
            found: shown(value),
            wanted,
        },
        other => other,
    }
}

/// Tables with a `kind` are read as a whole before anybody knows what fields that kind has, and their values lose their places:
/// the first value that is the one complained about.
fn culprit<'a>(table: &'a Table, problem: &Problem) -> Option<(Vec<Step>, &'a Value)> {
    let is_it = |value: &Value| match (problem, value) {
        (Problem::Choice { found, .. }, Value::String(text)) => text == found,
        (Problem::Choice { .. }, _) => false,
        // Of a list or a table in the wrong place only that is known, or how long the list is.
        (Problem::Kind { found, .. }, Value::Array(list)) => {
            found == "[]" || *found == length(list.len())
        }
        (Problem::Kind { found, .. }, Value::Table(_)) => found == "{}",
        (Problem::Kind { found, .. }, value) => shown(value) == *found,
        _ => false,
    };
    table.iter().find_map(|(key, value)| {
        let (mut path, value) = find(value, &is_it)?;
        path.insert(0, Step::Key(key.clone()));
        Some((path, value))
    })
}

fn find<'a>(value: &'a Value, is_it: &dyn Fn(&Value) -> bool) -> Option<(Vec<Step>, &'a Value)> {
    if is_it(value) {
        return Some((Vec::new(), value));
    }
    let Value::Array(list) = value else {
        return None;
    };
    list.iter().enumerate().find_map(|(index, value)| {
        let (mut path, value) = find(value, is_it)?;
        path.insert(0, Step::Index(index));
        Some((path, value))
    })
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Flaw;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        match self.0 {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(flag) => visitor.visit_bool(*flag),
            Value::Datetime(time) => visitor.visit_string(time.to_string()),
            Value::Array(list) => {
                let mut items = Items { list, next: 0 };
                visitor.visit_seq(&mut items).and_then(|read| {
                    let wanted = format!("{} values", items.next);
                    match items.next < list.len() {
                        true => Err(Flaw::invalid_length(list.len(), &wanted.as_str())),
                        false => Ok(read),
                    }
                })
            }
            Value::Table(table) => visitor.visit_map(Entries {
                entries: table.iter(),
                value: None,
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Flaw> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        choices: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Flaw> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(Word(word)),
            other => Err(Flaw::new(Problem::Kind {
                found: shown(other),
                wanted: choices.join(", "),
            })),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a> {
    list: &'a [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for &mut Items<'_> {
    type Error = Flaw;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Flaw> {
        let Some(value) = self.list.get(self.next) else {
            return Ok(None);
        };
        let step = Step::Index(self.next);
        self.next += 1;
        let read = seed.deserialize(Reader(value));
        read.map(Some).map_err(|flaw| told(flaw, value).below(step))
    }
}

struct Entries<'a> {
    entries: toml::map::Iter<'a, String, Value>,
    value: Option<(&'a String, &'a Value)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Flaw;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Flaw> {
        self.value = self.entries.next();
        match self.value {
            Some((key, _)) => seed.deserialize(StrDeserializer::new(key)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Flaw> {
        let Some((key, value)) = self.value.take() else {
            return Err(Flaw::custom("a value without a key"));
        };
        let read = seed.deserialize(Reader(value));
        read.map_err(|flaw| told(flaw, value).below(Step::Key(key.clone())))
    }
}

/// A choice by its name.
struct Word<'a>(&'a str);

impl<'de> EnumAccess<'de> for Word<'_> {
    type Error = Flaw;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Flaw> {
        Ok((seed.deserialize(StrDeserializer::new(self.0))?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'_> {
    type Error = Flaw;

    fn unit_variant(self) -> Result<(), Flaw> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, Flaw> {
        Err(Flaw::custom("needs a value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, _visitor: V) -> Result<V::Value, Flaw> {
        Err(Flaw::custom("needs values"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Flaw> {
        Err(Flaw::custom("needs fields"))
    }
}
