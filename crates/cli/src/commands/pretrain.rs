//! `aerofed pretrain`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use aerofed::disk::replace_file;
use aerofed::pretrain::{Event, Plan, Progress, pretrain};
use aerofed_report::{Curve, curves_svg};
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{outputs, run, scenario};
use crate::console::{self, BadInput, Interrupted};
use crate::numbers::{seed, whole};

#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    aerofed pretrain --out policy.safetensors\n  \
    aerofed pretrain mine.toml --episodes 400 --seed 3\n  \
    aerofed run --set association.kind=td3 --set td3.agent=policy.safetensors\n\n\
    Runs many short episodes with random thresholds, and trains one agent on all of\n\
    them. Writes the policy, and beside it the learning curve as SVG. Ctrl-C (exit code 130) keeps what was learned."
)]
pub(crate) struct PretrainArgs {
    /// A scenario file, or a name of `aerofed scenario list`; none: the quick start
    #[arg(value_parser = scenario::ScenarioName, hide_possible_values = true)]
    scenario: Option<PathBuf>,
    /// Runs to learn from
    #[arg(long, value_name = "N", default_value_t = Plan::default().episodes as u32, value_parser = whole::<u32>(1..=1_000_000))]
    episodes: u32,
    /// Global rounds of each
    #[arg(long, value_name = "N", default_value_t = Plan::default().rounds as u32, value_parser = whole::<u32>(2..=10_000))]
    rounds: u32,
    /// Updates of the agent in each of two turns
    #[arg(long, value_name = "N", default_value_t = Plan::default().updates as u32, value_parser = whole::<u32>(1..=100_000_000))]
    updates: u32,
    /// The seed
    #[arg(long, value_name = "N", value_parser = seed)]
    seed: Option<u64>,
    /// Change any field of the scenario, as in `td3.state=paper`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    settings: Vec<String>,
    /// Where to write the policy
    #[arg(long, value_name = "FILE", default_value = "policy.safetensors")]
    out: PathBuf,
    /// Replace the files if they exist
    #[arg(long)]
    force: bool,
    /// No progress, no remarks but where the policy is
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &PretrainArgs) -> Result<()> {
    // What else is decided in the episodes is decided as agents will find it in runs.
    let mut settings = vec![
        "method=cehfed".to_owned(),
        "association.kind=td3".to_owned(),
    ];
    settings.extend(args.settings.iter().cloned());
    settings.extend(args.seed.iter().map(|seed| format!("seed={seed}")));
    let scenario = scenario::load(args.scenario.as_ref(), &settings)?;
    let picture = args.out.with_extension("svg");
    if picture == args.out {
        let reason =
            "`--out` ends in .svg, allowed: a name that leaves that one to the learning curve";
        return Err(BadInput(reason.into()).into());
    }
    for file in [&args.out, &picture] {
        outputs::check(file, None, args.force)?;
    }
    if !args.quiet {
        scenario::warn(&scenario);
    }
    let plan = Plan {
        episodes: args.episodes as usize,
        rounds: args.rounds as usize,
        updates: args.updates as usize,
    };
    let bar = progress_bar(plan.episodes, args.quiet);
    let interrupted = run::interruption(run::AFTER_THIS_ROUND)?;
    let turns = Mutex::new(Vec::new());
    let agent = pretrain(&scenario, &plan, |event| {
        match event {
            Event::Episode => bar.inc(1),
            Event::Turn(progress) => {
                if !args.quiet {
                    bar.suspend(|| console::message(&turn_line(&progress)));
                }
                if let Ok(mut turns) = turns.lock() {
                    turns.push(progress);
                }
            }
        }
        match interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    bar.finish_and_clear();
    let turns = turns.into_inner().unwrap_or_default();
    let stopped = interrupted.load(Ordering::Relaxed);
    if stopped && turns.is_empty() {
        return Err(Interrupted(" before anything was learned; nothing is written".into()).into());
    }
    let policy = agent.to_safetensors().map_err(aerofed::Error::from)?;
    replace_file(&args.out, &policy)?;
    replace_file(&picture, learning_curve(&turns).as_bytes())?;
    if let Some(last) = turns.last() {
        console::result(&turn_line(last))?;
    }
    let files = [&args.out, &picture].map(|path| path.display().to_string());
    console::message(&format!("wrote {}", files.join(" and ")));
    if stopped {
        let rest = "; the policy is the best so far, the same command with --force learns it all";
        return Err(Interrupted(rest.into()).into());
    }
    Ok(())
}

fn turn_line(progress: &Progress) -> String {
    format!(
        "{} episodes, {} updates: {:.1} % accuracy at the cost at which the most devices reach {:.1} %",
        progress.episodes,
        progress.updates,
        100.0 * progress.accuracy,
        100.0 * progress.accuracy_with_most
    )
}

fn learning_curve(turns: &[Progress]) -> String {
    let curve = |name: &str, value: fn(&Progress) -> f64| Curve {
        name: name.into(),
        points: turns
            .iter()
            .map(|turn| (turn.episodes as f64, 100.0 * value(turn)))
            .collect(),
    };
    curves_svg(
        "Accuracy at equal cost",
        "episodes learned from",
        "accuracy at the budget (%)",
        100.0,
        &[
            curve("learned threshold", |turn| turn.accuracy),
            curve("the most devices", |turn| turn.accuracy_with_most),
        ],
    )
}

fn progress_bar(episodes: usize, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} episodes, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(episodes as u64).with_style(style)
}
