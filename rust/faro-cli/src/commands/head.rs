//! `faro head`: prints the first records.

use clap::Args;

use crate::failure::Outcome;
use crate::partitions::Selection;
use crate::rows::{As, Printer, Printing, Source};
use crate::target::AnyTarget;
use crate::term::Out;

/// Print the first records, in the format that was packed
#[derive(Args, Debug)]
#[command(after_long_help = "\
Records are printed as `faro cat` prints them: in the order of partitions, and those of a partition in the order of \
outputs.

Examples:
  faro head shuffle
  faro head shuffles/ -n 3 -p 7
  faro head shuffle --format jsonl")]
pub(crate) struct HeadArgs {
    #[command(flatten)]
    target: AnyTarget,

    /// How many records
    #[arg(short = 'n', long = "records", value_name = "N", default_value_t = 10)]
    records: u64,

    /// Only this partition, or the partitions from A to B, both included; several with commas
    #[arg(short, long = "partition", value_name = "N|A-B", value_delimiter = ',')]
    partitions: Vec<Selection>,

    /// What to print [default: what was packed]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<As>,

    /// Omit the header line of CSV and TSV
    #[arg(long)]
    no_header: bool,
}

/// Runs the command.
pub(crate) fn run(args: &HeadArgs, out: &mut Out) -> Outcome {
    let source = Source::of_rows(&args.target, &args.partitions)?;
    let printing = Printing {
        format: args.format,
        raw: false,
        header: !args.no_header,
        limit: Some(args.records),
    };
    let mut printer = Printer::new(&printing, source.shuffle().outputs(), &source.first()?, out)?;
    if args.records > 0 {
        source.each(&args.partitions, &mut |found| printer.take(found))?;
    }
    printer.finish()
}
