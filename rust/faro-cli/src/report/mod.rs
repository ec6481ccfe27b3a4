//! `faro report`: a page about outputs for a browser, in one file that needs nothing else.

mod blocks;
mod bytes;
mod fault;
mod heat;
mod model;
mod output;
mod page;
mod records;
mod shuffle;
mod wanted;

use std::path::PathBuf;

use crate::commands::check::LevelName;
use crate::failure::{Failure, Outcome};
use crate::term::Out;
use clap::Args;
use model::Report;
use wanted::Wanted;

/// Make a page for a browser: sizes, skew, blocks, records and bytes of outputs
#[derive(Args, Debug)]
#[command(after_long_help = "\
The page is one file. It loads nothing, sends nothing, and runs no text of the outputs, so it can be attached to a \
ticket. A folder has a picture of its producers and partitions, and a part for each damaged output. The page contains the first records of the largest partitions: pass --records 0 to leave them out.

A damaged output has its first fault, and the bytes around it.

Examples:
  faro report shuffle --html shuffle.html
  faro report map-*.index --html maps.html --records 0
  faro report shuffle/ --html shuffle.html        # all outputs in a folder
  faro report shuffle --json | jq '.subjects[0].fault'")]
pub(crate) struct ReportArgs {
    /// The outputs: NAME, one of its files NAME.data, NAME.index, NAME.faro, or a folder of many outputs
    #[arg(required = true, value_name = "NAME")]
    names: Vec<PathBuf>,

    /// Write the page into this file; `-` is standard output
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    html: Option<PathBuf>,

    /// Print what the page shows as JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,

    /// How much to check
    #[arg(short, long, value_enum, value_name = "LEVEL", default_value = "decode")]
    level: LevelName,

    /// How many records of each of the three largest partitions to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    records: usize,

    /// How many blocks to show
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    blocks: usize,

    /// How many bytes of each file to explain
    #[arg(long, value_name = "N", default_value_t = 4_096)]
    bytes: u64,

    /// The address of the specification's pages, for links to clauses, such as https://example.org/spec
    #[arg(long, value_name = "URL")]
    spec: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &ReportArgs, out: &mut Out) -> Outcome {
    if let Some(address) = args.spec.as_ref().filter(|address| !is_address(address)) {
        return Err(Failure::usage(format!(
            "\"{address}\" is not an address of http or https"
        )));
    }
    let wanted = Wanted {
        level: args.level.level(),
        records: args.records,
        blocks: args.blocks,
        bytes: args.bytes,
        spec: args.spec.clone(),
    };
    let mut subjects = Vec::new();
    for name in &args.names {
        if faro::shuffle::is_folder(name) {
            subjects.extend(shuffle::subjects(name, &wanted)?);
        } else {
            subjects.push(output::subject(name, &wanted)?);
        }
    }
    let is_damaged = subjects.iter().any(|subject| subject.fault.is_some());
    let report = Report {
        version: 1,
        title: match &args.names[..] {
            [one] => format!("Faro: {}", one.display()),
            several => format!("Faro: {} names", several.len()),
        },
        made: format!("made by faro {}", env!("CARGO_PKG_VERSION")),
        subjects,
    };
    match &args.html {
        None => out.json(&report)?,
        Some(path) if path.as_os_str() == "-" => out.text(&page::html(&report)?)?,
        Some(path) => std::fs::write(path, page::html(&report)?).map_err(|source| Failure::file(path, source))?,
    }
    if is_damaged { Err(Failure::Shown(4)) } else { Ok(()) }
}

/// Only such an address becomes a link: others could run a script.
fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}
