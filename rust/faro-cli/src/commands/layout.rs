//! `faro layout`: shows what every byte of an output is, as a table or a picture.

mod figures;
mod rows;
mod totals;
mod whole;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use clap::Args;
use faro::message::Run;
use faro::{ByteRange, ByteRangeKind};
use serde::Serialize;

use crate::failure::Outcome;
use crate::picture;
use crate::target::AnyTarget;
use crate::term::Out;
use crate::units;
use crate::view::View;
pub(crate) use figures::{grid, parts};
use rows::{print_rows, titled};
use totals::Totals;
use whole::Form;
pub(crate) use whole::grid_of_all;

/// Show where everything is: every byte of the files, as a table, JSON or a picture
#[derive(Args, Debug)]
#[command(after_long_help = "\
The picture has a row for each region and a column for each partition (several share one when there are many), \
coloured by stored bytes; bars show the totals of partitions and regions, so that skew is visible at a glance.

Of a folder there is a picture, as text or with --svg: a row for each output and a column for each partition. --totals \
adds up all outputs.

Examples:
  faro layout shuffle
  faro layout shuffles/
  faro layout shuffles/ --svg shuffles.svg
  faro layout shuffle --totals
  faro layout shuffle --svg shuffle.svg
  faro layout --json shuffle | jq '.ranges[] | select(.partition == 3)'")]
pub(crate) struct LayoutArgs {
    #[command(flatten)]
    target: AnyTarget,

    /// Print only the totals
    #[arg(long, conflicts_with = "json")]
    totals: bool,

    /// Draw a picture into this file; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "totals"])]
    svg: Option<PathBuf>,

    /// Print the ranges as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct RangeInfo {
    file: &'static str,
    offset: u64,
    length: u64,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_block: Option<u32>,
    /// In merged files: whose blocks an own extent has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<RunInfo>,
    blocks: u64,
    block_headers: u64,
    payload: u64,
    padding: u64,
}

#[derive(Debug, Serialize)]
struct RunInfo {
    producer: u64,
    attempt: u64,
    first_block: u32,
    blocks: u32,
    length: u64,
    last: bool,
}

impl RunInfo {
    fn of(run: &Run) -> RunInfo {
        RunInfo {
            producer: run.producer,
            attempt: run.attempt,
            first_block: run.first_block,
            blocks: run.blocks,
            length: 8 * u64::from(run.length),
            last: run.is_last(),
        }
    }
}

impl RangeInfo {
    fn of(range: &ByteRange, runs: &[Run]) -> RangeInfo {
        RangeInfo {
            file: range.file.as_str(),
            offset: range.offset,
            length: range.length,
            what: range.what.as_str().replace(' ', "-"),
            region: range.region,
            partition: range.partition,
            members: range.members,
            first_block: range.first_block,
            runs: runs.iter().map(RunInfo::of).collect(),
            blocks: range.blocks.count,
            block_headers: range.blocks.headers,
            payload: range.blocks.payload,
            padding: range.blocks.padding,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &LayoutArgs, out: &mut Out) -> Outcome {
    if args.target.is_folder() {
        if args.totals {
            return whole::totals(&args.target.name, out);
        }
        let form = match &args.svg {
            _ if args.json => Form::Json,
            Some(path) => Form::Svg(path),
            None => Form::Text,
        };
        return whole::run(&args.target.name, &form, out);
    }
    let files = args.target.one().files()?;
    let view = View::open(&files)?;
    let ranges = view.byte_map()?;
    let total: u64 = ranges.iter().map(|range| range.length).sum();
    let runs = runs_of(&view, &ranges)?;
    if args.json {
        let ranges = ranges.iter().zip(&runs).map(|(range, runs)| RangeInfo::of(range, runs));
        let ranges: Vec<RangeInfo> = ranges.collect();
        return out.json(&serde_json::json!({ "bytes": total, "finished": view.is_finished(), "ranges": ranges }));
    }
    if let Some(path) = &args.svg {
        let name = args
            .target
            .name
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let svg = picture::svg(&name, &grid(&view)?, &parts(&ranges));
        return whole::write(path, &svg, out);
    }
    if !args.totals {
        table(&ranges, &runs, out)?;
        out.line("")?;
    }
    Totals::of(&ranges).print(out)
}

/// The runs of each range. Those of a region tile its own extents, in order (REG-8).
fn runs_of(view: &View, ranges: &[ByteRange]) -> Outcome<Vec<Vec<Run>>> {
    let mut found = vec![Vec::new(); ranges.len()];
    if !view.header().is_merged() {
        return Ok(found);
    }
    let mut left: BTreeMap<u32, VecDeque<Run>> = BTreeMap::new();
    for (range, found) in ranges.iter().zip(&mut found) {
        let (ByteRangeKind::OwnExtent, Some(number)) = (range.what, range.region) else {
            continue;
        };
        let runs = match left.entry(number) {
            Entry::Occupied(runs) => runs.into_mut(),
            Entry::Vacant(place) => place.insert(view.region(number as usize)?.runs().iter().copied().collect()),
        };
        let mut covered = 0;
        while covered < range.length
            && let Some(run) = runs.pop_front()
        {
            covered += 8 * u64::from(run.length);
            found.push(run);
        }
    }
    Ok(found)
}

fn table(ranges: &[ByteRange], runs: &[Vec<Run>], out: &mut Out) -> Outcome {
    let mut rows = titled(&[
        "file", "offset", "length", "what", "region", "for", "blocks", "payload", "padding",
    ]);
    for (range, runs) in ranges.iter().zip(runs) {
        let optional = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
        let readers = match (range.partition, range.members) {
            (Some(partition), _) => format!("partition {partition}"),
            (_, Some(members)) => units::plural(members.into(), "member"),
            _ => String::new(),
        };
        let readers = match range.first_block {
            Some(first) => format!("{readers}, from block {first} on"),
            None => readers,
        };
        let readers = match runs.len() {
            0 => readers,
            count => format!("{readers}, {}", units::plural(count as u64, "run")),
        };
        let in_blocks = |n: u64| {
            if range.blocks.count > 0 {
                n.to_string()
            } else {
                String::new()
            }
        };
        rows.add_row([
            range.file.to_string(),
            range.offset.to_string(),
            range.length.to_string(),
            range.what.as_str().to_owned(),
            optional(range.region),
            readers,
            in_blocks(range.blocks.count),
            in_blocks(range.blocks.payload),
            in_blocks(range.blocks.padding),
        ]);
    }
    print_rows(&rows, out)
}
