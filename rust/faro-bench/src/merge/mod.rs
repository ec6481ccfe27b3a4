//! `merge`: fragments of many producers into one merged file, compared with reading, checksums and writing alone.

mod whole_shuffle;

use crate::data::{Kind, Records};
use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results};
use crate::rounds::{self, Subject};
use faro::block::Seal;
use faro::merge::{Begun, Merge, MergeOptions};
use faro::{Framing, Layout, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The arguments of `merge`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Bytes of blocks in each repetition
    #[arg(long, default_value_t = 256 << 20)]
    bytes: u64,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Also read a shuffle of 10 GB from the disk, from the producers' outputs and merged. It takes 20 GB of the disk
    #[arg(long)]
    whole_shuffle: bool,
    /// A short run of a second or two, to see that it works
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    to: Destination,
}

const BLOCK_BYTES: [usize; 2] = [10_000, 100_000];
/// What is read at once, as from a network, and written at once.
const PIECE: usize = 1 << 20;

/// The buffer of `read-crc-copy-write`, as large as that of a merge.
const BUFFER: usize = 512 << 10;

/// What the bytes go through, between reading and writing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    Nothing,
    Buffer,
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("merge", args.to.out.as_deref())?;
    let (bytes, rounds) = if args.quick {
        (16 << 20, 1)
    } else {
        (args.bytes, args.rounds)
    };
    for block_bytes in BLOCK_BYTES {
        let scratch = tempfile::tempdir_in(&args.to.dir)?;
        Task::new(scratch.path(), block_bytes, bytes)?.run(rounds, &mut results)?;
    }
    if args.quick || args.whole_shuffle {
        whole_shuffle::run(&args.to.dir, args.quick, &mut results)?;
    }
    Ok(())
}

/// A file of fragments, one after another: each one block of a producer of its own.
struct Task {
    fragments: PathBuf,
    /// The bytes of each fragment.
    lengths: Vec<usize>,
    block_bytes: usize,
    merged: PathBuf,
}

impl Task {
    fn new(folder: &Path, block_bytes: usize, bytes: u64) -> Outcome<Self> {
        let records = Records::make(Kind::Text, block_bytes)?;
        let fragments = folder.join("fragments");
        // Written in large pieces, the file is read back faster.
        let mut all = BufWriter::with_capacity(PIECE, File::create(&fragments)?);
        let mut lengths = Vec::new();
        for producer in 0..bytes.div_ceil(block_bytes as u64) {
            let options = WriterOptions::new(1)
                .producer(producer)
                .framing(Framing::Opaque)
                .layout(Layout::Single)
                .buffer_size(PIECE as u64)
                .overwrite(true);
            let mut writer = Writer::create(folder.join("output"), options)?;
            writer.write(0, &records.get(producer as usize)[..block_bytes])?;
            let output = Reader::open(&writer.finish()?.files, ReaderOptions::default())?;
            let mut fragment = Vec::new();
            output.fragment(0..1, None, &mut fragment)?;
            all.write_all(&fragment)?;
            lengths.push(fragment.len());
        }
        all.flush()?;
        Ok(Task {
            fragments,
            lengths,
            block_bytes,
            merged: folder.join("merged"),
        })
    }

    fn run(&self, rounds: usize, results: &mut Results) -> Outcome<()> {
        let plain_bytes = self.lengths.len() as u64 * self.block_bytes as u64;
        let case: Case = json!({ "block_bytes": self.block_bytes, "plain_bytes": plain_bytes })
            .as_object()
            .cloned()
            .unwrap_or_default();
        let mut subjects = [
            Subject::writing("faro", || self.merge()),
            Subject::writing("read-crc-write", || self.read_crc_write(Through::Nothing)),
            Subject::writing("read-crc-copy-write", || self.read_crc_write(Through::Buffer)),
        ];
        rounds::run(&mut subjects, rounds, &case, plain_bytes, results)
    }

    /// Each fragment is a push of its own; its bytes come in the pieces that are read.
    fn merge(&self) -> Outcome<Run> {
        let paths = ["data", "index"].map(|suffix| self.merged.with_extension(suffix));
        paths.iter().try_for_each(|path| remove(path))?;
        let options = MergeOptions::new(1).framing(Framing::Opaque);
        let merge = Merge::create(&self.merged, options)?;
        let (seconds, summary) = timed(|| {
            let mut pushes = self.lengths.iter().zip(0..);
            let mut left = 0;
            let mut push = None;
            self.each_piece(|mut piece| {
                while !piece.is_empty() {
                    if left == 0 {
                        let (length, producer) = pushes.next().ok_or("a piece after the last fragment")?;
                        let Begun::Open(begun) = merge.begin(producer, 0)? else {
                            return Err("a push was refused".into());
                        };
                        (left, push) = (*length, Some(begun));
                    }
                    let (now, rest) = piece.split_at(piece.len().min(left));
                    let open = push.as_mut().ok_or("no push")?;
                    if let Some(refused) = open.write(now)? {
                        return Err(format!("a push was refused: {refused}").into());
                    }
                    left -= now.len();
                    if left == 0 && !open.commit()?.is_success() {
                        return Err("a push was refused".into());
                    }
                    piece = rest;
                }
                Ok(())
            })?;
            Ok(merge.finalize()?)
        })?;
        if summary.runs != self.lengths.len() as u64 {
            return Err(format!("{} runs of {}", summary.runs, self.lengths.len()).into());
        }
        let index_bytes = fs::metadata(&paths[1])?.len();
        let mut run = Run {
            stored_bytes: Some(fs::metadata(&paths[0])?.len()),
            index_bytes: Some(index_bytes),
            files: Some(2),
            ..Run::timed(seconds)
        };
        run.figures.insert(
            "index_bytes_each".into(),
            (index_bytes as f64 / summary.runs as f64).into(),
        );
        Ok(run)
    }

    /// The limit: the same bytes, copied in the same pieces, each with a checksum. Through a buffer it is what a merge
    /// can reach at most that collects the blocks of small pushes for larger writes.
    fn read_crc_write(&self, through: Through) -> Outcome<Run> {
        let path = self.merged.with_extension("raw");
        remove(&path)?;
        let mut file = File::create(&path)?;
        let seal = Seal::new(&[7; 16]);
        let mut buffer = Vec::with_capacity(BUFFER + self.block_bytes);
        let (seconds, sum) = timed(|| {
            let mut sum = 0;
            self.each_piece(|piece| {
                for block in piece.chunks(self.block_bytes) {
                    sum ^= seal.checksum(&[0; 20], block);
                    if through == Through::Buffer {
                        buffer.extend_from_slice(block);
                        if buffer.len() >= BUFFER {
                            file.write_all(&buffer[..BUFFER])?;
                            buffer.drain(..BUFFER);
                        }
                    }
                }
                match through {
                    Through::Nothing => Ok(file.write_all(piece)?),
                    Through::Buffer => Ok(()),
                }
            })?;
            file.write_all(&buffer)?;
            Ok(sum)
        })?;
        std::hint::black_box(sum);
        Ok(Run {
            stored_bytes: Some(fs::metadata(&path)?.len()),
            files: Some(1),
            ..Run::timed(seconds)
        })
    }

    fn each_piece(&self, mut take: impl FnMut(&[u8]) -> Outcome<()>) -> Outcome<()> {
        let mut file = File::open(&self.fragments)?;
        let mut piece = vec![0; PIECE];
        loop {
            let got = file.read(&mut piece)?;
            if got == 0 {
                return Ok(());
            }
            take(&piece[..got])?;
        }
    }
}

/// Removes the file of an earlier repetition, outside the measurement.
fn remove(path: &Path) -> Outcome<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_blocks_are_in_the_merged_file() {
        let folder = tempfile::tempdir().unwrap();
        let task = Task::new(folder.path(), 10_000, 3 << 20).unwrap();
        task.merge().unwrap();
        task.read_crc_write(Through::Nothing).unwrap();
        let raw = fs::read(task.merged.with_extension("raw")).unwrap();
        task.read_crc_write(Through::Buffer).unwrap();
        assert!(raw == fs::read(task.merged.with_extension("raw")).unwrap());
        let reader = Reader::open(&faro::Files::paired(&task.merged), ReaderOptions::default()).unwrap();
        let blocks: Vec<_> = reader.partition(0).unwrap().collect::<faro::Result<_>>().unwrap();
        assert_eq!(blocks.len(), task.lengths.len());
        let have = reader.have(0).unwrap();
        assert!(
            have.iter()
                .zip(0..)
                .all(|(have, producer)| have.producer == producer && have.is_complete)
        );
    }
}
