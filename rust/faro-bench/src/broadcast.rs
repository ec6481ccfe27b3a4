//! `broadcast`: records for all partitions, compared with the same records for one.

use crate::data::{Kind, Records};
use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results, median};
use crate::rounds::{self, IN_A_ROW, Subject};
use faro::{Files, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::cell::RefCell;
use std::fs;
use std::path::Path;

/// The arguments of `broadcast`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The number of partitions
    #[arg(long, default_value_t = 10_000)]
    partitions: u32,
    /// Plain bytes in each repetition
    #[arg(long, default_value_t = 64 << 20)]
    bytes: u64,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// A short run of a second or two, to see that it works
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    to: Destination,
}

const BUFFER_MIB: u64 = 16;

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("broadcast", args.to.out.as_deref())?;
    let (bytes, rounds) = if args.quick {
        (4 << 20, 2)
    } else {
        (args.bytes, args.rounds)
    };
    let records = Records::make(Kind::Text, 100)?;
    let (count, plain_bytes) = records.enough_for(bytes);
    let scratch = tempfile::tempdir_in(&args.to.dir)?;
    let folder = scratch.path();
    let case = json!({
        "data": "text", "record_bytes": 100, "partitions": args.partitions, "buffer_mib": BUFFER_MIB, "codec": "none",
        "plain_bytes": plain_bytes,
    });
    let case: Case = case.as_object().cloned().unwrap_or_default();
    let alone: RefCell<Vec<Run>> = RefCell::default();
    let all: RefCell<Vec<Run>> = RefCell::default();
    let mut subjects = [
        Subject::writing("faro-one-partition", || {
            let run = write(&folder.join("one"), args.partitions, &records, count, false)?;
            alone.borrow_mut().push(run.clone());
            Ok(run)
        }),
        Subject::writing("faro", || {
            let mut run = write(&folder.join("all"), args.partitions, &records, count, true)?;
            all.borrow_mut().push(run.clone());
            run.figures
                .insert("worst_ratio".into(), json!(worst(&all.borrow(), &alone.borrow())));
            Ok(run)
        }),
    ];
    rounds::run(&mut subjects, rounds, &case, plain_bytes, &mut results)
}

/// The largest of the ratios of data bytes, index bytes and time. The ratio of time compares medians over the measured
/// passes; the fastest of several runs in a row counts.
fn worst(all: &[Run], alone: &[Run]) -> f64 {
    let seconds = |runs: &[Run]| {
        let measured = runs.get(1..).unwrap_or_default().chunks(IN_A_ROW);
        let fastest = measured.map(|runs| runs.iter().map(|run| run.seconds).fold(f64::INFINITY, f64::min));
        median(&fastest.collect::<Vec<_>>())
    };
    let size = |runs: &[Run], of: fn(&Run) -> Option<u64>| runs.last().and_then(of).unwrap_or_default() as f64;
    let sizes: [fn(&Run) -> Option<u64>; 2] = [|run| run.stored_bytes, |run| run.index_bytes];
    let ratios = sizes.map(|of| size(all, of) / size(alone, of));
    // The first pass has no time: its ratio is NaN, which `max` ignores.
    ratios.into_iter().fold(seconds(all) / seconds(alone), f64::max)
}

fn write(name: &Path, partitions: u32, records: &Records, count: usize, broadcast: bool) -> Outcome<Run> {
    for (_, path) in Files::paired(name).paths() {
        if path.exists() {
            fs::remove_file(path)?;
        }
    }
    let mut writer = Writer::create(name, WriterOptions::new(partitions).buffer_size(BUFFER_MIB << 20))?;
    let one = partitions / 2;
    let (seconds, summary) = timed(|| {
        for at in 0..count {
            if broadcast {
                writer.broadcast(records.get(at))?;
            } else {
                writer.write(one, records.get(at))?;
            }
        }
        Ok(writer.finish()?)
    })?;
    // A reader gets all of it.
    let reader = Reader::open(&Files::paired(name), ReaderOptions::default())?;
    let found = reader.records(one)?.count();
    if found != count {
        return Err(format!("{found} records came back of {count}").into());
    }
    Ok(Run {
        stored_bytes: Some(summary.data_bytes),
        index_bytes: Some(summary.index_bytes),
        files: Some(2),
        ..Run::timed(seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_bytes_index_and_time_counts() {
        let run = |seconds, stored, index| Run {
            stored_bytes: Some(stored),
            index_bytes: Some(index),
            ..Run::timed(seconds)
        };
        let runs = |seconds: &[f64]| seconds.iter().map(|seconds| run(*seconds, 100, 10)).collect::<Vec<_>>();
        let alone = runs(&[1.0, 5.0, 2.0, 9.0, 4.0, 6.0, 8.0]);
        assert_eq!(worst(&runs(&[1.0, 6.0, 6.0, 3.0, 9.0, 9.0, 6.0]), &alone), 1.5);
        assert_eq!(worst(&[run(1.0, 100, 10), run(2.0, 200, 10)], &alone), 2.0);
        assert_eq!(worst(&[run(1.0, 100, 30)], &alone[..1]), 3.0);
    }

    #[test]
    fn a_broadcast_takes_the_bytes_of_one_partition() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::make(Kind::Text, 100).unwrap();
        let one = write(&folder.path().join("a"), 1_000, &records, 20_000, false).unwrap();
        let all = write(&folder.path().join("b"), 1_000, &records, 20_000, true).unwrap();
        assert_eq!(one.stored_bytes, all.stored_bytes);
    }
}
