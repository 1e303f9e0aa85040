//! `aerofed methods`

use aerofed::method::Registry;
use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::console;

#[derive(Args)]
#[command(after_help = "Example:\n  aerofed run --method hfl")]
pub(crate) struct MethodsArgs {
    /// Print them as one JSON list
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &MethodsArgs) -> Result<()> {
    let registry = Registry::builtin();
    if args.json {
        let methods: Vec<_> = registry
            .entries()
            .iter()
            .map(|entry| json!({ "name": entry.name(), "summary": entry.summary() }))
            .collect();
        return console::result(&serde_json::to_string(&methods)?);
    }
    let indent = registry.names().map(str::len).max().unwrap_or(0) + 2;
    let columns = console::width().saturating_sub(indent);
    for entry in registry.entries() {
        let lines = console::wrapped(entry.summary(), columns);
        let below = format!("\n{:indent$}", "");
        console::result(&format!("{:indent$}{}", entry.name(), lines.join(&below)))?;
    }
    Ok(())
}
