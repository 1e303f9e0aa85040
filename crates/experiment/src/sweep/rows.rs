//! Finished runs as rows of files that only grow: thousands of small runs would spend their time on folders.
//!
//! Every process writes a file of its own, `rows/N.csv`, in which a row is a run: its key, a check of the row, and the cells of the
//! table. Whoever is killed leaves at most the last row unfinished; its check does not hold, and the run is done again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use aerofed::record::schema::header;
use aerofed::run_folder::{Stop, inputs_checksum};

use crate::Error;
use crate::csv::line;
use crate::plan::{PlannedRun, digest};
use crate::runner::{Came, Keep, Runner, Watch};
use crate::tidy::{RUN, run_cells};

/// Finished runs: the cells of each by its key.
pub type Rows = HashMap<String, Vec<String>>;

/// The row files of a folder.
pub struct RowFiles {
    folder: PathBuf,
    /// This process's own, made for its first row.
    own: Mutex<Option<File>>,
}

impl RowFiles {
    /// Those of a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
            own: Mutex::new(None),
        }
    }

    /// All rows of all processes, and how many lines are none: cut off, changed, or of another version.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(&self) -> Result<(Rows, usize), Error> {
        let (mut rows, mut others) = (Rows::new(), 0);
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((rows, 0)),
            Err(error) => return Err(aerofed::Error::io("read", &self.folder)(error).into()),
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|ending| ending != "csv") {
                continue;
            }
            let bytes = fs::read(&path).map_err(aerofed::Error::io("read", &path))?;
            // What is not text has a check that does not hold.
            let text = String::from_utf8_lossy(&bytes);
            for row in text.split_inclusive('\n').skip(1) {
                match read_row(row) {
                    Some((key, cells)) => _ = rows.insert(key, cells),
                    None => others += 1,
                }
            }
        }
        Ok((rows, others))
    }

    /// Adds a row. It is the system's when this returns, and survives the process.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn append(&self, key: &str, cells: &[String]) -> Result<(), aerofed::Error> {
        let row = line(
            [key, &check(key, cells)]
                .into_iter()
                .chain(cells.iter().map(String::as_str)),
        );
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(self.create()?);
        }
        let written = own.as_mut().map(|file| file.write_all(row.as_bytes()));
        written
            .unwrap_or(Ok(()))
            .map_err(aerofed::Error::io("write", &self.folder))
    }

    /// Waits until the rows are on the disk.
    ///
    /// # Errors
    /// When the disk does not take them.
    pub fn sync(&self) -> Result<(), aerofed::Error> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let synced = own.as_ref().map(File::sync_all);
        synced
            .unwrap_or(Ok(()))
            .map_err(aerofed::Error::io("write", &self.folder))
    }

    /// A new file under the first number that nobody has.
    fn create(&self) -> Result<File, aerofed::Error> {
        fs::create_dir_all(&self.folder).map_err(aerofed::Error::io("create", &self.folder))?;
        for number in 1u64.. {
            let path = self.folder.join(format!("{number}.csv"));
            match File::create_new(&path) {
                Ok(mut file) => {
                    let head = format!("key,check,{}\n", header(&RUN));
                    file.write_all(head.as_bytes())
                        .map_err(aerofed::Error::io("write", &path))?;
                    return Ok(file);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(aerofed::Error::io("create", &path)(error)),
            }
        }
        Err(aerofed::Error::Output {
            path: self.folder.clone(),
            reason: "holds too many files".into(),
        })
    }
}

/// What a row must have to count: the version is part of it, so that runs of another are done again.
fn check(key: &str, cells: &[String]) -> String {
    digest(&format!("{} {key} {}", aerofed::VERSION, cells.join(",")))
}

fn read_row(row: &str) -> Option<(String, Vec<String>)> {
    let mut cells = row.strip_suffix('\n')?.split(',').map(str::to_owned);
    let (key, stated) = (cells.next()?, cells.next()?);
    let cells: Vec<String> = cells.collect();
    (cells.len() == RUN.len() && stated == check(&key, &cells)).then_some((key, cells))
}

/// Runs that are kept as rows.
pub struct RowKeeper<'a> {
    /// Where.
    pub files: &'a RowFiles,
    /// What was there before.
    pub known: &'a Rows,
    /// The accuracy whose cost a row has.
    pub target: f64,
}

impl RowKeeper<'_> {
    /// What the row of a run is known by: its scenario, and what the files hold that it names.
    ///
    /// # Errors
    /// When such a file cannot be read, or it is told to stop.
    pub fn key(run: &PlannedRun, stop: Stop) -> Result<String, aerofed::Error> {
        Ok(match inputs_checksum(&run.scenario, stop)? {
            Some(inputs) => digest(&format!("{}{inputs}", run.text)),
            None => run.id.clone(),
        })
    }
}

impl Keep for RowKeeper<'_> {
    fn has(&self, run: &PlannedRun, stop: Stop) -> Result<bool, aerofed::Error> {
        Ok(self.known.contains_key(&Self::key(run, stop)?))
    }

    fn keep(
        &self,
        runner: &Runner,
        run: &PlannedRun,
        watch: Watch,
    ) -> Result<Option<Came>, aerofed::Error> {
        let Some(done) = runner.run_in_memory(run, watch)? else {
            return Ok(None);
        };
        let key = Self::key(run, &|| runner.is_stopped())?;
        self.files
            .append(&key, &run_cells(&done, self.target, ""))?;
        Ok(Some(Came::Finished(Box::new(done.summary))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::tests::run;

    fn cells(seed: u64) -> Vec<String> {
        run_cells(
            &run(seed, &[(10.0, 1e3, 0.6), (1.0 / 3.0, 2e3, 0.8)]),
            0.7,
            "",
        )
    }

    #[test]
    fn rows_of_several_processes_are_read_together() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("rows");
        assert_eq!(RowFiles::new(&folder).read().unwrap(), (Rows::new(), 0));
        let [one, two] = [RowFiles::new(&folder), RowFiles::new(&folder)];
        one.append("a", &cells(1)).unwrap();
        two.append("b", &cells(2)).unwrap();
        one.append("c", &cells(3)).unwrap();
        one.append("b", &cells(2)).unwrap();
        one.sync().unwrap();
        let (rows, others) = RowFiles::new(&folder).read().unwrap();
        assert_eq!((rows.len(), others), (3, 0));
        assert_eq!(rows["b"], cells(2));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }

    #[test]
    fn a_row_that_was_cut_off_or_changed_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let files = RowFiles::new(dir.path());
        for key in ["a", "b", "c"] {
            files.append(key, &cells(1)).unwrap();
        }
        let path = dir.path().join("1.csv");
        let whole = fs::read_to_string(&path).unwrap();
        let last = whole.trim_end().rfind('\n').unwrap();
        for end in last + 2..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let (rows, others) = files.read().unwrap();
            assert_eq!((rows.len(), others), (2, 1), "{end}");
        }
        fs::write(&path, whole.replacen("0.8", "0.9", 1)).unwrap();
        assert_eq!(files.read().unwrap().0.len(), 2);
        let mut bytes = whole.into_bytes();
        bytes[last + 4] = 0xff;
        fs::write(&path, bytes).unwrap();
        assert_eq!(files.read().unwrap().0.len(), 2);
    }
}
