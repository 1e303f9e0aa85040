//! Curves of a run as TensorBoard reads them: an event file, written without TensorFlow.
//!
//! An event file is a sequence of TFRecords, each a Protocol Buffers message `Event`: wall time, step, and a scalar under a tag. The wall
//! time of an event is the simulated clock, so that the axis "relative" is simulated time, and the same run gives the same bytes.

use aerofed::RoundRecord;
use aerofed::record::{EnergyItem, TimeItem};

/// The name of the file: TensorBoard looks for `tfevents` in it.
pub const TENSORBOARD_FILE: &str = "events.out.tfevents.0.aerofed";

/// The event file of a run.
#[must_use]
pub fn tensorboard(records: &[RoundRecord]) -> Vec<u8> {
    let mut version = Vec::new();
    double(&mut version, 1, 0.0);
    bytes(&mut version, 3, b"brain.Event:2");
    let mut file = Vec::new();
    record(&mut file, &version);
    for round in records {
        for (tag, value) in scalars(round) {
            if value.is_finite() {
                record(
                    &mut file,
                    &event(round.clock_s, round.round as u64, &tag, value),
                );
            }
        }
    }
    file
}

/// What is told of a round.
fn scalars(round: &RoundRecord) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = [
        ("accuracy/test", round.test_accuracy),
        ("accuracy/validation", round.validation_accuracy),
        ("loss/test", round.test_loss),
        ("loss/validation", round.validation_loss),
        ("loss/train", round.train_loss),
        ("fleet/clock_s", round.clock_s),
        ("fleet/cumulative_energy_j", round.cumulative_energy_j),
        ("fleet/covered", round.covered as f64),
        ("fleet/selected", round.selected as f64),
        ("fleet/updates_lost", round.updates_lost as f64),
        ("model/change", round.model_change),
    ]
    .map(|(tag, value)| (tag.to_owned(), value))
    .into();
    let energy = EnergyItem::ALL.map(|i| (format!("energy/{}", i.name()), round.energy.get(i)));
    let time = TimeItem::ALL.map(|i| (format!("time/{}", i.name()), round.time.get(i)));
    all.extend(energy);
    all.extend(time);
    all
}

/// `Event { wall_time, step, summary: Summary { value: [Value { tag, simple_value }] } }`.
fn event(wall_time_s: f64, step: u64, tag: &str, value: f64) -> Vec<u8> {
    let mut scalar = Vec::new();
    bytes(&mut scalar, 1, tag.as_bytes());
    key(&mut scalar, 2, 5);
    scalar.extend((value as f32).to_le_bytes());
    let mut summary = Vec::new();
    bytes(&mut summary, 1, &scalar);
    let mut event = Vec::new();
    double(&mut event, 1, wall_time_s);
    key(&mut event, 2, 0);
    varint(&mut event, step);
    bytes(&mut event, 5, &summary);
    event
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn key(out: &mut Vec<u8>, field: u64, kind: u64) {
    varint(out, field << 3 | kind);
}

fn double(out: &mut Vec<u8>, field: u64, value: f64) {
    key(out, field, 1);
    out.extend(value.to_le_bytes());
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    key(out, field, 2);
    varint(out, value.len() as u64);
    out.extend(value);
}

/// A TFRecord: length, its checksum, the data, their checksum.
fn record(out: &mut Vec<u8>, data: &[u8]) {
    let length = (data.len() as u64).to_le_bytes();
    out.extend(length);
    out.extend(masked(crc32c(&length)).to_le_bytes());
    out.extend(data);
    out.extend(masked(crc32c(data)).to_le_bytes());
}

/// Checksums in TFRecords are masked, so that checksums of data with checksums in them are no worse.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: event files are small.
fn crc32c(data: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let bit = |crc: u32, _| (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), bit);
    !data.iter().fold(!0, byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720, B.4.
    #[test]
    fn val_checksums_are_those_of_the_standard() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&rising), 0x46dd_794e);
    }

    #[test]
    fn numbers_are_written_as_protocol_buffers_have_them() {
        let mut out = Vec::new();
        varint(&mut out, 300);
        assert_eq!(out, [0xac, 0x02]);
        let event = event(1.5, 300, "a", 2.0);
        let scalar = [10, 1, b'a', 0x15, 0, 0, 0, 0x40];
        let mut expected = vec![0x09];
        expected.extend(1.5f64.to_le_bytes());
        expected.extend([0x10, 0xac, 0x02, 0x2a, 10, 0x0a, 8]);
        expected.extend(scalar);
        assert_eq!(event, expected);
    }
}
