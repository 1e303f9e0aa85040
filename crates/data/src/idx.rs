//! The idx file format: a magic number, the sizes in big-endian `u32`, then the bytes.
//!
//! What a file declares is never believed before the bytes are there: memory grows only with
//! what was really read, and reading stops one byte after the declared end.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::{Dataset, Error, IdxProblem, Values};

/// Rows or columns at most.
const MAX_SIDE: u32 = 4_096;
/// Bytes of one file at most. The largest set of the MNIST family has 0.6 GiB.
const MAX_BYTES: u64 = 1 << 30;
/// One byte of a deflate stream never stands for more than this many.
const MAX_DEFLATE_RATIO: u64 = 1_032;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Images,
    Labels,
}

impl Kind {
    fn magic(self) -> u32 {
        match self {
            Self::Images => 0x803,
            Self::Labels => 0x801,
        }
    }

    /// Declared sizes: samples, rows, columns; or samples alone.
    fn dimensions(self) -> usize {
        match self {
            Self::Images => 3,
            Self::Labels => 1,
        }
    }

    fn header_len(self) -> usize {
        4 + 4 * self.dimensions()
    }
}

/// Reads a file, raw or gzip (told apart by its first bytes, not by its name).
pub(crate) fn read(path: &Path, kind: Kind) -> Result<Vec<u8>, Error> {
    let metadata = std::fs::metadata(path).map_err(Error::io(path))?;
    if !metadata.is_file() {
        return Err(Error::NotAFile(path.to_path_buf()));
    }
    let file = File::open(path).map_err(Error::io(path))?;
    let mut reader = BufReader::new(file);
    let start = std::io::BufRead::fill_buf(&mut reader).map_err(Error::io(path))?;
    if is_gzip(start) {
        read_gzip(reader, metadata.len(), path, kind)
    } else {
        read_declared(reader, path, kind, u64::MAX, &|reason| Error::Io {
            path: path.to_path_buf(),
            reason,
        })
    }
}

/// The same from bytes in memory that are gzip.
pub(crate) fn unpack(packed: &[u8], path: &Path, kind: Kind) -> Result<Vec<u8>, Error> {
    read_gzip(packed, packed.len() as u64, path, kind)
}

fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(&[0x1f, 0x8b])
}

fn read_gzip(
    packed: impl Read,
    packed_len: u64,
    path: &Path,
    kind: Kind,
) -> Result<Vec<u8>, Error> {
    let possible = packed_len.saturating_mul(MAX_DEFLATE_RATIO);
    read_declared(MultiGzDecoder::new(packed), path, kind, possible, &|e| {
        idx_error(path, IdxProblem::Gzip(e.to_string()))
    })
}

fn idx_error(path: &Path, problem: IdxProblem) -> Error {
    Error::Idx {
        path: path.to_path_buf(),
        problem,
    }
}

/// Reads the header, then exactly what it declares. `possible` bounds what the source can hold.
fn read_declared(
    mut reader: impl Read,
    path: &Path,
    kind: Kind,
    possible: u64,
    read_error: &dyn Fn(std::io::Error) -> Error,
) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let header_len = kind.header_len() as u64;
    let by_ref = reader.by_ref();
    by_ref
        .take(header_len)
        .read_to_end(&mut bytes)
        .map_err(read_error)?;
    let expected = declared_len(&bytes, path, kind)?;
    if expected > possible {
        let found = possible;
        return Err(idx_error(path, IdxProblem::Truncated { found, expected }));
    }
    reader
        .take(expected - header_len + 1)
        .read_to_end(&mut bytes)
        .map_err(read_error)?;
    let found = bytes.len() as u64;
    match found.cmp(&expected) {
        std::cmp::Ordering::Equal => Ok(bytes),
        std::cmp::Ordering::Less => Err(idx_error(path, IdxProblem::Truncated { found, expected })),
        std::cmp::Ordering::Greater => Err(idx_error(path, IdxProblem::TooLong { expected })),
    }
}

/// Length of the whole file by its header, which must be sane.
fn declared_len(start: &[u8], path: &Path, kind: Kind) -> Result<u64, Error> {
    let refuse = |problem| Err(idx_error(path, problem));
    if start.is_empty() {
        return refuse(IdxProblem::Empty);
    }
    let words = words(start);
    match words.first() {
        Some(&found) if found != kind.magic() => {
            let expected = kind.magic();
            return refuse(IdxProblem::Magic { found, expected });
        }
        _ => {}
    }
    if words.len() < 1 + kind.dimensions() {
        return refuse(IdxProblem::Truncated {
            found: start.len() as u64,
            expected: kind.header_len() as u64,
        });
    }
    let dimensions = &words[1..];
    let body = dimensions
        .iter()
        .try_fold(1_u64, |product, &size| product.checked_mul(u64::from(size)));
    let sides_fit = dimensions[1..].iter().all(|&side| side <= MAX_SIDE);
    match body {
        Some(body) if sides_fit && (1..=MAX_BYTES).contains(&body) => {
            Ok(body + kind.header_len() as u64)
        }
        _ => refuse(IdxProblem::Dimensions {
            dimensions: dimensions.to_vec(),
            max_side: MAX_SIDE,
            max_bytes: MAX_BYTES,
        }),
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|&word| u32::from_be_bytes(word)).collect()
}

/// Pixels of all images of a file.
pub(crate) struct Images {
    pub(crate) count: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pixels: Vec<u8>,
}

impl Images {
    /// From the bytes that [`read`] or [`unpack`] gave.
    pub(crate) fn parse(mut bytes: Vec<u8>, path: &Path) -> Result<Self, Error> {
        let (header, _) = split(&bytes, path, Kind::Images)?;
        let [count, rows, columns] = [1, 2, 3].map(|i| header.get(i).map_or(0, |&n| n as usize));
        // What is behind the header is kept where it is: a copy would be a second set in memory.
        bytes.drain(..Kind::Images.header_len());
        Ok(Self {
            count,
            rows,
            columns,
            pixels: bytes,
        })
    }

    pub(crate) fn into_dataset(
        self,
        name: String,
        class_names: Vec<String>,
        labels: Vec<u8>,
    ) -> Dataset {
        Dataset {
            name,
            channels: 1,
            height: self.rows,
            width: self.columns,
            class_names,
            inputs: Values::Pixels(self.pixels),
            labels,
            users: None,
        }
    }
}

/// The labels in the bytes that [`read`] or [`unpack`] gave.
pub(crate) fn parse_labels(bytes: &[u8], path: &Path) -> Result<Vec<u8>, Error> {
    split(bytes, path, Kind::Labels).map(|(_, body)| body.to_vec())
}

/// Header words and body, whose lengths agree.
fn split<'a>(bytes: &'a [u8], path: &Path, kind: Kind) -> Result<(Vec<u32>, &'a [u8]), Error> {
    let (header, body) = bytes.split_at(bytes.len().min(kind.header_len()));
    let expected = declared_len(header, path, kind)?;
    let found = bytes.len() as u64;
    if found == expected {
        Ok((words(header), body))
    } else {
        Err(idx_error(path, IdxProblem::Truncated { found, expected }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails the test's reading instead of giving bytes.
    struct Forbidden;

    impl Read for Forbidden {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("read too far"))
        }
    }

    #[test]
    fn reading_stops_one_byte_after_the_declared_end() {
        let header = [0, 0, 8, 1, 0, 0, 0, 9];
        let read = |body: u64| {
            let endless = header.chain(std::io::repeat(0).take(body)).chain(Forbidden);
            read_declared(endless, Path::new("x"), Kind::Labels, u64::MAX, &|reason| {
                Error::Io {
                    path: "x".into(),
                    reason,
                }
            })
        };
        let problem = |result| match result {
            Err(Error::Idx { problem, .. }) => Some(problem),
            _ => None,
        };
        assert_eq!(
            problem(read(10)),
            Some(IdxProblem::TooLong { expected: 17 })
        );
        assert!(matches!(read(9), Err(Error::Io { .. })));
    }
}
