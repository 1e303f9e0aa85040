//! Maps and missions.

use std::path::{Path, PathBuf};

use aerofed::decide::redeploy::{Answer, Fleet, FleetFile, Selection};
use aerofed::disk::replace_file;
use aerofed_report::{FleetMap, FlightPlan, Missions, MovedUav, fleet_map_svg};
use anyhow::Result;

use super::DeployArgs;
use crate::commands::outputs;
use crate::console::BadInput;

/// Refuses files in degrees of a fleet that is nowhere in particular, and missions of no known kind.
pub(super) fn check_frame(args: &DeployArgs, file: &FleetFile) -> Result<(), BadInput> {
    let asked = [
        ("--geojson", &args.geojson),
        ("--plan", &args.plan),
        ("--kml", &args.kml),
    ];
    if let Some(plan) = &args.plan {
        mission_kind(plan)?;
    }
    match asked.iter().find(|(_, path)| path.is_some()) {
        Some((name, _)) if file.frame.is_none() => Err(BadInput(format!(
            "`{name}` needs to know where the fleet is: {} has neither `origin` ([lat, lon]) nor places in degrees",
            args.fleet.display()
        ))),
        _ => Ok(()),
    }
}

/// How a mission is written.
#[derive(Clone, Copy, PartialEq)]
enum MissionKind {
    Plan,
    Waypoints,
}

fn mission_kind(path: &Path) -> Result<MissionKind, BadInput> {
    match path.extension().and_then(|ext| ext.to_str()) {
        Some("plan") => Ok(MissionKind::Plan),
        Some("waypoints" | "txt") => Ok(MissionKind::Waypoints),
        _ => Err(BadInput(format!(
            "`--plan` is {}, allowed: a file that ends in .plan (QGroundControl), .waypoints or .txt (QGC WPL 110)",
            path.display()
        ))),
    }
}

/// `missions.plan` of UAV 3 is `missions-3.plan`: a mission is one UAV's.
fn numbered(path: &Path, uav: usize) -> PathBuf {
    let part =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{uav}.{extension}"))
}

/// Writes what was asked for, or nothing where one of the files may not be replaced.
pub(super) fn write(
    args: &DeployArgs,
    file: &FleetFile,
    fleet: &Fleet,
    chosen: &Selection,
    answer: &Answer,
) -> Result<()> {
    let mut written: Vec<(PathBuf, String)> = Vec::new();
    if let Some(path) = &args.map {
        written.push((path.clone(), map(fleet, answer)));
    }
    if let Some(frame) = &file.frame {
        let flights = flights(file, fleet, chosen, answer);
        let covered = covered(fleet, answer);
        let missions = Missions {
            frame,
            air: fleet.air,
            devices: fleet.devices,
            covered: &covered,
            flights: &flights,
        };
        if let Some(path) = &args.geojson {
            written.push((path.clone(), missions.geojson()));
        }
        if let Some(path) = &args.kml {
            written.push((path.clone(), missions.kml()));
        }
        if let Some(path) = &args.plan {
            let kind = mission_kind(path)?;
            for flight in flights.iter().filter(|flight| flight.flies()) {
                let text = match kind {
                    MissionKind::Plan => missions.plan(flight),
                    MissionKind::Waypoints => missions.waypoints(flight),
                };
                written.push((numbered(path, flight.uav), text));
            }
        }
    }
    for (path, text) in &written {
        outputs::check(path, Some(text.as_bytes()), args.force)?;
    }
    for (path, text) in &written {
        replace_file(path, text.as_bytes())?;
    }
    Ok(())
}

fn map(fleet: &Fleet, answer: &Answer) -> String {
    let uavs = fleet.uavs.iter().zip(&answer.uavs);
    let uavs: Vec<MovedUav> = uavs
        .map(|(uav, told)| MovedUav {
            from: told.from_m,
            to: told.to_m,
            coverage_radius_m: uav.coverage_radius_m,
            serves: told.needed,
        })
        .collect();
    fleet_map_svg(&FleetMap {
        area: fleet.area,
        air: fleet.air,
        devices: fleet.devices,
        uavs: &uavs,
        energy_j: answer.energy_j,
    })
}

fn flights(
    file: &FleetFile,
    fleet: &Fleet,
    chosen: &Selection,
    answer: &Answer,
) -> Vec<FlightPlan> {
    let flight = |&index: &usize| {
        let (uav, told) = (&fleet.uavs[index], &answer.uavs[index]);
        let way_m = match told.from_m == told.to_m {
            true => vec![told.from_m],
            false => fleet.air.route(told.from_m, told.to_m, uav.altitude_m),
        };
        FlightPlan {
            uav: index,
            way_m,
            altitude_m: uav.altitude_m,
            speed_mps: file.uavs[index].speed_mps,
            coverage_radius_m: uav.coverage_radius_m,
            seconds: told.seconds,
            energy_j: told.energy_j,
            devices: told.covered,
        }
    };
    chosen.uavs.iter().map(flight).collect()
}

fn covered(fleet: &Fleet, answer: &Answer) -> Vec<bool> {
    let mut counts = fleet.coverage();
    for (uav, told) in fleet.uavs.iter().zip(&answer.uavs) {
        counts.remove(uav.position, uav.coverage_radius_m);
        if told.needed {
            counts.add(told.to_m, uav.coverage_radius_m);
        }
    }
    let counts = counts.per_device();
    counts.into_iter().map(|count| count > 0).collect()
}
