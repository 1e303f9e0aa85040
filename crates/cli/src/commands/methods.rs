//! `aerofed methods`

use aerofed::method::REGISTRY;
use anyhow::Result;

use crate::console;

pub(crate) fn run() -> Result<()> {
    let width = REGISTRY
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    for entry in REGISTRY {
        console::result(&format!("{:width$}  {}", entry.name, entry.summary))?;
    }
    Ok(())
}
