//! `faro diff`: compares two outputs.

mod content;
mod difference;
mod physical;

use clap::Args;
use faro::{Files, Reader, ReaderOptions};
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use difference::Difference;

use crate::escape::escape;
use crate::term::Out;
use crate::units;

/// Compare two outputs: headers, regions, blocks, and what each partition reads
#[derive(Args, Debug)]
#[command(after_long_help = "\
The content of a partition is what its reader gets: bytes, records or rows, and events, in order. It can be the same \
although the blocks differ: in their sizes, codecs or regions. The identities of the files (file_id) are never \
compared, nor the checksums of blocks, which include them.

Exit code 1 means that there are differences; with --content, that contents differ.

Examples:
  faro diff shuffle-a shuffle-b
  faro diff --content uncompressed compressed
  faro diff --json a b | jq .content.different")]
pub(crate) struct DiffArgs {
    /// The first output
    #[arg(value_name = "A")]
    a: std::path::PathBuf,

    /// The second output
    #[arg(value_name = "B")]
    b: std::path::PathBuf,

    /// Compare only the contents of partitions
    #[arg(long)]
    content: bool,

    /// Print the differences as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    equal: bool,
    /// Headers, footers and blocks; absent when only contents were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    physical: Option<Vec<Difference>>,
    content: content::Content,
}

/// Runs the command.
pub(crate) fn run(args: &DiffArgs, out: &mut Out) -> Outcome {
    let files = [Files::locate(&args.a)?, Files::locate(&args.b)?];
    let [a, b] = [
        Reader::open(&files[0], ReaderOptions::default())?,
        Reader::open(&files[1], ReaderOptions::default())?,
    ];
    let physical = if args.content {
        None
    } else {
        Some(physical::compare([&a, &b], &files)?)
    };
    let content = content::compare(&a, &b)?;
    let equal = content.is_equal() && physical.as_ref().is_none_or(Vec::is_empty);
    let report = Report {
        equal,
        physical,
        content,
    };
    if args.json {
        out.json(&report)?
    } else {
        print(&report, out)?
    }
    if equal { Ok(()) } else { Err(Failure::Differences) }
}

fn print(report: &Report, out: &mut Out) -> Outcome {
    let style = out.style();
    if let Some(physical) = &report.physical {
        if physical.is_empty() {
            out.line(&format!("files:    {}", style.green("equal except for their identity")))?;
        } else {
            let count = units::plural(physical.len() as u64, "difference");
            out.line(&format!("files:    {}", style.yellow(&count)))?;
        }
        for difference in physical {
            let (a, b) = (escape(&difference.a), escape(&difference.b));
            out.line(&format!(
                "  {}: {} | {}",
                escape(&difference.what),
                style.red(&a),
                style.green(&b)
            ))?;
        }
    }
    let content = &report.content;
    if content.is_equal() {
        let text = format!("equal in all {}", units::plural(content.partitions.into(), "partition"));
        return out.line(&format!("content:  {}", style.green(&text)));
    }
    let different = units::plural(content.different.len() as u64, "partition");
    let text = format!("{different} of {} differ", units::count(content.partitions.into()));
    out.line(&format!("content:  {}", style.yellow(&text)))?;
    for one in content.different.iter().take(20) {
        out.line(&format!("  partition {}: {}", one.partition, escape(&one.what)))?;
    }
    let more = content.different.len().saturating_sub(20);
    if more > 0 {
        out.line(&format!("  and {} more", units::plural(more as u64, "partition")))?;
    }
    Ok(())
}
