//! What is wrong with a scenario, and what was probably meant.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Scenario;
use super::fields::{leaves, table as table_of};
use super::layers::toml_value;
use crate::reading::{Flaw, Problem, Step, distance, dotted, from_table, nearest};

/// A flaw in a scenario's table, in words.
pub(super) fn explain(flaw: &Flaw, table: &Table) -> String {
    match &flaw.problem {
        Problem::Unknown { .. } => unknown(flaw, table),
        Problem::Missing => missing(flaw, table),
        Problem::Kind { found, wanted } => {
            let told = flaw.to_string();
            match quoted(&flaw.path, table) {
                Some(hint) => format!("{told}\n  {hint}"),
                None if found.starts_with('{') => told,
                None => format!("{told}{}", example(&flaw.path, wanted)),
            }
        }
        Problem::Choice { .. } | Problem::Other(_) => flaw.to_string(),
    }
}

fn unknown(flaw: &Flaw, table: &Table) -> String {
    let (field, name) = (flaw.field(), flaw.last());
    if field == "extends" {
        return "`extends` stands at the top of a scenario file".into();
    }
    let above = &flaw.path[..flaw.path.len().saturating_sub(1)];
    let kinds = kinds(above, table);
    let with: Vec<String> = kinds
        .iter()
        .filter(|(_, fields)| fields.contains(&name))
        .map(|(kind, _)| format!("{kind:?}"))
        .collect();
    if !with.is_empty() {
        let here = match look_up(table, above).and_then(|value| value.get("kind")) {
            Some(kind) => format!("; this is {kind}"),
            None => String::new(),
        };
        return format!("`{field}` exists for kind = {}{here}", with.join(" or "));
    }
    let known: Vec<&str> = match &flaw.problem {
        Problem::Unknown { known } if !above.is_empty() => known.to_vec(),
        _ => Vec::new(),
    };
    if let Some(meant) = nearest(name, known.iter().copied()) {
        let above = dotted(above);
        return format!("no field `{field}`; did you mean `{above}.{meant}`?");
    }
    // Whoever writes `[uav]` means one of the fields below.
    let path = match look_up(table, &flaw.path) {
        Some(Value::Table(inner)) => match leaves(inner).into_keys().next() {
            Some(below) => format!("{field}.{below}"),
            None => field.clone(),
        },
        _ => field.clone(),
    };
    let meant = nearest_fields(&path);
    if !meant.is_empty() {
        let meant: Vec<String> = meant.iter().map(|path| format!("`{path}`")).collect();
        return format!("no field `{path}`; did you mean {}?", meant.join(" or "));
    }
    match known.is_empty() {
        true => format!("no field `{path}`; `aerofed scenario defaults` prints all there are"),
        false => {
            let known = known.join(", ");
            format!("no field `{path}`; `{}` has {known}", dotted(above))
        }
    }
}

fn missing(flaw: &Flaw, table: &Table) -> String {
    let above = &flaw.path[..flaw.path.len().saturating_sub(1)];
    let kind = look_up(table, above).and_then(|value| value.get("kind"));
    match kind {
        Some(kind) => format!("`{}` is missing: kind = {kind} needs it", flaw.field()),
        None => flaw.to_string(),
    }
}

/// What lists and tables look like, from the defaults.
fn example(path: &[Step], wanted: &str) -> String {
    let shown = match table_of(&Scenario::default()) {
        Ok(table) => look_up(&table, path).cloned(),
        Err(_) => None,
    };
    match shown {
        Some(Value::Table(inner)) => {
            let all = leaves(&inner);
            let is_plain = |(key, value): &(&String, &Value)| *key == "kind" || value.is_integer();
            match all.iter().find(is_plain).or(all.iter().next()) {
                Some((key, value)) => format!(", as in {}.{key} = {value}", dotted(path)),
                None => String::new(),
            }
        }
        Some(Value::Array(list)) if !list.is_empty() && wanted.contains("list") => {
            format!(", as in {}", Value::Array(list))
        }
        _ => String::new(),
    }
}

/// How to write a list or a table that is no TOML because the shell took its quotes, if it is one.
fn quoted(path: &[Step], table: &Table) -> Option<String> {
    let Value::String(text) = look_up(table, path)? else {
        return None;
    };
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let mended = with_quotes(text);
    let field = dotted(path);
    Some(match toml_value(&mended) {
        Some(_) => format!(
            "words need quotes, which the shell takes away unless all of it stands in others: --set '{field}={mended}'"
        ),
        None => "it is no TOML; words need quotes, which the shell takes away unless all of it stands in others, \
             as in --set 'faults=[{kind=\"loss\", uav=0, round=2}]'"
            .into(),
    })
}

/// Every bare word that is neither a key, a number nor true or false in quotes.
fn with_quotes(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || "_-.+/".contains(c);
    let (mut mended, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(is_word) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let is_key = after.trim_start().starts_with('=');
        let is_value = is_key || toml_value(word).is_some();
        mended += before;
        mended += &if is_value {
            word.into()
        } else {
            format!("{word:?}")
        };
        rest = after;
    }
    mended + rest
}

fn look_up<'a>(table: &'a Table, path: &[Step]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let Step::Key(first) = first else {
        return None;
    };
    rest.iter()
        .try_fold(table.get(first)?, |here, step| match (here, step) {
            (Value::Table(table), Step::Key(key)) => table.get(key),
            (Value::Array(list), Step::Index(index)) => list.get(*index),
            _ => None,
        })
}

/// Puts a value where a path leads; whether there was one.
fn put(table: &mut Table, path: &[Step], value: Value) -> bool {
    let mut steps = path.iter();
    let first = match steps.next() {
        Some(Step::Key(key)) => table.get_mut(key),
        _ => None,
    };
    let found = first.and_then(|first| {
        steps.try_fold(first, |here, step| match (here, step) {
            (Value::Table(table), Step::Key(key)) => table.get_mut(key),
            (Value::Array(list), Step::Index(index)) => list.get_mut(*index),
            _ => None,
        })
    });
    match found {
        Some(place) => {
            *place = value;
            true
        }
        None => false,
    }
}

/// The kinds of the table at a path, each with its fields: found out by asking for what there cannot be. Empty: it has no kinds.
fn kinds(path: &[Step], table: &Table) -> Vec<(&'static str, &'static [&'static str])> {
    let mut table = table.clone();
    let mut ask = |fields: &[(&str, &str)]| {
        let entries = fields
            .iter()
            .map(|&(key, value)| (key.into(), value.into()));
        let put = put(&mut table, path, Value::Table(entries.collect()));
        match from_table::<Scenario>(&table) {
            Err(flaw) if put && flaw.path.len() == path.len() + 1 => Some(flaw.problem),
            _ => None,
        }
    };
    let Some(Problem::Choice { choices, .. }) = ask(&[("kind", "?")]) else {
        return Vec::new();
    };
    let fields = |&kind: &&'static str| match ask(&[("kind", kind), ("?", "")]) {
        Some(Problem::Unknown { known }) => (kind, known),
        _ => (kind, &[][..]),
    };
    choices.iter().map(fields).collect()
}

/// Every field there is, by its dotted path, those of all kinds included.
fn known_fields() -> BTreeSet<String> {
    let Ok(table) = table_of(&Scenario::default()) else {
        return BTreeSet::new();
    };
    let mut known: BTreeSet<String> = leaves(&table).into_keys().collect();
    let with_kinds: Vec<String> = known
        .iter()
        .filter_map(|path| path.strip_suffix(".kind").map(Into::into))
        .collect();
    for above in with_kinds {
        let path: Vec<Step> = above.split('.').map(|key| Step::Key(key.into())).collect();
        for (_, fields) in kinds(&path, &table) {
            known.extend(fields.iter().map(|field| format!("{above}.{field}")));
        }
    }
    known
}

/// How far a field is from what was written; none: too far.
type Rule<'a> = &'a dyn Fn(&str) -> Option<usize>;

/// The fields that somebody who wrote a path probably meant, at most three.
fn nearest_fields(path: &str) -> Vec<String> {
    let known = known_fields();
    let (above, last) = split(path);
    let slips = |field: &str| slips(path, field);
    let same_name = |field: &str| distance(last, split(field).1).filter(|&steps| steps <= 1);
    let words = |text: &str| -> BTreeSet<String> {
        text.to_lowercase().split('_').map(Into::into).collect()
    };
    // `speed` for `speed_mps`.
    let by_words = |field: &str| words(last).is_subset(&words(split(field).1)).then_some(0);
    let by_words_here = |field: &str| by_words(field).filter(|_| split(field).0 == above);
    let by_initials = |field: &str| {
        let initials = split(field)
            .1
            .split('_')
            .filter_map(|word| word.chars().next());
        (last.len() > 1 && initials.collect::<String>() == last.to_lowercase()).then_some(0)
    };
    let rules: [Rule; 5] = [&slips, &by_words_here, &same_name, &by_words, &by_initials];
    for rule in rules {
        let near: Vec<(usize, &String)> = known
            .iter()
            .filter_map(|field| Some((rule(field)?, field)))
            .collect();
        if let Some(least) = near.iter().map(|(steps, _)| *steps).min() {
            let nearest = near.iter().filter(|(steps, _)| *steps == least);
            return nearest.take(3).map(|(_, field)| (*field).clone()).collect();
        }
    }
    Vec::new()
}

/// Table and name of a field.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

/// Slips from one path to another, key by key.
fn slips(given: &str, field: &str) -> Option<usize> {
    let (mut given, mut field) = (given.split('.'), field.split('.'));
    let mut steps = 0;
    loop {
        match (given.next(), field.next()) {
            (None, None) => return Some(steps),
            (Some(given), Some(field)) => steps += distance(given, field)?,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind_are_known() {
        let known = known_fields();
        for field in [
            "uavs.layout.positions_m",
            "data.partition.alpha",
            "data.partition.per_device",
            "allocation.local_iterations",
            "mobility.hop_probability",
            "seed",
        ] {
            assert!(known.contains(field), "{field}: {known:?}");
        }
    }

    #[test]
    fn what_was_meant_is_found_in_its_own_table_and_in_others() {
        for (given, meant) in [
            ("uav.count", &["uavs.count"][..]),
            ("uavs.battrey_j", &["uavs.battery_j"]),
            ("uavs.speed", &["uavs.speed_mps"]),
            (
                "devices.speed_mps",
                &["mobility.speed_mps", "uavs.speed_mps"],
            ),
            (
                "learning_rate",
                &["td3.learning_rate", "training.learning_rate"],
            ),
            (
                "training.lr",
                &["td3.learning_rate", "training.learning_rate"],
            ),
            ("Model.Name", &["model.name"]),
            ("devices.colour", &["data.color"]),
            ("devices.owner", &[]),
        ] {
            assert_eq!(nearest_fields(given), meant, "{given}");
        }
    }

    #[test]
    fn quotes_that_the_shell_took_are_put_back() {
        assert_eq!(
            with_quotes("[{kind=loss, uav=0, round=2, warned=true}]"),
            "[{kind=\"loss\", uav=0, round=2, warned=true}]"
        );
        assert_eq!(with_quotes("[cat,dog]"), "[\"cat\",\"dog\"]");
    }
}
