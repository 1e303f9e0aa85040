//! `aerofed bench scale`: what a round takes, over fleets of all sizes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use aerofed::{Method, Scenario, Simulation};
use aerofed_report::{Curve, curves_svg};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::console;
use crate::numbers::whole;

/// Rounds that are measured: a first one, one in which a UAV is lost, and one after the others have been redeployed.
const ROUNDS: usize = 3;
/// UAVs of the default scenario, whose coverage all fleets have together.
const UAVS: f64 = 5.0;
const RADIUS_M: f64 = 5_000.0;

#[derive(Args)]
pub(crate) struct ScaleArgs {
    /// Devices of each fleet
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000], value_parser = whole::<u32>(1..=10_000_000))]
    devices: Vec<u32>,
    /// UAVs of each fleet
    #[arg(long, value_delimiter = ',', default_values_t = [5, 100, 1_000, 10_000], value_parser = whole::<u32>(1..=10_000))]
    uavs: Vec<u32>,
    /// Methods
    #[arg(long, value_delimiter = ',', default_values_t = ["cehfed".to_owned(), "hfl".to_owned()])]
    methods: Vec<String>,
    /// Folder for scale.csv and a plot per method
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure one fleet in this process, and print one JSON object
    #[arg(long, hide = true)]
    alone: bool,
}

/// What the rounds of one fleet took.
#[derive(Serialize, Deserialize)]
struct Row {
    method: String,
    devices: u32,
    uavs: u32,
    /// Seconds of putting the simulation together.
    build_s: f64,
    /// Of each round.
    round_s: Vec<f64>,
    /// Seconds that all cores together worked on each of them; empty where the system does not say.
    cpu_s: Vec<f64>,
    /// Devices that trained in the last of them.
    selected: usize,
    /// The most that the process had in memory; none where the system does not say.
    peak_mib: Option<u64>,
}

impl Row {
    fn slowest_s(&self) -> f64 {
        self.round_s.iter().copied().fold(0.0, f64::max)
    }

    /// Of the slowest round as well, on whatever else a machine does; nothing where the system does not say.
    fn most_cpu(&self) -> String {
        let most_s = self.cpu_s.iter().copied().reduce(f64::max);
        most_s.map_or(String::new(), |seconds| format!("{seconds:.2}"))
    }

    fn peak(&self) -> String {
        self.peak_mib.map_or(String::new(), |mib| mib.to_string())
    }
}

pub(crate) fn run(args: &ScaleArgs) -> Result<()> {
    if args.alone {
        let [method] = &args.methods[..] else {
            bail!("`--alone` takes one fleet");
        };
        let row = measure(method, args.devices[0], args.uavs[0])?;
        return console::result(&serde_json::to_string(&row)?);
    }
    let mut fleets = Vec::new();
    for method in &args.methods {
        for &uavs in &args.uavs {
            // More UAVs than devices is a fleet without work.
            for &devices in args.devices.iter().filter(|devices| **devices >= uavs) {
                Method::of(&scenario(method, devices, uavs)?)?;
                fleets.push((method, devices, uavs));
            }
        }
    }
    let mut rows = Vec::new();
    for (method, devices, uavs) in fleets {
        console::message(&format!("{method}, {devices} devices, {uavs} UAVs"));
        rows.push(in_own_process(method, devices, uavs)?);
    }
    if let Some(out) = &args.out {
        write(out, &rows, &args.methods)?;
    }
    console::result(&table(&rows))
}

/// In a process of its own, so that what others left in memory does not count.
fn in_own_process(method: &str, devices: u32, uavs: u32) -> Result<Row> {
    let (devices, uavs) = (devices.to_string(), uavs.to_string());
    let output = Command::new(std::env::current_exe()?)
        .args(["bench", "scale", "--alone", "--methods", method])
        .args(["--devices", &devices, "--uavs", &uavs])
        .output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("what a measurement printed")
}

/// One square of 20 km, whatever the fleet: UAVs cover it together as the five of the default scenario do. Devices draw their samples
/// from a pool, and the surrogate takes the place of training.
fn scenario(method: &str, devices: u32, uavs: u32) -> Result<aerofed::ValidScenario> {
    let radius_m = RADIUS_M * (UAVS / f64::from(uavs)).sqrt();
    let lost = uavs / 2;
    let settings = [
        format!("method={method}"),
        "learner=surrogate".into(),
        format!("devices.count={devices}"),
        format!("uavs.count={uavs}"),
        format!("uavs.coverage_radius_m={radius_m}"),
        "data.sharing=pool".into(),
        format!("data.data_volume={}", 10 * u64::from(devices)),
        format!(r#"faults=[{{kind="loss", uav={lost}, round=2, moment="edge"}}]"#),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    Ok(Scenario::parse("", &settings)?.check()?)
}

fn measure(method: &str, devices: u32, uavs: u32) -> Result<Row> {
    let scenario = scenario(method, devices, uavs)?;
    let start = Instant::now();
    let mut method = Method::of(&scenario)?;
    let mut simulation = Simulation::builder(&scenario).build()?;
    let build_s = start.elapsed().as_secs_f64();
    let (mut round_s, mut cpu_s, mut selected) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let (start, worked_s) = (Instant::now(), worked_so_far_s());
        let Some(record) = simulation.step(&mut method)? else {
            break;
        };
        round_s.push(start.elapsed().as_secs_f64());
        let worked = worked_so_far_s().zip(worked_s);
        cpu_s.extend(worked.map(|(now_s, before_s)| now_s - before_s));
        selected = record.selected;
    }
    Ok(Row {
        method: method.name,
        devices,
        uavs,
        build_s,
        round_s,
        cpu_s,
        selected,
        peak_mib: peak_mib(),
    })
}

/// Seconds that this process has worked, on all cores.
fn worked_so_far_s() -> Option<f64> {
    /// What Linux counts them in, whatever its kernel's clock.
    const TICKS_PER_S: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything, and ends with the last bracket.
    let (_, numbers) = stat.rsplit_once(')')?;
    let mut numbers = numbers.split_whitespace().skip(11);
    let mut ticks = || numbers.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_S)
}

fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib >> 10)
}

const COLUMNS: [&str; 8] = [
    "method",
    "devices",
    "uavs",
    "trained",
    "build_s",
    "slowest_round_s",
    "cpu_s",
    "peak_mib",
];

fn cells(row: &Row) -> [String; 8] {
    [
        row.method.clone(),
        row.devices.to_string(),
        row.uavs.to_string(),
        row.selected.to_string(),
        format!("{:.2}", row.build_s),
        format!("{:.3}", row.slowest_s()),
        row.most_cpu(),
        row.peak(),
    ]
}

fn table(rows: &[Row]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = COLUMNS.map(str::to_owned);
    let rule = format!("|{}\n", "---|".repeat(COLUMNS.len()));
    let rows: String = rows.iter().map(|row| line(&cells(row))).collect();
    let text = line(&head) + &rule + &rows;
    text.trim_end().to_owned()
}

fn write(out: &Path, rows: &[Row], methods: &[String]) -> Result<()> {
    std::fs::create_dir_all(out)?;
    let mut csv = COLUMNS.join(",") + "\n";
    for row in rows {
        csv += &(cells(row).join(",") + "\n");
    }
    std::fs::write(out.join("scale.csv"), csv)?;
    for method in methods {
        let plot = plot(method, rows);
        std::fs::write(out.join(format!("scale-{method}.svg")), plot)?;
    }
    Ok(())
}

/// Decades over decades, a curve per number of UAVs.
fn plot(method: &str, rows: &[Row]) -> String {
    let mut uavs: Vec<u32> = rows.iter().map(|row| row.uavs).collect();
    uavs.sort_unstable();
    uavs.dedup();
    let curve = |count: u32| {
        let own = rows
            .iter()
            .filter(|row| row.method == method && row.uavs == count);
        let point = |row: &Row| (f64::from(row.devices).log10(), row.slowest_s().log10());
        Curve {
            name: format!("{count} UAVs"),
            points: own.map(point).collect(),
        }
    };
    let curves: Vec<Curve> = uavs.into_iter().map(curve).collect();
    let title = format!("A global round of {method} under the surrogate");
    let (x, y) = ("devices, powers of ten", "seconds, powers of ten");
    curves_svg(&title, x, y, f64::INFINITY, &curves)
}
