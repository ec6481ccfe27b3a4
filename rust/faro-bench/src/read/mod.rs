//! `read`: reads blocks and verifies every checksum, compared with the copy from the page cache and with the codec
//! alone.

mod limits;

use crate::data::{Kind, Partitions, Records};
use crate::outcome::{Outcome, Run, timed};
use crate::results::{Case, Destination, Results};
use crate::rounds::{self, Subject};
use faro::{Codec, Files, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::path::Path;

/// The arguments of `read`.
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
    codec: Vec<Codec>,
    /// Lengths of the records
    #[arg(long, value_delimiter = ',', default_values_t = [100])]
    record_bytes: Vec<usize>,
    /// Data: text, skewed, lineitem
    #[arg(long, value_delimiter = ',', default_value = "text")]
    data: Vec<Kind>,
    /// Orders: file, partition
    #[arg(long, value_delimiter = ',', default_value = "file,partition")]
    order: Vec<Order>,
    /// Plain bytes in each repetition
    #[arg(long, default_value_t = 1 << 30)]
    bytes: u64,
    /// Repetitions after the first, which is not measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    to: Destination,
    /// Only these subjects
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// The order of blocks in the file
    File,
    /// One partition after another
    Partition,
}

impl Order {
    fn as_str(self) -> &'static str {
        match self {
            Order::File => "file",
            Order::Partition => "partition",
        }
    }
}

fn codec(text: &str) -> Result<Codec, String> {
    [Codec::None, Codec::Lz4, Codec::Zstd]
        .into_iter()
        .find(|codec| codec.as_str() == text)
        .ok_or_else(|| format!("no codec is called {text}: none, lz4 or zstd"))
}

/// A finished output, and how many plain bytes it has.
struct Output {
    files: Files,
    plain_bytes: u64,
}

impl Output {
    fn data(&self) -> &Path {
        match &self.files {
            Files::Single(path) => path,
            Files::Paired { data, .. } => data,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let mut results = Results::new("read", args.to.out.as_deref())?;
    for kind in &args.data {
        for length in &args.record_bytes {
            let records = Records::make(*kind, *length)?;
            for codec in &args.codec {
                for partitions in &args.partitions {
                    for buffer_mib in &args.buffer_mib {
                        let scratch = tempfile::tempdir_in(&args.to.dir)?;
                        let mut options = WriterOptions::new(*partitions).codec(*codec);
                        options = options.buffer_size(buffer_mib << 20);
                        let output = write(scratch.path(), options, *kind, &records, args.bytes, *partitions)?;
                        let case = json!({
                            "data": kind.as_str(),
                            "record_bytes": records.mean_length(),
                            "partitions": partitions,
                            "buffer_mib": buffer_mib,
                            "codec": codec.as_str(),
                            "plain_bytes": output.plain_bytes,
                        });
                        run_orders(args, *codec, &output, &case, &mut results)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn write(
    folder: &Path,
    options: WriterOptions,
    kind: Kind,
    records: &Records,
    bytes: u64,
    partitions: u32,
) -> Outcome<Output> {
    let (count, plain_bytes) = records.enough_for(bytes);
    let mut writer = Writer::create(folder.join("out"), options)?;
    let mut partitions = Partitions::new(kind, partitions);
    for at in 0..count {
        writer.write(partitions.next(), records.get(at))?;
    }
    let files = writer.finish()?.files;
    Ok(Output { files, plain_bytes })
}

fn run_orders(
    args: &Args,
    codec: Codec,
    output: &Output,
    case: &serde_json::Value,
    results: &mut Results,
) -> Outcome<()> {
    for order in &args.order {
        let mut case: Case = case.as_object().cloned().unwrap_or_default();
        case.insert("order".into(), order.as_str().into());
        let compressed = match codec {
            Codec::None => None,
            codec => Some(limits::Compressed::read(output.data(), codec)?),
        };
        let mut subjects = vec![
            Subject::new("faro", || faro(output, *order, true)),
            // Blocks that may be kept: each counts a reference and, if it was compressed, has separate memory.
            Subject::new("faro-kept", || faro(output, *order, false)),
            Subject::new("raw-pread", || limits::raw_pread(output.data(), false)),
            Subject::new("raw-pread-crc", || limits::raw_pread(output.data(), true)),
        ];
        if let Some(compressed) = &compressed {
            subjects.push(Subject::new("codec", || compressed.decode()));
        }
        if !args.only.is_empty() {
            subjects.retain(|subject| args.only.contains(&subject.name));
        }
        rounds::run(&mut subjects, args.rounds, &case, output.plain_bytes, results)?;
    }
    Ok(())
}

/// Opens the output and reads everything. It touches no bytes that the library does not touch.
fn faro(output: &Output, order: Order, lent: bool) -> Outcome<Run> {
    let (seconds, plain) = timed(|| {
        let reader = Reader::open(&output.files, ReaderOptions::default())?;
        let mut plain = 0;
        match (order, lent) {
            (Order::File, true) => {
                let mut blocks = reader.all()?;
                while let Some(block) = blocks.next_borrowed() {
                    plain += block?.payload().len() as u64;
                }
            }
            (Order::File, false) => {
                for block in reader.all()? {
                    plain += block?.payload.len() as u64;
                }
            }
            (Order::Partition, true) => {
                let mut blocks = reader.by_partition(reader.partitions())?;
                while let Some(block) = blocks.next_borrowed() {
                    plain += block?.1.payload().len() as u64;
                }
            }
            (Order::Partition, false) => {
                for block in reader.by_partition(reader.partitions())? {
                    plain += block?.1.payload.len() as u64;
                }
            }
        }
        Ok(plain)
    })?;
    if plain != output.plain_bytes {
        return Err(format!("{plain} plain bytes in place of {}", output.plain_bytes).into());
    }
    Ok(Run {
        stored_bytes: Some(std::fs::metadata(output.data())?.len()),
        ..Run::timed(seconds)
    })
}
