//! The files that a scenario names: a run is known by what they held.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::damage::changed;
use crate::learn::data;
use crate::scenario::Scenario;
use crate::{Error, disk};

/// The file of a run folder that has the checksum; a run of a scenario that names no files has none.
const FILE: &str = "inputs.sha256";

/// Asked now and then by whatever may take long: whether it is to stop.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Leaves the checksum of what the scenario names in a run folder.
pub(super) fn write(folder: &Path, scenario: &Scenario, stop: Stop) -> Result<(), Error> {
    match checksum(scenario, stop) {
        Ok(Some(checksum)) => disk::replace_file(&folder.join(FILE), (checksum + "\n").as_bytes()),
        // What is wrong with a data set, whoever loads it says.
        Ok(None) | Err(Error::Data(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Refuses a run whose scenario names files that have changed since. Where they are gone, or the run tells
/// nothing of them, nothing can be said.
///
/// # Errors
/// When they have changed, or cannot be read; and when it is told to stop.
pub fn check(folder: &Path, scenario: &Scenario, stop: Stop) -> Result<(), Error> {
    let Ok(then) = fs::read_to_string(folder.join(FILE)) else {
        return Ok(());
    };
    let same = match checksum(scenario, stop) {
        Ok(now) => now.is_none_or(|now| now == then.trim_end()),
        // It was a set then.
        Err(Error::Data(_)) => false,
        Err(error) => return Err(error),
    };
    if same {
        return Ok(());
    }
    let named: Vec<String> = named(scenario)
        .into_iter()
        .map(|(field, path)| format!("`{field}` {}", path.display()))
        .collect();
    Err(changed(folder, &named.join(" or ")))
}

/// The fields that name a file or a folder, and what they name.
fn named(scenario: &Scenario) -> Vec<(&'static str, &Path)> {
    let mut named = Vec::new();
    if !["pretrained", "fresh"].contains(&scenario.td3.agent.as_str()) {
        named.push(("td3.agent", Path::new(&scenario.td3.agent)));
    }
    if !scenario.model.start.as_os_str().is_empty() {
        named.push(("model.start", scenario.model.start.as_path()));
    }
    if let Some(file) = scenario.mobility.file() {
        named.push(("mobility.file", file));
    }
    for (field, path) in [
        ("data.dir", Some(scenario.data.dir.as_path())),
        ("area.no_fly_file", Some(&scenario.area.no_fly_file)),
        ("devices.positions", scenario.devices.positions_file()),
        ("surrogate.law", Some(&scenario.surrogate.law)),
    ] {
        if let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) {
            named.push((field, path));
        }
    }
    named
}

/// Names, sizes and bytes of all files that the scenario names: of a folder, those that are loaded from it. None when it
/// names none, or one is not there.
///
/// # Errors
/// When one cannot be read; and when it is told to stop.
pub fn checksum(scenario: &Scenario, stop: Stop) -> Result<Option<String>, Error> {
    let named = named(scenario);
    if named.is_empty() || !named.iter().all(|(_, path)| path.exists()) {
        return Ok(None);
    }
    let mut digest = Sha256::new();
    for (field, path) in named {
        digest.update(field);
        let mut files = match field {
            "data.dir" => data::files(scenario)?,
            _ if path.is_file() => vec![path.into()],
            _ => Vec::new(),
        };
        files.sort();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file);
            digest.update(name.to_string_lossy().as_bytes());
            digest.update(file_checksum(&file, stop)?);
        }
    }
    let hex = digest.finalize();
    Ok(Some(hex.iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Size, time of the last change, and checksum of a file.
type Known = (u64, Option<SystemTime>, [u8; 32]);

/// Files that were read before: every run of a comparison names the same, and several links may lead to one.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Known>>> = LazyLock::new(Mutex::default);

/// Bytes that are in memory at a time, and between two looks at whether to stop.
const CHUNK: usize = 1 << 16;

/// Size and bytes.
fn file_checksum(path: &Path, stop: Stop) -> Result<[u8; 32], Error> {
    let failed = |error| Error::io("read", path)(error);
    let path = &path.canonicalize().map_err(failed)?;
    let meta = fs::metadata(path).map_err(failed)?;
    let (size, modified) = (meta.len(), meta.modified().ok());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, checksum)) = known.get(path).filter(|k| (k.0, k.1) == (size, modified)) {
        return Ok(*checksum);
    }
    let mut digest = Sha256::new();
    digest.update(size.to_le_bytes());
    let mut file = File::open(path).map_err(failed)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        if stop() {
            return Err(Error::Interrupted);
        }
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(bytes) => digest.update(&chunk[..bytes]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let checksum = digest.finalize().into();
    known.insert(path.clone(), (size, modified, checksum));
    Ok(checksum)
}
