//! `faro merge`: puts the blocks of many outputs in one file, or in one for each range of partitions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use faro::merge::{Begun, Merge, MergeOptions, MergeSummary, Outcome as Pushed, Push};
use faro::{Files, Reader, ReaderOptions};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::streams::StreamsInfo;
use crate::term::Out;
use crate::{progress, signals, units};

/// Merge the blocks of many outputs into one, each with its producer
#[derive(Args, Debug)]
#[command(after_long_help = "\
Every block is checked, and copied as it is stored. The blocks of a partition come together, in the order in which the \
outputs are named. The merged file says for each block which producer and attempt it is of, so that readers can tell \
what it has. Each output must have another producer (`faro pack --producer`); outputs and merged file have the same \
partitions, and the same framing. Properties that all outputs have alike are kept.

A merge that was interrupted goes on with --resume: what it has already is not copied again.

Examples:
  faro merge merged map-*.index
  faro merge merged --every 1 map-*.index     # a file for each partition: merged-0, merged-1, ...
  faro merge merged --partitions 0..15 map-*.index
  faro check merged --originals map-*.index")]
pub(crate) struct MergeArgs {
    /// The merged output: its NAME
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// The outputs of producers: NAME, or one of its files NAME.data, NAME.index, NAME.faro
    #[arg(required = true, value_name = "NAME")]
    names: Vec<PathBuf>,

    /// The partitions to merge, for example 0..15; all without this
    #[arg(short, long, value_name = "RANGE")]
    partitions: Option<Partitions>,

    /// Make a file for each N partitions; its name is OUT, a minus and the first partition
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,

    /// Number of the merge: a reader or a service tells two merges of the same outputs apart by it
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    generation: u64,

    /// Bytes after which a region ends, 1 to 2^31
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 20)]
    chunk_size: u64,

    /// Go on with a merge that was not finished
    #[arg(long)]
    resume: bool,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// A range of partitions, with both ends.
#[derive(Clone, Debug)]
struct Partitions(Range<u32>);

impl std::str::FromStr for Partitions {
    type Err = String;

    fn from_str(text: &str) -> Result<Partitions, String> {
        let wrong = || format!("\"{text}\" is not a range of partitions; write 3 or 3..5");
        let (first, last) = text
            .split_once("..")
            .or_else(|| text.split_once('-'))
            .unwrap_or((text, text));
        let first: u32 = first.trim().parse().map_err(|_| wrong())?;
        let last: u32 = last.trim().parse().map_err(|_| wrong())?;
        match last.checked_add(1) {
            Some(end) if first < end => Ok(Partitions(first..end)),
            _ => Err(wrong()),
        }
    }
}

/// An output that is merged.
struct Source {
    name: PathBuf,
    reader: Reader,
}

/// What was made of one range of partitions.
#[derive(Debug, Serialize)]
struct Report {
    data: String,
    index: String,
    first_partition: u32,
    partition_count: u32,
    regions: u64,
    runs: u64,
    /// Pushes that the file had already.
    duplicates: u64,
}

/// Runs the command.
pub(crate) fn run(args: &MergeArgs, out: &mut Out) -> Outcome {
    let sources = open(&args.names)?;
    let Some(first) = sources.first() else {
        return Err(Failure::usage("no outputs to merge"));
    };
    let all = first.reader.header().partitions();
    let wanted = args
        .partitions
        .as_ref()
        .map_or(all.clone(), |partitions| partitions.0.clone());
    if wanted.start < all.start || wanted.end > all.end {
        let last = all.end - 1;
        return Err(Failure::usage(format!(
            "the outputs have the partitions {} to {last}",
            all.start
        )));
    }
    let every = args.every.unwrap_or(wanted.end - wanted.start);
    let mut reports = Vec::new();
    let bar = progress::bytes(Some(total(&sources, &wanted)?), &args.out.display().to_string());
    let mut start = wanted.start;
    signals::install()?;
    while start < wanted.end {
        let range = start..wanted.end.min(start.saturating_add(every));
        let name = match args.every {
            None => args.out.clone(),
            Some(_) => with_number(&args.out, start),
        };
        start = range.end;
        reports.push(merge(args, &name, range, &sources, &bar)?);
    }
    bar.finish_and_clear();
    if args.json {
        return out.json(&serde_json::json!({ "outputs": sources.len(), "merged": reports }));
    }
    for report in &reports {
        let name = format!("{}, {}", escape(&report.data), escape(&report.index));
        let again = match report.duplicates {
            0 => String::new(),
            count => format!(", {} there before", units::plural(count, "fragment")),
        };
        let (regions, runs) = (
            units::plural(report.regions, "region"),
            units::plural(report.runs, "run"),
        );
        let from = units::plural(sources.len() as u64, "output");
        out.line(&format!("{name}: {runs} of {from} in {regions}{again}"))?;
    }
    Ok(())
}

/// Opens the outputs, and refuses those that cannot be merged with each other.
fn open(names: &[PathBuf]) -> Outcome<Vec<Source>> {
    let mut sources: Vec<Source> = Vec::with_capacity(names.len());
    let mut producers: BTreeMap<u64, &Path> = BTreeMap::new();
    for name in names {
        let reader = Reader::open(&Files::locate(name)?, ReaderOptions::default())?;
        let header = reader.header();
        if header.is_merged() {
            let name = name.display();
            return Err(Failure::usage(format!(
                "{name} is a merged file; merge the outputs of producers"
            )));
        }
        if let Some(streams) = StreamsInfo::of(header, Some(reader.footer())).filter(StreamsInfo::may_have_gaps) {
            let (name, streams) = (name.display(), streams.text());
            return Err(Failure::usage(format!(
                "{name}: {streams}; a merged file could not say so"
            )));
        }
        if let Some(other) = producers.insert(header.producer, name) {
            let (other, name) = (other.display(), name.display());
            return Err(Failure::usage(format!(
                "{other} and {name} are both of producer {}: of each producer one attempt can be merged. `faro pack \
                 --producer` gives an output another number",
                header.producer
            )));
        }
        if let Some(first) = sources.first() {
            let wanted = first.reader.header();
            let same = header.partitions() == wanted.partitions()
                && header.framing == wanted.framing
                && reader.schema_message() == first.reader.schema_message();
            if !same {
                let (first, name) = (first.name.display(), name.display());
                let what = "other partitions, another framing or another schema";
                return Err(Failure::usage(format!("{name} has {what} than {first}")));
            }
        }
        let name = name.clone();
        sources.push(Source { name, reader });
    }
    Ok(sources)
}

/// The stored bytes of the partitions, as far as they are known without reading blocks.
fn total(sources: &[Source], wanted: &Range<u32>) -> Outcome<u64> {
    let mut sum = 0u64;
    for source in sources {
        if *wanted == source.reader.header().partitions() {
            sum += source
                .reader
                .footer()
                .regions
                .iter()
                .map(|entry| entry.data_length)
                .sum::<u64>();
        } else {
            for partition in wanted.clone() {
                sum += source.reader.stored_bytes(partition)?;
            }
        }
    }
    Ok(sum)
}

/// The NAME of the file of some partitions.
fn with_number(out: &Path, first: u32) -> PathBuf {
    let mut name = OsString::from(out);
    name.push(format!("-{first}"));
    PathBuf::from(name)
}

/// Merges a range of partitions.
fn merge(args: &MergeArgs, name: &Path, range: Range<u32>, sources: &[Source], bar: &ProgressBar) -> Outcome<Report> {
    let Some(first) = sources.first() else {
        return Err(Failure::usage("no outputs to merge"));
    };
    let header = first.reader.header();
    let options = MergeOptions::new(range.end - range.start)
        .first_partition(range.start)
        .framing(header.framing)
        .generation(args.generation)
        .chunk_size(args.chunk_size)
        .schema(first.reader.schema_message().map(<[u8]>::to_vec))
        .dictionaries(sources.iter().any(|source| source.reader.header().has_dictionaries()))
        .properties(common_properties(sources))
        .created_by(Some(format!("faro {}", env!("CARGO_PKG_VERSION"))));
    let merge = match args.resume {
        true => Merge::resume(name, options)?,
        false => Merge::create(name, options)?,
    };
    match fill(&merge, range.clone(), sources, bar) {
        Ok((summary, duplicates)) => {
            let paths = summary.files.paths();
            let path = |at: usize| {
                paths
                    .get(at)
                    .map(|(_, path)| path.display().to_string())
                    .unwrap_or_default()
            };
            Ok(Report {
                data: path(0),
                index: path(1),
                first_partition: range.start,
                partition_count: range.end - range.start,
                regions: summary.regions,
                runs: summary.runs,
                duplicates,
            })
        }
        Err(failure) => {
            // What was resumed stays, for another try; what was begun here leaves nothing.
            let _ = if args.resume { merge.close() } else { merge.remove() };
            Err(failure)
        }
    }
}

/// The properties that are the same in all outputs. Those of `pack` say how `cat` prints the records.
fn common_properties(sources: &[Source]) -> BTreeMap<String, String> {
    let of = |source: &Source| -> BTreeMap<String, String> {
        let properties = source.reader.footer().properties.iter();
        properties
            .map(|property| (property.key.clone(), property.value.clone()))
            .collect()
    };
    let mut sources = sources.iter().map(of);
    let mut common = sources.next().unwrap_or_default();
    for properties in sources {
        common.retain(|key, value| properties.get(key) == Some(value));
    }
    common
}

/// Pushes every block of the partitions, partition by partition.
fn fill(merge: &Merge, range: Range<u32>, sources: &[Source], bar: &ProgressBar) -> Outcome<(MergeSummary, u64)> {
    let mut duplicates = 0;
    for partition in range {
        for source in sources {
            match push(merge, partition, source, bar)? {
                None | Some(Pushed::Merged) => {}
                Some(Pushed::Duplicate) => duplicates += 1,
                Some(outcome) => return Err(Failure::usage(format!("{}: {outcome}", source.name.display()))),
            }
        }
    }
    Ok((merge.finalize()?, duplicates))
}

/// Pushes the blocks of one partition of an output. None if it has none.
fn push(merge: &Merge, partition: u32, source: &Source, bar: &ProgressBar) -> Outcome<Option<Pushed>> {
    let producer = source.reader.header().producer;
    let mut push = match merge.begin(producer, merge.header().attempt)? {
        Begun::Open(push) => push,
        Begun::Refused(outcome) => return Ok(Some(outcome)),
    };
    let mut to = PushWriter {
        push: &mut push,
        bar,
        stopped: None,
    };
    let fragment = source.reader.fragment(partition..partition + 1, None, &mut to);
    match to.stopped {
        Some(stopped) => return Ok(stopped.map(Some)?),
        None if signals::interrupted() => return Err(Failure::Interrupted),
        None if fragment?.is_none() => return Ok(None),
        None => {}
    }
    Ok(Some(push.commit()?))
}

/// Writes a fragment to a push.
struct PushWriter<'a> {
    push: &'a mut Push,
    bar: &'a ProgressBar,
    /// Why the push is over.
    stopped: Option<faro::Result<Pushed>>,
}

impl io::Write for PushWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if signals::interrupted() {
            return Err(io::Error::other("interrupted"));
        }
        self.stopped = match self.push.write(bytes) {
            Ok(None) => {
                self.bar.inc(bytes.len() as u64);
                return Ok(bytes.len());
            }
            Ok(Some(outcome)) => Some(Ok(outcome)),
            Err(error) => Some(Err(error)),
        };
        Err(io::Error::other("the push is over"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
