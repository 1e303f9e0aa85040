//! Everything that goes to the terminal.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;

/// Input that cannot be used, found by the command line itself.
#[derive(Debug)]
pub(crate) struct BadInput(pub(crate) String);

impl std::fmt::Display for BadInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// Ctrl-C or SIGTERM: what is kept, and how to go on.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "interrupted{}", self.0)
    }
}

impl std::error::Error for Interrupted {}

/// What the program ends with: what shells have for Ctrl-C, 2 where the input is to blame, or 1.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    if is_interrupted(error) {
        INTERRUPTED
    } else if is_bad_input(error) {
        2
    } else {
        1
    }
}

/// 128 and the number of SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Whether the user has ended it.
pub(crate) fn is_interrupted(error: &anyhow::Error) -> bool {
    let by_core = |cause: &aerofed::Error| matches!(cause, aerofed::Error::Interrupted);
    error.chain().any(|cause| {
        cause.is::<Interrupted>() || cause.downcast_ref::<aerofed::Error>().is_some_and(by_core)
    })
}

/// Whether the user's input is to blame, so that the exit code is 2.
fn is_bad_input(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<BadInput>()
            || cause
                .downcast_ref::<aerofed::Error>()
                .is_some_and(aerofed::Error::is_bad_input)
            || cause.is::<aerofed::scenario::ScenarioError>()
            || cause
                .downcast_ref::<aerofed_experiment::Error>()
                .is_some_and(aerofed_experiment::Error::is_bad_input)
            || cause
                .downcast_ref::<aerofed_data::Error>()
                .is_some_and(aerofed_data::Error::is_bad_input)
            || cause.is::<aerofed_nn::Error>()
            || cause
                .downcast_ref::<aerofed_report::Error>()
                .is_some_and(aerofed_report::Error::is_bad_input)
    })
}

/// Whether whoever read our output has had enough, as `head` does.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref())
        .any(closed)
}

/// An error and its causes in one line, each said once: many errors already end with their cause.
pub(crate) fn explain(error: &anyhow::Error) -> String {
    let mut causes = error.chain().map(ToString::to_string);
    let first = causes.next().unwrap_or_default();
    causes.fold(first, |text, cause| {
        if text.ends_with(&cause) {
            text
        } else {
            format!("{text}: {cause}")
        }
    })
}

/// A result, to stdout.
pub(crate) fn result(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(stdout.flush()?)
}

/// A remark, to stderr; nobody listening is no error.
pub(crate) fn message(text: &str) {
    _ = writeln!(io::stderr().lock(), "{text}");
}

/// Columns of the terminal that results go to; 100 where they go elsewhere.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout());
    terminal.map_or(100, |(width, _)| usize::from(width.0))
}

/// A text in lines of so many columns, but for words that are longer.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let fits = |line: &&mut String| line.chars().count() + 1 + word.chars().count() <= columns;
        match lines.last_mut().filter(fits) {
            Some(line) => line.extend([" ", word]),
            None => lines.push(word.into()),
        }
    }
    lines
}

/// Whether a person watches stderr.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn words_go_into_lines_that_are_no_longer_than_asked_for() {
        let lines = wrapped("the UAV that flies least aggregates", 12);
        assert_eq!(lines, ["the UAV that", "flies least", "aggregates"]);
        assert_eq!(wrapped("aggregates it", 3), ["aggregates", "it"]);
        assert!(wrapped("", 0).is_empty());
    }
}
