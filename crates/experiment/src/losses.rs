//! Tables, maps and claims of an experiment in which UAVs are lost.

use aerofed::method::parts::RedeploymentPart;
use aerofed::scenario::{Scenario, ScenarioError};

use super::claims::{Samples, against, judge};
use super::description::{Choice, Description, RedeploymentMethod, RedeploymentPlan};
use super::quantity::Quantity;
use super::redeployment::{ANY_ONE, LossStep, LossStudy, loss_labels};
use super::results::{Cell, Claim, Map, Row, Table};
use super::statistics::Estimate;
use crate::Error;

/// What a redeployment experiment found.
pub(super) struct LossResults {
    /// Its table, if it has one.
    pub(super) table: Option<Table>,
    /// Its maps.
    pub(super) maps: Vec<Map>,
    /// Its claims.
    pub(super) claims: Vec<Claim>,
}

/// Steps of a method: by step of the losses, then by layout.
type Steps = Vec<Vec<LossStep>>;

/// Does a redeployment experiment: there is no training, so it takes seconds.
///
/// # Errors
/// When the scenario or a method's settings cannot be used.
pub(super) fn study(
    description: &Description,
    plan: &RedeploymentPlan,
    base: &Scenario,
) -> Result<LossResults, Error> {
    for &number in plan.losses.iter().flatten() {
        if !(1..=base.uavs.count).contains(&number) {
            return Err(Error::Plan {
                place: format!("experiment {}: `redeployment.losses`", description.name),
                reason: format!("{number} given, allowed: 1 to {}", base.uavs.count),
            });
        }
    }
    let study = LossStudy::new(base, plan.layouts)?;
    let steps: Vec<Steps> = plan
        .methods
        .iter()
        .map(|method| steps_of(&study, plan, base, method))
        .collect::<Result<_, _>>()?;
    let labels = loss_labels(&plan.losses);
    let table = plan.table.map(|quantity| Table {
        id: description.name.clone(),
        title: description.title.clone(),
        caption: description.caption.clone(),
        unit: display(quantity).0.into(),
        columns: labels.clone(),
        rows: plan
            .methods
            .iter()
            .zip(&steps)
            .map(|(m, s)| row(quantity, m, s))
            .collect(),
    });
    let maps = match (plan.maps, steps.first()) {
        (true, Some(first)) => maps(&study, plan, first),
        _ => Vec::new(),
    };
    let claims = description.claims.iter().map(|claim| {
        let side = |choice: &Choice| samples(plan, &labels, &steps, claim.quantity, choice);
        judge(
            &description.name,
            claim,
            &side(&claim.of),
            &side(&against(claim)),
        )
    });
    Ok(LossResults {
        table,
        maps,
        claims: claims.collect(),
    })
}

fn steps_of(
    study: &LossStudy,
    plan: &RedeploymentPlan,
    base: &Scenario,
    method: &RedeploymentMethod,
) -> Result<Steps, Error> {
    let read = Scenario::parse(&base.to_toml()?, &method.set);
    let config = read
        .map_err(|error| match error {
            ScenarioError::Set { given, reason } => Error::Plan {
                place: format!("redeployment method {:?}: `{given}`", method.label),
                reason,
            },
            other => other.into(),
        })?
        .check()?
        .redeploy
        .clone();
    let Some(search) = RedeploymentPart::overriding(config.method) else {
        return Err(Error::Plan {
            place: format!("redeployment method {:?}", method.label),
            reason:
                "sets no `redeploy.method`, allowed: none, two_stage, joint_greedy, marginal_gains"
                    .into(),
        });
    };
    let mut steps = Steps::new();
    for loss in &plan.losses {
        let layouts = study.in_all(loss, &|| search.build(&config));
        for step in 0..loss.len() {
            steps.push(
                layouts
                    .iter()
                    .map(|of_layout| of_layout[step].clone())
                    .collect(),
            );
        }
    }
    Ok(steps)
}

fn value(quantity: Quantity, step: &LossStep) -> Option<f64> {
    match quantity {
        Quantity::CoverageBefore => Some(step.before),
        Quantity::CoverageAfterLoss => Some(step.after_loss),
        Quantity::CoverageAfter => Some(step.after),
        Quantity::CoverageChange => Some(step.after - step.before),
        Quantity::RedeploymentEnergyJ => Some(step.energy_j),
        _ => None,
    }
}

/// How a table shows a quantity: unit, and how many of it the SI unit is.
fn display(quantity: Quantity) -> (&'static str, f64) {
    match quantity {
        Quantity::RedeploymentEnergyJ => ("kJ", 1e-3),
        Quantity::CoverageChange => ("points", 100.0),
        _ => ("%", 100.0),
    }
}

fn row(quantity: Quantity, method: &RedeploymentMethod, steps: &Steps) -> Row {
    let factor = display(quantity).1;
    let cell = |(index, of_step): (usize, &Vec<LossStep>)| {
        let values = of_step.iter().filter_map(|step| value(quantity, step));
        let values: Vec<f64> = values.map(|value| factor * value).collect();
        let (least, most) = quantity.domain().into_inner();
        Cell {
            ours: Estimate::within(&values, factor * least..=factor * most),
            paper: method.paper.get(index).copied(),
        }
    };
    Row {
        label: method.label.clone(),
        cells: steps.iter().enumerate().map(cell).collect(),
    }
}

fn maps(study: &LossStudy, plan: &RedeploymentPlan, steps: &Steps) -> Vec<Map> {
    let mut maps = Vec::new();
    let mut next = 0;
    for loss in &plan.losses {
        let of_loss = &steps[next..next + loss.len()];
        let first: Vec<LossStep> = of_loss.iter().filter_map(|s| s.first().cloned()).collect();
        maps.extend(study.maps(loss, &first));
        next += loss.len();
    }
    maps
}

/// Layouts take the place of seeds.
fn samples(
    plan: &RedeploymentPlan,
    labels: &[String],
    steps: &[Steps],
    quantity: Quantity,
    choice: &Choice,
) -> Samples {
    let mut samples = Samples::new();
    let chosen = |name: &str, label: &str| choice.get(name).is_none_or(|wanted| wanted == label);
    for (method, steps) in plan.methods.iter().zip(steps) {
        if !chosen("method", &method.label) {
            continue;
        }
        for (label, of_step) in labels.iter().zip(steps) {
            let single = choice.get("loss").is_some_and(|wanted| wanted == ANY_ONE)
                && label.parse::<usize>().is_ok();
            if !single && !chosen("loss", label) {
                continue;
            }
            for (layout, step) in (1..).zip(of_step) {
                let of_layout = samples.entry(layout).or_default();
                of_layout.insert(vec![label.clone()], value(quantity, step));
            }
        }
    }
    samples
}
