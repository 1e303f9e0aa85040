//! `aerofed deploy`

use std::path::PathBuf;

use aerofed::Scenario;
use aerofed::decide::redeploy::{
    Fleet, FleetFile, FleetUav, JointGreedy, MarginalGains, Move, Redeployment, Stay, TwoStage,
};
use aerofed::disk::replace_file;
use aerofed::geometry::Point;
use aerofed::nature::Nature;
use aerofed::scenario::Area;
use aerofed::seed::{Stream, stream};
use aerofed_report::{FleetMap, fleet_map_svg};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::outputs;
use crate::console::{self, BadInput};
use crate::numbers::seed;

#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example:\n  aerofed deploy fleet.json --method marginal_gains --map moves.svg\n\n\
    FLEET.json holds area_m ([width, height]), coverage_radius_m, speed_mps, move_power_w, uavs, each with position_m ([x, y]),\n\
    battery_j and reserve_j (kept for the flight home; absent: 0), devices_m, a list of [x, y], and no_fly (absent: none),\n\
    a list of polygons, each a list of [x, y], that UAVs fly around.\n\
    The answer is one JSON object on stdout."
)]
pub(crate) struct DeployArgs {
    /// The fleet and the devices, as JSON; `-` reads standard input
    fleet: PathBuf,
    /// Who finds the new positions
    #[arg(long, value_enum, default_value_t = MethodName::MarginalGains)]
    method: MethodName,
    /// Seed of the directions that two_stage and joint_greedy look in
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    seed: u64,
    /// Draw the moves into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    map: Option<PathBuf>,
    /// Replace the SVG file if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, ValueEnum, Serialize)]
#[value(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
enum MethodName {
    /// All UAVs together, best marginal gain first
    MarginalGains,
    /// The paper's Algorithm 4
    TwoStage,
    /// Coverage, movement and model exchange in one benefit, climbed greedily (the paper's M-ii)
    JointGreedy,
    /// Nobody moves (the paper's M-i)
    None,
}

#[derive(Serialize)]
struct Answer {
    method: MethodName,
    coverage_before: f64,
    coverage_after: f64,
    energy_j: f64,
    uavs: Vec<UavAnswer>,
}

#[derive(Serialize)]
struct UavAnswer {
    from_m: Point,
    to_m: Point,
    distance_m: f64,
    energy_j: f64,
    covered: usize,
}

/// The paper's CNN, 32 bit a parameter: what joint_greedy takes for the size of a model.
const MODEL_BITS: f64 = 21_840.0 * 32.0;
/// In the middle of Table II's range.
const TX_POWER_W: f64 = 0.75;
/// Table II.
const HOVER_POWER_W: f64 = 100.0;

pub(crate) fn run(args: &DeployArgs) -> Result<()> {
    let refuse = |reason: String| BadInput(format!("{}: {reason}", args.fleet.display()));
    let text = super::allocate::read(&args.fleet).map_err(|error| refuse(error.to_string()))?;
    let file = FleetFile::parse(&text).map_err(|error| refuse(error.to_string()))?;

    let area = Area::new(file.area_m[0], file.area_m[1]);
    let air = file.airspace();
    let uavs = file.fleet_uavs(TX_POWER_W);
    let nature = Nature::new(&Scenario::default().check()?);
    let model_energy_j = |from: &FleetUav, to: &FleetUav| {
        nature.exchange_j(MODEL_BITS, &from.link_to(to, 0), HOVER_POWER_W)
    };
    let fleet = Fleet {
        area: &area,
        air: &air,
        devices: &file.devices_m,
        uavs: &uavs,
        model_energy_j: &model_energy_j,
    };
    let mut rng = stream(args.seed, Stream::Redeployment, 0, 0);
    let moves = args.method.redeployment().redeploy(&fleet, &mut rng);
    let posts = posts(&uavs, &moves);
    let answer = answer(args.method, &fleet, &moves, &posts);
    if let Some(path) = &args.map {
        let map = FleetMap {
            area: &area,
            air: &air,
            coverage_radius_m: file.coverage_radius_m,
            devices: &file.devices_m,
            moves: &posts,
            energy_j: answer.energy_j,
        };
        let svg = fleet_map_svg(&map);
        outputs::check(path, Some(svg.as_bytes()), args.force)?;
        replace_file(path, svg.as_bytes())?;
    }
    console::result(&serde_json::to_string(&answer)?)
}

/// Per UAV, where it was and where it goes.
fn posts(uavs: &[FleetUav], moves: &[Move]) -> Vec<(Point, Point)> {
    let mut posts: Vec<_> = uavs.iter().map(|u| (u.position, u.position)).collect();
    moves.iter().for_each(|m| posts[m.uav.index()].1 = m.to);
    posts
}

fn answer(method: MethodName, fleet: &Fleet, moves: &[Move], posts: &[(Point, Point)]) -> Answer {
    let before = fleet.coverage();
    let mut after = before.clone();
    for (uav, &(from, to)) in fleet.uavs.iter().zip(posts) {
        after.shift(from, to, uav.coverage_radius_m);
    }
    let mut uavs: Vec<UavAnswer> = posts
        .iter()
        .zip(fleet.uavs)
        .map(|(&(from_m, to_m), uav)| UavAnswer {
            from_m,
            to_m,
            distance_m: 0.0,
            energy_j: 0.0,
            covered: after.within(to_m, uav.coverage_radius_m),
        })
        .collect();
    for m in moves {
        let uav = &mut uavs[m.uav.index()];
        (uav.distance_m, uav.energy_j) = (m.way_m, m.energy_j);
    }
    Answer {
        method,
        coverage_before: before.share(),
        coverage_after: after.share(),
        energy_j: uavs.iter().map(|uav| uav.energy_j).sum::<f64>() + 0.0,
        uavs,
    }
}

impl MethodName {
    fn redeployment(self) -> Box<dyn Redeployment> {
        match self {
            Self::MarginalGains => Box::new(MarginalGains::default()),
            Self::TwoStage => Box::new(TwoStage::default()),
            Self::JointGreedy => Box::new(JointGreedy::default()),
            Self::None => Box::new(Stay),
        }
    }
}
