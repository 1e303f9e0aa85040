//! Rows of comma-separated values.

/// Quoted when it must be.
pub(super) fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// A number, or nothing.
pub(super) fn number(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// A line of cells, each quoted when it must be.
pub(super) fn line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|text| cell(text.as_ref())).collect();
    cells.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_when_they_must_be() {
        assert_eq!(line(["a", "b, c", "\"d\""]), "a,\"b, c\",\"\"\"d\"\"\"\n");
        assert_eq!(
            (number(Some(1.5)), number(None::<f64>)),
            ("1.5".into(), String::new())
        );
    }
}
