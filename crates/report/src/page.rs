//! One page that tells of runs: opens offline in any browser, nothing else is loaded.

mod charts;
mod costs;
mod data;
mod events;
mod groups;
mod html;
mod replay;
mod results;
mod source;
mod summary;

use std::fmt::Write as _;

use aerofed::Summary;
use aerofed_experiment::comparison::Comparison;
use aerofed_experiment::results::{Panel, Results};

use crate::palette;
use crate::panel::panel_svg;
use crate::svg::escape;
use crate::table::stop_words;
use crate::units::{ENERGY, counted};
use data::PageData;
use groups::RunGroup;
use replay::Replay;

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");
/// In the order in which they use each other.
const SCRIPTS: [&str; 10] = [
    include_str!("../page/base.js"),
    include_str!("../page/download.js"),
    include_str!("../page/chart.js"),
    include_str!("../page/costs.js"),
    include_str!("../page/timeline.js"),
    include_str!("../page/scene.js"),
    include_str!("../page/draw.js"),
    include_str!("../page/replay.js"),
    include_str!("../page/still.js"),
    include_str!("../page/main.js"),
];
/// Most runs that can be replayed on one page.
const MOST_REPLAYS: usize = 8;

/// Runs, and what was made of them: `report.html` to be.
pub struct Report {
    groups: Vec<RunGroup>,
    comparison: Option<Comparison>,
    results: Option<Results>,
    /// Of results: title, and of each method the summaries of its runs.
    costs: Vec<CostRows>,
}

type CostRows = (String, Vec<(String, Vec<Summary>)>);

/// A part of the page: id, title, HTML.
type Section = (&'static str, &'static str, String);

impl Report {
    /// The page. The same runs give the same bytes.
    #[must_use]
    pub fn html(&self) -> String {
        let mut data = PageData {
            charts: Vec::new(),
            costs: self.cost_sets(),
            replays: self.replays(),
            maps: Vec::new(),
            energy_units: ENERGY.iter().map(|unit| (unit.symbol, unit.size)).collect(),
            uav_colours: (0..7)
                .map(|uav| palette::name(palette::uav_colour(uav)))
                .collect(),
        };
        let sections = self.sections(&mut data);
        let (title, what) = self.title();
        let links: String = sections
            .iter()
            .map(|(id, title, _)| format!("<a href=\"#{id}\">{}</a>", escape(title)))
            .collect();
        let body: String = sections
            .iter()
            .map(|(id, title, html)| {
                format!(
                    "<section id=\"{id}\"><h2>{}</h2>\n{html}</section>\n",
                    escape(title)
                )
            })
            .collect();
        // What moves can be played from the top of the page, however much stands before it.
        let skip = match data.replays.is_empty() {
            true => String::new(),
            false => "<a class=\"skip\" href=\"#play\">Skip to the replay</a>\n".into(),
        };
        let footer = format!("Written by aerofed {}.", env!("CARGO_PKG_VERSION"));
        let parts = [
            ("title", escape(&title)),
            ("what", escape(&what)),
            ("skip", skip),
            ("style", colours() + STYLE),
            ("links", links),
            ("sections", body),
            ("footer", footer),
            ("data", data::embedded(&data)),
            ("script", SCRIPTS.concat()),
        ];
        fill(PAGE, &parts)
    }

    /// Plots and tables as files for documents, by name: of results every panel, the claims and the
    /// tables; of runs their accuracy.
    #[must_use]
    pub fn figures(&self) -> Vec<(String, String)> {
        let Some(results) = &self.results else {
            let panels = charts::accuracy(&self.groups);
            return panels
                .iter()
                .map(|panel| (format!("accuracy-{}.svg", panel.id), panel_svg(panel)))
                .collect();
        };
        let panels = results.figures.iter().flat_map(|figure| {
            let named = |panel: &Panel| {
                let name = format!("{}-{}", figure.id, panel.id);
                (file_name(&name) + ".svg", panel_svg(panel))
            };
            figure.panels.iter().map(named)
        });
        let tables = ("results.md".into(), results.markdown());
        panels.chain(std::iter::once(tables)).collect()
    }

    fn title(&self) -> (String, String) {
        if let Some(results) = &self.results {
            let what = format!("{}, aerofed {}", results.made_of(), results.version);
            return (results.title(), what);
        }
        let runs: usize = self.groups.iter().map(|group| group.runs.len()).sum();
        let Some(first) = self.groups.first().and_then(|group| group.runs.first()) else {
            return ("No runs".into(), String::new());
        };
        let summary = &first.summary;
        if runs == 1 {
            let what = format!(
                "method {} · seed {} · {}, {}",
                summary.method,
                summary.seed,
                counted(summary.rounds, "round"),
                stop_words(summary.stopped_by)
            );
            return (summary.scenario.clone(), what);
        }
        let labels: Vec<&str> = self.groups.iter().map(|g| g.label.as_str()).collect();
        let what = format!("{}: {}", counted(runs, "run"), labels.join(" · "));
        (summary.scenario.clone(), what)
    }

    fn sections(&self, data: &mut PageData) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        match (&self.results, &self.groups[..]) {
            (Some(results), _) => {
                sections.push(("summary", "Summary", results::summary(results)));
                let title = match results.claims.is_empty() {
                    true => "Figures",
                    false => "Figures and claims",
                };
                let figures = results::sections(results, data);
                if !figures.is_empty() {
                    sections.push(("figures", title, figures));
                }
            }
            (None, [group]) if group.runs.len() == 1 => {
                sections.push(("summary", "Summary", summary::of_run(&group.runs[0])));
            }
            (None, groups) => {
                let mut html = summary::of_groups(groups);
                if let Some(comparison) = &self.comparison {
                    html += &summary::of_comparison(comparison, groups);
                }
                sections.push(("summary", "Summary", html));
            }
        }
        if !data.replays.is_empty() {
            let stage = html::card("<div data-stage></div>");
            sections.push(("replay", "Map replay", stage));
        }
        if self.results.is_none() {
            sections.push(("curves", "Curves", self.curves(data)));
        }
        if !data.costs.is_empty() {
            let place = html::card("<div data-costs></div>");
            sections.push(("costs", "Where energy and time went", place));
        }
        if let (None, [group]) = (&self.results, &self.groups[..])
            && let [run] = &group.runs[..]
        {
            sections.push(("rounds", "Rounds", html::card(&summary::rounds(run))));
        }
        sections
    }

    fn curves(&self, data: &mut PageData) -> String {
        let panels = charts::accuracy(&self.groups);
        let names = ["over rounds", "over time", "over energy"];
        let views: Vec<(&str, &Panel)> = names.into_iter().zip(&panels).collect();
        let title = panels.first().map_or("", |panel| panel.title.as_str());
        let mut charts = vec![charts::of_panels(title, &views)];
        if let [group] = &self.groups[..]
            && let [run] = &group.runs[..]
        {
            charts.extend(charts::of_run(run));
        }
        let first = data.charts.len();
        let places: String = (first..first + charts.len()).map(html::chart).collect();
        data.charts.extend(charts);
        match data.charts.len() - first {
            1 => places,
            _ => format!("<div class=\"pair\">{places}</div>"),
        }
    }

    fn cost_sets(&self) -> Vec<data::CostSet> {
        if self.results.is_none() {
            return match self.groups.is_empty() {
                true => Vec::new(),
                false => vec![costs::of_groups(&self.groups)],
            };
        }
        let set = |(title, rows): &CostRows| {
            let spent: Vec<Vec<costs::Spent>> = rows
                .iter()
                .map(|(_, runs)| runs.iter().map(costs::whole_run).collect())
                .collect();
            let note = "Mean over the runs of each method, from start to end.";
            let spans = vec![costs::span("whole run", note.into(), &spent)];
            let labels = rows.iter().map(|(label, _)| label.clone()).collect();
            costs::set(title.clone(), labels, spans)
        };
        self.costs.iter().map(set).collect()
    }

    fn replays(&self) -> Vec<Replay> {
        let groups = self.groups.iter().take(MOST_REPLAYS);
        let firsts = groups.filter_map(|group| Some((group, group.runs.first()?)));
        let seen = firsts.filter(|(_, run)| !run.records.is_empty());
        seen.map(|(group, run)| {
            let label = format!("{}, seed {}", group.label, run.summary.seed);
            Replay::new(label, run)
        })
        .collect()
    }
}

/// A name without anything that means something in paths.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    name.chars().map(plain).collect()
}

/// The palette as variables of the style sheet.
fn colours() -> String {
    let [mut light, mut dark] = [String::new(), String::new()];
    for (on_paper, name, on_dark) in palette::ON_SCREEN {
        // Writing to a string cannot fail.
        _ = write!(light, " --{name}: {on_paper};");
        _ = write!(dark, " --{name}: {on_dark};");
    }
    format!(":root {{{light} }}\n:root[data-theme=\"dark\"] {{{dark} }}\n")
}

/// Puts the parts where the template names them, in one pass: what a part says is never a name.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        let part = parts.iter().find(|(known, _)| *known == name);
        filled.push_str(before);
        filled.push_str(part.map_or("", |(_, text)| text));
        rest = after;
    }
    filled + rest
}
