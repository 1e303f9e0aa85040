//! A run from its first round to its last, which can be set down between any two.

use std::time::Instant;

use crate::Error;
use crate::method::Method;
use crate::record::{RoundRecord, StoppedBy, Summary};

use super::{Outcome, Simulation, stop_rule};

/// A run under way: the simulation and the rounds behind it.
///
/// ```
/// use aerofed::{Method, Scenario, Simulation, run::Run};
/// let scenario = Scenario::parse("[devices]\ncount = 10\n[data]\ndata_volume = 50", &["stop.max_rounds=2"])?.check()?;
/// let mut method = Method::of(&scenario)?;
/// let mut run = Run::new(Simulation::builder(&scenario).build()?);
/// run.step(&mut method)?;
/// let saved = run.save(&method);
///
/// // Later, in another process:
/// let mut method = Method::of(&scenario)?;
/// let mut run = Run::resume(Simulation::builder(&scenario).build()?, &mut method, &saved)?;
/// while let Some(record) = run.step(&mut method)? {
///     assert_eq!(record.round, 2);
/// }
/// assert_eq!(run.finish(&method).summary.rounds, 2);
/// # Ok::<(), aerofed::Error>(())
/// ```
pub struct Run {
    simulation: Simulation,
    records: Vec<RoundRecord>,
    stopped_by: Option<StoppedBy>,
    started: Instant,
    /// Real time of the run before it was taken up again.
    earlier_s: f64,
}

impl Run {
    /// A run before its first round.
    #[must_use]
    pub fn new(simulation: Simulation) -> Self {
        Self {
            simulation,
            records: Vec::new(),
            stopped_by: None,
            started: Instant::now(),
            earlier_s: 0.0,
        }
    }

    /// Takes up a run that [`save`](Self::save) set down. `method` is as it was built; what it had
    /// learned comes back.
    ///
    /// # Errors
    /// [`Error::State`] when the bytes are no such run.
    pub fn resume(
        simulation: Simulation,
        method: &mut Method,
        saved: &[u8],
    ) -> Result<Self, Error> {
        let mut run = Self::new(simulation);
        run.take_up(method, saved)?;
        Ok(run)
    }

    /// Goes back, or ahead, to where a run of the same scenario was [saved](Self::save); after an error it is good for
    /// another try only.
    ///
    /// # Errors
    /// [`Error::State`] when the bytes are no such run.
    pub fn take_up(&mut self, method: &mut Method, saved: &[u8]) -> Result<(), Error> {
        (self.records, self.earlier_s) = self.simulation.restore(method, saved)?;
        self.stopped_by = self.stop_rule();
        Ok(())
    }

    /// Why the last round was the last one, if it was.
    fn stop_rule(&self) -> Option<StoppedBy> {
        let (scenario, records) = (&self.simulation.scenario, &self.records);
        let stop = &scenario.stop;
        let recent = &records[records.len().saturating_sub(stop.smooth)..];
        let accuracies: Vec<f64> = recent.iter().map(|r| stop.target_on.accuracy(r)).collect();
        stop_rule(scenario, records.last()?, &accuracies)
    }

    /// The run as it stands, for [`resume`](Self::resume).
    #[must_use]
    pub fn save(&self, method: &Method) -> Vec<u8> {
        self.simulation
            .save(method, &self.records, self.wall_clock_s())
    }

    /// One global round; none when the run is over.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn step(&mut self, method: &mut Method) -> Result<Option<&RoundRecord>, Error> {
        if self.stopped_by.is_some() {
            return Ok(None);
        }
        let Some(record) = self.simulation.step(method)? else {
            self.stopped_by = Some(StoppedBy::NoUavLeft);
            return Ok(None);
        };
        self.records.push(record);
        self.stopped_by = self.stop_rule();
        Ok(self.records.last())
    }

    /// Everything that the next round depends on.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The rounds so far.
    #[must_use]
    pub fn records(&self) -> &[RoundRecord] {
        &self.records
    }

    /// Why the run is over; none while it is not.
    #[must_use]
    pub fn stopped_by(&self) -> Option<StoppedBy> {
        self.stopped_by
    }

    /// Sums the run up. One that is not over counts as interrupted.
    #[must_use]
    pub fn finish(self, method: &Method) -> Outcome {
        let stopped_by = self.stopped_by.unwrap_or(StoppedBy::Interrupted);
        let wall_clock_s = self.wall_clock_s();
        let Simulation {
            scenario,
            fleet,
            learning,
            network,
            trained_on,
            threads,
            ..
        } = self.simulation;
        let mut summary = Summary::new(&scenario, &method.name, &self.records, stopped_by);
        summary.parameters = learning.task.parameters;
        summary.wall_clock_s = wall_clock_s;
        summary.trained_on = trained_on;
        summary.threads = threads;
        Outcome {
            records: self.records,
            summary,
            weights: learning.global_model,
            network,
            world: fleet.world,
        }
    }

    fn wall_clock_s(&self) -> f64 {
        self.earlier_s + self.started.elapsed().as_secs_f64()
    }
}
