//! Words that every part of the crate may use: who is who, where things are, what is spent on what, and
//! how a cell is described. Nothing here knows any other module.

mod bill;
mod cell;
mod geodesy;
pub mod geometry;
mod ids;
mod items;
mod polygon;
mod quality;

pub use bill::Bill;
pub use cell::{Cell, CellDevice, CellPlan};
pub use geometry::Point;
pub use ids::{DeviceId, UavId};
pub use items::{Energy, EnergyItem, Time, TimeItem, UavTime};
pub use quality::Quality;
