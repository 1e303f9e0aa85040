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

/// Whether the user's input is to blame, so that the exit code is 2.
pub(crate) fn is_bad_input(error: &anyhow::Error) -> bool {
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

/// Whether a person watches stderr.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}
