//! `index`: the size of the index for each region and partition, and the time to open an output.

use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results};
use crate::rounds::{self, Subject};
use faro::{Files, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::path::Path;

/// The arguments of `index`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The number of partitions
    #[arg(long, default_value_t = 100_000)]
    partitions: u32,
    /// The number of regions; every partition has a block in each
    #[arg(long, default_value_t = 100)]
    regions: u32,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// A short run of a second or two, to see that it works
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    to: Destination,
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("index", args.to.out.as_deref())?;
    let (partitions, regions) = if args.quick {
        (1_000, 10)
    } else {
        (args.partitions, args.regions)
    };
    let scratch = tempfile::tempdir_in(&args.to.dir)?;
    let name = scratch.path().join("faro");
    let written = write(&name, partitions, regions)?;
    let case = json!({"partitions": partitions, "regions": regions});
    let case: Case = case.as_object().cloned().unwrap_or_default();
    let mut subjects = [
        Subject::new("faro", || {
            open(&name, &written, u64::from(partitions) * u64::from(regions))
        }),
        Subject::new("faro-first-partition", || first(&name, partitions / 2, regions)),
    ];
    rounds::run(&mut subjects, args.rounds, &case, 0, &mut results)
}

/// Writes a record of one byte for each partition into each region.
fn write(name: &Path, partitions: u32, regions: u32) -> Outcome<Run> {
    let mut writer = Writer::create(name, WriterOptions::new(partitions))?;
    for _ in 0..regions {
        for partition in 0..partitions {
            writer.write(partition, b"x")?;
        }
        writer.flush()?;
    }
    let summary = writer.finish()?;
    Ok(Run {
        stored_bytes: Some(summary.data_bytes),
        index_bytes: Some(summary.index_bytes),
        files: Some(2),
        ..Run::default()
    })
}

/// Opens an output, without reading its regions.
fn open(name: &Path, written: &Run, entries: u64) -> Outcome<Run> {
    let (seconds, reader) = timed(|| Ok(Reader::open(&Files::paired(name), ReaderOptions::default())?))?;
    // Each message has a header of 24 bytes before it, and padding after it.
    let regions = reader.footer().regions.iter();
    let messages: u64 = regions
        .map(|entry| 24 + u64::from(entry.message_size).next_multiple_of(8))
        .sum();
    let mut run = Run {
        seconds,
        ..written.clone()
    };
    let index = written.index_bytes.unwrap_or_default();
    let each = |bytes: u64| json!(bytes as f64 / entries as f64);
    // The whole file. Its statistics take 24 bytes for each partition, whatever the number of regions.
    run.figures.insert("bytes_per_entry".into(), each(index));
    run.figures.insert("message_bytes_per_entry".into(), each(messages));
    run.figures.insert("open_seconds".into(), json!(seconds));
    Ok(run)
}

/// Opens an output and reads one partition: every region message is read and verified.
fn first(name: &Path, partition: u32, regions: u32) -> Outcome<Run> {
    let (seconds, records) = timed(|| {
        let reader = Reader::open(&Files::paired(name), ReaderOptions::default())?;
        let mut records = 0;
        for record in reader.records(partition)? {
            record?;
            records += 1;
        }
        Ok(records)
    })?;
    if records != regions {
        return Err(format!("{records} records came back of {regions}").into());
    }
    Ok(Run::timed(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_about_four_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("faro");
        let written = write(&name, 5_000, 20).unwrap();
        let run = open(&name, &written, 100_000).unwrap();
        let bytes = run.figures["message_bytes_per_entry"].as_f64().unwrap();
        assert!((4.0..4.2).contains(&bytes), "{bytes}");
        first(&name, 17, 20).unwrap();
        assert!(first(&name, 17, 21).is_err());
    }
}
