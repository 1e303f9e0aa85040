//! What in a folder is ours, and may be removed: the files of a run, by name, in a folder that carries the mark of an
//! unfinished one.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::place::refuse;
use crate::{Error, checkpoint, disk};

/// The file that an unfinished run is known by: the first that is written, the last that goes.
pub(super) const MARK: &str = "UNFINISHED";

/// How the mark begins. What follows is for people.
const MARK_BEGINS: &str = "aerofed: this run is unfinished.";

/// Every file that every run may have; checkpoints and [`ON_DEMAND`] besides. A folder that holds anything else is never emptied.
const NAMES: [&str; 13] = [
    "scenario.toml",
    "schema.json",
    "inputs.sha256",
    "rounds.csv",
    "uavs.csv",
    "devices.jsonl",
    "events.jsonl",
    "summary.json",
    "model.safetensors",
    "progress.svg",
    "map.svg",
    "map.geojson",
    "report.html",
];

/// What is written at a run's end if somebody wants it.
const ON_DEMAND: [&str; 5] = [
    "events.out.tfevents.0.aerofed",
    "rounds.parquet",
    "uavs.parquet",
    "devices.parquet",
    "events.parquet",
];

/// Marks a folder as that of an unfinished run, which will be called `name`.
pub(super) fn mark(folder: &Path, name: &Path) -> Result<(), Error> {
    if is_marked(folder) {
        return Ok(());
    }
    let path = folder.join(MARK);
    if path.exists() {
        let reason = format!("holds a file {MARK} of somebody else; move it away");
        return Err(refuse(folder, reason));
    }
    let text = format!(
        "{MARK_BEGINS} It loses this file when it is complete.\n\
         `aerofed run --resume {}` continues it; what a new run of that name finds here beside this file, it removes.\n",
        name.display()
    );
    disk::write_synced(&path, text.as_bytes())
}

/// Whether a folder carries the mark, or what a process that was killed in its first moment wrote of it.
pub(super) fn is_marked(folder: &Path) -> bool {
    let path = folder.join(MARK);
    if !is_plain_file(&path) {
        return false;
    }
    let mut start = Vec::new();
    let most = MARK_BEGINS.len() as u64;
    let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut start));
    read.is_ok() && MARK_BEGINS.as_bytes().starts_with(&start)
}

/// Takes the mark off a folder whose run is complete.
pub(super) fn unmark(folder: &Path) -> Result<(), Error> {
    if is_marked(folder) {
        remove(&folder.join(MARK))?;
    }
    Ok(())
}

/// The first entry of a folder, by name, that no run has.
pub(super) fn foreign(folder: &Path) -> Result<Option<String>, Error> {
    let mut foreign = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        let name = entry.file_name();
        if !(name.to_str().is_some_and(is_ours) && is_plain_file(&entry.path())) {
            foreign.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(foreign.into_iter().min())
}

/// Removes the files of a run, and only those; the mark stays.
pub(super) fn clear(folder: &Path) -> Result<(), Error> {
    remove_where(folder, |name| name != MARK && is_ours(name))
}

/// Removes a run. A folder with something else in it stays, and that with it.
pub(super) fn remove_run(folder: &Path) -> Result<(), Error> {
    if folder.is_symlink() {
        // The run is elsewhere, and was not asked for.
        return remove(folder);
    }
    clear(folder)?;
    unmark(folder)?;
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => {
            Err(Error::io("remove", folder)(error))
        }
        _ => Ok(()),
    }
}

/// Removes what nobody may want when a run is taken up, and would then not tell of its later rounds.
pub(super) fn remove_on_demand(folder: &Path) -> Result<(), Error> {
    remove_where(folder, |name| ON_DEMAND.contains(&name))
}

/// Removes what was not in place yet when a process was killed.
pub(super) fn remove_strays(folder: &Path) -> Result<(), Error> {
    remove_where(folder, |name| disk::stray_of(name).is_some_and(is_ours))
}

fn remove_where(folder: &Path, which: impl Fn(&str) -> bool) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        let path = entry.path();
        if entry.file_name().to_str().is_some_and(&which) && is_plain_file(&path) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    let name = disk::stray_of(name).unwrap_or(name);
    let known = NAMES.contains(&name) || ON_DEMAND.contains(&name);
    known || name == MARK || checkpoint::round_of(name).is_some()
}

/// Not a folder, and no link to something elsewhere.
fn is_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

fn remove(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(Error::io("remove", path))
}
