//! Runs every scenario of the library and writes a page with the map and the curves of each:
//!
//! `cargo run --release -p aerofed-report --example gallery -- docs [path=value]...`
//!
//! writes `docs/gallery.md` and the pictures in `docs/gallery`. The runs are kept in `runs/gallery`: those that are finished are
//! used again, one that was interrupted is taken up. A page or a picture that is not of this program's making is left alone.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use aerofed::disk::replace_file;
use aerofed::record::{RoundRecord, StoppedBy, Summary};
use aerofed::run::Outcome;
use aerofed::run_folder::{self, RunLog};
use aerofed::scenario::{BUILT_IN, first_sentence};
use aerofed::session::{Keeping, Session};
use aerofed::{Method, Scenario, Simulation, ValidScenario};
use aerofed_report::units::{counted, duration, energy, percent};
use aerofed_report::{map_svg, progress_svg};

/// How a page of this program begins.
const MARK: &str = "<!-- Made by `cargo run --release -p aerofed-report --example gallery`. -->";

/// The pictures that a run leaves, as the page has them.
const PICTURES: [&str; 2] = ["map.svg", "progress.svg"];

type Anything<T> = Result<T, Box<dyn Error>>;

fn main() -> Anything<()> {
    let mut arguments = std::env::args().skip(1);
    let docs = PathBuf::from(arguments.next().ok_or("which folder? (docs)")?);
    let settings: Vec<String> = arguments.collect();
    // The defaults are the paper's network with a larger learning rate: a list of fields, not a place.
    let names = BUILT_IN.iter().filter(|(name, _)| *name != "defaults");
    let names: Vec<(&str, &str)> = names.copied().collect();
    make(&docs, Path::new("runs/gallery"), &names, &settings)
}

/// Runs the scenarios, given by name and text, and writes the page. Nothing is written before all of them are done.
pub(crate) fn make(
    docs: &Path,
    runs: &Path,
    scenarios: &[(&str, &str)],
    settings: &[String],
) -> Anything<()> {
    let page = docs.join("gallery.md");
    let before = fs::read_to_string(&page).unwrap_or_default();
    refuse_what_is_not_ours(docs, &before, scenarios)?;
    let mut text = head(settings);
    let mut pictures = Vec::new();
    for (place, (name, written)) in scenarios.iter().enumerate() {
        let scenario = Scenario::parse(written, settings)?.check()?;
        let title = format!("{name}, {} of {}", place + 1, scenarios.len());
        let folder = runs.join(name);
        let summary = match finished(&folder, &scenario) {
            Some(summary) => summary,
            None => run(&folder, &scenario, &title)?,
        };
        tell(&format!("{title}: {}", numbers(&summary)));
        section(
            &mut text,
            name,
            &first_sentence(written),
            &scenario,
            &summary,
        )?;
        for picture in PICTURES {
            let file = docs.join("gallery").join(format!("{name}-{picture}"));
            pictures.push((file, fs::read(folder.join(picture))?));
        }
    }
    fs::create_dir_all(docs.join("gallery"))?;
    // The page first: it says which pictures are ours.
    replace_file(&page, text.as_bytes())?;
    for (file, contents) in pictures {
        replace_file(&file, &contents)?;
    }
    tell(&format!("wrote {}", page.display()));
    Ok(())
}

/// A page without the mark, or a picture that the page before does not show, is somebody else's.
fn refuse_what_is_not_ours(docs: &Path, before: &str, scenarios: &[(&str, &str)]) -> Anything<()> {
    let page = docs.join("gallery.md");
    if page.exists() && !before.starts_with(MARK) {
        let page = page.display();
        return Err(format!("{page} was not made by this program; move it away").into());
    }
    for (name, _) in scenarios {
        for picture in PICTURES {
            let file = format!("gallery/{name}-{picture}");
            if docs.join(&file).exists() && !before.contains(&format!("({file})")) {
                let file = docs.join(file);
                let file = file.display();
                return Err(format!("{file} was not made by this program; move it away").into());
            }
        }
    }
    Ok(())
}

/// What the finished run in a folder came to, if it is one of this scenario by this version.
fn finished(folder: &Path, scenario: &ValidScenario) -> Option<Summary> {
    let log = RunLog::read_light(folder).ok()?;
    let whole = log.summary.stopped_by != StoppedBy::Interrupted;
    let ours = log.scenario == **scenario && log.summary.version == aerofed::VERSION;
    let drawn = PICTURES.iter().all(|name| folder.join(name).exists());
    let unchanged = run_folder::check_inputs(folder, scenario, &|| false).is_ok();
    (whole && ours && drawn && unchanged).then_some(log.summary)
}

/// Runs a scenario to its end, from where it was left.
fn run(folder: &Path, scenario: &ValidScenario, title: &str) -> Anything<Summary> {
    let keeping = Keeping {
        // A run of another scenario or version; anything else in the folder is refused all the same.
        force: folder.exists(),
        ..Keeping::default()
    };
    let set_up = |scenario: &ValidScenario| {
        let simulation = Simulation::builder(scenario).build()?;
        Ok((simulation, Method::of(scenario)?))
    };
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut session = Session::begin_or_resume(folder, scenario, keeping, set_up)?;
    let of = scenario.stop.max_rounds;
    while let Some(record) = session.step()? {
        if record.round.is_multiple_of(of.div_ceil(10)) {
            tell(&format!("{title}: round {} of {of}", record.round));
        }
    }
    Ok(session.finish(draw)?.summary)
}

fn draw(
    scenario: &ValidScenario,
    outcome: &mut Outcome,
) -> Result<Vec<(String, Vec<u8>)>, aerofed::Error> {
    let map = |last: &RoundRecord| map_svg(&outcome.world, last, scenario.places());
    let map = outcome.records.last().map(map).unwrap_or_default();
    let progress = progress_svg(&outcome.summary, &outcome.records);
    let files = PICTURES.into_iter().zip([map, progress]);
    Ok(files
        .map(|(name, text)| (name.into(), text.into_bytes()))
        .collect())
}

fn head(settings: &[String]) -> String {
    let changed = match settings {
        [] => String::new(),
        some => format!(" Changed for all: `{}`.", some.join("`, `")),
    };
    format!(
        "{MARK}\n# Gallery\n\nThe scenarios that come with the program, each run once with its own seed: where everybody was in the \
         last round, and how it went.{changed}\n"
    )
}

fn section(
    text: &mut String,
    name: &str,
    about: &str,
    scenario: &ValidScenario,
    summary: &Summary,
) -> std::fmt::Result {
    let area = &scenario.area;
    writeln!(
        text,
        "\n## {name}\n\n{about} {}, {}, {} x {} km, method `{}`; `aerofed run {name}`.\n\n{}.\n",
        counted(scenario.devices.count, "device"),
        counted(scenario.uavs.count, "UAV"),
        area.width_m / 1e3,
        area.height_m / 1e3,
        summary.method,
        numbers(summary),
    )?;
    for picture in PICTURES {
        let shown = picture.trim_end_matches(".svg");
        writeln!(text, "![{name}: {shown}](gallery/{name}-{picture})")?;
    }
    Ok(())
}

/// The run in a line.
fn numbers(summary: &Summary) -> String {
    format!(
        "Accuracy {} after {}, {} of simulated time, {}",
        percent(summary.final_accuracy, 1),
        counted(summary.rounds, "round"),
        duration(summary.total_time_s),
        energy(summary.total_energy_j),
    )
}

/// A remark; nobody listening is no error.
fn tell(text: &str) {
    _ = writeln!(std::io::stderr(), "{text}");
}
