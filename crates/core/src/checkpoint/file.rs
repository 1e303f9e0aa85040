//! A checkpoint as a file: one line of text that says what it is, then the saved run.
//!
//! ```text
//! aerofed-checkpoint FORMAT PROGRAM-VERSION BODY-BYTES BODY-SHA256 SCENARIO-SHA256
//! ```

use sha2::{Digest, Sha256};

use crate::scenario::{Scenario, ScenarioError};

/// To be raised whenever the body's layout changes.
const FORMAT: &str = "11";
const PROGRAM: &str = env!("CARGO_PKG_VERSION");
const MAGIC: &str = "aerofed-checkpoint";
const LONGEST_HEADER_BYTES: usize = 512;

/// What is wrong with a checkpoint file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// Something else.
    #[error("is not a checkpoint")]
    NotOne,
    /// Written by another version of the program: what it would compute may differ.
    #[error(
        "was written by aerofed {program}, format {format}; this is {PROGRAM}, format {FORMAT}"
    )]
    OtherVersion {
        /// The format's version.
        format: String,
        /// The program's version.
        program: String,
    },
    /// Of another run.
    #[error("belongs to another scenario")]
    OtherScenario,
    /// Cut short, or with something behind its end.
    #[error("has {found} bytes of content, {expected} were written")]
    Length {
        /// What is there.
        found: usize,
        /// What should be.
        expected: usize,
    },
    /// The system does not give it out.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// Whole, but what it holds does not fit the run.
    #[error("{0}")]
    Misfit(String),
    /// Not what was written.
    #[error("is damaged: its checksum does not match")]
    Damaged,
}

/// What tells one scenario from another: the checksum of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a scenario, with every field spelled out.
    ///
    /// # Errors
    /// When the scenario cannot be written as text.
    pub fn of(scenario: &Scenario) -> Result<Self, ScenarioError> {
        Ok(Self(sha256(scenario.to_toml()?.as_bytes())))
    }
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file's contents for a saved run.
#[must_use]
pub fn seal(body: &[u8], scenario: &Fingerprint) -> Vec<u8> {
    let header = format!(
        "{MAGIC} {FORMAT} {PROGRAM} {} {} {}\n",
        body.len(),
        sha256(body),
        scenario.0
    );
    [header.as_bytes(), body].concat()
}

/// The saved run in a file's contents.
///
/// # Errors
/// What is wrong with it.
pub fn open<'a>(contents: &'a [u8], scenario: &Fingerprint) -> Result<&'a [u8], Flaw> {
    let end = contents
        .iter()
        .take(LONGEST_HEADER_BYTES)
        .position(|&byte| byte == b'\n')
        .ok_or(Flaw::NotOne)?;
    let (header, body) = (&contents[..end], &contents[end + 1..]);
    let header = str::from_utf8(header).map_err(|_| Flaw::NotOne)?;
    let mut words = header.split(' ');
    if words.next() != Some(MAGIC) {
        return Err(Flaw::NotOne);
    }
    let (format, program) = (words.next(), words.next());
    if (format, program) != (Some(FORMAT), Some(PROGRAM)) {
        return Err(Flaw::OtherVersion {
            format: format.unwrap_or_default().into(),
            program: program.unwrap_or_default().into(),
        });
    }
    let (Some(length), Some(checksum), Some(of), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Flaw::NotOne);
    };
    let expected: usize = length.parse().map_err(|_| Flaw::NotOne)?;
    if body.len() != expected {
        return Err(Flaw::Length {
            found: body.len(),
            expected,
        });
    }
    if sha256(body) != checksum {
        return Err(Flaw::Damaged);
    }
    if of != scenario.0 {
        return Err(Flaw::OtherScenario);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Fingerprint {
        Fingerprint::of(&Scenario::default()).unwrap()
    }

    #[test]
    fn what_was_sealed_is_opened() {
        for body in [&b""[..], b"state\nwith lines", &[0xff; 5_000]] {
            assert_eq!(open(&seal(body, &here()), &here()), Ok(body));
        }
    }

    /// No byte of it may change unnoticed, and every prefix is refused.
    #[test]
    fn every_damage_is_noticed() {
        let sealed = seal(b"some state", &here());
        for place in 0..sealed.len() {
            assert!(open(&sealed[..place], &here()).is_err(), "cut at {place}");
            for flip in [1, 0x20, 0x80] {
                let mut damaged = sealed.clone();
                damaged[place] ^= flip;
                assert!(open(&damaged, &here()).is_err(), "byte {place}");
            }
        }
        assert!(open(&[&sealed[..], b"x"].concat(), &here()).is_err());
    }

    #[test]
    fn the_reason_is_named() {
        let sealed = String::from_utf8(seal(b"state", &here())).unwrap();
        let other = Scenario {
            seed: 99,
            ..Scenario::default()
        };
        let elsewhere = Fingerprint::of(&other).unwrap();
        assert_eq!(
            open(sealed.as_bytes(), &elsewhere),
            Err(Flaw::OtherScenario)
        );
        let changed = |from: &str, to: &str| {
            let text = sealed.replacen(from, to, 1);
            open(text.as_bytes(), &here()).unwrap_err()
        };
        assert_eq!(changed("checkpoint", "breakpoint"), Flaw::NotOne);
        let (expected, found) = (5, 6);
        assert_eq!(
            changed("\nstate", "\nstates"),
            Flaw::Length { found, expected }
        );
        assert_eq!(changed("\nstate", "\nslate"), Flaw::Damaged);
        let newer = changed(&format!("checkpoint {FORMAT} "), "checkpoint 77 ");
        assert!(matches!(&newer, Flaw::OtherVersion { format, .. } if format == "77"));
        assert!(newer.to_string().contains("format 77"), "{newer}");
    }
}
