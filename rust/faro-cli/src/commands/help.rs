//! `faro completions` and `faro man`: completions and manual pages, made from the definitions of the arguments.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::{Failure, Outcome};
use crate::term::Out;

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  faro completions bash > ~/.local/share/bash-completion/completions/faro
  faro completions zsh > ~/.zfunc/_faro
  faro completions fish > ~/.config/fish/completions/faro.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page of faro or of one of its commands, or write them all
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  faro man | man -l -
  faro man pack | man -l -
  faro man --all ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command; without it, faro itself
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "command")]
    all: Option<PathBuf>,
}

/// Runs `faro completions`. `whole` is the definition of all commands.
pub(crate) fn completions(args: &CompletionsArgs, mut whole: Command, out: &mut Out) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole, "faro", &mut script);
    out.text(&String::from_utf8_lossy(&script))
}

/// Runs `faro man`. `whole` is the definition of all commands.
pub(crate) fn man(args: &ManArgs, mut whole: Command, out: &mut Out) -> Outcome {
    whole.build();
    if let Some(directory) = &args.all {
        std::fs::create_dir_all(directory).map_err(|source| Failure::file(directory, source))?;
        for command in std::iter::once(&whole).chain(whole.get_subcommands()) {
            let path = directory.join(format!("{}.1", page_name(command)));
            let write = std::fs::File::create(&path).and_then(|mut file| file.write_all(&page(command)?));
            write.map_err(|source| Failure::file(&path, source))?;
        }
        return Ok(());
    }
    let command = match &args.command {
        None => &whole,
        Some(name) => whole
            .find_subcommand(name)
            .ok_or_else(|| Failure::usage(format!("there is no command \"{name}\"")))?,
    };
    let page = page(command).map_err(|source| Failure::Environment {
        what: "manual page".to_owned(),
        source,
    })?;
    out.text(&String::from_utf8_lossy(&page))
}

fn page_name(command: &Command) -> String {
    match command.get_name() {
        "faro" => "faro".to_owned(),
        name => format!("faro-{name}"),
    }
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().display_name(page_name(command))).render(&mut page)?;
    Ok(page)
}
