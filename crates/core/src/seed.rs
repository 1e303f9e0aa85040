//! Random streams keyed by what they are for, so that neither the order of work nor the number of
//! threads can change a draw.

use rand::SeedableRng;

/// The generator behind every random draw: small, fast, and the same on every platform.
pub type Random = rand_chacha::ChaCha8Rng;

/// What a stream is drawn for. The numbers are part of a run's identity: never renumber, only append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Where a device starts.
    DevicePosition = 1,
    /// A device's processor and radio.
    DeviceHardware = 2,
    /// A UAV's radio.
    UavHardware = 3,
    /// Where a device moves between global rounds.
    Mobility = 4,
    /// Which samples go to whom.
    Partition = 5,
    /// The first global model.
    ModelInit = 6,
    /// Which samples a device's mini-batches hold.
    Batches = 7,
    /// Initial UAV placement.
    Layout = 8,
    /// Who is selected.
    Association = 9,
    /// Where UAVs look for better positions.
    Redeployment = 10,
    /// Mini-batches of a UAV's personal model.
    Personal = 11,
    /// The first networks of a threshold agent.
    Agent = 12,
    /// Worlds and thresholds that agents are trained on before a run.
    Pretraining = 13,
    /// How much of a signal arrives over one link.
    Links = 14,
    /// Which of the selected devices train for all.
    Sampled = 15,
    /// What is peculiar about the samples of devices that do not train.
    Surrogate = 16,
}

/// The stream for `(seed, stream, round, id)`: the four numbers are the cipher's whole key, so two
/// different quadruples never share a stream.
#[must_use]
pub fn stream(seed: u64, stream: Stream, round: u64, id: u64) -> Random {
    let mut key = [0u8; 32];
    for (bytes, word) in key
        .chunks_exact_mut(8)
        .zip([seed, stream as u64, round, id])
    {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Random::from_seed(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn equal_keys_repeat_and_each_part_of_the_key_matters() {
        let draw = |s, t, r, i| stream(s, t, r, i).random::<u64>();
        let first = draw(1, Stream::Mobility, 2, 3);
        assert_eq!(first, draw(1, Stream::Mobility, 2, 3));
        for other in [
            draw(2, Stream::Mobility, 2, 3),
            draw(1, Stream::Batches, 2, 3),
            draw(1, Stream::Mobility, 3, 3),
            draw(1, Stream::Mobility, 2, 4),
        ] {
            assert_ne!(first, other);
        }
    }
}
