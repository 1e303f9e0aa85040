//! `aerofed methods`

use aerofed::method::Registry;
use anyhow::Result;

use crate::console;

pub(crate) fn run() -> Result<()> {
    let width = REGISTRY
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    for entry in Registry::builtin().entries() {
        console::result(&format!("{:width$}  {}", entry.name, entry.summary))?;
    }
    Ok(())
}
