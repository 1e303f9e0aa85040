//! Quantities as people read them: `1.23 kJ`, `4.5 s`, `2 min 3 s`, `91.2 %`.
//!
//! What is not a finite number reads `n/a`.

/// What stands where there is no number.
const UNKNOWN: &str = "n/a";

/// A unit of display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// As written behind a number.
    pub symbol: &'static str,
    /// How many of the SI unit it is.
    pub size: f64,
}

const fn unit(symbol: &'static str, size: f64) -> Unit {
    Unit { symbol, size }
}

/// From the smallest on.
pub(crate) const ENERGY: [Unit; 5] = [
    unit("mJ", 1e-3),
    unit("J", 1.0),
    unit("kJ", 1e3),
    unit("MJ", 1e6),
    unit("GJ", 1e9),
];
const SHORT_TIME: [Unit; 2] = [unit("µs", 1e-6), unit("ms", 1e-3)];

/// The largest unit of which a value, rounded to three digits, is at least one.
fn fitting(units: &[Unit], value: f64) -> Unit {
    let fits = |unit: &&Unit| value.abs() >= 0.9995 * unit.size;
    *units.iter().rev().find(fits).unwrap_or(&units[0])
}

/// The one unit for a column or axis of energies up to `largest_j`: kJ, as long as that is readable.
#[must_use]
pub fn energy_unit(largest_j: f64) -> Unit {
    if (1e3..1e7).contains(&largest_j) || largest_j <= 0.0 || !largest_j.is_finite() {
        unit("kJ", 1e3)
    } else {
        fitting(&ENERGY, largest_j)
    }
}

/// The one unit for an axis of times up to `largest_s`: seconds, as long as those are readable.
#[must_use]
pub fn time_unit(largest_s: f64) -> Unit {
    match largest_s {
        s if s > 20_000.0 => unit("h", 3_600.0),
        _ => unit("s", 1.0),
    }
}

/// The one unit for an axis of ground distances up to `largest_m`.
#[must_use]
pub fn length_unit(largest_m: f64) -> Unit {
    if largest_m < 2_000.0 {
        unit("m", 1.0)
    } else {
        unit("km", 1e3)
    }
}

/// Three significant digits.
fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{value:.2e}"),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn in_unit(value: f64, unit: Unit) -> String {
    format!("{} {}", three_digits(value / unit.size), unit.symbol)
}

/// An energy to three digits: `1.23 kJ`.
#[must_use]
pub fn energy(joules: f64) -> String {
    if !joules.is_finite() {
        UNKNOWN.into()
    } else if joules == 0.0 {
        "0 J".into()
    } else {
        in_unit(joules, fitting(&ENERGY, joules))
    }
}

/// A time: `35.0 ms`, `4.5 s`, `2 min 3 s`, `1 h 20 min`, `3 d 4 h`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let pair = |count: f64, of: u64, large: &str, small: &str| {
        let count = count.round() as u64;
        format!("{} {large} {} {small}", count / of, count % of)
    };
    match seconds {
        s if !s.is_finite() => UNKNOWN.into(),
        s if s < 0.0 => format!("-{}", duration(-s)),
        0.0 => "0 s".into(),
        s if s < 0.9995 => in_unit(s, fitting(&SHORT_TIME, s)),
        s if s < 59.95 => format!("{s:.1} s"),
        s if s < 3_599.5 => pair(s, 60, "min", "s"),
        s if s < 86_370.0 => pair(s / 60.0, 60, "h", "min"),
        s if s < 1e9 => pair(s / 3_600.0, 24, "d", "h"),
        s => format!("{s:.2e} s"),
    }
}

/// A fraction in percent with so many decimals: `91.2 %`.
#[must_use]
pub fn percent(fraction: f64, decimals: usize) -> String {
    if !fraction.is_finite() {
        return UNKNOWN.into();
    }
    // Adding zero turns -0 into 0.
    format!("{:.decimals$} %", 100.0 * fraction + 0.0)
}

/// A fraction in percent with as many decimals as it needs: `80 %`, `97.5 %`.
#[must_use]
pub fn percent_exact(fraction: f64) -> String {
    let one_decimal = (1_000.0 * fraction).round() / 10.0;
    percent(fraction, usize::from(one_decimal.fract() != 0.0))
}

/// A count with its thousands apart: `12 345`.
#[must_use]
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len() > 4 && (digits.len() - place).is_multiple_of(3) {
            // Narrow and unbreakable, so that it still reads as one number.
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// So many of something: `1 device`, `12 devices`. `one` takes an `s` where there are more.
#[must_use]
pub fn counted(number: usize, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", count(number))
}

/// The same with its verb: `1 run is`, `12 runs are`.
#[must_use]
pub fn counted_are(number: usize, one: &str) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb}", counted(number, one))
}

/// A name cut to so many columns, on one line. Letters beyond Latin count as two columns, so that
/// wide scripts do not overrun.
#[must_use]
pub fn shorten(name: &str, columns: usize) -> String {
    let width = |c: char| if c < '\u{250}' { 1 } else { 2 };
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    if name.chars().map(width).sum::<usize>() <= columns {
        return name.chars().map(clean).collect();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let fits = width(*c) <= left;
        left = left.saturating_sub(width(*c));
        fits
    };
    let mut short: String = name.chars().take_while(fits).map(clean).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energies_keep_three_digits_and_change_unit_when_rounding_reaches_it() {
        let cases = [
            (0.0, "0 J"),
            (0.012, "12.0 mJ"),
            (5.0, "5.00 J"),
            (999.4, "999 J"),
            (999.6, "1.00 kJ"),
            (1_234.0, "1.23 kJ"),
            (99_960.0, "100 kJ"),
            (250e3, "250 kJ"),
            (3.5e6, "3.50 MJ"),
            (-1_500.0, "-1.50 kJ"),
            (1e30, "1.00e21 GJ"),
            (f64::NAN, "n/a"),
            (f64::INFINITY, "n/a"),
        ];
        for (joules, text) in cases {
            assert_eq!(energy(joules), text);
        }
    }

    #[test]
    fn durations_have_at_most_two_parts_and_never_sixty_of_anything() {
        let cases = [
            (0.0, "0 s"),
            (2.5e-5, "25.0 µs"),
            (0.035, "35.0 ms"),
            (0.9996, "1.0 s"),
            (4.5, "4.5 s"),
            (59.96, "1 min 0 s"),
            (123.4, "2 min 3 s"),
            (119.6, "2 min 0 s"),
            (3_599.7, "1 h 0 min"),
            (4_800.0, "1 h 20 min"),
            (86_390.0, "1 d 0 h"),
            (273_600.0, "3 d 4 h"),
            (1e12, "1.00e12 s"),
            (-4.5, "-4.5 s"),
            (f64::NAN, "n/a"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn percents_counts_and_labels() {
        assert_eq!(percent(0.9123, 1), "91.2 %");
        assert_eq!(percent(-0.0, 0), "0 %");
        assert_eq!(percent(f64::NAN, 1), "n/a");
        assert_eq!(percent_exact(0.7), "70 %");
        assert_eq!(percent_exact(0.975), "97.5 %");
        assert_eq!(count(9_999), "9999");
        let words = [0, 1, 2, 12_000].map(|n| counted(n, "device"));
        let expected = [
            "0 devices",
            "1 device",
            "2 devices",
            "12\u{202f}000 devices",
        ];
        assert_eq!(words, expected);
        assert_eq!(counted_are(1, "run"), "1 run is");
        assert_eq!(counted_are(0, "run"), "0 runs are");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn axes_choose_units_that_read_well() {
        assert_eq!(energy_unit(46_000.0).symbol, "kJ");
        assert_eq!(energy_unit(2e6).symbol, "kJ");
        assert_eq!(energy_unit(2e7).symbol, "MJ");
        assert_eq!(energy_unit(0.0).symbol, "kJ");
        assert_eq!(energy_unit(f64::NAN).symbol, "kJ");
        assert_eq!(energy_unit(12.0).symbol, "J");
        assert_eq!(time_unit(600.0).symbol, "s");
        assert_eq!(time_unit(90_000.0).symbol, "h");
        assert_eq!(length_unit(20_000.0).symbol, "km");
        assert_eq!(length_unit(300.0).symbol, "m");
    }

    #[test]
    fn names_are_cut_to_columns_and_to_one_line() {
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(shorten("two\nlines", 20), "two lines");
        assert_eq!(shorten("abcdefgh", 5), "abcd…");
        assert_eq!(shorten("无人机联邦学习", 8), "无人机…");
    }
}
