//! Which fields of a scenario are a method's business. All others are read by everybody.

/// What a field is about that methods do differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Association,
    Allocation,
    Redeployment,
    Schedule,
    Local,
    /// What a joule and a second are worth, to whoever weighs them.
    Weights,
}

/// Fields, or tables of them, that a method may or may not read. The first that fits counts.
const METHOD_SPECIFIC: [(&str, About); 10] = [
    ("association", About::Association),
    ("selection", About::Association),
    ("fitness", About::Association),
    ("td3", About::Association),
    ("methods.oort", About::Association),
    ("methods", About::Local),
    ("allocation", About::Allocation),
    ("redeploy", About::Redeployment),
    ("weights", About::Weights),
    ("training.max_edge_rounds", About::Schedule),
];

/// Rules of the fleet, which scenarios state for whatever moves in it: no method refuses them.
const RULES: [&str; 2] = ["redeploy.when", "redeploy.wait"];

/// They say which part takes the place of a method's own: every method follows them.
pub(super) const SWITCHES: [&str; 3] = ["association.kind", "allocation.kind", "redeploy.method"];

/// What a field is about; none when every method reads it.
pub(super) fn about(field: &str) -> Option<About> {
    if RULES.iter().any(|rule| covers(rule, field)) {
        return None;
    }
    let (_, about) = METHOD_SPECIFIC
        .iter()
        .find(|(table, _)| covers(table, field))?;
    Some(*about)
}

/// Whether not every method reads a field, given by its dotted path as in `selection.share`.
#[must_use]
pub fn is_method_specific(field: &str) -> bool {
    about(field).is_some()
}

/// Whether a path is that of a field, or of a table that holds it.
pub(super) fn covers(path: &str, field: &str) -> bool {
    field
        .strip_prefix(path)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
