//! `aerofed completions` and `aerofed man`

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::console::{self, BadInput};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    aerofed completions bash > ~/.local/share/bash-completion/completions/aerofed\n  \
    aerofed completions zsh > ~/.zfunc/_aerofed\n  \
    aerofed completions fish > ~/.config/fish/completions/aerofed.fish")]
pub(crate) struct CompletionsArgs {
    /// Whose
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    aerofed man > ~/.local/share/man/man1/aerofed.1\n  \
    aerofed man run | man -l -")]
pub(crate) struct ManArgs {
    /// A command; none: the page that lists them
    command: Option<String>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "aerofed", &mut text);
    console::result(String::from_utf8_lossy(&text).trim_end())
}

pub(crate) fn man(args: &ManArgs) -> Result<()> {
    let mut cli = Cli::command();
    // Gives every command its full name.
    cli.build();
    let page = match &args.command {
        None => cli,
        Some(name) => match cli.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let names: Vec<_> = cli.get_subcommands().map(clap::Command::get_name).collect();
                let names = names.join(", ");
                let reason = format!("no command {name:?}, there are: {names}");
                return Err(BadInput(reason).into());
            }
        },
    };
    let mut text = Vec::new();
    let source = concat!("aerofed ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(page)
        .source(source)
        .render(&mut text)?;
    console::result(String::from_utf8_lossy(&text).trim_end())
}
