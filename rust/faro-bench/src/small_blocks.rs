//! `small-blocks`: blocks of some hundred bytes, compressed with and without a dictionary.

use crate::data::{Kind, Partitions, Records};
use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results};
use crate::rounds::{self, Subject};
use faro::{Codec, Files, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::fs;
use std::path::Path;

/// The arguments of `small-blocks`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Plain bytes in each repetition
    #[arg(long, default_value_t = 256 << 20)]
    bytes: u64,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// A short run of a second or two, to see that it works
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    to: Destination,
    /// Only this data: text, lineitem
    #[arg(long, value_delimiter = ',')]
    data: Vec<Kind>,
}

/// The size of the sort buffer. With these partitions, blocks have 1.5 KB of text, or 700 bytes of lineitem.
const BUFFER_MIB: u64 = 16;
const CASES: [(Kind, usize, u32); 2] = [(Kind::Text, 100, 10_000), (Kind::Lineitem, 0, 22_500)];

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("small-blocks", args.to.out.as_deref())?;
    let (bytes, rounds) = if args.quick {
        (24 << 20, 1)
    } else {
        (args.bytes, args.rounds)
    };
    for (kind, length, partitions) in CASES {
        if args.data.is_empty() || args.data.contains(&kind) {
            let task = Task::new(kind, length, partitions, bytes)?;
            let scratch = tempfile::tempdir_in(&args.to.dir)?;
            task.run(scratch.path(), rounds, &mut results)?;
        }
    }
    Ok(())
}

struct Task {
    kind: Kind,
    records: Records,
    partitions: u32,
    count: usize,
    plain_bytes: u64,
}

impl Task {
    fn new(kind: Kind, length: usize, partitions: u32, bytes: u64) -> Outcome<Self> {
        let records = Records::make(kind, length)?;
        let (count, plain_bytes) = records.enough_for(bytes);
        Ok(Task {
            kind,
            records,
            partitions,
            count,
            plain_bytes,
        })
    }

    fn case(&self, order: Option<&str>) -> Case {
        let mut case = json!({
            "data": self.kind.as_str(),
            "record_bytes": self.records.mean_length(),
            "partitions": self.partitions,
            "buffer_mib": BUFFER_MIB,
            "codec": "zstd",
            "plain_bytes": self.plain_bytes,
        });
        if let Some(order) = order {
            case["order"] = order.into();
        }
        case.as_object().cloned().unwrap_or_default()
    }

    /// Measures writing, then reading, each in turns.
    fn run(&self, folder: &Path, rounds: usize, results: &mut Results) -> Outcome<()> {
        let names = [("faro", false), ("faro-dictionaries", true)];
        let mut writes: Vec<_> = names
            .iter()
            .map(|(name, dictionaries)| Subject::writing(*name, move || self.write(&folder.join(name), *dictionaries)))
            .collect();
        rounds::run(&mut writes, rounds, &self.case(None), self.plain_bytes, results)?;
        let mut reads: Vec<_> = names
            .iter()
            .map(|(name, _)| Subject::new(*name, move || self.read(&folder.join(name))))
            .collect();
        rounds::run(
            &mut reads,
            rounds,
            &self.case(Some("partition")),
            self.plain_bytes,
            results,
        )
    }

    fn write(&self, name: &Path, dictionaries: bool) -> Outcome<Run> {
        let options = WriterOptions::new(self.partitions)
            .buffer_size(BUFFER_MIB << 20)
            .codec(Codec::Zstd)
            .dictionaries(dictionaries)
            .overwrite(true);
        let mut partitions = Partitions::new(self.kind, self.partitions);
        // Free the pages of the old file outside the measurement.
        for (_, path) in Files::paired(name).paths() {
            fs::remove_file(path).or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
        }
        let mut writer = Writer::create(name, options)?;
        let (seconds, summary) = timed(|| {
            for at in 0..self.count {
                writer.write(partitions.next(), self.records.get(at))?;
            }
            Ok(writer.finish()?)
        })?;
        Ok(Run {
            stored_bytes: Some(summary.data_bytes),
            index_bytes: Some(summary.index_bytes),
            files: Some(2),
            ..Run::timed(seconds)
        })
    }

    /// Reads every record of every partition, one partition after another.
    fn read(&self, name: &Path) -> Outcome<Run> {
        let (seconds, (records, blocks)) = timed(|| {
            let reader = Reader::open(&Files::paired(name), ReaderOptions::default())?;
            let (mut records, mut blocks) = (0, 0u64);
            for item in reader.by_partition(reader.partitions())? {
                let (_, block) = item?;
                records += block.record_slices()?.count();
                blocks += 1;
            }
            Ok((records, blocks))
        })?;
        if records != self.count {
            return Err(format!("{records} records came back of {}", self.count).into());
        }
        let mut run = Run::timed(seconds);
        run.figures.insert("blocks".into(), blocks.into());
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_makes_small_blocks_smaller_and_gives_the_records_back() {
        let folder = tempfile::tempdir().unwrap();
        let task = Task::new(Kind::Lineitem, 0, 3_000, 2 << 20).unwrap();
        let size = |name: &str, dictionaries| {
            let run = task.write(&folder.path().join(name), dictionaries).unwrap();
            task.read(&folder.path().join(name)).unwrap();
            run.stored_bytes.unwrap()
        };
        assert!(size("with", true) * 5 < size("without", false) * 4);
    }
}
