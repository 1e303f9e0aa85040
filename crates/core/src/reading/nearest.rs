//! What somebody probably meant.

/// The known word nearest to a given one, if it is near enough to be what was meant. Capitals and the kind of dash do not count;
/// a letter too many, too few, wrong, or exchanged with its neighbour is one step.
#[must_use]
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let begins = |word: &str| {
        let (given, word) = (plain(given), plain(word));
        given.chars().count() >= 3 && (word.starts_with(&given) || given.starts_with(&word))
    };
    let known: Vec<&str> = known.into_iter().collect();
    let near = known
        .iter()
        .filter_map(|word| Some((distance(given, word)?, *word)));
    match near.min_by_key(|(steps, _)| *steps) {
        Some((_, word)) => Some(word),
        None => known.into_iter().find(|word| begins(word)),
    }
}

/// The known words in a list, and the one that was probably meant: what stands behind "allowed:" when a choice is none.
#[must_use]
pub fn choices<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let listed = known.join(", ");
    match nearest(given, known) {
        Some(word) => format!("{listed}; did you mean {word:?}?"),
        None => listed,
    }
}

/// Steps from one word to another; none when they are too far apart for a slip.
pub(crate) fn distance(given: &str, word: &str) -> Option<usize> {
    let (given, word) = (plain(given), plain(word));
    let most = given.chars().count().div_ceil(3).min(3);
    // What is that much longer cannot be near, and comparing would take its length squared.
    if given.len().abs_diff(word.len()) > 64 {
        return None;
    }
    Some(strsim::osa_distance(&given, &word)).filter(|&steps| steps <= most)
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let methods = ["hfl", "cehfed", "rhfed", "fedavg", "direct_drop"];
        for (given, meant) in [
            ("cehfd", Some("cehfed")),
            ("CEHFed", Some("cehfed")),
            ("hlf", Some("hfl")),
            ("direct-drop", Some("direct_drop")),
            ("direct", Some("direct_drop")),
            ("telepathy", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(given, methods), meant, "{given}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), methods), None);
    }

    #[test]
    fn choices_are_listed_with_the_one_that_was_meant() {
        assert_eq!(
            choices("CNN", ["mlp", "cnn"]),
            "mlp, cnn; did you mean \"cnn\"?"
        );
        assert_eq!(choices("deep", ["mlp", "cnn"]), "mlp, cnn");
    }
}
