//! Figures, tables and claims of a results file.

use aerofed_experiment::markdown::spread_words;
use aerofed_experiment::results::{Claim, Figure, Map, Results, Table, Verdict};

use super::charts::of_panels;
use super::data::{PageData, StillMap, StillUav};
use super::html::{Cell, card, chart, heading, note, table};
use crate::claims::{
    cell_words, claim_verdict, ours_words, paper_words, seeds_words, verdict_words,
};
use crate::svg::escape;
use crate::units::{counted_are, percent};

/// The style sheet's class of a verdict.
fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Weaker => "weaker",
        Verdict::Contradicts => "contradicts",
        Verdict::Open => "open",
    }
}

/// How many claims came out how, and what the runs came to about which nobody claims anything.
pub(super) fn summary(results: &Results) -> String {
    let mut html = match results.claims.is_empty() {
        true => String::new(),
        false => score(results),
    };
    if results.runs_missing > 0 {
        let text = format!(
            "{} still missing.",
            counted_are(results.runs_missing, "run")
        );
        html += &note(&text);
    }
    for skipped in &results.skipped {
        html += &note(&format!(
            "{} was not done: {}",
            skipped.experiment, skipped.reason
        ));
    }
    for (experiment, overview) in results.without_claims() {
        let (head, rows) = overview.words();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let rows: Vec<Vec<Cell>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(Cell::Text).collect())
            .collect();
        let title = format!("{}: {}", experiment.name, experiment.title);
        let mut body = heading(&title) + &note(&experiment.caption) + &table(&head, &rows);
        body += &note(spread_words(results.seeds.len()));
        html += &card(&body);
    }
    html
}

/// How many claims came out how.
fn score(results: &Results) -> String {
    let all = [
        Verdict::Agrees,
        Verdict::Weaker,
        Verdict::Contradicts,
        Verdict::Open,
    ];
    let words = all.map(|verdict| {
        let same = results.claims.iter().filter(|c| c.verdict == verdict);
        let (class, words) = (class(verdict), verdict_words(verdict));
        format!(
            "<span class=\"verdict {class}\">{words}: {}</span>",
            same.count()
        )
    });
    let mut html = format!("<div class=\"score\">{}</div>", words.concat());
    html += &note(
        "In brackets: may still turn, because the interval holds no effect, or there is none.",
    );
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
        let title = format!("({}) {}", panel.id, panel.title);
        data.charts.push(of_panels(&title, &[("", panel)]));
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
            let cells = row.cells.iter().map(|cell| Cell::Text(cell_words(cell)));
            [Cell::text(&row.label)].into_iter().chain(cells).collect()
        })
        .collect();
    let title = format!("{}: {} ({})", found.id, found.title, found.unit);
    let mut body = heading(&title) + &note(&found.caption) + &table(&head, &rows);
    if !claims.is_empty() {
        body += &format!("<div class=\"spaced\">{}</div>", claims_html(claims));
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
        vec![
            Cell::Words(claim.text.clone()),
            Cell::Text(paper_words(claim)),
            Cell::Text(ours_words(claim)),
            Cell::Text(seeds_words(claim)),
            Cell::Badge(class(claim.verdict), claim_verdict(claim)),
        ]
    };
    let rows: Vec<Vec<Cell>> = claims.iter().map(row).collect();
    let head = ["The paper says", "paper", "ours", "seeds", "<verdict"];
    table(&head, &rows)
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
