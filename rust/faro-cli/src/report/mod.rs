//! `faro report`: a page about outputs for a browser, in one file that needs nothing else.

mod blocks;
mod bytes;
mod fault;
mod heat;
mod model;
mod output;
mod page;
mod records;
#[cfg(not(target_os = "wasi"))]
mod serve;
mod shown;
mod shuffle;
mod wanted;

use std::path::PathBuf;

use crate::failure::{Failure, Outcome};
use crate::replace::replace;
use crate::term::Out;
use clap::Args;
#[cfg(not(target_os = "wasi"))]
pub(crate) use serve::{ViewArgs, run as view};
use shown::ShownArgs;

/// Make a page for a browser: sizes, skew, blocks, records and bytes of outputs
#[derive(Args, Debug)]
#[command(after_long_help = "\
The page is one file. It loads nothing, sends nothing, and runs no text of the outputs, so it can be attached to a \
ticket. A folder has a picture of its producers and partitions, and a part for each damaged output. The page contains the first records of the largest partitions, and bytes of payloads: pass --records 0 to leave both out.

A damaged output has its first fault, and the bytes around it.

Examples:
  faro report shuffle --html shuffle.html
  faro report map-*.index --html maps.html --records 0
  faro report shuffle/ --html shuffle.html        # all outputs in a folder
  faro report shuffle --json | jq '.subjects[0].fault'")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    shown: ShownArgs,

    /// Write the page into this file; `-` is standard output
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    html: Option<PathBuf>,

    /// Print what the page shows as JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ReportArgs, out: &mut Out) -> Outcome {
    let report = args.shown.report()?;
    match &args.html {
        None => out.json(&report)?,
        Some(path) if path.as_os_str() == "-" => out.text(&page::html(&report)?)?,
        Some(path) => replace(path, &page::html(&report)?)?,
    }
    if report.is_damaged() {
        Err(Failure::Shown(4))
    } else {
        Ok(())
    }
}
