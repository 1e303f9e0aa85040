//! The paper's figures and tables: the files of `experiments/`, part of the program.

/// Name and text of an experiment.
pub type BuiltIn = (&'static str, &'static str);

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        /// Every one, in the paper's order.
        pub const ALL: &[BuiltIn] = &[
            $(($name, include_str!(concat!("../experiments/", $name, ".toml"))),)+
        ];
    };
}

built_in![
    "fig4", "fig5", "fig6", "fig7", "fig8ab", "fig8cd", "fig8ef", "fig10", "fig11", "table3",
    "table4",
];

/// The experiment of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    ALL.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
