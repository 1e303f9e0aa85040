//! What an experiment's file must satisfy, besides its form.

use std::collections::BTreeSet;

use aerofed::reading::choices;

use super::description::{
    ClaimPlan, Description, PanelPlan, PanelX, RedeploymentPlan, RegretPlan, SweepAxis,
};
use super::plan::Contender;
use super::quantity::{About, Quantity};
use super::redeployment::{ANY_ONE, loss_labels};
use super::results::Measure;
use super::tidy::is_taken;

/// The field, and what is wrong with it.
type Flaw = (String, String);

fn flaw<T>(field: impl Into<String>, reason: impl Into<String>) -> Result<T, Flaw> {
    Err((field.into(), reason.into()))
}

fn target(field: &str, value: Option<f64>) -> Result<(), Flaw> {
    match value {
        Some(target) if !(target > 0.0 && target <= 1.0) => flaw(
            field,
            format!("{target} given, allowed: an accuracy above 0, up to 1"),
        ),
        _ => Ok(()),
    }
}

impl Description {
    pub(super) fn check(&self) -> Result<(), Flaw> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || self.name.len() > 60 || !self.name.chars().all(plain) {
            return flaw("name", "1 to 60 letters, digits, `-`, `_` or `.`");
        }
        let seeds = [
            ("seeds", Some(self.seeds)),
            ("quick.seeds", self.quick.seeds),
        ];
        for (field, seeds) in seeds {
            if seeds.is_some_and(|seeds| !(1..=1_000_000).contains(&seeds)) {
                return flaw(field, "allowed: 1 to 1000000");
            }
        }
        if self.redeployment.is_some() != self.methods.is_empty() {
            return flaw("methods", "needed for training, and only for that");
        }
        for (index, axis) in self.axes.iter().enumerate() {
            self.check_axis(axis, &format!("axes[{index}]"))?;
        }
        for (name, labels) in &self.quick.keep {
            let field = format!("quick.keep.{name}");
            labels
                .iter()
                .try_for_each(|label| self.point(&field, name, label))?;
            if labels.is_empty() {
                return flaw(field, "empty: at least one point must be kept");
            }
        }
        for (index, panel) in self.panels.iter().enumerate() {
            self.check_panel(panel, &format!("panels[{index}]"))?;
        }
        if let Some(plan) = &self.redeployment {
            check_redeployment(plan)?;
        }
        for (index, claim) in self.claims.iter().enumerate() {
            self.check_claim(claim, &format!("claims[{index}]"))?;
        }
        for (index, regret) in self.regrets.iter().enumerate() {
            self.check_regret(regret, &format!("regrets[{index}]"))?;
        }
        Ok(())
    }

    fn check_axis(&self, axis: &SweepAxis, field: &str) -> Result<(), Flaw> {
        let reserved = [
            "method", "loss", "round", "time_s", "energy_j", "target", "",
        ];
        if reserved.contains(&axis.name.as_str()) || is_taken(&axis.name) {
            return flaw(format!("{field}.name"), format!("{:?} is taken", axis.name));
        }
        if self
            .axes
            .iter()
            .filter(|other| other.name == axis.name)
            .count()
            > 1
        {
            return flaw(format!("{field}.name"), format!("{:?} twice", axis.name));
        }
        if axis.points.is_empty() {
            return flaw(format!("{field}.points"), "empty");
        }
        for (index, point) in axis.points.iter().enumerate() {
            let field = format!("{field}.points[{index}]");
            if axis.points[..index]
                .iter()
                .any(|other| other.label == point.label)
            {
                return flaw(format!("{field}.label"), format!("{:?} twice", point.label));
            }
            if point.x.is_some_and(|x| !x.is_finite()) {
                return flaw(format!("{field}.x"), "not a finite number");
            }
            target(&format!("{field}.target"), point.target)?;
        }
        Ok(())
    }

    /// Whether an axis has a point.
    fn point(&self, field: &str, axis: &str, label: &str) -> Result<(), Flaw> {
        let Some(found) = self.axis(axis) else {
            let known = choices(axis, self.axes.iter().map(|axis| axis.name.as_str()));
            return flaw(field, format!("no axis {axis:?}; there are: {known}"));
        };
        if found.points.iter().any(|point| point.label == label) {
            return Ok(());
        }
        let known = choices(label, found.points.iter().map(|point| point.label.as_str()));
        flaw(
            field,
            format!("axis {axis:?} has no point {label:?}; there are: {known}"),
        )
    }

    fn check_panel(&self, panel: &PanelPlan, field: &str) -> Result<(), Flaw> {
        let known_axis = |field: String, name: &str| match self.axis(name) {
            Some(_) => Ok(()),
            None => {
                let axes = self.axes.iter().map(|axis| axis.name.as_str());
                let known = choices(name, axes.chain(["round", "time_s", "energy_j", "target"]));
                flaw(field, format!("no axis {name:?}; there are: {known}"))
            }
        };
        for name in &panel.each {
            known_axis(format!("{field}.each"), name)?;
        }
        for (name, label) in &panel.held {
            self.point(&format!("{field}.where"), name, label)?;
        }
        target(&format!("{field}.target"), panel.target)?;
        for &accuracy in &panel.targets {
            target(&format!("{field}.targets"), Some(accuracy))?;
        }
        let about = panel.y.about();
        match &panel.x {
            PanelX::Axis(name) => known_axis(format!("{field}.x"), name)?,
            PanelX::Along(_) if about != About::Curve => {
                return flaw(format!("{field}.y"), "a curve shows `accuracy` only");
            }
            PanelX::Target if about != About::Target || panel.targets.is_empty() => {
                let reason = "needs `targets` and a quantity that has a target";
                return flaw(format!("{field}.x"), reason);
            }
            _ => {}
        }
        let needs_target = about == About::Target && panel.x != PanelX::Target;
        if needs_target && panel.target.is_none() {
            return flaw(format!("{field}.target"), "missing");
        }
        if about == About::Loss || (about == About::Curve && !matches!(panel.x, PanelX::Along(_))) {
            return flaw(format!("{field}.y"), "does not fit this `x`");
        }
        Ok(())
    }

    fn check_regret(&self, regret: &RegretPlan, field: &str) -> Result<(), Flaw> {
        let costs = [
            Quantity::RoundsToTarget,
            Quantity::TimeToTargetS,
            Quantity::EnergyToTargetJ,
        ];
        if !costs.contains(&regret.quantity) {
            return flaw(
                format!("{field}.quantity"),
                "allowed: rounds_to_target, time_to_target_s, energy_to_target_j",
            );
        }
        if regret.best_of.is_empty() {
            return flaw(
                format!("{field}.best_of"),
                "empty: name at least one method",
            );
        }
        for label in &regret.best_of {
            self.check_method(&format!("{field}.best_of"), label)?;
        }
        target(&format!("{field}.target"), regret.target)?;
        let all_have_one =
            |axis: &SweepAxis| axis.points.iter().all(|point| point.target.is_some());
        if regret.target.is_none() && !self.axes.iter().any(all_have_one) {
            return flaw(
                format!("{field}.target"),
                "missing, and there are points that have none",
            );
        }
        Ok(())
    }

    fn check_claim(&self, claim: &ClaimPlan, field: &str) -> Result<(), Flaw> {
        for (part, choice) in [("of", &claim.of), ("against", &claim.against)] {
            let field = format!("{field}.{part}");
            for (name, label) in choice {
                match (name.as_str(), &self.redeployment) {
                    ("method", _) => self.check_method(&field, label)?,
                    ("loss", Some(plan)) => check_loss(&field, plan, label)?,
                    _ => self.point(&field, name, label)?,
                }
            }
        }
        if let Some(name) = claim
            .against
            .keys()
            .find(|name| !claim.of.contains_key(*name))
        {
            let reason = format!("names {name:?}, which `of` does not");
            return flaw(format!("{field}.against"), reason);
        }
        if !claim.of.contains_key("method") {
            return flaw(format!("{field}.of"), "names no `method`");
        }
        if (claim.measure() == Measure::Value) != claim.against.is_empty() {
            return flaw(
                format!("{field}.against"),
                "needed to compare, and only then",
            );
        }
        let about = claim.quantity.about();
        let expected = match self.redeployment {
            Some(_) => about == About::Loss,
            None => about == About::Target || about == About::Run,
        };
        if !expected {
            return flaw(
                format!("{field}.quantity"),
                "is not of this kind of experiment",
            );
        }
        target(&format!("{field}.target"), claim.target)?;
        if about == About::Target && claim.target.is_none() {
            return flaw(format!("{field}.target"), "missing");
        }
        if !claim.paper.is_finite() || !(0.0..=100.0).contains(&claim.tolerance) {
            return flaw(
                format!("{field}.paper"),
                "not a finite number, or no tolerance from 0 to 100",
            );
        }
        Ok(())
    }

    fn check_method(&self, field: &str, label: &str) -> Result<(), Flaw> {
        let labels: Vec<String> = match &self.redeployment {
            Some(plan) => plan.methods.iter().map(|m| m.label.clone()).collect(),
            None => {
                let entries = self.methods.iter().chain(&self.quick.methods);
                entries.map(|entry| Contender::read(entry).label).collect()
            }
        };
        if labels.iter().any(|known| known == label) {
            return Ok(());
        }
        let known = choices(label, labels.iter().map(String::as_str));
        flaw(
            field,
            format!("no method {label:?} here; there are: {known}"),
        )
    }
}

fn check_loss(field: &str, plan: &RedeploymentPlan, label: &str) -> Result<(), Flaw> {
    let mut labels: Vec<String> = loss_labels(&plan.losses);
    labels.push(ANY_ONE.into());
    match labels.iter().any(|known| known == label) {
        true => Ok(()),
        false => {
            let known = choices(label, labels.iter().map(String::as_str));
            flaw(field, format!("no loss {label:?}; there are: {known}"))
        }
    }
}

fn check_redeployment(plan: &RedeploymentPlan) -> Result<(), Flaw> {
    let field = |name: &str| format!("redeployment.{name}");
    if !(2..=100_000).contains(&plan.layouts) {
        return flaw(field("layouts"), "allowed: 2 to 100000");
    }
    let mut seen = BTreeSet::new();
    for loss in &plan.losses {
        if loss.is_empty() || !seen.insert(loss) {
            return flaw(field("losses"), "empty, or the same twice");
        }
    }
    if plan.losses.is_empty() || plan.methods.is_empty() {
        return flaw(field("losses"), "no losses, or no methods");
    }
    if plan
        .table
        .is_some_and(|quantity: Quantity| quantity.about() != About::Loss)
    {
        return flaw(field("table"), "not a quantity of losses");
    }
    let cells = loss_labels(&plan.losses).len();
    for method in &plan.methods {
        if !method.paper.is_empty() && method.paper.len() != cells {
            let reason = format!("{} numbers, allowed: none, or {cells}", method.paper.len());
            return flaw(field("methods.paper"), reason);
        }
    }
    Ok(())
}
