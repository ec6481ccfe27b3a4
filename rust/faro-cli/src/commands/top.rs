//! `faro top`: the heaviest keys of a partition.

mod heavy;

use std::ops::ControlFlow;

use clap::Args;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use serde_json::Value as Json;

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::folder;
use crate::pack::{By, KeyType, StoredKey, by_of, decode_key, parse_by};
use crate::partitions::Selection;
use crate::rows::Source;
use crate::target::AnyTarget;
use crate::term::Out;
use crate::units::{count, plural, size};
use heavy::{Heavy, Weight};

/// Print the heaviest keys of a partition
#[derive(Args, Debug)]
#[command(after_long_help = "\
Rows are counted by their key, and their bytes are added up: those of the record, or of Arrow batches an equal share of \
the block before compression. The key's columns are those by which `faro pack` made the partitions, or those of --by.

Up to --keys different keys are counted exactly. If there are more, light keys are forgotten, and the report says how \
many bytes each key may have more than it shows. A key with more bytes than that is never missing.

Examples:
  faro top shuffle
  faro top shuffles/ -p 7 -n 3
  faro top shuffle -p 7 --by customer,day
  faro top events --by /user/id --json")]
pub(crate) struct TopArgs {
    #[command(flatten)]
    target: AnyTarget,

    /// The partition, or the partitions from A to B; several with commas [default: the one with the most stored bytes]
    #[arg(short, long = "partition", value_name = "N|A-B", value_delimiter = ',')]
    partitions: Vec<Selection>,

    /// The columns of the key, as for `faro pack` [default: those that were packed by]
    #[arg(short, long, value_name = "COLUMN[:TYPE]", value_delimiter = ',', value_parser = parse_by)]
    by: Vec<By>,

    /// How many keys are printed
    #[arg(short = 'n', long = "number", value_name = "N", default_value_t = 10)]
    number: usize,

    /// How many different keys are counted exactly
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = at_least_two)]
    keys: usize,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

fn at_least_two(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 2..) => Ok(number),
        _ => Err("a number from 2 on".to_owned()),
    }
}

/// The report.
#[derive(Debug, Serialize)]
struct Top {
    /// The partitions that were read, as they were selected.
    partitions: String,
    /// Whether the partition was chosen because it is the largest.
    largest: bool,
    by: Vec<String>,
    outputs: u64,
    records: u64,
    bytes: u64,
    /// The number of different keys, if all were counted exactly.
    distinct: Option<u64>,
    /// How many bytes a key may have more than the report shows; 0 if the counts are exact.
    error_bytes: u64,
    keys: Vec<TopKey>,
}

#[derive(Debug, Serialize)]
struct TopKey {
    key: Vec<Json>,
    bytes: u64,
    records: u64,
    /// The share of the bytes.
    share: f64,
}

/// Runs the command.
pub(crate) fn run(args: &TopArgs, out: &mut Out) -> Outcome {
    let source = Source::of_rows(&args.target, &args.partitions)?;
    let by = match args.by.is_empty() {
        false => args.by.clone(),
        true => by_of(&source.first()?)?.ok_or_else(|| {
            Failure::usage("which columns? `faro pack` did not write this output, so name them: --by COLUMN")
        })?,
    };
    let largest = args.partitions.is_empty();
    let partitions = match largest {
        false => args.partitions.clone(),
        true => vec![largest_partition(&source)?],
    };
    let (heavy, types) = counted(args, &source, &partitions, &by)?;
    let shown: Vec<String> = partitions.iter().map(ToString::to_string).collect();
    let top = Top {
        partitions: shown.join(","),
        largest,
        by: by.iter().map(|by| by.name.clone()).collect(),
        outputs: source.shuffle().outputs().len() as u64,
        records: heavy.total.records,
        bytes: heavy.total.bytes,
        distinct: heavy.distinct(),
        error_bytes: heavy.error(),
        keys: heavy
            .heaviest(args.number)
            .into_iter()
            .map(|(key, weight)| TopKey::of(key, weight, &heavy.total, &types))
            .collect(),
    };
    if args.json {
        return out.json(&top);
    }
    print(&top, out)
}

fn largest_partition(source: &Source) -> Outcome<Selection> {
    let sums = source.sums()?;
    match sums.largest_partitions(1).first() {
        Some((partition, _)) => Ok(Selection::one(*partition)),
        None => Err(Failure::usage("all partitions are empty")),
    }
}

/// Counts the rows of the partitions by key.
fn counted(
    args: &TopArgs,
    source: &Source,
    partitions: &[Selection],
    by: &[By],
) -> Outcome<(Heavy, Vec<Option<KeyType>>)> {
    let mut heavy = Heavy::new(args.keys);
    let mut scratch = Vec::new();
    let mut types = vec![None; by.len()];
    let mut open: Option<(usize, StoredKey)> = None;
    let outputs = source.shuffle().outputs();
    source.each(partitions, &mut |found| {
        let key = match &mut open {
            Some((output, key)) if *output == found.output => key,
            place => {
                let key =
                    StoredKey::of(found.reader, by).map_err(|failure| of_output(failure, outputs, found.output))?;
                types = key.types();
                &mut place.insert((found.output, key)).1
            }
        };
        let counting = key.each(found.block, |values, bytes| {
            scratch.clear();
            values.iter().for_each(|value| value.encode(&mut scratch));
            heavy.add(&scratch, bytes);
        });
        counting.map_err(|failure| of_output(failure, outputs, found.output))?;
        Ok(ControlFlow::Continue(()))
    })?;
    // Other outputs may have the key.
    let is_null = |key: &[u8]| key.iter().all(|tag| *tag == 0);
    match open.and_then(|(_, key)| key.missing()) {
        Some(what) if heavy.heaviest(2).iter().all(|(key, _)| is_null(key)) => Err(Failure::usage(what)),
        _ => Ok((heavy, types)),
    }
}

/// Names the output in a failure about the caller's columns.
fn of_output(failure: Failure, outputs: &[faro::Files], output: usize) -> Failure {
    match (failure, outputs.get(output)) {
        (Failure::Usage(what), Some(files)) => Failure::usage(format!("{}: {what}", folder::shown(files))),
        (failure, _) => failure,
    }
}

impl TopKey {
    fn of(key: &[u8], weight: Weight, total: &Weight, types: &[Option<KeyType>]) -> TopKey {
        let values = decode_key(key).unwrap_or_default();
        let shown = values
            .iter()
            .zip(types)
            .map(|(value, kind)| kind.unwrap_or(KeyType::Null).show(value));
        TopKey {
            key: shown.collect(),
            bytes: weight.bytes,
            records: weight.records,
            share: weight.bytes as f64 / total.bytes.max(1) as f64,
        }
    }
}

fn print(top: &Top, out: &mut Out) -> Outcome {
    let style = out.style();
    let which = if top.largest { ", the largest" } else { "" };
    let keys = top
        .distinct
        .map_or_else(|| "more keys than were counted".to_owned(), |keys| plural(keys, "key"));
    out.line(&format!(
        "partition {}{which}: {} and {} in {}, {keys}",
        top.partitions,
        plural(top.records, "record"),
        size(top.bytes),
        plural(top.outputs, "output"),
    ))?;
    if top.error_bytes > 0 {
        let text = format!(
            "estimates: each key may have up to {} more than is shown, and more records; --keys counts more keys exactly",
            size(top.error_bytes)
        );
        out.line(&style.yellow(&text))?;
    }
    let mut titles: Vec<String> = top.by.iter().map(|name| escape(name)).collect();
    titles.extend(["records", "bytes", "share"].map(str::to_owned));
    let mut rows = Table::new();
    rows.load_style(NOTHING).set_header(&titles);
    for (column, number) in rows.column_iter_mut().zip(0..) {
        column.set_padding((0, 2));
        if number >= top.by.len() {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for key in &top.keys {
        let mut cells: Vec<String> = key.key.iter().map(shown).collect();
        cells.resize(top.by.len(), String::new());
        cells.extend([
            count(key.records),
            size(key.bytes),
            format!("{:.1}%", key.share * 100.0),
        ]);
        rows.add_row(cells);
    }
    for (number, line) in rows.lines().enumerate() {
        let line = line.trim_end();
        out.line(&if number == 0 { style.bold(line) } else { line.to_owned() })?;
    }
    Ok(())
}

/// The most characters of a value in the table.
const SHOWN: usize = 60;

/// A value for people: text without quotes.
fn shown(value: &Json) -> String {
    let text = match value {
        Json::String(text) => escape(text),
        other => escape(&other.to_string()),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
