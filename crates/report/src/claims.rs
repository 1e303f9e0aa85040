//! Claims and tables of results in words, for pages and for Markdown.

use std::fmt::Write as _;

use aerofed::experiment::markdown::{percent, plus_minus, table};
use aerofed::experiment::results::{Cell, Claim, Measure, Results, Table, Verdict};

use crate::units::percent_exact;

/// A verdict with a sign, because colours alone say nothing to some.
pub(crate) fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "✓ agrees",
        Verdict::Weaker => "≈ weaker",
        Verdict::Contradicts => "✗ contradicts",
        Verdict::Open => "? open",
    }
}

/// Shares are told in percent.
fn is_share(claim: &Claim) -> bool {
    claim.measure == Measure::Saving || claim.unit.is_empty()
}

/// The paper's number.
pub(crate) fn number_words(claim: &Claim) -> String {
    match is_share(claim) {
        true => percent_exact(claim.paper),
        false => format!("{} {}", claim.paper, claim.unit),
    }
}

/// Our number with its interval.
pub(crate) fn ours_words(claim: &Claim) -> String {
    match (&claim.ours, is_share(claim)) {
        (None, _) => "–".into(),
        (ours, true) => percent(ours.as_ref()),
        (ours, false) => format!("{} {}", plus_minus(ours.as_ref(), 1.0), claim.unit),
    }
}

/// How many seeds told, and whether they agree on the sign.
pub(crate) fn seeds_words(claim: &Claim) -> String {
    let sure = if claim.sure { ", sure" } else { "" };
    match &claim.ours {
        Some(ours) if ours.n >= claim.of => format!("{}{sure}", ours.n),
        Some(ours) => format!("{} of {}{sure}", ours.n, claim.of),
        None => format!("0 of {}", claim.of),
    }
}

/// A cell of a table: ours, and the paper's where it prints one.
pub(crate) fn cell_words(cell: &Cell) -> String {
    let ours = plus_minus(cell.ours.as_ref(), 1.0);
    match cell.paper {
        Some(paper) => format!("{ours} (paper {paper})"),
        None => ours,
    }
}

/// Every claim with its verdict, and every table, as Markdown.
#[must_use]
pub fn results_markdown(results: &Results) -> String {
    let mut text = String::new();
    if !results.claims.is_empty() {
        let row = |claim: &Claim| {
            vec![
                claim.experiment.clone(),
                one_line(&claim.text),
                number_words(claim),
                ours_words(claim),
                seeds_words(claim),
                verdict_words(claim.verdict).into(),
            ]
        };
        let rows: Vec<Vec<String>> = results.claims.iter().map(row).collect();
        let head = [
            "experiment",
            "the paper says",
            "paper",
            "ours",
            "seeds",
            "verdict",
        ];
        text += &table(&head, &rows);
    }
    for found in &results.tables {
        // Writing to a string cannot fail.
        _ = write!(text, "\n{}", table_markdown(found));
    }
    text
}

fn table_markdown(found: &Table) -> String {
    let columns = found.columns.iter().map(String::as_str);
    let head: Vec<&str> = std::iter::once("").chain(columns).collect();
    let row = |row: &aerofed::experiment::results::Row| {
        let cells = row.cells.iter().map(cell_words);
        std::iter::once(row.label.clone()).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = found.rows.iter().map(row).collect();
    let (id, title, unit) = (&found.id, one_line(&found.title), &found.unit);
    format!(
        "{id}: {title} ({unit}). {}\n\n{}",
        one_line(&found.caption),
        table(&head, &rows)
    )
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
