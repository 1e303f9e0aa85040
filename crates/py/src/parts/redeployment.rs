//! Where UAVs go, chosen in Python.

use aerofed::Error;
use aerofed::decide::redeploy::{Fleet, Move, Redeployment};
use aerofed::seed::Random;
use aerofed::vocabulary::Point;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::RngExt;

use super::arrays::{numbers, points};
use super::{Part, odd_answer, view};

/// An `aerofed.Redeployment`.
pub(crate) struct OwnRedeployment {
    pub(crate) part: Part,
}

impl Redeployment for OwnRedeployment {
    fn redeploy(&mut self, fleet: &Fleet, rng: &mut Random) -> Vec<Move> {
        let seed: u64 = rng.random();
        let moves = self.part.ask(|part| {
            let seen = shown(part.py(), fleet, seed)?;
            let answer = part.call_method1("redeploy", (seen,))?;
            let moves = answer
                .cast::<PyDict>()
                .map_err(|_| odd_answer("redeploy", &answer, "a dictionary of places by UAVs"))?;
            read(moves, fleet)
        });
        // After an exception nobody moves, and the round does not count.
        moves.unwrap_or_default()
    }

    fn save(&self) -> Vec<u8> {
        self.part.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.part.restore("redeployment", saved)
    }
}

/// New places by the numbers of UAVs, as flights in the order of the fleet.
fn read(answer: &Bound<PyDict>, fleet: &Fleet) -> PyResult<Vec<Move>> {
    let mut moves = Vec::new();
    let mut known = 0;
    for uav in fleet.uavs {
        let Some(place) = answer.get_item(uav.id.0)? else {
            continue;
        };
        known += 1;
        let numbers = place.try_iter()?.map(|number| number?.extract());
        let to = match numbers.collect::<PyResult<Vec<f64>>>()?[..] {
            [x_m, y_m] if x_m.is_finite() && y_m.is_finite() => Point::new(x_m, y_m),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "`redeploy` sends UAV {} to {place}, allowed: two numbers, in metres",
                    uav.id.0
                )));
            }
        };
        if to == uav.position {
            continue;
        }
        let bill = fleet.flight(uav, to);
        if !fleet.allows(uav, to) || bill.joules > uav.spare_j {
            return Err(PyValueError::new_err(format!(
                "`redeploy` sends UAV {} to [{}, {}], allowed: inside the area, outside of zones, for at most {} J (the flight takes {} J)",
                uav.id.0, to.x_m, to.y_m, uav.spare_j, bill.joules
            )));
        }
        moves.push(Move {
            uav: uav.id,
            from: uav.position,
            to,
            way_m: fleet.way_m(uav, to),
            seconds: bill.seconds,
            energy_j: bill.joules,
        });
    }
    match known == answer.len() {
        true => Ok(moves),
        false => Err(PyValueError::new_err(
            "`redeploy` names a UAV that is not in `fleet.ids`",
        )),
    }
}

/// `aerofed.Fleet`.
fn shown<'py>(py: Python<'py>, fleet: &Fleet, seed: u64) -> PyResult<Bound<'py, PyAny>> {
    let all = || fleet.uavs.iter();
    let fields = PyDict::new(py);
    fields.set_item("width_m", fleet.area.width_m)?;
    fields.set_item("height_m", fleet.area.height_m)?;
    fields.set_item("devices_m", points(py, fleet.devices.iter().copied())?)?;
    fields.set_item("ids", all().map(|uav| uav.id.0).collect::<Vec<u32>>())?;
    fields.set_item("position_m", points(py, all().map(|uav| uav.position))?)?;
    let radii_m = all().map(|uav| uav.coverage_radius_m);
    fields.set_item("coverage_radius_m", numbers(py, radii_m))?;
    fields.set_item("altitude_m", numbers(py, all().map(|uav| uav.altitude_m)))?;
    fields.set_item("spare_j", numbers(py, all().map(|uav| uav.spare_j)))?;
    let reach_m = all().map(|uav| uav.cruise.reach_m(uav.spare_j));
    fields.set_item("reach_m", numbers(py, reach_m))?;
    fields.set_item("seed", seed)?;
    view(py, "Fleet", &fields)
}
