//! Whose the samples are: `users.csv` beside the files of a set.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Users};

/// The file's name.
pub(crate) const FILE: &str = "users.csv";
/// Bytes at most: more is a mistake.
const MAX_BYTES: u64 = 1 << 30;

/// The file, where there is one.
pub(crate) fn file(dir: &Path) -> Option<PathBuf> {
    Some(dir.join(FILE)).filter(|path| path.is_file())
}

/// Users of samples without names: a line `user`, then a line per training sample in order.
pub(crate) fn in_order(dir: &Path, samples: usize) -> Result<Option<Users>, Error> {
    let path = dir.join(FILE);
    let Some(text) = read(&path)? else {
        return Ok(None);
    };
    let mut users = Gathered::default();
    for (line, row) in rows(&path, &text, &["user"])? {
        users.add(field(&path, line, row)?);
    }
    let found = users.of_sample.len();
    if found != samples {
        let problem = format!("{found} users, but the set has {samples} training samples");
        return Err(refuse(&path, problem));
    }
    Ok(Some(users.into()))
}

/// Users of files: a line `file,user`, then a line per file, named from the folder as in `lake/17.jpg`.
pub(crate) fn by_file(dir: &Path, files: &[&PathBuf]) -> Result<Option<Users>, Error> {
    let path = dir.join(FILE);
    let Some(text) = read(&path)? else {
        return Ok(None);
    };
    let mut owners: HashMap<String, &str> = HashMap::new();
    for (line, row) in rows(&path, &text, &["file", "user"])? {
        let Some((file, user)) = row.rsplit_once(',') else {
            return Err(refuse(
                &path,
                format!("line {line}: {row:?} is not `file,user`"),
            ));
        };
        let (file, user) = (field(&path, line, file)?, field(&path, line, user)?);
        let before = owners.insert(file.replace('\\', "/"), user);
        if before.is_some_and(|before| before != user) {
            return Err(refuse(
                &path,
                format!("line {line}: {file} has another user above"),
            ));
        }
    }
    let mut users = Gathered::default();
    for file in files {
        let name = file.strip_prefix(dir).unwrap_or(file);
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let name = parts.join("/");
        match owners.get(&name) {
            Some(user) => users.add(user),
            None => return Err(refuse(&path, format!("has no line for {name}"))),
        }
    }
    Ok(Some(users.into()))
}

fn refuse(path: &Path, problem: String) -> Error {
    Error::Users {
        path: path.to_path_buf(),
        problem,
    }
}

/// The text; none where there is no such file.
fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(path)(error)),
        Ok(metadata) if !metadata.is_file() => return Err(Error::NotAFile(path.to_path_buf())),
        Ok(metadata) if metadata.len() > MAX_BYTES => {
            return Err(refuse(path, format!("has more than {MAX_BYTES} bytes")));
        }
        Ok(_) => {}
    }
    fs::read_to_string(path).map(Some).map_err(Error::io(path))
}

/// The lines below the head, numbered as editors do; empty ones are passed over.
fn rows<'a>(
    path: &Path,
    text: &'a str,
    head: &[&str],
) -> Result<impl Iterator<Item = (usize, &'a str)>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines());
    let first = lines.next().map_or("", |(_, line)| line);
    if !first.split(',').map(bare).eq(head.iter().copied()) {
        let expected = head.join(",");
        return Err(refuse(
            path,
            format!("line 1: is {first:?}, expected `{expected}`"),
        ));
    }
    Ok(lines.filter(|(_, line)| !line.trim().is_empty()))
}

/// A field without the blanks and quotes around it, which must hold something.
fn field<'a>(path: &Path, line: usize, text: &'a str) -> Result<&'a str, Error> {
    match bare(text) {
        "" => Err(refuse(path, format!("line {line}: an empty field"))),
        text => Ok(text),
    }
}

fn bare(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    inner.unwrap_or(text)
}

/// Users in the order in which they are met.
#[derive(Default)]
struct Gathered<'a> {
    numbers: HashMap<&'a str, u32>,
    names: Vec<String>,
    of_sample: Vec<u32>,
}

impl<'a> Gathered<'a> {
    fn add(&mut self, user: &'a str) {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(user).or_insert(next);
        if number == next {
            self.names.push(user.to_owned());
        }
        self.of_sample.push(number);
    }
}

impl From<Gathered<'_>> for Users {
    fn from(gathered: Gathered<'_>) -> Self {
        Self {
            names: gathered.names,
            of_sample: gathered.of_sample,
        }
    }
}
