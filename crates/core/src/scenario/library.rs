//! The scenarios that come with the program: the files of `scenarios/`.
//!
//! A name of the library always means its scenario, on the command line as in `extends`; a file of the same name is reached by a
//! path, as in `./paper`.

use std::path::Path;

use super::Scenario;
use crate::Error;

macro_rules! library {
    ($($name:literal),+ $(,)?) => {
        /// The scenarios that come with the program, by name.
        pub const BUILT_IN: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../scenarios/", $name, ".toml"))),)+
        ];
    };
}

library![
    "defaults",
    "paper",
    "quickstart",
    "wildfire",
    "flood",
    "farm",
    "parade",
    "harbour",
    "convoy",
    "shelters",
];

/// Every field with a comment; equals [`Scenario::default`].
pub const DEFAULTS: &str = include_str!("../../scenarios/defaults.toml");

/// What the paper prints, where that is not the default.
pub const PAPER: &str = include_str!("../../scenarios/paper.toml");

/// What `aerofed run` runs when told nothing else.
pub const QUICKSTART: &str = include_str!("../../scenarios/quickstart.toml");

/// The scenario of that name, as it is written.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static str> {
    let mut all = BUILT_IN.iter();
    all.find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// What a scenario is about: the first sentence of the comment at its head.
#[must_use]
pub fn first_sentence(text: &str) -> String {
    let head = text.lines().map_while(|line| line.strip_prefix('#'));
    let words: Vec<&str> = head.flat_map(str::split_whitespace).collect();
    // A full stop before a small letter or a number is one of an abbreviation.
    let begins = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    let ends = |place: usize| {
        let next = words.get(place + 1);
        words[place].ends_with(['.', '!', '?']) && next.is_none_or(begins)
    };
    let last = (0..words.len()).find(|place| ends(*place));
    words[..last.map_or(words.len(), |last| last + 1)].join(" ")
}

impl Scenario {
    /// Reads the scenario of the library that has this name, or else the file, then applies `settings` of the form `path=value`.
    ///
    /// # Errors
    /// When there is neither, or it is not a scenario.
    pub fn open(name: &Path, settings: &[impl AsRef<str>]) -> Result<Self, Error> {
        match name.to_str().and_then(built_in) {
            Some(text) => Ok(Self::parse(text, settings)?),
            None => Self::load(name, settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: [&str; 0] = [];

    #[test]
    fn every_scenario_of_the_library_is_valid_and_says_what_it_is() {
        for (name, text) in BUILT_IN {
            let scenario = Scenario::parse(text, &NOTHING).unwrap().check().unwrap();
            let own = if *name == "defaults" { "default" } else { name };
            assert_eq!(scenario.name, own);
            let about = first_sentence(text);
            assert!(
                about.ends_with('.') && about.len() > 20 && about.len() < 200,
                "{name}: {about}"
            );
        }
        // Nobody has a scenario in the folder that is not in the library.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
        let names = files.map(|file| file.file_name().into_string().unwrap());
        for name in names.filter(|name| name.ends_with(".toml")) {
            assert!(
                built_in(name.trim_end_matches(".toml")).is_some(),
                "{name} is not listed"
            );
        }
    }

    #[test]
    fn a_sentence_ends_before_the_next_begins() {
        let text = "# As Eqs. 17-26 have it, e.g. here. And\n# more.\nname = \"x\" # No.";
        assert_eq!(first_sentence(text), "As Eqs. 17-26 have it, e.g. here.");
        assert_eq!(first_sentence("#One line\n# and half"), "One line and half");
        assert_eq!(first_sentence("seed = 1\n# Late."), "");
    }

    /// One rule: a name is the library's, a path is a file.
    #[test]
    fn a_name_of_the_library_is_never_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("paper"), "name = \"mine\"").unwrap();
        let mine = folder.path().join("paper");
        assert_eq!(Scenario::open(&mine, &NOTHING).unwrap().name, "mine");
        let named = Scenario::open(Path::new("paper"), &["seed=3"]).unwrap();
        assert_eq!((named.name.as_str(), named.seed), ("paper", 3));
        let top = folder.path().join("top.toml");
        for (extends, name) in [("paper", "paper"), ("./paper", "mine")] {
            std::fs::write(&top, format!("extends = \"{extends}\"")).unwrap();
            assert_eq!(Scenario::open(&top, &NOTHING).unwrap().name, name);
        }
    }
}
