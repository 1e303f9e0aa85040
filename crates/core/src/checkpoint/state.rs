//! State as bytes: exact for every float, NaN included.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// What a part of a run carries from round to round, for its `save`.
///
/// The encoding (postcard) is not self-describing: state must not use serde's `flatten`, `untagged`
/// or internally tagged enums.
#[must_use]
pub fn encode(state: &impl Serialize) -> Vec<u8> {
    // Fails only for sequences of unknown length, and then the restore of nothing is refused.
    postcard::to_stdvec(state).unwrap_or_default()
}

/// What [`encode`] wrote, for a `restore`. `part` is for the message.
///
/// # Errors
/// When the bytes are not such a state, or more than one.
pub fn decode<T: DeserializeOwned>(part: &'static str, saved: &[u8]) -> Result<T, Error> {
    let refuse = |reason: String| Error::State { part, reason };
    let (state, rest) =
        postcard::take_from_bytes(saved).map_err(|error| refuse(error.to_string()))?;
    match rest.len() {
        0 => Ok(state),
        more => Err(refuse(format!("{more} bytes too many"))),
    }
}

/// The `restore` of a part that carries nothing from round to round.
///
/// # Errors
/// When there is something.
pub fn expect_nothing(part: &'static str, saved: &[u8]) -> Result<(), Error> {
    match saved.len() {
        0 => Ok(()),
        more => Err(Error::State {
            part,
            reason: format!("{more} bytes for a part that keeps nothing"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_every_bit() {
        let odd = f64::from_bits(0x7ff8_0000_dead_beef);
        let state = vec![0.1, -0.0, f64::NEG_INFINITY, 5e-324, odd];
        let read: Vec<f64> = decode("test", &encode(&state)).unwrap();
        let bits = |all: &[f64]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read), bits(&state));
    }

    #[test]
    fn too_little_and_too_much_are_refused() {
        let saved = encode(&(7u32, "seven"));
        assert!(decode::<(u32, String)>("test", &saved).is_ok());
        assert!(decode::<(u32, String)>("test", &saved[..saved.len() - 1]).is_err());
        assert!(decode::<(u32, String)>("test", &[&saved[..], &[0]].concat()).is_err());
        assert!(expect_nothing("test", &[]).is_ok() && expect_nothing("test", &saved).is_err());
    }
}
