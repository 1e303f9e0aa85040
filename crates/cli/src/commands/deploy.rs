//! `aerofed deploy`

mod files;
mod table;

use std::io::IsTerminal;
use std::path::PathBuf;

use aerofed::decide::redeploy::{Deployment, DeploymentMethod, FleetFile};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::console::{self, BadInput};
use crate::numbers::{number, seed};

#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  aerofed deploy fleet.json --map moves.svg\n  \
    aerofed deploy fleet.json --goal 0.95 --plan missions.plan --kml fleet.kml\n\n\
    FLEET.json holds area_m ([width, height]), coverage_radius_m, speed_mps, move_power_w, hover_power_w (absent: 100) and\n\
    altitude_m (absent: 150); uavs, each with position_m ([x, y]), battery_j, reserve_j (kept for the flight home; absent: 0) and\n\
    numbers of its own in place of those for all; devices_m, a list of [x, y]; no_fly (absent: none), a list of polygons, each\n\
    a list of [x, y], that UAVs fly around. With origin ([lat, lon] or [lat, lon, alt] of [0, 0]) places may also be\n\
    {\"lat\": .., \"lon\": ..}; where all are, origin and area_m may be absent.\n\
    A table on a terminal, one JSON object elsewhere or with --json.\n\
    'Pays after' says from when on a joule covers more than if all stayed: flights included, per device and minute."
)]
pub(crate) struct DeployArgs {
    /// The fleet and the devices, as JSON; `-` reads standard input
    fleet: PathBuf,
    /// Who finds the new positions
    #[arg(long, value_enum, default_value_t = MethodName::MarginalGains)]
    method: MethodName,
    /// Fewest UAVs that cover this share of the devices, 0 to 1; the others stay where they are and serve nobody
    #[arg(long, value_name = "SHARE", value_parser = number(0.0..=1.0))]
    goal: Option<f64>,
    /// Devices are covered so far inside the radius that they may drift (marginal_gains) [default: 1 % of the radius]
    #[arg(long, value_name = "METRES", value_parser = number(0.0..=1e7))]
    margin_m: Option<f64>,
    /// Price of a kilojoule of flight, where an average UAV's devices are worth 1 [default: 0.005; marginal_gains 0: most
    /// devices first, then least energy]
    #[arg(long, value_name = "PRICE", value_parser = number(0.0..=1e6))]
    movement_weight: Option<f64>,
    /// UAVs stay within hops of each other up to so long (marginal_gains); 0: they need not
    #[arg(long, value_name = "METRES", default_value_t = 0.0, value_parser = number(0.0..=1e7))]
    relay_m: f64,
    /// Seed of the directions that two_stage and joint_greedy look in
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    seed: u64,
    /// Print one JSON object also on a terminal
    #[arg(long)]
    json: bool,
    /// Draw the moves into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    map: Option<PathBuf>,
    /// Write devices, UAVs and flights as GeoJSON; this and the next two need coordinates in the fleet file
    #[arg(long, value_name = "FILE.geojson")]
    geojson: Option<PathBuf>,
    /// Write the mission of each UAV that flies, FILE-<UAV>.plan for QGroundControl, or FILE-<UAV>.waypoints (or .txt) as QGC WPL 110
    #[arg(long, value_name = "FILE.plan")]
    plan: Option<PathBuf>,
    /// Write UAVs and flights as KML
    #[arg(long, value_name = "FILE.kml")]
    kml: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum MethodName {
    /// All UAVs together: marginal gains, exchanges, and who flies where
    MarginalGains,
    /// The paper's Algorithm 4
    TwoStage,
    /// Coverage, movement and model exchange in one benefit, climbed greedily (the paper's M-ii)
    JointGreedy,
    /// Nobody moves (the paper's M-i)
    None,
}

pub(crate) fn run(args: &DeployArgs) -> Result<()> {
    let refuse = |reason: String| BadInput(format!("{}: {reason}", args.fleet.display()));
    let text = super::allocate::read(&args.fleet).map_err(|error| refuse(error.to_string()))?;
    let file = FleetFile::parse(&text).map_err(|error| refuse(error.to_string()))?;
    let request = args.request();
    if let Some(flaw) = request.flaw(&file) {
        return Err(BadInput(flaw).into());
    }
    files::check_frame(args, &file)?;
    let planned = request.plan(&file, |fleet, chosen, answer| {
        let written = files::write(args, &file, fleet, chosen, &answer);
        written.map(|()| answer)
    })?;
    let answer = planned?;
    if args.json || !std::io::stdout().is_terminal() {
        console::result(&serde_json::to_string(&answer)?)?;
    } else {
        console::result(&table::table(&answer))?;
    }
    match args.goal.filter(|goal| answer.coverage_after < *goal) {
        Some(goal) => bail!(
            "goal {:.1} % is not met: all {} UAVs cover {:.1} % of the devices",
            100.0 * goal,
            answer.uavs.len(),
            100.0 * answer.coverage_after
        ),
        None => Ok(()),
    }
}

impl DeployArgs {
    fn request(&self) -> Deployment {
        Deployment {
            method: match self.method {
                MethodName::MarginalGains => DeploymentMethod::MarginalGains,
                MethodName::TwoStage => DeploymentMethod::TwoStage,
                MethodName::JointGreedy => DeploymentMethod::JointGreedy,
                MethodName::None => DeploymentMethod::None,
            },
            goal: self.goal,
            margin_m: self.margin_m,
            movement_weight: self.movement_weight,
            relay_m: self.relay_m,
            seed: self.seed,
        }
    }
}
