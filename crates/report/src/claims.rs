//! Claims and cells of results in words.

use aerofed_experiment::markdown::{percent, plus_minus, with_unit};
use aerofed_experiment::results::{Cell, Claim, Verdict};

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

/// A claim's verdict, in brackets when it may still turn.
pub(crate) fn claim_verdict(claim: &Claim) -> String {
    let words = verdict_words(claim.verdict);
    match claim.sure || claim.verdict == Verdict::Open {
        true => words.into(),
        false => format!("({words})"),
    }
}

/// The paper's number; what has no unit is a share.
pub(crate) fn paper_words(claim: &Claim) -> String {
    match claim.unit.as_str() {
        "" => percent_exact(claim.paper),
        unit => format!("{} {unit}", claim.paper),
    }
}

/// Our number with its interval.
pub(crate) fn ours_words(claim: &Claim) -> String {
    match (&claim.ours, claim.unit.as_str()) {
        (None, _) => "–".into(),
        (ours, "") => percent(ours.as_ref()),
        (ours, unit) => with_unit(ours.as_ref(), 1.0, unit),
    }
}

/// How many seeds told.
pub(crate) fn seeds_words(claim: &Claim) -> String {
    let told = claim.ours.map_or(0, |ours| ours.n);
    format!("{told} of {}", claim.of)
}

/// A cell of a table: ours, and the paper's where it prints one.
pub(crate) fn cell_words(cell: &Cell) -> String {
    let ours = plus_minus(cell.ours.as_ref(), 1.0);
    match cell.paper {
        Some(paper) => format!("{ours} (paper {paper})"),
        None => ours,
    }
}
