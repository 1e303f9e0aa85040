//! What people look at after a run: [`summary_table`] for the terminal, [`progress_svg`] and
//! [`map_svg`] for the eye.
//!
//! The pictures are SVG written by hand rather than by a plotting crate: each is a page of text
//! that needs no font files and no raster backend, opens in any browser, and is the same bytes for
//! the same run on every machine.

mod claims;
mod curves;
mod error;
mod fleet_map;
mod geojson;
mod ground;
mod map;
mod missions;
mod outputs;
mod page;
mod palette;
mod panel;
mod pictures;
mod progress;
mod run_tables;
mod svg;
mod table;
mod tensorboard;
pub mod units;
mod zones;

pub use curves::{Curve, curves_svg};
pub use error::Error;
pub use fleet_map::{FleetMap, MovedUav, fleet_map_svg};
pub use geojson::map_geojson;
pub use map::map_svg;
pub use missions::{FlightPlan, Missions};
pub use outputs::{Files, comparison_files, sweep_files};
pub use page::Report;
pub use panel::panel_svg;
pub use pictures::run_pictures;
pub use progress::progress_svg;
pub use run_tables::{RunTable, devices_table, events_table, rounds_table, run_tables, uavs_table};
pub use table::summary_table;
pub use tensorboard::{TENSORBOARD_FILE, tensorboard};

/// The README's example, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
