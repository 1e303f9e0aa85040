//! `aerofed report`

use std::fs;
use std::path::PathBuf;

use aerofed::Error;
use aerofed::disk::replace_file;
use aerofed_report::Report;
use aerofed_report::units::counted;
use anyhow::Result;
use clap::Args;

use super::outputs;
use crate::console::{self, BadInput};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    aerofed report runs/quickstart-hfl-1\n  \
    aerofed report runs/a runs/b runs/c --out abc.html\n  \
    aerofed report runs/compare-quickstart-0a1b2c\n\n\
    Writes one page with curves, costs, tables and a map replay, which opens offline in any browser.\n\
    Runs that differ in their seed alone are put together. `run`, `compare`\n\
    and `reproduce` write theirs themselves.")]
pub(crate) struct ReportArgs {
    /// Run folders, or the folder of a comparison or a reproduction
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Where to write [default: report.html in the folder, or here when there are several]
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Also write plots (SVG) and tables (Markdown) for documents into this folder
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Replace other files that are there already
    #[arg(long)]
    force: bool,
    /// No remarks
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &ReportArgs) -> Result<()> {
    let out = match (&args.out, &args.folders[..]) {
        (Some(out), _) if out.as_os_str().is_empty() || out.is_dir() => {
            let reason = format!("`--out` is {:?}, allowed: a file", out.display());
            return Err(BadInput(reason).into());
        }
        (Some(out), _) => out.clone(),
        (None, [folder]) => folder.join("report.html"),
        (None, _) => "report.html".into(),
    };
    let report = Report::read(&args.folders)?;
    let page = report.html();
    // A page in a folder of ours is ours.
    let ours = args.out.is_none() && args.folders.len() == 1;
    outputs::check(&out, Some(page.as_bytes()), args.force || ours)?;
    let figures = match &args.figures {
        Some(folder) => {
            let figures = report.figures();
            for (name, contents) in &figures {
                outputs::check(&folder.join(name), Some(contents.as_bytes()), args.force)?;
            }
            Some((folder, figures))
        }
        None => None,
    };
    replace_file(&out, page.as_bytes())?;
    let size = page.len().div_ceil(1000);
    remark(args, &format!("wrote {} ({size} kB)", out.display()));
    if let Some((folder, figures)) = figures {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        for (name, contents) in &figures {
            replace_file(&folder.join(name), contents.as_bytes())?;
        }
        let (files, folder) = (counted(figures.len(), "file"), folder.display());
        remark(args, &format!("wrote {files} into {folder}"));
    }
    Ok(())
}

fn remark(args: &ReportArgs, text: &str) {
    if !args.quiet {
        console::message(text);
    }
}
