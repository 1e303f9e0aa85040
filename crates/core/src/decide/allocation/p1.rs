//! Problem P1: local iterations and bandwidth that minimise a cell's weighted time and energy.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Allocation, Cell, CellError, CellPlan, RoundProgress, RoundsEstimate};
use crate::scenario::{self, P1Objective};
use crate::solve::bandwidth::{Objective, Options, SavedSolver, Solution, Solver};
use crate::world::UavId;
use crate::{Error, checkpoint};

/// P1, Eqs. (28)-(41), with the convergence-aware choice of H.
pub struct P1 {
    options: Options,
    estimate: Option<RoundsEstimate>,
    /// One per UAV, each warm from its last round.
    solvers: Vec<Solver>,
}

/// What P1 carries from round to round; the rest is the scenario's.
#[derive(Serialize, Deserialize)]
struct SavedP1 {
    /// Not those of the estimate before it has seen a round: rounding differs.
    constants: Option<(f64, f64)>,
    estimate: Option<RoundsEstimate>,
    /// Warm starts move results in the last digits.
    solvers: Vec<SavedSolver>,
}

impl P1 {
    /// P1 as a scenario asks for it.
    #[must_use]
    pub fn new(config: &scenario::Allocation) -> Self {
        let convergence = config.objective == P1Objective::Convergence;
        let objective = if convergence {
            Objective::Convergence {
                c0: config.c0,
                c1: config.c1,
            }
        } else {
            Objective::Paper
        };
        Self {
            options: Options {
                solver: config.solver,
                objective,
                h_min: config.h_min,
                h_max: config.h_max,
            },
            estimate: (convergence && config.estimate)
                .then(|| RoundsEstimate::new(config.c0, config.c1)),
            solvers: Vec::new(),
        }
    }

    /// The constants of rounds(H) as they are believed now; none for the paper's objective.
    #[must_use]
    pub fn constants(&self) -> Option<(f64, f64)> {
        match self.options.objective {
            Objective::Convergence { c0, c1 } => Some((c0, c1)),
            Objective::Paper => None,
        }
    }

    /// A solver for every UAV up to this one.
    fn make_room(&mut self, uav: UavId) {
        if self.solvers.len() <= uav.index() {
            self.solvers.resize_with(uav.index() + 1, Solver::new);
        }
    }
}

impl Allocation for P1 {
    fn allocate(&mut self, uav: UavId, cell: &Cell) -> Result<CellPlan, CellError> {
        self.make_room(uav);
        let solver = &mut self.solvers[uav.index()];
        plan(solver, cell, &self.options, self.estimate.as_ref())
    }

    fn allocate_all(&mut self, cells: &[(UavId, Cell)]) -> Result<Vec<CellPlan>, CellError> {
        let places = cells.iter().map(|(uav, _)| uav.index());
        if !places.is_sorted_by(|a, b| a < b) {
            let plans = cells.iter().map(|(uav, cell)| self.allocate(*uav, cell));
            return plans.collect();
        }
        if let Some((last, _)) = cells.last() {
            self.make_room(*last);
        }
        let (options, estimate) = (&self.options, self.estimate.as_ref());
        let mut asked = cells.iter().peekable();
        let solvers = (0..).map(UavId).zip(&mut self.solvers);
        let work: Vec<(&mut Solver, &Cell)> = solvers
            .filter_map(|(uav, solver)| {
                let (_, cell) = asked.next_if(|(of, _)| *of == uav)?;
                Some((solver, cell))
            })
            .collect();
        let work = work.into_par_iter();
        let plans = work.map(|(solver, cell)| plan(solver, cell, options, estimate));
        // All of them, so that the first error is the same whoever meets one first.
        plans.collect::<Vec<_>>().into_iter().collect()
    }

    fn watches_progress(&self) -> bool {
        self.estimate.is_some()
    }

    fn observe(&mut self, progress: &RoundProgress) {
        if let Some(estimate) = &mut self.estimate {
            estimate.observe(progress);
            let (c0, c1) = estimate.constants();
            self.options.objective = Objective::Convergence { c0, c1 };
        }
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::encode(&SavedP1 {
            constants: self.constants(),
            estimate: self.estimate.clone(),
            solvers: self.solvers.iter().map(Solver::save).collect(),
        })
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        let saved: SavedP1 = checkpoint::decode("allocation", saved)?;
        let same_kind = saved.constants.is_some() == self.constants().is_some()
            && saved.estimate.is_some() == self.estimate.is_some();
        if !same_kind {
            return Err(Error::State {
                part: "allocation",
                reason: "made for another objective".into(),
            });
        }
        if let Some((c0, c1)) = saved.constants {
            self.options.objective = Objective::Convergence { c0, c1 };
        }
        self.estimate = saved.estimate;
        self.solvers = saved.solvers.iter().map(Solver::restored).collect();
        Ok(())
    }
}

/// The best plan of a cell, or a neighbouring H where that is being tried out.
fn plan(
    solver: &mut Solver,
    cell: &Cell,
    options: &Options,
    estimate: Option<&RoundsEstimate>,
) -> Result<CellPlan, CellError> {
    let best = solver.allocate(cell, options)?;
    let Some(estimate) = estimate.filter(|_| cell.local_iterations.is_none()) else {
        return Ok(plan_of(best));
    };
    let probed = (f64::from(best.local_iterations) * estimate.probe_factor()).round() as u32;
    let probed = probed.clamp(options.h_min, options.h_max);
    if probed == best.local_iterations {
        return Ok(plan_of(best));
    }
    let cell = Cell {
        local_iterations: Some(probed),
        ..cell.clone()
    };
    Ok(plan_of(solver.allocate(&cell, options)?))
}

fn plan_of(solution: &Solution) -> CellPlan {
    CellPlan {
        local_iterations: solution.local_iterations as usize,
        bandwidth_up_hz: solution
            .devices
            .iter()
            .map(|share| share.bandwidth_up_hz)
            .collect(),
        bandwidth_down_hz: solution
            .devices
            .iter()
            .map(|share| share.bandwidth_down_hz)
            .collect(),
    }
}
