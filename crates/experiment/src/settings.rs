//! Whose settings are whose: a contender changes neither the world that all of them meet nor a field that it does not read, and
//! the scenario that they share changes no field that none of them reads.

use super::plan::{Contender, bad};
use crate::Error;
use aerofed::method::{Registry, is_method_specific};
use aerofed::scenario::{Scenario, ScenarioError, Uavs};

/// A contender's scenario: the shared one with its method and its own settings.
pub(super) fn own_scenario(base: &Scenario, contender: &Contender) -> Result<Scenario, Error> {
    let mut scenario = base.clone();
    if !contender.settings.is_empty() {
        let read = Scenario::parse(&scenario.to_toml()?, &contender.settings);
        scenario = read.map_err(|error| match error {
            ScenarioError::Set { given, reason } => {
                bad(&contender.label, &format!("`{given}`: {reason}"))
            }
            other => other.into(),
        })?;
    }
    scenario.method.clone_from(&contender.method);
    Ok(scenario)
}

/// Refuses settings of a contender that its method does not read.
pub(super) fn check_own(
    registry: &Registry,
    scenario: &Scenario,
    contender: &Contender,
) -> Result<(), Error> {
    let entry = registry.find(&contender.method)?;
    for setting in &contender.settings {
        for field in Scenario::fields_of(setting)? {
            if !entry.reads(scenario, &field) {
                let instead = entry.instead_of(scenario, &field);
                let reason = format!("does not read `{field}`, which it sets: {instead}");
                return Err(bad(&contender.label, &reason));
            }
        }
    }
    Ok(())
}

/// Refuses fields of the shared scenario that no contender reads.
pub(super) fn check_shared(
    registry: &Registry,
    base: &Scenario,
    contenders: &[Contender],
) -> Result<(), Error> {
    let mut changes = base.changes()?;
    changes.retain(|change| is_method_specific(&change.field));
    if changes.is_empty() {
        return Ok(());
    }
    let mut instead = vec![Vec::new(); changes.len()];
    for contender in contenders {
        let entry = registry.find(&contender.method)?;
        let scenario = own_scenario(base, contender)?;
        for (change, instead) in changes.iter().zip(&mut instead) {
            if !entry.reads(&scenario, &change.field) {
                let does = entry.instead_of(&scenario, &change.field);
                instead.push(format!("{}: {does}", contender.label));
            }
        }
    }
    for (change, instead) in changes.into_iter().zip(instead) {
        if instead.len() == contenders.len() {
            let value = change.value.unwrap_or_else(|| "unset".into());
            return Err(Error::Plan {
                place: format!("`{}` is {value}", change.field),
                reason: format!("no method here reads it ({})", instead.join("; ")),
            });
        }
    }
    Ok(())
}

/// Refuses settings of a contender that change what all contenders share.
pub(super) fn check_world(base: &Scenario, contender: &Contender) -> Result<(), Error> {
    let theirs = own_scenario(base, contender)?;
    let Some(shared) = first_shared_change(base, &theirs) else {
        return Ok(());
    };
    let is_shared = |field: &String| {
        let below = field.strip_prefix(shared);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) && field != RESERVE
    };
    for setting in &contender.settings {
        if Scenario::fields_of(setting)?.iter().any(is_shared) {
            let reason = format!("`{setting}` changes `{shared}`, which all methods share");
            return Err(bad(&contender.label, &reason));
        }
    }
    let reason = format!("changes `{shared}`, which all methods share");
    Err(bad(&contender.label, &reason))
}

/// What a UAV keeps back is a decision, although it stands among what UAVs are.
const RESERVE: &str = "uavs.reserve";

/// The first field in which scenarios differ although every method has to meet the same world and the same targets.
fn first_shared_change(base: &Scenario, theirs: &Scenario) -> Option<&'static str> {
    let uavs = Uavs {
        reserve: base.uavs.reserve,
        ..theirs.uavs.clone()
    };
    let same = [
        ("area", theirs.area == base.area),
        ("devices", theirs.devices == base.devices),
        ("uavs", uavs == base.uavs),
        ("radio", theirs.radio == base.radio),
        ("channel", theirs.channel == base.channel),
        ("mobility", theirs.mobility == base.mobility),
        ("data", theirs.data == base.data),
        ("faults", theirs.faults == base.faults),
        ("stop.targets", theirs.stop.targets == base.stop.targets),
        (
            "stop.target_accuracy",
            theirs.stop.target_accuracy == base.stop.target_accuracy,
        ),
        ("stop.smooth", theirs.stop.smooth == base.stop.smooth),
        (
            "stop.target_on",
            theirs.stop.target_on == base.stop.target_on,
        ),
    ];
    let changed = same.into_iter().find(|(_, same)| !same);
    changed.map(|(field, _)| field)
}

#[cfg(test)]
mod tests {
    use super::super::plan::{ComparePlan, PlannedRun};
    use super::*;

    fn runs(methods: &str, settings: &[&str]) -> Result<Vec<Vec<PlannedRun>>, String> {
        let registry = Registry::builtin();
        let base = Scenario::parse("", settings).unwrap();
        let contenders = Contender::parse_list(&registry, methods).unwrap();
        let plan = ComparePlan::new(base, contenders, 1..=1, vec![0.5], false).unwrap();
        plan.runs(&registry).map_err(|error| error.to_string())
    }

    #[test]
    fn a_shared_setting_is_read_by_somebody() {
        let told = runs("cehfed,hfl", &["selection.threshold=0.3"]).unwrap_err();
        for part in [
            "`selection.threshold` is 0.3",
            "cehfed: its devices",
            "hfl: all",
        ] {
            assert!(told.contains(part), "{told}");
        }
        let both = runs("cehfed,fixed_threshold", &["selection.threshold=0.3"]).unwrap();
        let threshold = |place: usize| both[place][0].scenario.selection.threshold;
        assert_eq!(
            (threshold(0), threshold(1)),
            (0.4, 0.3),
            "for its reader alone"
        );
        // Who replaces a part reads what the new one reads.
        let own = "a=cehfed:association.kind=fixed_threshold";
        assert!(runs(own, &["selection.threshold=0.3"]).is_ok());
        let told = runs("cehfed,hfl", &["methods.fedprox.proximal=0.5"]).unwrap_err();
        assert!(told.contains("`methods.fedprox.proximal`"), "{told}");
    }

    #[test]
    fn a_contender_reads_what_it_sets() {
        for (methods, field) in [
            ("cehfed:selection.threshold=0.3", "selection.threshold"),
            ("cehfed:selection.threshold=0.4", "selection.threshold"),
            (
                "hfl,cehfed:allocation.local_iterations=9",
                "allocation.local_iterations",
            ),
            (
                "cfed:training.max_edge_rounds=3",
                "training.max_edge_rounds",
            ),
            (
                "hfl:allocation={kind=\"equal\", h_max=3}",
                "allocation.h_max",
            ),
        ] {
            let told = runs(methods, &[]).unwrap_err();
            assert!(told.contains(&format!("does not read `{field}`")), "{told}");
        }
        let told = runs("hfedat:association.kind=td3", &[]).unwrap_err();
        assert!(told.contains("`association.kind` is \"td3\""), "{told}");
    }

    #[test]
    fn a_run_can_be_done_again_by_itself() {
        let settings = [
            "selection.share=0.3",
            "allocation.h_max=9",
            "weights.time=2",
        ];
        let planned = runs(
            "cehfed,rhfed,hfl,even=cehfed:allocation.kind=equal",
            &settings,
        );
        let planned = planned.unwrap();
        let registry = Registry::builtin();
        let names: Vec<String> = planned
            .iter()
            .map(|runs| registry.method(&runs[0].scenario).unwrap().name)
            .collect();
        assert_eq!(
            names,
            ["cehfed", "rhfed", "hfl", "cehfed[allocation=equal]"]
        );
        // What differs in nothing that is read is the same run.
        let alone = runs("hfl", &[]).unwrap();
        assert_eq!(planned[2][0].id, alone[0][0].id);
    }
}
