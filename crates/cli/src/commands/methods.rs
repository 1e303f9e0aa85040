//! `aerofed methods`

use aerofed::method::Registry;
use anyhow::Result;

use crate::console;

pub(crate) fn run() -> Result<()> {
    let registry = Registry::builtin();
    let width = registry.names().map(str::len).max().unwrap_or(0);
    for entry in registry.entries() {
        let (name, summary) = (entry.name(), entry.summary());
        console::result(&format!("{name:width$}  {summary}"))?;
    }
    Ok(())
}
