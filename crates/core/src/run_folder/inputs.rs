//! The files that a scenario names: a run is known by what they held.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::damage::changed;
use crate::scenario::Scenario;
use crate::{Error, disk};

/// The file of a run folder that has the checksum; a run of a scenario that names no files has none.
const FILE: &str = "inputs.sha256";

/// Folders in folders that are looked into: a data set has two at most, and links may go in a circle.
const DEEPEST: usize = 8;

/// Leaves the checksum of what the scenario names in a run folder.
pub(super) fn write(folder: &Path, scenario: &Scenario) -> Result<(), Error> {
    match checksum(scenario)? {
        Some(checksum) => disk::replace_file(&folder.join(FILE), (checksum + "\n").as_bytes()),
        None => Ok(()),
    }
}

/// Refuses a run whose scenario names files that have changed since. Where they are gone, or the run tells
/// nothing of them, nothing can be said.
///
/// # Errors
/// When they have changed, or cannot be read.
pub fn check(folder: &Path, scenario: &Scenario) -> Result<(), Error> {
    let Ok(then) = fs::read_to_string(folder.join(FILE)) else {
        return Ok(());
    };
    match checksum(scenario)? {
        Some(now) if now != then.trim_end() => {
            let named: Vec<String> = named(scenario)
                .into_iter()
                .map(|(field, path)| format!("`{field}` {}", path.display()))
                .collect();
            Err(changed(folder, &named.join(" or ")))
        }
        _ => Ok(()),
    }
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
    if !scenario.data.dir.as_os_str().is_empty() {
        named.push(("data.dir", scenario.data.dir.as_path()));
    }
    named
}

/// Names, sizes and bytes of all files that the scenario names; none when it names none, or one is not there.
fn checksum(scenario: &Scenario) -> Result<Option<String>, Error> {
    let named = named(scenario);
    if named.is_empty() || !named.iter().all(|(_, path)| path.exists()) {
        return Ok(None);
    }
    let mut digest = Sha256::new();
    for (field, path) in named {
        digest.update(field);
        let mut files = Vec::new();
        collect(path, DEEPEST, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file);
            digest.update(name.to_string_lossy().as_bytes());
            digest.update(file_checksum(&file)?);
        }
    }
    let hex = digest.finalize();
    Ok(Some(hex.iter().map(|byte| format!("{byte:02x}")).collect()))
}

fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    if path.is_file() {
        files.push(path.into());
    } else if path.is_dir() && depth > 0 {
        for entry in fs::read_dir(path).map_err(Error::io("read", path))? {
            let entry = entry.map_err(Error::io("read", path))?;
            collect(&entry.path(), depth - 1, files)?;
        }
    }
    Ok(())
}

/// Size, time of the last change, and checksum of a file.
type Known = (u64, Option<SystemTime>, [u8; 32]);

/// Files that were read before: every run of a comparison names the same.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Known>>> = LazyLock::new(Mutex::default);

/// Size and bytes.
fn file_checksum(path: &Path) -> Result<[u8; 32], Error> {
    let meta = fs::metadata(path).map_err(Error::io("read", path))?;
    let (size, modified) = (meta.len(), meta.modified().ok());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, checksum)) = known.get(path).filter(|k| (k.0, k.1) == (size, modified)) {
        return Ok(*checksum);
    }
    let mut digest = Sha256::new();
    digest.update(size.to_le_bytes());
    digest.update(fs::read(path).map_err(Error::io("read", path))?);
    let checksum = digest.finalize().into();
    known.insert(path.into(), (size, modified, checksum));
    Ok(checksum)
}
