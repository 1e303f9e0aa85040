//! Tables that users bring: named columns, all of one length, each asked for as numbers or as words.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// Bytes of a file at most: more is a mistake.
const MAX_BYTES: u64 = 1 << 30;

/// A table from a file. Nothing in it depends on the file's format but [`place`](Self::place).
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    path: PathBuf,
    names: Vec<String>,
    columns: Vec<Words>,
    /// The line that each row starts on, as editors count.
    lines: Vec<usize>,
}

/// The words of a column, one after the other in one text.
#[derive(Clone, Debug, Default, PartialEq)]
struct Words {
    text: String,
    ends: Vec<usize>,
}

impl Words {
    fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.text[start..end])
    }
}

impl Table {
    /// Reads comma-separated values: a line of column names, then a line per row. Fields may be in quotes (`""` is a quote
    /// inside them); blanks around fields and empty lines do not count.
    ///
    /// # Errors
    /// When the file cannot be read, has no names, a name twice, or rows that are shorter or longer than the names.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let metadata = fs::metadata(path).map_err(Error::io(path))?;
        if !metadata.is_file() {
            return Err(Error::NotAFile(path.to_path_buf()));
        }
        if metadata.len() > MAX_BYTES {
            return Err(refuse(path, format!("has more than {MAX_BYTES} bytes")));
        }
        let text = fs::read_to_string(path).map_err(Error::io(path))?;
        Self::from_csv(path, &text)
    }

    /// The table in a text of comma-separated values; `path` is for messages.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_csv(path: &Path, text: &str) -> Result<Self, Error> {
        let mut rows = Rows::new(text);
        let mut fields = Vec::new();
        let head = rows.next_into(&mut fields);
        if head
            .map_err(|(line, problem)| at_line(path, line, problem))?
            .is_none()
        {
            return Err(refuse(path, "is empty".into()));
        }
        let names = fields.clone();
        for (index, name) in names.iter().enumerate() {
            if name.is_empty() {
                let problem = format!("column {} has no name", index + 1);
                return Err(refuse(path, problem));
            }
            if names[..index].contains(name) {
                return Err(refuse(path, format!("has two columns `{name}`")));
            }
        }
        let mut table = Self {
            path: path.to_path_buf(),
            columns: vec![Words::default(); names.len()],
            names,
            lines: Vec::new(),
        };
        while let Some(line) = rows
            .next_into(&mut fields)
            .map_err(|(line, problem)| at_line(path, line, problem))?
        {
            if fields.len() != table.names.len() {
                let (found, expected) = (fields.len(), table.names.len());
                let problem = format!("{found} fields, but there are {expected} columns");
                return Err(at_line(path, line, problem));
            }
            for (column, field) in table.columns.iter_mut().zip(&fields) {
                column.push(field);
            }
            table.lines.push(line);
        }
        Ok(table)
    }

    /// The file that it is from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// The names of the columns, in their order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether there is a column of that name.
    #[must_use]
    pub fn has(&self, column: &str) -> bool {
        self.names.iter().any(|name| name == column)
    }

    /// Where a row is in the file, as in "line 7".
    #[must_use]
    pub fn place(&self, row: usize) -> String {
        match self.lines.get(row) {
            Some(line) => format!("line {line}"),
            None => format!("row {}", row + 1),
        }
    }

    /// A column of finite numbers.
    ///
    /// # Errors
    /// When there is no such column, or a field of it is no finite number.
    pub fn numbers(&self, column: &str) -> Result<Vec<f64>, Error> {
        let words = self.column(column)?;
        let mut numbers = Vec::with_capacity(self.rows());
        for (row, word) in words.iter().enumerate() {
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                _ => return Err(self.refuse(row, column, &format!("{word:?}"), "a number")),
            }
        }
        Ok(numbers)
    }

    /// A column of words, any of which may be empty.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn words(&self, column: &str) -> Result<Vec<&str>, Error> {
        Ok(self.column(column)?.iter().collect())
    }

    /// What to say of a field that cannot be used, with its place.
    #[must_use]
    pub fn refuse(&self, row: usize, column: &str, value: &str, allowed: &str) -> Error {
        let place = self.place(row);
        refuse(
            &self.path,
            format!("{place}, column `{column}`: {value}, allowed: {allowed}"),
        )
    }

    fn column(&self, column: &str) -> Result<&Words, Error> {
        let found = self.names.iter().position(|name| name == column);
        found.map(|index| &self.columns[index]).ok_or_else(|| {
            let names = self.names.join("`, `");
            refuse(
                &self.path,
                format!("has no column `{column}`; there are `{names}`"),
            )
        })
    }
}

fn refuse(path: &Path, problem: String) -> Error {
    Error::Table {
        path: path.to_path_buf(),
        problem,
    }
}

fn at_line(path: &Path, line: usize, problem: String) -> Error {
    refuse(path, format!("line {line}: {problem}"))
}

/// Rows of a text, one at a time.
struct Rows<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Rows<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text),
            line: 1,
        }
    }

    /// Fills in the fields of the next row that is not empty, and says which line it starts on.
    fn next_into(&mut self, fields: &mut Vec<String>) -> Result<Option<usize>, (usize, String)> {
        loop {
            fields.clear();
            if self.rest.is_empty() {
                return Ok(None);
            }
            let line = self.line;
            while self.field(fields).map_err(|problem| (line, problem))? {}
            if fields.len() > 1 || fields.iter().any(|field| !field.is_empty()) {
                return Ok(Some(line));
            }
        }
    }

    /// Takes one field; whether another follows in its row.
    fn field(&mut self, fields: &mut Vec<String>) -> Result<bool, String> {
        let start = self.rest.trim_start_matches([' ', '\t']);
        let Some(mut quoted) = start.strip_prefix('"') else {
            let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
            fields.push(self.rest[..end].trim().to_owned());
            self.rest = &self.rest[end..];
            return self.separator();
        };
        let mut field = String::new();
        loop {
            let end = quoted.find('"').ok_or("a quote is not closed")?;
            field.push_str(&quoted[..end]);
            quoted = &quoted[end + 1..];
            match quoted.strip_prefix('"') {
                Some(after) => {
                    field.push('"');
                    quoted = after;
                }
                None => break,
            }
        }
        self.line += field.matches('\n').count();
        self.rest = quoted.trim_start_matches([' ', '\t', '\r']);
        if !self.rest.is_empty() && !self.rest.starts_with([',', '\n']) {
            return Err("a quoted field goes on after its quotes".into());
        }
        fields.push(field);
        self.separator()
    }

    fn separator(&mut self) -> Result<bool, String> {
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            return Ok(true);
        }
        if let Some(rest) = self.rest.strip_prefix('\n') {
            self.rest = rest;
            self.line += 1;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(text: &str) -> Result<Table, String> {
        Table::from_csv(Path::new("t.csv"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_found_by_name_as_numbers_or_words() {
        let text = "\u{feff}id, x_m ,name\r\n7,1.5,\"a, \"\"b\"\"\"\r\n\r\n8, -2e3 , c \r\n9,0,\"two\nlines\"\n10,1,";
        let table = table(text).unwrap();
        assert_eq!(table.names(), ["id", "x_m", "name"]);
        assert_eq!(table.rows(), 4);
        assert_eq!(table.numbers("x_m").unwrap(), [1.5, -2e3, 0.0, 1.0]);
        let names = ["a, \"b\"", "c", "two\nlines", ""];
        assert_eq!(table.words("name").unwrap(), names);
        assert_eq!(table.words("id").unwrap(), ["7", "8", "9", "10"]);
        assert!(table.has("id") && !table.has("ID"));
        let places: Vec<String> = (0..4).map(|row| table.place(row)).collect();
        assert_eq!(places, ["line 2", "line 4", "line 5", "line 7"]);
    }

    #[test]
    fn mistakes_are_told_with_file_line_and_column() {
        for (text, expected) in [
            ("", "t.csv: is empty"),
            ("\n \n", "t.csv: is empty"),
            ("a,,c\n", "t.csv: column 2 has no name"),
            ("a,b,a\n", "t.csv: has two columns `a`"),
            (
                "a,b\n1,2\n\n3\n",
                "t.csv: line 4: 1 fields, but there are 2 columns",
            ),
            (
                "a,b\n1,2,3\n",
                "t.csv: line 2: 3 fields, but there are 2 columns",
            ),
            ("a\n\"1\n", "t.csv: line 2: a quote is not closed"),
            (
                "a\n\"1\"2\n",
                "t.csv: line 2: a quoted field goes on after its quotes",
            ),
        ] {
            assert_eq!(table(text), Err(expected.into()), "{text:?}");
        }
        let table = table("a,b\n1,x\nnan,\n").unwrap();
        let numbers = |column| table.numbers(column).unwrap_err().to_string();
        assert_eq!(
            numbers("a"),
            "t.csv: line 3, column `a`: \"nan\", allowed: a number"
        );
        assert_eq!(
            numbers("b"),
            "t.csv: line 2, column `b`: \"x\", allowed: a number"
        );
        assert_eq!(numbers("c"), "t.csv: has no column `c`; there are `a`, `b`");
    }

    #[test]
    fn a_file_is_read_and_a_folder_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t.csv");
        fs::write(&file, "a\n1\n").unwrap();
        assert_eq!(Table::read(&file).unwrap().numbers("a").unwrap(), [1.0]);
        assert!(Table::read(dir.path()).is_err());
        assert!(Table::read(&dir.path().join("no.csv")).is_err());
        fs::write(&file, [b'a', b'\n', 0xff]).unwrap();
        assert!(Table::read(&file).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a\", \r\n\u{e9}1]{0,40}") {
            if let Ok(table) = table(&text) {
                for name in table.names() {
                    prop_assert_eq!(table.words(name).unwrap().len(), table.rows());
                }
            }
        }

        #[test]
        fn what_is_written_in_quotes_is_read_back(rows in prop::collection::vec("[a\",\n é]{0,8}", 1..6)) {
            let lines = rows.iter().map(|row| format!("\"{}\",1\n", row.replace('"', "\"\"")));
            let text: String = std::iter::once("word,n\n".to_owned()).chain(lines).collect();
            let table = table(&text).unwrap();
            prop_assert_eq!(table.words("word").unwrap(), rows);
        }
    }
}
