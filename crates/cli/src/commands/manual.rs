//! `aerofed completions` and `aerofed man`

use aerofed::scenario::BUILT_IN;
use anyhow::Result;
use clap::builder::PossibleValue;
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
    let mut text = String::from_utf8_lossy(&text).into_owned();
    let names = BUILT_IN
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(" ");
    match args.shell {
        // Where names are known it would offer no files.
        Shell::Zsh => {
            let both =
                format!("{{_alternative \"names:scenario:({names})\" \"files:file:_files\"}}");
            text = text.replace(&format!(":({names})'"), &format!(":{both}'"));
        }
        // It does not look at what comes without a flag.
        Shell::Fish => text.push_str(&fish_names(&names)),
        _ => {}
    }
    console::result(text.trim_end())
}

/// Lines that make fish offer the scenarios of the library wherever one can be named.
fn fish_names(names: &str) -> String {
    let is_scenario = |argument: &clap::Arg| {
        let values = argument.get_possible_values();
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        values.join(" ") == names
    };
    let takes_one = |command: &clap::Command| command.get_positionals().any(is_scenario);
    let mut lines = String::new();
    for command in Cli::command().get_subcommands() {
        let under = format!("__fish_aerofed_using_subcommand {}", command.get_name());
        let below = command.get_subcommands().filter(|below| takes_one(below));
        let below = below.map(|below| {
            format!(
                "{under}; and __fish_seen_subcommand_from {}",
                below.get_name()
            )
        });
        let own = takes_one(command).then(|| under.clone());
        for condition in own.into_iter().chain(below) {
            lines += &format!("complete -c aerofed -n \"{condition}\" -a \"{names}\"\n");
        }
    }
    lines
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
