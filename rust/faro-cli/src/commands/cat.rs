//! `faro cat`: prints partitions.

use clap::Args;

use super::fragments::{self, is_fragments};
use crate::failure::{Failure, Outcome};
use crate::partitions::Selection;
use crate::rows::{As, Printer, Printing, Source};
use crate::target::AnyTarget;
use crate::term::Out;
use crate::units;

/// Print the records of partitions in the format that was packed
#[derive(Args, Debug)]
#[command(after_long_help = "\
CSV and TSV are printed with the header line that `faro pack` kept. Arrow and Parquet outputs are printed in the \
format that was packed, on a terminal as JSON lines; --format converts them to arrow (an IPC stream), parquet, csv or \
jsonl. Records of other writers are printed with a line end after each.

Partitions are printed one after another in the order given. Data that several partitions share is stored once, and \
printed once for each selected partition, also with --all. Of a folder, each partition is printed from all outputs in \
it, one after another; their rows must have the same columns. A header line is printed once.

Of a file of fragments, as map tasks of Spark leave for its shuffle service, the payloads are printed as they are, in the \
order of the file.

Events are never printed, not even with --raw; standard error says how many there were. `faro info --json` counts them \
in .blocks.events, `faro dump` shows them.

Examples:
  faro cat shuffle -p 3
  faro cat shuffle -p 3,5-9 | head
  faro cat shuffle --all > orders.csv
  faro cat shuffles/ -p 7                   # partition 7 from every producer
  faro cat shuffle -p 0 --format parquet > part-0.parquet
  faro cat shuffle -p 0 --raw | xxd")]
pub(crate) struct CatArgs {
    #[command(flatten)]
    target: AnyTarget,

    /// A partition, or the partitions from A to B, both included; several with commas
    #[arg(short, long = "partition", value_name = "N|A-B", value_delimiter = ',')]
    partitions: Vec<Selection>,

    /// All partitions
    #[arg(short, long, conflicts_with = "partitions")]
    all: bool,

    /// What to print [default: what was packed]
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "raw")]
    format: Option<As>,

    /// Print the plain payloads of data blocks as they are, one after another, without those of events
    #[arg(long)]
    raw: bool,

    /// Omit the header line of CSV and TSV
    #[arg(long)]
    no_header: bool,
}

/// Runs the command.
pub(crate) fn run(args: &CatArgs, out: &mut Out) -> Outcome {
    if args.partitions.is_empty() && !args.all {
        return Err(Failure::usage(
            "which partitions? --partition 3, --partition 3,5-9, or --all",
        ));
    }
    if args.target.index.is_none() && is_fragments(&args.target.name) {
        if args.format.is_some() {
            return Err(Failure::usage(
                "the payloads of fragments are printed as they are: --format is for outputs",
            ));
        }
        let events = fragments::cat(&args.target.name, &args.partitions, args.raw, out)?;
        return report_events(events);
    }
    let source = Source::of_rows(&args.target, &args.partitions)?;
    let first = source.first()?;
    let printing = Printing {
        format: args.format,
        raw: args.raw,
        header: !args.no_header,
        limit: None,
    };
    let mut printer = Printer::new(&printing, source.shuffle().outputs(), &first, out)?;
    let events = source.each(&args.partitions, &mut |found| printer.take(found))?;
    printer.finish()?;
    report_events(events)
}

fn report_events(events: u64) -> Outcome {
    if events > 0 {
        eprintln!("faro: not printed: {}", units::plural(events, "event"));
    }
    Ok(())
}
