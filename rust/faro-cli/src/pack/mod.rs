//! `faro pack`: writes the rows of files to shuffle files.

mod args;
mod arrow_input;
mod bounds;
mod columns;
mod compressed;
mod decimal;
mod input;
mod json;
mod json_key;
mod key_type;
mod outputs;
mod packed;
mod partitioner;
mod place;
mod reading;
mod records;
mod source;
mod stored_key;
mod text_input;
mod text_key;
mod times;
mod value;
mod write;

pub(crate) use args::{By, PackArgs, parse_by};
pub(crate) use key_type::KeyType;
pub(crate) use place::{Place, Placed, PlacedColumn, Placing};
pub(crate) use stored_key::{RowFields, StoredKey, by_of, header_names};
pub(crate) use value::{decode_key, hex};

use std::path::Path;

use indicatif::ProgressBar;

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::term::Out;
use crate::units;
use bounds::Bounds;
use input::Input;
use json_key::Missing;
use outputs::Job;
use packed::Packed;
use partitioner::{Partitioner, Sampler};
use source::{Source, is_stdin};

/// The default number of partitions.
const DEFAULT_PARTITIONS: u32 = 64;

/// Runs the command.
pub(crate) fn run(args: &PackArgs, out: &mut Out) -> Outcome {
    crate::signals::install()?;
    for (number, by) in args.by.iter().enumerate() {
        if args.by[..number].iter().any(|other| other.name == by.name) {
            return Err(Failure::usage(format!("--by: the column {} is there twice", by.name)));
        }
    }
    let jobs = outputs::plan(args)?;
    let method = Method::of(args, &jobs)?;
    let mut all = Vec::new();
    for job in &jobs {
        let source = Source::open(&job.input, args.format)?;
        let progress = crate::progress::reading(source.size, &job.input.display().to_string());
        let packed = Input::open(source, args, &progress).and_then(|mut input| {
            let (partitioner, partitions) = method.partitioner(&mut input)?;
            write::pack(args, job, input, &partitioner, partitions, &progress)
        });
        progress.finish_and_clear();
        let packed = packed?;
        for missing in &packed.missing {
            eprintln!("faro: {}", escape(&note(&packed.input, missing)));
        }
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

/// A note on how many records lack a value of the key.
fn note(input: &str, missing: &Missing) -> String {
    let (have, key) = match missing.count {
        1 => ("has", "its key"),
        _ => ("have", "their keys"),
    };
    let of = units::plural(missing.records, "record");
    let count = units::count(missing.count);
    format!(
        "{input}: {count} of {of} {have} no \"{}\"; {key} is null there",
        missing.name
    )
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

/// How keys become partitions.
enum Method {
    Hash { partitions: u32 },
    Bounds { bounds: Bounds, partitions: u32 },
    Range { partitioner: Partitioner, partitions: u32 },
}

impl Method {
    /// The method that the caller chose. With several inputs, the faults of all are found before the first is packed.
    fn of(args: &PackArgs, jobs: &[Job]) -> Outcome<Method> {
        let partitions = args.partitions.unwrap_or(DEFAULT_PARTITIONS);
        let method = if let Some(text) = &args.bounds {
            let bounds = Bounds::read(text, args.by.len())?;
            let made = bounds.partitions();
            if args.partitions.is_some_and(|partitions| u64::from(partitions) != made) {
                return Err(Failure::usage(format!(
                    "these bounds make {made} partitions: leave --partitions out"
                )));
            }
            let partitions = u32::try_from(made).map_err(|_| Failure::usage("too many bounds"))?;
            Method::Bounds { bounds, partitions }
        } else if args.range {
            let partitioner = sample(args, jobs, partitions)?;
            Method::Range {
                partitioner,
                partitions,
            }
        } else {
            Method::Hash { partitions }
        };
        for job in jobs.iter().filter(|_| jobs.len() > 1 && !args.range) {
            if is_regular(&job.input) {
                let source = Source::open(&job.input, args.format)?;
                method.partitioner(&mut Input::open(source, args, &ProgressBar::hidden())?)?;
            }
        }
        Ok(method)
    }

    /// The partitioner for the keys of an input, and the number of partitions.
    fn partitioner(&self, input: &mut Input) -> Outcome<(Partitioner, u32)> {
        Ok(match self {
            &Method::Hash { partitions } => (Partitioner::Hash { partitions }, partitions),
            Method::Bounds { bounds, partitions } => {
                let (bounds, types) = bounds.typed(&input.types())?;
                input.expect(&types);
                (Partitioner::Range { bounds, types }, *partitions)
            }
            Method::Range {
                partitioner,
                partitions,
            } => (partitioner.clone(), *partitions),
        })
    }
}

/// Whether opening an input consumes nothing of it.
fn is_regular(path: &Path) -> bool {
    !is_stdin(path) && path.is_file()
}

/// Reads all inputs once, for bounds that divide their keys evenly.
fn sample(args: &PackArgs, jobs: &[Job], partitions: u32) -> Outcome<Partitioner> {
    let mut sampler = Sampler::new(partitions);
    let mut types: Vec<Option<KeyType>> = vec![None; args.by.len()];
    for job in jobs {
        let source = Source::open(&job.input, args.format)?;
        if !source.is_repeatable() {
            return Err(Failure::usage(
                "a pipe cannot be read twice, as --range does to find bounds: give --bounds",
            ));
        }
        let progress = crate::progress::bytes(source.size, "looking for bounds");
        let mut input = Input::open(source, args, &progress)?;
        input.keys(|key| sampler.offer(key))?;
        input.missing()?;
        progress.finish_and_clear();
        for ((known, own), by) in types.iter_mut().zip(input.types()).zip(&args.by) {
            match (*known, own) {
                (Some(known), Some(own)) if !known.compares_with(own) => {
                    return Err(Failure::usage(format!(
                        "{}: the type of \"{}\" is {own}, in the inputs before it is {known}: pack them one by one",
                        job.input.display(),
                        by.name
                    )));
                }
                (None, own) => *known = own,
                _ => {}
            }
        }
    }
    Ok(Partitioner::Range {
        bounds: sampler.bounds(partitions),
        types: types.into_iter().map(|kind| kind.unwrap_or(KeyType::Null)).collect(),
    })
}
