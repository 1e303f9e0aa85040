//! Settings that somebody reads: neither a shared scenario nor a contender changes a field in vain.

use super::plan::{Contender, bad};
use crate::Error;
use crate::method::{Registry, is_method_specific};
use crate::scenario::Scenario;

/// A contender's scenario: the shared one with its method and its own settings.
pub(super) fn own_scenario(base: &Scenario, contender: &Contender) -> Result<Scenario, Error> {
    let mut scenario = base.clone();
    if !contender.settings.is_empty() {
        scenario = Scenario::parse(&scenario.to_toml()?, &contender.settings)?;
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
