//! `faro pack`: rows of files become shuffle files.

mod args;
mod arrow_input;
mod bounds;
mod columns;
mod outputs;
mod partitioner;
mod records;
mod source;
mod text_input;
mod text_key;
mod value;
mod write;

pub use args::PackArgs;
pub use value::hex;

use indicatif::ProgressBar;
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::term::{Out, escape};
use crate::units;
use arrow_input::ArrowInput;
use outputs::Job;
use partitioner::{OwnedKey, Partitioner, Sampler};
use source::{Format, Source, is_stdin};
use text_input::TextInput;
use text_key::Kind;

/// Partitions when nobody says how many.
const DEFAULT_PARTITIONS: u32 = 64;

/// What was written for one input.
#[derive(Debug, Serialize)]
struct Packed {
    input: String,
    files: Vec<String>,
    format: &'static str,
    producer: u64,
    file_id: String,
    partitions: u32,
    records: u64,
    regions: u64,
    data_bytes: u64,
    index_bytes: u64,
}

/// Runs the command.
pub fn run(args: &PackArgs, out: &mut Out) -> Outcome {
    crate::signals::install()?;
    let jobs = outputs::plan(args)?;
    let (partitioner, partitions) = partitioner(args, &jobs)?;
    let mut all = Vec::new();
    for job in &jobs {
        let source = Source::open(&job.input, args.format)?;
        let progress = crate::progress::bytes(source.size, &job.input.display().to_string());
        let packed = write::pack(args, job, source, &partitioner, partitions, &progress);
        progress.finish_and_clear();
        let packed = packed?;
        if !args.json {
            out.line(&summary(&packed))?;
        }
        all.push(packed);
    }
    if args.json {
        out.json(&serde_json::json!({ "outputs": all }))?;
    }
    Ok(())
}

fn summary(packed: &Packed) -> String {
    let files: Vec<String> = packed.files.iter().map(|file| escape(file)).collect();
    format!(
        "{}: {} in {} and {}, {}",
        files.join(", "),
        units::plural(packed.records, "record"),
        units::plural(u64::from(packed.partitions), "partition"),
        units::plural(packed.regions, "region"),
        units::size(packed.data_bytes + packed.index_bytes),
    )
}

/// How keys become partitions, and how many there are.
fn partitioner(args: &PackArgs, jobs: &[Job]) -> Outcome<(Partitioner, u32)> {
    let partitions = args.partitions.unwrap_or(DEFAULT_PARTITIONS);
    if let Some(text) = &args.bounds {
        let bounds = bounds::parse(text, args, bound_kind(args)?)?;
        let made = bounds.len() as u64 + 1;
        if args.partitions.is_some_and(|partitions| u64::from(partitions) != made) {
            return Err(Failure::usage(format!(
                "{} bounds make {made} partitions",
                bounds.len()
            )));
        }
        return Ok((Partitioner::Range { bounds }, made as u32));
    }
    if args.range {
        let bounds = sample(args, jobs, partitions)?;
        return Ok((Partitioner::Range { bounds }, partitions));
    }
    Ok((Partitioner::Hash { partitions }, partitions))
}

/// What the bounds' values are: the type of the key's column, where one can know.
fn bound_kind(args: &PackArgs) -> Outcome<Option<Kind>> {
    let column = args.by.first().and_then(|by| by.kind);
    let of_text = |format: Format| {
        if format == Format::Jsonl {
            None
        } else {
            Some(column.unwrap_or(Kind::Text))
        }
    };
    let Some(input) = args.inputs.first().filter(|input| !is_stdin(input)) else {
        return Ok(args
            .format
            .filter(|format| format.is_text())
            .and_then(of_text)
            .or(column));
    };
    let source = Source::open(input, args.format)?;
    if source.format.is_text() || !source.is_repeatable() {
        return Ok(of_text(source.format));
    }
    Ok(ArrowInput::open(source, args, &ProgressBar::hidden())?.bound_kind())
}

/// Reads all inputs once for the bounds that part their keys evenly.
fn sample(args: &PackArgs, jobs: &[Job], partitions: u32) -> Outcome<Vec<OwnedKey>> {
    let mut sampler = Sampler::new(partitions);
    for job in jobs {
        let source = Source::open(&job.input, args.format)?;
        if !source.is_repeatable() {
            return Err(Failure::usage(
                "a pipe cannot be read twice, as --range does to find bounds: give --bounds",
            ));
        }
        let progress = crate::progress::bytes(source.size, "looking for bounds");
        if source.format.is_text() {
            let mut input = TextInput::open(source, args, &progress)?;
            while input.next(|key| sampler.offer(key))?.is_some() {
                crate::signals::check()?;
            }
        } else {
            let mut input = ArrowInput::open(source, args, &progress)?;
            while input.next(|key| sampler.offer(key))?.is_some() {
                crate::signals::check()?;
            }
        }
        progress.finish_and_clear();
    }
    Ok(sampler.bounds(partitions))
}
