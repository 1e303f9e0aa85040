//! The planners: one cell, one fleet.

use aerofed::decide::allocation::read_cell;
use aerofed::decide::redeploy::{Deployment, DeploymentMethod, FleetFile};
use aerofed::solve::bandwidth::{Method, Options};
use pyo3::prelude::*;

use crate::errors::{broken, raise, refuse};
use crate::json::to_python;
use crate::numbers::{self, number};

/// `aerofed allocate`: local iterations and bandwidths of a cell, described as JSON.
#[pyfunction]
pub(crate) fn allocate<'py>(
    py: Python<'py>,
    cell: &str,
    solver: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let solver = match solver {
        "exact" => Method::Exact,
        "palm" => Method::Palm,
        other => {
            return Err(refuse(format!(
                "`solver` is {other:?}, allowed: exact, palm"
            )));
        }
    };
    let options = Options {
        solver,
        ..Options::default()
    };
    let cell = read_cell(cell).map_err(refuse)?;
    let solved = py.detach(|| aerofed::solve::bandwidth::allocate(&cell, &options));
    let json = serde_json::to_value(solved.map_err(refuse)?).map_err(broken)?;
    to_python(py, &json)
}

/// `aerofed deploy`: where the UAVs of a fleet go, described as JSON.
#[pyfunction]
#[pyo3(signature = (fleet, method, goal, margin_m, movement_weight, relay_m, seed))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by position")]
pub(crate) fn deploy<'py>(
    py: Python<'py>,
    fleet: &str,
    method: &str,
    goal: Option<f64>,
    margin_m: Option<f64>,
    movement_weight: Option<f64>,
    relay_m: f64,
    seed: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let method = match method {
        "marginal_gains" => DeploymentMethod::MarginalGains,
        "two_stage" => DeploymentMethod::TwoStage,
        "joint_greedy" => DeploymentMethod::JointGreedy,
        "none" => DeploymentMethod::None,
        other => {
            return Err(refuse(format!(
                "`method` is {other:?}, allowed: marginal_gains, two_stage, joint_greedy, none"
            )));
        }
    };
    let ranges = [
        ("goal", goal, 1.0),
        ("margin_m", margin_m, 1e7),
        ("movement_weight", movement_weight, 1e6),
        ("relay_m", Some(relay_m), 1e7),
    ];
    for (name, value, most) in ranges {
        value
            .map(|value| number(name, value, 0.0..=most))
            .transpose()?;
    }
    let seed = numbers::seed("seed", seed)?;
    let file = FleetFile::parse(fleet).map_err(refuse)?;
    let request = Deployment {
        method,
        goal,
        margin_m,
        movement_weight,
        relay_m,
        seed,
    };
    if let Some(flaw) = request.flaw(&file) {
        return Err(refuse(flaw));
    }
    let answer = py.detach(|| request.plan(&file, |_, _, answer| answer));
    let json = serde_json::to_value(answer.map_err(raise)?).map_err(broken)?;
    to_python(py, &json)
}
