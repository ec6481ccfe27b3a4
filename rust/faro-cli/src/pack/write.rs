//! Writes one input to one output.

use faro::{Durability, Framing, Layout, Summary, Writer, WriterOptions};
use indicatif::ProgressBar;
use serde_json::Value as Json;
use uuid::Uuid;

use super::args::PackArgs;
use super::arrow_input::ArrowInput;
use super::input::Input;
use super::key_type::KeyType;
use super::outputs::Job;
use super::packed::Packed;
use super::partitioner::{OwnedKey, Partitioner};
use super::source::Format;
use super::text_input::{TextInput, TextShape};
use crate::failure::Outcome;
use crate::signals;
use crate::view::paths;

type Properties = Vec<(&'static str, String)>;

/// Writes the output of a job. After a failure, dropping the writer removes its temporary files.
pub(super) fn pack(
    args: &PackArgs,
    job: &Job,
    mut input: Input,
    partitioner: &Partitioner,
    partitions: u32,
    progress: &ProgressBar,
) -> Outcome<Packed> {
    let all_read = || crate::progress::writing(progress, &job.base.display().to_string());
    let file_id = args.file_id.unwrap_or_else(Uuid::new_v4);
    let options = options(args, job, partitions, file_id)?;
    let format = input.format();
    let mut properties = properties(args, format, partitioner);
    let (records, summary) = match &mut input {
        Input::Text(text) => {
            properties.extend(shape_properties(&text.shape));
            write_text(job, text, partitioner, options, properties, all_read)?
        }
        Input::Arrow(arrow) => write_arrow(job, arrow, partitioner, options, properties, all_read)?,
    };
    Ok(Packed {
        input: job.input.display().to_string(),
        files: paths(&summary.files)
            .into_iter()
            .map(|(_, path)| path.display().to_string())
            .collect(),
        format: format.name(),
        producer: job.producer,
        file_id: file_id.to_string(),
        partitions,
        records,
        regions: summary.regions as u64,
        data_bytes: summary.data_bytes,
        index_bytes: summary.index_bytes,
        missing: input.missing()?,
    })
}

fn options(args: &PackArgs, job: &Job, partitions: u32, file_id: Uuid) -> Outcome<WriterOptions> {
    let durability = if args.sync {
        Durability::Commit
    } else {
        Durability::None
    };
    let options = WriterOptions::new(partitions)
        .durability(durability)
        .producer(job.producer)
        .attempt(args.attempt)
        .file_id(Some(file_id.into_bytes()))
        .block_size(args.block_size)
        .buffer_size(args.memory)
        .codec(args.codec.codec)
        .level(args.codec.level)
        .ordered(!args.unordered)
        .rotation(args.rotation)
        .overwrite(args.force)
        .created_by(Some(concat!("faro-cli ", env!("CARGO_PKG_VERSION")).to_owned()));
    Ok(if args.single {
        options.layout(Layout::Single)
    } else {
        options
    })
}

/// The properties that say how keys became partitions.
fn properties(args: &PackArgs, format: Format, partitioner: &Partitioner) -> Properties {
    let by: Vec<String> = args.by.iter().map(ToString::to_string).collect();
    let mut properties = vec![
        ("faro.pack.format", format.name().to_owned()),
        ("faro.pack.by", by.join(",")),
    ];
    match partitioner {
        Partitioner::Hash { .. } => properties.push(("faro.pack.method", "hash".to_owned())),
        Partitioner::Range { bounds, types } => {
            properties.push(("faro.pack.method", "range".to_owned()));
            properties.push(("faro.pack.bounds", bounds_text(bounds, types)));
        }
    }
    properties
}

/// The bounds as a JSON list of values, or of lists for keys of several columns, in the form of `--bounds`.
fn bounds_text(bounds: &[OwnedKey], types: &[KeyType]) -> String {
    let bound = |key: &OwnedKey| {
        let mut values: Vec<Json> = key.iter().zip(types).map(|(value, kind)| kind.show(value)).collect();
        if values.len() == 1 {
            values.remove(0)
        } else {
            Json::Array(values)
        }
    };
    Json::from_iter(bounds.iter().map(bound)).to_string()
}

/// The properties that `cat` needs to restore the text.
fn shape_properties(shape: &TextShape) -> Properties {
    let mut properties = Properties::new();
    if let Some(delimiter) = shape.delimiter {
        properties.push(("faro.pack.delimiter", char::from(delimiter).to_string()));
    }
    if let Some(header) = &shape.header {
        properties.push(("faro.pack.header", header.clone()));
    }
    if shape.crlf {
        properties.push(("faro.pack.line_end", "crlf".to_owned()));
    }
    properties
}

fn write_text(
    job: &Job,
    input: &mut TextInput,
    partitioner: &Partitioner,
    options: WriterOptions,
    properties: Properties,
    all_read: impl FnOnce(),
) -> Outcome<(u64, Summary)> {
    let mut writer = Writer::create(&job.base, options.framing(Framing::Records))?;
    let mut scratch = Vec::new();
    let mut records = 0;
    while let Some((record, partition)) = input.next(|key| partitioner.partition(key, &mut scratch))? {
        writer.write(partition, record.bytes)?;
        records += 1;
        if records % 1024 == 0 {
            signals::check()?;
        }
    }
    input.missing()?;
    for (key, value) in properties {
        writer.property(key, &value)?;
    }
    signals::check()?;
    all_read();
    Ok((records, writer.finish()?))
}

fn write_arrow(
    job: &Job,
    input: &mut ArrowInput,
    partitioner: &Partitioner,
    options: WriterOptions,
    properties: Properties,
    all_read: impl FnOnce(),
) -> Outcome<(u64, Summary)> {
    let mut writer = faro::ArrowWriter::create(&job.base, input.schema.clone(), options)?;
    let mut scratch = Vec::new();
    let mut rows = 0;
    while let Some((batch, partitions)) = input.next(|key| partitioner.partition(key, &mut scratch))? {
        writer.write(&batch, &partitions)?;
        rows += batch.num_rows() as u64;
        signals::check()?;
    }
    for (key, value) in properties {
        writer.property(key, &value)?;
    }
    signals::check()?;
    all_read();
    Ok((rows, writer.finish()?))
}
