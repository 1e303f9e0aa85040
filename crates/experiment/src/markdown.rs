//! Tables that read as Markdown and on a terminal alike, and numbers with their intervals.

use super::statistics::Estimate;

/// A table whose columns stand below each other.
#[must_use]
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let escape = |cell: &str| cell.replace('|', "\\|");
    let header: Vec<String> = header.iter().map(|title| escape(title)).collect();
    let escaped: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| escape(cell)).collect())
        .collect();
    let width = |column: usize, title: &str| {
        let cells = escaped.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(title.chars().count())
    };
    let widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(column, title)| width(column, title))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let padded = |(cell, &width): (&str, &usize)| format!("{cell:<width$}");
    let titles = header.iter().map(String::as_str);
    let mut text = line(titles.zip(&widths).map(padded).collect());
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    text += &format!("|{}|\n", rules.join("|"));
    for row in &escaped {
        text += &line(
            row.iter()
                .map(String::as_str)
                .zip(&widths)
                .map(padded)
                .collect(),
        );
    }
    text
}

/// `12.3 ± 1.2` in units of `unit`, `12.3 (11.1 to 13.5)` with two values or an interval that ends with its domain, `12.3`
/// with a single value, or `-` without any.
#[must_use]
pub fn plus_minus(estimate: Option<&Estimate>, unit: f64) -> String {
    with_unit(estimate, unit, "")
}

/// The same with a symbol: `12.3 ± 1.2 s`, `12.3 s (11.1 to 13.5)`.
#[must_use]
pub fn with_unit(estimate: Option<&Estimate>, unit: f64, symbol: &str) -> String {
    let Some(estimate) = estimate else {
        return "-".into();
    };
    // Three digits of the mean, and no more decimals than that for the interval.
    let decimals = match (estimate.mean / unit).abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    words(estimate, unit, decimals, symbol)
}

fn words(estimate: &Estimate, unit: f64, decimals: usize, symbol: &str) -> String {
    // Adding zero turns -0 into 0.
    let shown = |value: f64| format!("{:.decimals$}", value / unit + 0.0);
    let mut text = shown(estimate.mean);
    let half = estimate.half_width();
    if let Some(half) = half {
        text += &format!(" ± {}", shown(half));
    }
    if !symbol.is_empty() {
        text += &format!(" {symbol}");
    }
    match estimate.ends() {
        Some((low, high)) if half.is_none() => {
            format!("{text} ({} to {})", shown(low), shown(high))
        }
        _ => text,
    }
}

/// What stands behind means of so many seeds.
#[must_use]
pub fn spread_words(seeds: usize) -> &'static str {
    match seeds {
        0 | 1 => "one value each",
        2 => "mean and range: two seeds give no interval",
        _ => "mean ± half a 95 % interval; its ends where it is cut off at 0 or 100 %",
    }
}

/// Which seeds.
#[must_use]
pub fn seed_words(seeds: &[u64]) -> String {
    match seeds {
        [seed] => format!("seed {seed}"),
        [first, .., last] => format!("seeds {first} to {last}"),
        [] => "no seeds".into(),
    }
}

/// `56 %` of 0.56, `99.95 %` of 0.9995: as many digits as were given, without those that binary numbers add.
#[must_use]
pub fn exact_percent(fraction: f64) -> String {
    format!("{} %", (fraction * 1e12).round() / 1e10)
}

/// `31.4 ± 2.0 %` of a fraction, `41.3 % (33.0 to 49.6)` of two.
#[must_use]
pub fn percent(estimate: Option<&Estimate>) -> String {
    estimate.map_or("-".into(), |estimate| words(estimate, 0.01, 1, "%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_and_bars_in_cells_do_no_harm() {
        let rows = [
            vec!["a|b".to_owned(), "1.0 ± 0.1".to_owned()],
            vec!["c".to_owned(), "2".to_owned()],
        ];
        let expected = "\
| method | time      |
|--------|-----------|
| a\\|b   | 1.0 ± 0.1 |
| c      | 2         |
";
        assert_eq!(table(&["method", "time"], &rows), expected);
    }

    #[test]
    fn a_bar_in_a_label_breaks_no_title_either() {
        let text = table(&["method", "time saved by a|b"], &[]);
        assert!(
            text.starts_with("| method | time saved by a\\|b |\n"),
            "{text}"
        );
        assert!(
            text.ends_with("|--------|--------------------|\n"),
            "{text}"
        );
    }

    #[test]
    fn targets_are_written_as_they_were_given() {
        for (fraction, words) in [
            (0.56, "56 %"),
            (0.07, "7 %"),
            (0.575, "57.5 %"),
            (0.9995, "99.95 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(exact_percent(fraction), words);
        }
    }

    #[test]
    fn numbers_keep_three_digits_and_say_when_there_is_no_interval() {
        let three = Estimate::of(&[1_000.0, 2_000.0, 3_000.0]);
        assert_eq!(plus_minus(three.as_ref(), 1e3), "2.00 ± 2.48");
        assert_eq!(with_unit(three.as_ref(), 1e3, "kJ"), "2.00 ± 2.48 kJ");
        assert_eq!(plus_minus(Estimate::of(&[123.4]).as_ref(), 1.0), "123");
        assert_eq!(
            (plus_minus(None, 1.0), percent(None)),
            ("-".into(), "-".into())
        );
        assert_eq!(percent(Estimate::of(&[0.25]).as_ref()), "25.0 %");
        assert_eq!(percent(Estimate::of(&[0.2; 3]).as_ref()), "20.0 ± 0.0 %");
    }

    #[test]
    fn two_seeds_show_their_range_and_no_interval() {
        let two = Estimate::of(&[0.33, 0.496]);
        assert_eq!(percent(two.as_ref()), "41.3 % (33.0 to 49.6)");
        assert_eq!(plus_minus(two.as_ref(), 1.0), "0.41 (0.33 to 0.50)");
        assert_eq!(with_unit(two.as_ref(), 1.0, "s"), "0.41 s (0.33 to 0.50)");
        let cut = Estimate::within(&[0.99, 0.9, 0.99], crate::statistics::SHARE);
        assert_eq!(percent(cut.as_ref()), "96.0 % (83.1 to 100.0)");
    }
}
