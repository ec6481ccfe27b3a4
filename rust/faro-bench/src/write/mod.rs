//! `write`: records are written to files.

mod codec;
mod faro;
pub(crate) mod limits;
mod peers;

use crate::data::{Kind, Partitions, Records};
use crate::outcome::Outcome;
use crate::results::{Case, Destination, Results};
use crate::rounds::{self, Subject};
use faro::{ALONE, Threads};
use limits::Room;
use serde_json::json;
use std::path::PathBuf;

/// The arguments of `write`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Numbers of partitions
    #[arg(long, value_delimiter = ',', default_values_t = [64, 1_000, 10_000])]
    partitions: Vec<u32>,
    /// Sizes of the sort buffer in MiB
    #[arg(long, value_delimiter = ',', default_values_t = [16, 128])]
    buffer_mib: Vec<u64>,
    /// Codecs: none, lz4, zstd
    #[arg(long, value_delimiter = ',', value_parser = codec, default_value = "none,lz4,zstd")]
    codec: Vec<::faro::Codec>,
    /// Lengths of the records
    #[arg(long, value_delimiter = ',', default_values_t = [100])]
    record_bytes: Vec<usize>,
    /// Data: text, skewed, lineitem
    #[arg(long, value_delimiter = ',', default_value = "text")]
    data: Vec<Kind>,
    /// Plain bytes in each repetition
    #[arg(long, default_value_t = 1 << 30)]
    bytes: u64,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Read what Faro wrote and compare it, outside the measurement
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    to: Destination,
    /// Only these subjects
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

fn codec(text: &str) -> Result<::faro::Codec, String> {
    use ::faro::Codec;
    [Codec::None, Codec::Lz4, Codec::Zstd]
        .into_iter()
        .find(|codec| codec.as_str() == text)
        .ok_or_else(|| format!("no codec is called {text}: none, lz4 or zstd"))
}

/// One case: the same work for every subject.
pub(crate) struct Task<'a> {
    records: &'a Records,
    kind: Kind,
    partitions: u32,
    buffer_mib: u64,
    codec: ::faro::Codec,
    /// The number of records.
    count: usize,
    plain_bytes: u64,
    /// Whether the output of Faro is read and compared.
    verify: bool,
    folder: PathBuf,
}

impl Task<'_> {
    /// Passes each record and its partition to a function.
    #[inline]
    fn feed(&self, mut take: impl FnMut(u32, &[u8]) -> Outcome<()>) -> Outcome<()> {
        let mut partitions = Partitions::new(self.kind, self.partitions);
        let mut left = self.count;
        // In rounds: the modulo for a position would be measured too.
        while left > 0 {
            let now = left.min(self.records.len());
            for at in 0..now {
                take(partitions.next(), self.records.get_in_round(at))?;
            }
            left -= now;
        }
        Ok(())
    }

    fn case(&self, record_bytes: usize) -> Case {
        let case = json!({
            "data": self.kind.as_str(),
            "record_bytes": record_bytes,
            "partitions": self.partitions,
            "buffer_mib": self.buffer_mib,
            "codec": self.codec.as_str(),
            "plain_bytes": self.plain_bytes,
        });
        case.as_object().cloned().unwrap_or_default()
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("write", args.to.out.as_deref())?;
    for kind in &args.data {
        for length in &args.record_bytes {
            let records = Records::make(*kind, *length)?;
            run_cases(args, *kind, &records, &mut results)?;
        }
    }
    Ok(())
}

fn run_cases(args: &Args, kind: Kind, records: &Records, results: &mut Results) -> Outcome<()> {
    let (count, plain_bytes) = records.enough_for(args.bytes);
    for codec in &args.codec {
        for partitions in &args.partitions {
            for buffer_mib in &args.buffer_mib {
                let scratch = tempfile::tempdir_in(&args.to.dir)?;
                let task = Task {
                    records,
                    kind,
                    partitions: *partitions,
                    buffer_mib: *buffer_mib,
                    codec: *codec,
                    count,
                    plain_bytes,
                    verify: args.verify,
                    folder: scratch.path().to_path_buf(),
                };
                let mut subjects = subjects(&task);
                if !args.only.is_empty() {
                    subjects.retain(|subject| args.only.contains(&subject.name));
                }
                let case = task.case(records.mean_length());
                rounds::run(&mut subjects, args.rounds, &case, plain_bytes, results)?;
            }
        }
    }
    Ok(())
}

/// The most partitions for writers that need a file and much memory for each.
const FEW: u32 = 1_000;

fn subjects<'a>(task: &'a Task<'a>) -> Vec<Subject<'a>> {
    let mut subjects = vec![Subject::writing("faro", || faro::write(task, ALONE))];
    let mut add = |name, compress, double_buffer| {
        let threads = Threads {
            compress,
            double_buffer,
        };
        subjects.push(Subject::writing(name, move || faro::write(task, threads)));
    };
    if task.codec == ::faro::Codec::None {
        add("faro-2-buffers", 1, true);
    } else {
        add("faro-2-threads", 2, false);
        add("faro-2-threads-2-buffers", 2, true);
    }
    if task.codec == ::faro::Codec::None {
        subjects.push(Subject::writing("hash-files", || peers::hash_files(task)));
        if task.partitions <= FEW {
            subjects.push(Subject::writing("arrow-ipc", || peers::arrow_ipc(task)));
            subjects.push(Subject::writing("parquet", || peers::parquet(task)));
        }
        for (name, room) in [("raw-write", Room::Found), ("raw-write-preallocated", Room::Ahead)] {
            subjects.push(Subject::writing(name, move || {
                limits::raw_write(&task.folder, task.plain_bytes, room)
            }));
        }
        subjects.push(Subject::new("memcpy", || limits::memcpy(task)));
    } else {
        subjects.push(Subject::new("codec", || codec::alone(task)));
    }
    subjects
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    /// All subjects run, and Faro's output has the records that it got.
    #[test]
    fn small_cases_of_everything() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_str().unwrap();
        let out = folder.path().join("out.json");
        let arguments = [
            "write",
            "--partitions",
            "3,70",
            "--buffer-mib",
            "1",
            "--bytes",
            "3000000",
            "--rounds",
            "1",
        ];
        let more = ["--verify", "--dir", dir, "--out", out.to_str().unwrap()];
        run(&Cli::parse_from(arguments.into_iter().chain(more)).args).unwrap();
        let lines = std::fs::read_to_string(&out).unwrap();
        assert_eq!(lines.lines().count(), 2 * (8 + 4 + 4));
        let left: Vec<_> = std::fs::read_dir(dir).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_record_that_is_not_there_is_found_missing() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::make(Kind::Text, 100).unwrap();
        let mut task = Task {
            records: &records,
            kind: Kind::Text,
            partitions: 3,
            buffer_mib: 1,
            codec: ::faro::Codec::None,
            count: 1000,
            plain_bytes: 104_000,
            verify: true,
            folder: folder.path().to_path_buf(),
        };
        faro::write(&task, ALONE).unwrap();
        let files = faro::written(&task, ALONE).unwrap().1.files;
        task.count += 1;
        assert!(faro::verify(&task, &files).is_err());
    }
}
