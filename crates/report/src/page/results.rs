//! Figures, tables and claims of a results file.

use aerofed::experiment::markdown::{percent as share, plus_minus};
use aerofed::experiment::results::{
    Axis, Claim, Figure, Map, Measure, Panel, PanelKind, Results, Table, Verdict,
};
use aerofed::experiment::statistics::Estimate;

use super::charts::{axis, series_look, spot};
use super::data::{AxisWords, Chart, NamedTick, PageData, Spot, StillMap, StillUav, View, short};
use super::html::{Cell, card, chart, heading, note, table};
use crate::palette::look;
use crate::svg::escape;
use crate::units::{Unit, energy_unit, percent, percent_exact, time_unit};

/// How a verdict reads and which class it has.
pub(crate) fn verdict_words(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Agrees => ("agrees", "✓ agrees"),
        Verdict::Weaker => ("weaker", "≈ weaker"),
        Verdict::Contradicts => ("contradicts", "✗ contradicts"),
        Verdict::Open => ("open", "? open"),
    }
}

/// How many claims came out how.
pub(super) fn score(results: &Results) -> String {
    let all = [
        Verdict::Agrees,
        Verdict::Weaker,
        Verdict::Contradicts,
        Verdict::Open,
    ];
    let words = all.map(|verdict| {
        let same = results.claims.iter().filter(|c| c.verdict == verdict);
        let (class, words) = verdict_words(verdict);
        let number = same.count();
        format!("<span class=\"verdict {class}\">{words}: {number}</span>")
    });
    let mut html = format!("<div class=\"score\">{}</div>", words.concat());
    if results.runs_missing > 0 {
        let text = format!("{} runs are still missing.", results.runs_missing);
        html += &note(&text);
    }
    for skipped in &results.skipped {
        html += &note(&format!(
            "{} was not done: {}",
            skipped.experiment, skipped.reason
        ));
    }
    html
}

/// Every experiment with its panels, maps, tables and claims. Fills in what the scripts draw.
pub(super) fn sections(results: &Results, data: &mut PageData) -> String {
    let mut html = String::new();
    for figure in &results.figures {
        html += &figure_html(figure, &claims_of(results, &figure.id), data);
    }
    for table in &results.tables {
        html += &table_html(table, &claims_of(results, &table.id));
    }
    let shown = |claim: &&Claim| {
        let figures = results.figures.iter().map(|figure| &figure.id);
        let mut ids = figures.chain(results.tables.iter().map(|table| &table.id));
        ids.any(|id| *id == claim.experiment)
    };
    let rest: Vec<&Claim> = results.claims.iter().filter(|c| !shown(c)).collect();
    if !rest.is_empty() {
        html += &card(&(heading("Other claims") + &claims_html(&rest)));
    }
    html
}

fn claims_of<'a>(results: &'a Results, id: &str) -> Vec<&'a Claim> {
    let all = results.claims.iter();
    all.filter(|claim| claim.experiment == id).collect()
}

fn figure_html(figure: &Figure, claims: &[&Claim], data: &mut PageData) -> String {
    let mut html = format!(
        "<article id=\"{}\"><div class=\"figure-head\">{}{}</div>\n",
        escape(&figure.id),
        heading(&format!("{}: {}", figure.id, figure.title)),
        note(&figure.caption)
    );
    html += "<div class=\"pair spaced\">";
    for panel in &figure.panels {
        html += &chart(data.charts.len());
        data.charts.push(panel_chart(panel));
    }
    for map in &figure.maps {
        let words = format!("{}, {} covered", map.title, percent(map.covered, 1));
        html += &format!(
            "<div class=\"card\">{}<div class=\"map\" data-map=\"{}\"></div></div>",
            heading(&words),
            data.maps.len()
        );
        data.maps.push(still_map(map));
    }
    html += "</div>\n";
    if !claims.is_empty() {
        html += &format!("<div class=\"spaced\">{}</div>", card(&claims_html(claims)));
    }
    html + "</article>\n"
}

fn table_html(found: &Table, claims: &[&Claim]) -> String {
    let head: Vec<&str> = [""]
        .into_iter()
        .chain(found.columns.iter().map(String::as_str))
        .collect();
    let rows: Vec<Vec<Cell>> = found
        .rows
        .iter()
        .map(|row| {
            let cells = row.cells.iter().map(|cell| {
                let ours = plus_minus(cell.ours.as_ref(), 1.0);
                Cell::Text(match cell.paper {
                    Some(paper) => format!("{ours} (paper {paper})"),
                    None => ours,
                })
            });
            [Cell::text(&row.label)].into_iter().chain(cells).collect()
        })
        .collect();
    let title = format!("{}: {} ({})", found.id, found.title, found.unit);
    let mut body = heading(&title) + &note(&found.caption) + &table(&head, &rows);
    if !claims.is_empty() {
        body += &claims_html(claims);
    }
    format!(
        "<article id=\"{}\">{}</article>\n",
        escape(&found.id),
        card(&body)
    )
}

/// The paper's words, both numbers, and what that comes to.
fn claims_html(claims: &[&Claim]) -> String {
    let row = |claim: &&Claim| {
        let (class, words) = verdict_words(claim.verdict);
        vec![
            Cell::Words(claim.text.clone()),
            Cell::Text(claim_number(claim, claim.paper)),
            Cell::Text(claim_estimate(claim)),
            Cell::Text(seeds(claim)),
            Cell::Badge(class, words.into()),
        ]
    };
    let rows: Vec<Vec<Cell>> = claims.iter().map(row).collect();
    let head = ["The paper says", "paper", "ours", "seeds", "<verdict"];
    table(&head, &rows)
}

fn seeds(claim: &Claim) -> String {
    let sure = if claim.sure { ", sure" } else { "" };
    match &claim.ours {
        Some(ours) if ours.n < claim.of => format!("{} of {}{sure}", ours.n, claim.of),
        Some(ours) => format!("{}{sure}", ours.n),
        None => format!("0 of {}", claim.of),
    }
}

/// Shares are told in percent.
fn is_share(claim: &Claim) -> bool {
    claim.measure == Measure::Saving || claim.unit.is_empty()
}

pub(crate) fn claim_number(claim: &Claim, value: f64) -> String {
    match is_share(claim) {
        true => percent_exact(value),
        false => format!("{value} {}", claim.unit),
    }
}

pub(crate) fn claim_estimate(claim: &Claim) -> String {
    match (&claim.ours, is_share(claim)) {
        (None, _) => "–".into(),
        (Some(ours), true) => share(Some(ours)),
        (Some(ours), false) => format!("{} {}", plus_minus(Some(ours), 1.0), claim.unit),
    }
}

/// The unit in which an axis is drawn: fractions as percent, joules as kJ, seconds as they come.
pub(crate) fn display_unit(axis: &Axis, largest: f64) -> Unit {
    match axis.unit.as_str() {
        "" if axis.ticks.is_empty() => Unit {
            symbol: "%",
            size: 0.01,
        },
        "J" => energy_unit(largest),
        "s" => time_unit(largest),
        _ => Unit {
            symbol: "",
            size: 1.0,
        },
    }
}

fn words(found: &Axis, unit: Unit) -> AxisWords {
    let symbol = match (unit.symbol, found.unit.as_str()) {
        // The label says what is counted.
        ("", own) if found.label.contains(own) => "",
        ("", own) => own,
        (symbol, _) => symbol,
    };
    AxisWords {
        ticks: found
            .ticks
            .iter()
            .map(|tick| NamedTick {
                at: short(tick.at / unit.size),
                label: tick.label.clone(),
            })
            .collect(),
        ..axis(&found.label, symbol)
    }
}

pub(crate) fn largest<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    values.copied().map(f64::abs).fold(0.0, f64::max)
}

fn panel_chart(panel: &Panel) -> Chart {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let xs: Vec<f64> = points().map(|point| point.x).collect();
    let means: Vec<f64> = points().filter_map(|p| Some(p.y.as_ref()?.mean)).collect();
    let x_unit = display_unit(&panel.x, largest(xs.iter()));
    let y_unit = display_unit(&panel.y, largest(means.iter()));
    let spots = |points: &[aerofed::experiment::results::Point]| -> Vec<Spot> {
        let one = |p: &aerofed::experiment::results::Point| {
            let estimate: Option<&Estimate> = p.y.as_ref();
            spot(p.x / x_unit.size, estimate, p.of, y_unit.size)
        };
        points.iter().map(one).collect()
    };
    Chart {
        title: format!("({}) {}", panel.id, panel.title),
        kind: match panel.kind {
            PanelKind::Lines => "lines",
            PanelKind::Bars => "bars",
        },
        series: panel
            .series
            .iter()
            .map(|series| series_look(&series.label, look(series.style)))
            .collect(),
        views: vec![View {
            name: String::new(),
            x: words(&panel.x, x_unit),
            y: words(&panel.y, y_unit),
            points: panel.series.iter().map(|s| spots(&s.points)).collect(),
        }],
    }
}

fn still_map(map: &Map) -> StillMap {
    let whole = |[x, y]: &[f64; 2]| [x.round() as i32, y.round() as i32];
    StillMap {
        area: [map.width_m, map.height_m],
        radius: map.coverage_radius_m,
        devices: map.devices_m.iter().map(whole).collect(),
        uavs: map
            .uavs
            .iter()
            .map(|uav| StillUav {
                number: uav.number,
                at: uav.position_m,
                from: uav.moved_from_m,
            })
            .collect(),
    }
}
