//! The arguments of `faro` as a whole.

use clap::{Parser, Subcommand};

use crate::term::Color;
use crate::{commands, diff, dump, pack, report};

/// The exit codes of all commands.
const EXIT_CODES: &str = "\
Exit codes:
  0    success; also when the reader of the output has closed it (`| head`)
  1    `diff` found differences
  2    the arguments are wrong
  3    the system reported an error: missing file, no space, file exists
  4    a file is damaged, unfinished or does not follow its format
  130  interrupted: no files are left";

/// Write, read, inspect, check, compare and repair Faro files: partitioned shuffle data
#[derive(Parser, Debug)]
#[command(
    name = "faro",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Color,

    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Pack(Box<pack::PackArgs>),
    Cat(commands::cat::CatArgs),
    Head(commands::head::HeadArgs),
    Schema(commands::schema::SchemaArgs),
    Info(commands::info::InfoArgs),
    Layout(commands::layout::LayoutArgs),
    Top(commands::top::TopArgs),
    Where(commands::locate_key::WhereArgs),
    Check(commands::check::CheckArgs),
    Merge(commands::merge::MergeArgs),
    Dump(dump::DumpArgs),
    Diff(diff::DiffArgs),
    Report(report::ReportArgs),
    #[cfg(not(target_os = "wasi"))]
    View(report::ViewArgs),
    Repair(commands::repair::RepairArgs),
    Clean(commands::clean::CleanArgs),
    Completions(commands::help::CompletionsArgs),
    Man(commands::help::ManArgs),
}
