//! `results.md`: results as a page of Markdown.

use std::fmt::Write as _;

use super::markdown::{percent, plus_minus, spread_words, table, with_unit};
use super::results::{
    Axis, Cell, Claim, Figure, Measure, Panel, PanelKind, Point, Results, Row, Series, Table, Tick,
    Verdict,
};

impl Results {
    /// The results as a page of Markdown: claims first, then figures and tables as numbers.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\nVersion {}, {}; {}.\n",
            self.title(),
            self.version,
            self.made_of(),
            spread_words(self.fewest_seeds()),
        );
        if self.runs_missing > 0 {
            _ = writeln!(text, "\n**{} runs are still missing.**", self.runs_missing);
        }
        for skipped in &self.skipped {
            _ = writeln!(
                text,
                "\n{} was skipped: {}.",
                skipped.experiment, skipped.reason
            );
        }
        if !self.claims.is_empty() {
            let header = [
                "claim of the paper",
                "experiment",
                "paper",
                "ours",
                "seeds",
                "verdict",
            ];
            let rows: Vec<Vec<String>> = self.claims.iter().map(claim_row).collect();
            _ = write!(text, "\n## Claims\n\n{}", table(&header, &rows));
            text += "\nA verdict in brackets may still turn: the interval holds zero, or there is none.\n";
        }
        text += &self.overviews();
        self.figures
            .iter()
            .for_each(|figure| write_figure(&mut text, figure));
        self.tables
            .iter()
            .for_each(|table| text += &table.markdown());
        text
    }

    /// Tables of the experiments about which nobody claims anything.
    #[must_use]
    pub fn overviews(&self) -> String {
        let mut text = String::new();
        for (experiment, overview) in self.without_claims() {
            let (header, rows) = overview.words();
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            let (name, title) = (&experiment.name, &experiment.title);
            _ = write!(
                text,
                "\n## Summary of {name}: {title}\n\n{}",
                table(&header, &rows)
            );
        }
        text
    }

    fn fewest_seeds(&self) -> usize {
        match self.seeds.len() {
            0 => usize::MAX,
            seeds => seeds,
        }
    }
}

fn claim_row(claim: &Claim) -> Vec<String> {
    let as_share = claim.unit.is_empty();
    let ours = match as_share {
        true => percent(claim.ours.as_ref()),
        false => with_unit(claim.ours.as_ref(), 1.0, &claim.unit),
    };
    let paper = match as_share {
        true => format!("{:.1} %", 100.0 * claim.paper),
        false => format!("{} {}", claim.paper, claim.unit),
    };
    let verdict = match claim.verdict {
        Verdict::Agrees => "agrees",
        Verdict::Weaker => "weaker",
        Verdict::Contradicts => "contradicts",
        Verdict::Open => "open",
    };
    let sure = claim.sure || claim.verdict == Verdict::Open;
    let told = claim.ours.map_or(0, |ours| ours.n);
    vec![
        match claim.measure {
            Measure::Saving => format!("{} (saving)", claim.text),
            Measure::Difference => format!("{} (difference)", claim.text),
            Measure::Value => claim.text.clone(),
        },
        claim.experiment.clone(),
        paper,
        ours,
        format!("{told}/{}", claim.of),
        match sure {
            true => verdict.into(),
            false => format!("({verdict})"),
        },
    ]
}

fn write_figure(text: &mut String, figure: &Figure) {
    // Writing to a string cannot fail.
    _ = write!(text, "\n## {}: {}\n", figure.id, figure.title);
    if !figure.caption.is_empty() {
        _ = write!(text, "\n{}\n", figure.caption.trim());
    }
    // Dots are for the eye: the table that they are drawn from has their numbers.
    let with_numbers = |panel: &&Panel| panel.kind != PanelKind::Dots;
    for panel in figure.panels.iter().filter(with_numbers) {
        write_panel(text, panel);
    }
    for map in &figure.maps {
        let covered = 100.0 * map.covered;
        _ = write!(
            text,
            "\n- {}: {} UAVs cover {covered:.1} %",
            map.title,
            map.uavs.len()
        );
    }
    if !figure.maps.is_empty() {
        text.push('\n');
    }
}

fn write_panel(text: &mut String, panel: &Panel) {
    let unit = match panel.y.unit.as_str() {
        "J" => ("kJ", 1e3),
        "" => ("%", 0.01),
        unit => (unit, 1.0),
    };
    _ = write!(
        text,
        "\n({}) {}; {} ({}) by {}:\n\n",
        panel.id,
        panel.title,
        panel.y.label,
        unit.0,
        named(&panel.x)
    );
    let columns = columns(panel);
    let mut header = vec![""];
    header.extend(columns.iter().map(|tick| tick.label.as_str()));
    let row = |series: &Series| {
        let mut row = vec![series.label.clone()];
        row.extend(columns.iter().map(|tick| cell(series, tick.at, unit.1)));
        row
    };
    let rows: Vec<Vec<String>> = panel.series.iter().map(row).collect();
    *text += &table(&header, &rows);
    let flattered = |point: &Point| point.y.is_some_and(|y| y.n < point.of);
    if panel.series.iter().any(|s| s.points.iter().any(flattered)) {
        *text += "\n\\* only over the runs that reached it; `stopped_by` in results.json says how the others ended\n";
    }
}

fn named(axis: &Axis) -> String {
    match axis.unit.as_str() {
        "" => axis.label.clone(),
        unit => format!("{} ({unit})", axis.label),
    }
}

/// The named values of the axis, or a few round ones along a curve.
fn columns(panel: &Panel) -> Vec<Tick> {
    const COLUMNS: usize = 5;
    if !panel.x.ticks.is_empty() {
        return panel.x.ticks.clone();
    }
    let ends = panel
        .series
        .iter()
        .filter_map(|series| series.points.last());
    let end = ends.map(|point| point.x).fold(0.0, f64::max);
    let whole = panel.x.unit == "rounds";
    let at = |part: usize| {
        let at = end * part as f64 / COLUMNS as f64;
        if whole { at.round() } else { at }
    };
    let tick = |part| Tick {
        at: at(part),
        label: match whole {
            true => at(part).to_string(),
            false => format!("{:.1}", at(part)),
        },
    };
    let mut ticks: Vec<Tick> = (1..=COLUMNS).map(tick).collect();
    // There is no round 0, and few rounds give some columns twice.
    ticks.retain(|tick| !whole || tick.at > 0.0);
    ticks.dedup_by(|a, b| a.label == b.label);
    ticks
}

/// The point nearest to a place, if there is one within a hundredth of the curve.
fn cell(series: &Series, at: f64, unit: f64) -> String {
    let reach = series.points.last().map_or(0.0, |point| point.x) / 100.0 + 1e-9;
    let near = |point: &&Point| (point.x - at).abs() <= reach;
    let distance = |point: &Point| (point.x - at).abs();
    let nearest = series
        .points
        .iter()
        .filter(near)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let Some(point) = nearest else {
        return "-".into();
    };
    match point.y {
        Some(y) if y.n < point.of => {
            format!("{} ({}/{}) *", plus_minus(Some(&y), unit), y.n, point.of)
        }
        Some(y) => plus_minus(Some(&y), unit),
        None if point.of > 0 => format!("0/{} reached", point.of),
        None => "-".into(),
    }
}

impl Table {
    /// The table with its title and caption.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("\n## {}: {}\n\n", self.id, self.title);
        if !self.caption.is_empty() {
            _ = write!(text, "{}\n\n", self.caption.trim());
        }
        let unit = format!("({})", self.unit);
        let mut header = vec![unit.as_str()];
        header.extend(self.columns.iter().map(String::as_str));
        let shown = |cell: &Cell| match cell.paper {
            Some(paper) => format!("{} [{paper}]", plus_minus(cell.ours.as_ref(), 1.0)),
            None => plus_minus(cell.ours.as_ref(), 1.0),
        };
        let row = |row: &Row| {
            let cells = row.cells.iter().map(shown);
            std::iter::once(row.label.clone()).chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(row).collect();
        text += &table(&header, &rows);
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        if cells.any(|cell| cell.paper.is_some()) {
            text += "\nIn brackets: what the paper prints.\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Estimate;

    #[test]
    fn few_rounds_have_no_column_twice() {
        let columns_of = |rounds: usize| {
            let point = |round: usize| Point {
                x: round as f64,
                y: Estimate::of(&[0.5]),
                of: 1,
            };
            let axis = |unit: &str| Axis {
                label: "x".into(),
                unit: unit.into(),
                ticks: Vec::new(),
            };
            let series = Series {
                label: "hfl".into(),
                method: "hfl".into(),
                style: 0,
                points: (1..=rounds).map(point).collect(),
                ends: Vec::new(),
                runs: Vec::new(),
            };
            let panel = Panel {
                id: "a".into(),
                title: "t".into(),
                kind: PanelKind::Lines,
                x: axis("rounds"),
                y: axis(""),
                series: vec![series],
            };
            let labels = columns(&panel).into_iter().map(|tick| tick.label);
            labels.collect::<Vec<_>>()
        };
        assert_eq!(columns_of(2), ["1", "2"]);
        assert_eq!(columns_of(4), ["1", "2", "3", "4"]);
        assert_eq!(columns_of(10), ["2", "4", "6", "8", "10"]);
    }
}
