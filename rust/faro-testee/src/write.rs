//! The op `write` (protocol, "What `write` takes").

use crate::payload::{Content, Payload, SplitMix64, from_hex};
use crate::protocol::{Answer, Call, Failure, Members, Options, RegionBlock, Write, invalid_argument};
use crate::storage::{NewOutput, Storage};
use faro::{Codec, Durability, Framing, Layout, RegionWriter, StoredBlock, To, Writer, WriterOptions};
use serde_json::json;

/// Writes an output, call after call.
pub(crate) fn write(storage: &dyn Storage, request: Write) -> Answer {
    let mut output = storage.create(&request.path, options(request.options)?)?;
    let mut errors = Vec::new();
    let mut finished = false;
    let mut dictionaries = Vec::new();
    for (at, call) in request.calls.iter().enumerate() {
        match make(&mut output, call, &mut dictionaries) {
            Ok(()) => finished |= matches!(call, Call::Finish {}),
            Err(Failure::Refused(error)) => errors.push(json!({ "call": at, "code": error.code })),
            Err(unsupported) => return Err(unsupported),
        }
    }
    if !request.calls.iter().any(|call| matches!(call, Call::Finish {})) {
        output.writer.abort()?;
    }
    let mut answer = json!({ "errors": errors, "finished": finished });
    if request.calls.iter().any(|call| matches!(call, Call::Dictionary { .. })) {
        answer["dictionaries"] = dictionaries.into();
    }
    Ok(answer)
}

/// A number in the type of the library; one that does not fit is out of range.
pub(crate) fn number<T: TryFrom<i64>>(name: &str, value: i64) -> Result<T, Failure> {
    value.try_into().map_err(|_| invalid_argument(name, value))
}

pub(crate) fn bytes(payload: &Payload) -> Result<Vec<u8>, Failure> {
    payload.bytes().map_err(Failure::Unsupported)
}

/// The value of an option, by its word.
pub(crate) fn word<T: Copy>(name: &str, word: &str, known: &[(&str, T)]) -> Result<T, Failure> {
    let found = known.iter().find(|(known, _)| *known == word);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| Failure::Unsupported(format!("the {name} {word:?}")))
}

pub(crate) fn options(from: Options) -> Result<WriterOptions, Failure> {
    let count = from
        .partition_count
        .ok_or_else(|| Failure::Unsupported("no partition_count".into()))?;
    let mut options = WriterOptions::new(number("a partition_count of 32 bits", count)?);
    if let Some(layout) = from.layout {
        let known = [("paired", Layout::Paired), ("single", Layout::Single)];
        options.layout = Some(word("layout", &layout, &known)?);
    }
    if let Some(framing) = from.framing {
        let known = [Framing::Opaque, Framing::Records, Framing::Arrow].map(|framing| (framing.as_str(), framing));
        options.framing = word("framing", &framing, &known)?;
    }
    if let Some(codec) = from.codec {
        options.codec = word(
            "codec",
            &codec,
            &[Codec::None, Codec::Lz4, Codec::Zstd].map(|codec| (codec.as_str(), codec)),
        )?;
    }
    if let Some(durability) = from.durability {
        let known = [("none", Durability::None), ("commit", Durability::Commit)];
        options.durability = word("durability", &durability, &known)?;
    }
    if let Some(producer) = from.producer {
        options.producer = producer
            .parse()
            .map_err(|_| invalid_argument("a producer of 64 bits", producer))?;
    }
    if let Some(attempt) = from.attempt {
        options.attempt = attempt
            .parse()
            .map_err(|_| invalid_argument("an attempt of 64 bits", attempt))?;
    }
    if let Some(id) = from.file_id {
        let id = from_hex(&id).and_then(|id| id.try_into().ok());
        options.file_id = Some(id.ok_or_else(|| Failure::Unsupported("a file_id of another form".into()))?);
    }
    set(&mut options.first_partition, "first_partition", from.first_partition)?;
    set(&mut options.block_size, "block_size", from.block_size)?;
    set(&mut options.buffer_size, "buffer_size", from.buffer_size)?;
    set(&mut options.level, "level", from.level)?;
    set(&mut options.rotation, "rotation", from.rotation)?;
    set(&mut options.single_below, "single_below", from.single_below)?;
    set(&mut options.max_plain_size, "max_plain_size", from.max_plain_size)?;
    options.ordered = from.ordered.unwrap_or(options.ordered);
    options.selective = from.selective.unwrap_or(options.selective);
    options.statistics = from.statistics.unwrap_or(options.statistics);
    options.follow = from.follow.unwrap_or(options.follow);
    options.overwrite = from.overwrite.unwrap_or(options.overwrite);
    options.dictionaries = from.dictionaries.unwrap_or(options.dictionaries);
    options.created_by = from.created_by;
    options.schema = from.schema.as_ref().map(bytes).transpose()?;
    Ok(options)
}

fn set<T: TryFrom<i64>>(option: &mut T, name: &str, value: Option<i64>) -> Result<(), Failure> {
    if let Some(value) = value {
        *option = number(name, value)?;
    }
    Ok(())
}

pub(crate) fn partitions(list: &[i64]) -> Result<Vec<u32>, Failure> {
    list.iter().map(|partition| number("a partition", *partition)).collect()
}

fn make(output: &mut NewOutput, call: &Call, dictionaries: &mut Vec<u16>) -> Result<(), Failure> {
    let writer = &mut output.writer;
    match call {
        Call::Write {
            partition,
            payload,
            kind,
        } => {
            put(writer, To::One(number("a partition", *partition)?), *kind, payload)?;
        }
        Call::Broadcast { payload, kind } => put(writer, To::All, *kind, payload)?,
        Call::Multicast {
            partitions: to,
            payload,
            kind,
        } => put(writer, To::These(&partitions(to)?), *kind, payload)?,
        Call::Many {
            count,
            seed,
            partitions,
            length,
            content,
        } => {
            let write = |partition, record: &[u8]| writer.write(partition, record);
            many(write, *count, *seed, *partitions, *length, *content)?;
        }
        Call::Flush {} => writer.flush()?,
        Call::SkipTo { partition, sequence } => {
            writer.skip_to(number("a partition", *partition)?, number("a sequence", *sequence)?)?;
        }
        Call::SkipSharedTo { sequence } => writer.skip_shared_to(number("a sequence", *sequence)?)?,
        Call::Finish {} => output.finish()?,
        Call::Abort {} => writer.abort()?,
        Call::Property { key, value } => writer.property(key, value)?,
        Call::Dictionary { payload } => dictionaries.push(writer.dictionary(&bytes(payload)?)?),
        Call::Region { blocks } => {
            let mut region = writer.region()?;
            for block in blocks {
                hand_over(&mut region, block)?;
            }
            region.end()?;
        }
    }
    Ok(())
}

fn put(writer: &mut Writer, to: To<'_>, kind: i64, payload: &Payload) -> Result<(), Failure> {
    Ok(writer.put(to, number("a kind", kind)?, &bytes(payload)?, 1)?)
}

/// The data records of the call `many`, one after another.
pub(crate) fn many(
    mut write: impl FnMut(u32, &[u8]) -> faro::Result<()>,
    count: u64,
    seed: u64,
    partitions: [u32; 2],
    length: [u32; 2],
    content: Content,
) -> Result<(), Failure> {
    let mut generator = SplitMix64(seed);
    let wrong = || Failure::Unsupported("an empty span of partitions or lengths".into());
    let span = |from: u32, to: u64| {
        to.checked_sub(u64::from(from))
            .filter(|span| *span > 0)
            .ok_or_else(wrong)
    };
    let partition_span = span(partitions[0], partitions[1].into())?;
    let length_span = span(length[0], u64::from(length[1]) + 1)?;
    for _ in 0..count {
        // The remainders fit, since the spans are 32-bit numbers.
        let partition = partitions[0] + (generator.next() % partition_span) as u32;
        let length = length[0] + (generator.next() % length_span) as u32;
        write(partition, &content.bytes(generator.next(), length as usize))?;
    }
    Ok(())
}

fn hand_over(region: &mut RegionWriter<'_>, block: &RegionBlock) -> Result<(), Failure> {
    match &block.shared {
        Some(Members::Word(all)) if all == "all" => return Ok(region.shared(None)?),
        Some(Members::Word(other)) => return Err(Failure::Unsupported(format!("members {other:?}"))),
        Some(Members::Some(list)) => return Ok(region.shared(Some(&partitions(list)?))?),
        None => {}
    }
    if let Some(sequence) = block.sequence {
        return Ok(region.sequence(number("a sequence", sequence)?)?);
    }
    let partition = block
        .partition
        .map(|partition| number("a partition", partition))
        .transpose()?;
    let kind = number("a kind", block.kind)?;
    let records = number("a count of records", block.records)?;
    match (&block.payload, &block.stored, block.codec, block.plain_size) {
        (Some(payload), None, None, None) => region.block(partition, kind, &bytes(payload)?, records)?,
        (None, Some(stored), Some(codec), Some(size)) => {
            let (codec, size) = (number("a codec", codec)?, number("a plain size", size)?);
            let (stored, dictionary) = (bytes(stored)?, number("a dictionary", block.dictionary)?);
            let stored = StoredBlock::new(&stored, size).kind(kind).codec(codec).records(records);
            region.stored_block(partition, stored.dictionary(dictionary))?;
        }
        _ => return Err(Failure::Unsupported("a block that is neither plain nor stored".into())),
    }
    Ok(())
}
