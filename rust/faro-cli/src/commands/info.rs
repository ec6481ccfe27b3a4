//! `faro info`: describes an output.

mod report;
mod text;
mod total;
mod total_report;
mod total_text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;

use clap::Args;
use faro::block::BlockHeader;
use faro::{Files, Framing};
use serde::Serialize;

pub(crate) use report::Info;
use report::{
    BlocksInfo, ColumnInfo, DictionariesInfo, FileInfo, HeaderInfo, PartitionInfo, PartitionsInfo, RegionsInfo,
    RunsInfo,
};

use super::fragments::{self, Fragments, is_fragments};
use crate::failure::{Failure, Outcome};
use crate::folder;
use crate::positioned::FileExt;
use crate::streams::StreamsInfo;
use crate::target::Target;
use crate::term::Out;
use crate::units;
use crate::view::{self, Spread, View};

/// Describe an output: header, sizes, codecs, skew, properties
#[derive(Args, Debug)]
#[command(after_long_help = "\
It also describes unfinished outputs: it says so, and shows the committed regions. Of a file of fragments, as map tasks \
of Spark leave for its shuffle service, it says what they have together.

Of a folder it prints one report over all outputs in it and in the folders in it: what they have together, how evenly \
producers and partitions are loaded, and which outputs are unfinished or damaged. It reads only their ends, where the \
statistics are. The exit code is 4 if an output is damaged.

Examples:
  faro info shuffle
  faro info shuffles/
  faro info --total --partitions map-1 map-2
  faro info shuffle --partitions --schema
  faro info shuffles/*.index
  faro info --json shuffle | jq .partitions.skew")]
pub(crate) struct InfoArgs {
    /// The outputs: NAME, or one of its files NAME.data, NAME.index, NAME.faro. Or folders: all outputs in them
    #[arg(required = true, value_name = "NAME|DIR")]
    names: Vec<PathBuf>,

    /// One report over all outputs, as for a folder
    #[arg(long, conflicts_with = "index")]
    total: bool,

    /// The index file, when it is not called NAME.index; NAME is the data file then
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,

    /// Also print the columns of Arrow batches
    #[arg(long)]
    schema: bool,

    /// Also print records, stored bytes and missing blocks of each partition that has any
    #[arg(long)]
    partitions: bool,

    /// Count the blocks of the whole output, not only the first 100,000
    #[arg(long)]
    all_blocks: bool,

    /// Print the report as JSON: an object; for several outputs, an object with the list "outputs"
    #[arg(long)]
    json: bool,
}

/// How many block headers are read by default.
const SOME_BLOCKS: u64 = 100_000;

/// The report of one name.
#[derive(Serialize)]
#[serde(untagged)]
enum Described {
    Output(Box<Info>),
    Fragments(Fragments),
}

/// Runs the command.
pub(crate) fn run(args: &InfoArgs, out: &mut Out) -> Outcome {
    if args.index.is_some() && args.names.len() > 1 {
        return Err(Failure::usage("--index is for one output"));
    }
    if args.total || (args.index.is_none() && folder::any(&args.names)) {
        if args.schema || args.all_blocks {
            let what = "--schema and --all-blocks are for single outputs; `faro schema` takes folders";
            return Err(Failure::usage(what));
        }
        return total::run(&args.names, args.partitions, args.json, out);
    }
    let mut all = Vec::new();
    for name in &args.names {
        if args.index.is_none() && is_fragments(name) {
            let found = fragments::read(name, false)?;
            if !args.json {
                if !all.is_empty() {
                    out.line("")?;
                }
                fragments::print(name, &found, out)?;
            }
            all.push(Described::Fragments(found));
            continue;
        }
        let target = Target {
            name: name.clone(),
            index: args.index.clone(),
        };
        let files = target.files()?;
        let view = View::open(&files)?;
        let mut info = collect(&files, &view, if args.all_blocks { u64::MAX } else { SOME_BLOCKS })?;
        if args.schema {
            info.schema = schema(&view)?;
        }
        if args.partitions {
            info.partitions.each = Some(each(&view)?);
        }
        if !args.json {
            if !all.is_empty() {
                out.line("")?;
            }
            text::print(&info, out)?;
        }
        all.push(Described::Output(Box::new(info)));
    }
    match &all[..] {
        _ if !args.json => Ok(()),
        [one] => out.json(one),
        several => out.json(&serde_json::json!({ "outputs": several })),
    }
}

/// The report of one output, with the figures of its first blocks.
pub(crate) fn describe(files: &Files, view: &View) -> Outcome<Info> {
    collect(files, view, SOME_BLOCKS)
}

/// The columns, if the payload is Arrow.
fn schema(view: &View) -> Outcome<Option<Vec<ColumnInfo>>> {
    let View::Finished(reader) = view else { return Ok(None) };
    if reader.header().framing != Framing::Arrow {
        return Ok(None);
    }
    let column = |field: &std::sync::Arc<arrow_schema::Field>| ColumnInfo {
        name: field.name().clone(),
        r#type: field.data_type().to_string(),
        nullable: field.is_nullable(),
    };
    Ok(Some(
        reader.batch_decoder()?.schema().fields().iter().map(column).collect(),
    ))
}

/// What each partition reads, for partitions that read anything or miss blocks.
fn each(view: &View) -> Outcome<Vec<PartitionInfo>> {
    let spread = Spread::of(view)?;
    let first = view.header().first_partition;
    let statistics = view.footer().and_then(|footer| footer.statistics.as_ref());
    let records = |partition: u32| {
        let statistics = statistics?;
        let own = statistics
            .records
            .as_ref()
            .and_then(|all| all.get((partition - first) as usize));
        Some(statistics.records_to_all.saturating_add(own.copied().unwrap_or(0)))
    };
    let missing = |partition: u32| match view {
        View::Finished(reader) => reader.stream(partition).ok().flatten().map(|stream| stream.missing),
        _ => None,
    };
    // Partitions that miss blocks have a line too if nothing of them is stored.
    let streams = StreamsInfo::of(view.header(), view.footer());
    let gaps = streams.into_iter().flat_map(|streams| streams.gaps);
    let mut sizes: BTreeMap<u32, u64> = gaps.map(|gaps| (gaps.partition, 0)).collect();
    sizes.extend(spread.each());
    let info = |(partition, bytes)| PartitionInfo {
        partition,
        bytes,
        records: records(partition),
        missing: missing(partition),
    };
    Ok(sizes.into_iter().map(info).collect())
}

fn collect(files: &Files, view: &View, most_blocks: u64) -> Outcome<Info> {
    let header = view.header();
    let mut file_infos = Vec::new();
    for (role, path) in view::paths(files) {
        let (_, bytes) = view::open(path)?;
        file_infos.push(FileInfo {
            role: role.as_str(),
            path: path.display().to_string(),
            bytes,
        });
    }
    let footer = view.footer();
    let records = footer.and_then(|footer| footer.statistics.as_ref()).map(|statistics| {
        let each = statistics.records.iter().flatten();
        each.fold(statistics.records_to_all, |sum, records| sum.saturating_add(*records))
    });
    let properties = footer.map_or_else(BTreeMap::new, |footer| {
        footer
            .properties
            .iter()
            .map(|property| (property.key.clone(), property.value.clone()))
            .collect()
    });
    Ok(Info {
        layout: if file_infos.len() == 1 { "single" } else { "paired" },
        finished: view.is_finished(),
        header: HeaderInfo {
            version: format!("{}.{}", faro::VERSION_MAJOR, header.version_minor),
            framing: header.framing.as_str(),
            partition_count: header.partition_count,
            first_partition: header.first_partition,
            producer: (header.producer != u64::MAX).then_some(header.producer),
            attempt: header.attempt,
            file_id: uuid::Uuid::from_bytes(header.file_id).to_string(),
            reader_features: header.reader_features,
            writer_features: header.writer_features,
        },
        created_by: footer.and_then(|footer| footer.created_by.clone()),
        dictionaries: header.has_dictionaries().then(|| DictionariesInfo {
            count: view.dictionaries().len(),
            bytes: view.dictionaries().iter().map(|entry| u64::from(entry.size)).sum(),
        }),
        properties,
        regions: regions(view, file_infos.first().map_or(0, |file| file.bytes))?,
        blocks: blocks(files, view, most_blocks)?,
        records,
        schema: None,
        streams: StreamsInfo::of(header, footer),
        partitions: partitions(view)?,
        files: file_infos,
    })
}

fn regions(view: &View, data_bytes: u64) -> Outcome<RegionsInfo> {
    let mut info = RegionsInfo {
        count: view.region_count() as u64,
        ..RegionsInfo::default()
    };
    let mut end = 64;
    let (mut runs, mut producers) = (0, BTreeSet::new());
    for region in view.regions() {
        let region = region?;
        info.sparse += u64::from(region.is_sparse());
        info.bytes += region.extent().length;
        info.own_extents += region.slots().filter(|slot| slot.extent.length > 0).count() as u64;
        info.shared_extents += region.shared().len() as u64;
        info.shared_bytes += region.shared().iter().map(|shared| shared.extent.length).sum::<u64>();
        runs += region.runs().len() as u64;
        producers.extend(region.runs().iter().map(|run| run.producer));
        end = region.extent().end();
    }
    info.runs = view.header().is_merged().then_some(RunsInfo {
        count: runs,
        producers: producers.len() as u64,
    });
    if !view.is_finished() {
        info.uncommitted_bytes = data_bytes.saturating_sub(end);
    }
    Ok(info)
}

/// Reads the headers of the blocks, which have the codec of each.
fn blocks(files: &Files, view: &View, most: u64) -> Outcome<BlocksInfo> {
    let mut info = BlocksInfo {
        complete: true,
        ..BlocksInfo::default()
    };
    let Some((_, path)) = view::paths(files).into_iter().next() else {
        return Ok(info);
    };
    let (file, _) = view::open(path)?;
    'regions: for region in view.regions() {
        let extent = region?.extent();
        let mut at = extent.offset;
        while at < extent.end() {
            if info.count == most {
                info.complete = false;
                break 'regions;
            }
            let header = block_header(&file, at).map_err(|source| Failure::file(path, source))?;
            info.add(&header);
            at += header.size_in_file();
        }
    }
    info.ratio = units::ratio(info.plain_bytes, info.stored_payload_bytes);
    Ok(info)
}

fn block_header(file: &File, at: u64) -> std::io::Result<BlockHeader> {
    let mut bytes = [0; BlockHeader::SIZE];
    file.read_exact_at(&mut bytes, at)?;
    Ok(BlockHeader::parse(&bytes))
}

impl BlocksInfo {
    fn add(&mut self, header: &BlockHeader) {
        let (stored, plain) = (u64::from(header.stored_size), u64::from(header.plain_size));
        let codec = self.codecs.entry(match header.codec {
            0 => "none",
            1 => "lz4",
            2 => "zstd",
            _ => "unknown",
        });
        let codec = codec.or_default();
        codec.blocks += 1;
        codec.stored_payload_bytes += stored;
        codec.plain_bytes += plain;
        self.count += 1;
        self.events += u64::from(faro::block::is_event_kind(header.kind));
        self.stored_payload_bytes += stored;
        self.plain_bytes += plain;
    }
}

fn partitions(view: &View) -> Outcome<PartitionsInfo> {
    let spread = Spread::of(view)?;
    let max = spread.quantile(1.0);
    let mean = spread.mean();
    Ok(PartitionsInfo {
        empty: spread.empty(),
        min_bytes: spread.quantile(0.0),
        median_bytes: spread.quantile(0.5),
        mean_bytes: mean,
        p99_bytes: spread.quantile(0.99),
        max_bytes: max,
        skew: (max > 0).then(|| max as f64 / mean),
        largest: spread
            .largest(5)
            .into_iter()
            .map(|(partition, bytes)| PartitionInfo {
                partition,
                bytes,
                records: None,
                missing: None,
            })
            .collect(),
        each: None,
    })
}
