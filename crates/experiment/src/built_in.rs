//! The paper's figures and tables, and what goes beyond them: the files of `experiments/`, part of the program.

/// Name and text of an experiment.
pub type BuiltIn = (&'static str, &'static str);

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../experiments/", $name, ".toml"))),)+]
    };
}

/// Every one of the paper's, in its order.
pub const ALL: &[BuiltIn] = built_in![
    "fig4", "fig5", "fig6", "fig7", "fig8ab", "fig8cd", "fig8ef", "fig10", "fig11", "table3",
    "table4",
];

/// What the paper does not ask.
pub const BEYOND: &[BuiltIn] = built_in!["physics", "worlds", "flights", "crowds", "few"];

/// All of them: the paper's first.
pub fn every() -> impl Iterator<Item = &'static BuiltIn> {
    ALL.iter().chain(BEYOND)
}

/// The experiment of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    every()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
