//! The command `faro`: writes, reads, inspects, checks, compares and repairs Faro files.

mod checksum;
mod cli;
mod commands;
mod diff;
mod dump;
mod escape;
mod failure;
mod folder;
mod pack;
mod partitions;
mod picture;
mod positioned;
mod progress;
mod replace;
mod report;
mod rows;
mod signals;
mod streams;
mod target;
mod term;
mod units;
mod view;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use failure::{Failure, Outcome};
use term::{Out, Style};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = Out::stdout(cli.color);
    let result = run(&cli.command, &mut out).and_then(|()| out.finish());
    // A command that was interrupted may have failed in any way.
    let result = result.map_err(|failure| {
        if signals::interrupted() {
            Failure::Interrupted
        } else {
            failure
        }
    });
    let Err(failure) = result else { return ExitCode::SUCCESS };
    if out.is_closed() {
        // The reader of the output has closed it.
        return ExitCode::SUCCESS;
    }
    // Print the output from before the failure first.
    let _ = out.finish();
    if !failure.is_silent() {
        let style = Style::new(cli.color.wanted(std::io::stderr().is_terminal()));
        eprintln!("{} {failure}", style.red("faro:"));
        if let Some(hint) = failure.hint() {
            eprintln!("{} {}", style.bold("hint:"), escape::escape(&hint));
        }
    }
    failure.exit_code()
}

fn run(command: &Command, out: &mut Out) -> Outcome {
    match command {
        Command::Pack(args) => pack::run(args, out),
        Command::Cat(args) => commands::cat::run(args, out),
        Command::Head(args) => commands::head::run(args, out),
        Command::Schema(args) => commands::schema::run(args, out),
        Command::Info(args) => commands::info::run(args, out),
        Command::Layout(args) => commands::layout::run(args, out),
        Command::Top(args) => commands::top::run(args, out),
        Command::Where(args) => commands::locate_key::run(args, out),
        Command::Check(args) => commands::check::run(args, out),
        Command::Merge(args) => commands::merge::run(args, out),
        Command::Dump(args) => dump::run(args, out),
        Command::Diff(args) => diff::run(args, out),
        Command::Report(args) => report::run(args, out),
        #[cfg(not(target_os = "wasi"))]
        Command::View(args) => report::view(args, out),
        Command::Repair(args) => commands::repair::run(args, out),
        Command::Clean(args) => commands::clean::run(args, out),
        Command::Completions(args) => commands::help::completions(args, Cli::command(), out),
        Command::Man(args) => commands::help::man(args, Cli::command(), out),
    }
}
