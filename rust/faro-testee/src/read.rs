//! The op `read` (protocol, "What `read` answers").

use crate::output::Output;
use crate::payload::to_hex;
use crate::protocol::{Answer, Failure, Fault, Read};
use crate::storage::Storage;
use faro::message::{DictionaryEntry, Streams};
use faro::{Block, FileHeader, Follower, Framing, Lookup, Reader, ReaderOptions, Watch};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The op `read`.
pub(crate) fn read(storage: &dyn Storage, request: Read) -> Answer {
    let lookup = match request.lookup.as_deref() {
        None | Some("full") => Lookup::Full,
        Some("direct") => Lookup::Direct,
        Some(other) => return Err(Failure::Unsupported(format!("the lookup {other:?}"))),
    };
    let options = ReaderOptions::default()
        .lookup(lookup)
        .limits(request.limits.limits())
        .verify(request.verify.unwrap_or(true));
    let files = request.paths.files()?;
    let Some([from, to]) = request.by_partition else {
        let output = storage.open_output(&files, options)?;
        return match request.range {
            Some([from, to]) => Ok(with_range(&*output, from..to)),
            None => with_partitions(&*output, request.partitions),
        };
    };
    let reader = storage.open(&files, options)?;
    let mut answer = describe(&reader);
    answer.insert(
        "by_partition".into(),
        by_partition(&reader, from..to).unwrap_or_else(fault),
    );
    Ok(Value::Object(answer))
}

/// The description of an output with a range of partitions.
fn with_range(output: &dyn Output, partitions: Range<u32>) -> Value {
    let mut answer = describe(output);
    answer.insert("range".into(), range(output, partitions).unwrap_or_else(fault));
    Value::Object(answer)
}

/// The description of an output with the requested partitions, or with all that have blocks or errors.
pub(crate) fn with_partitions(output: &dyn Output, asked: Option<Vec<u32>>) -> Answer {
    let mut partitions = Map::new();
    for partition in asked.clone().unwrap_or_else(|| candidates(output)) {
        let value = summary(output, partition).unwrap_or_else(fault);
        if asked.is_some() || value["blocks"] != 0 {
            partitions.insert(partition.to_string(), value);
        }
    }
    let mut answer = describe(output);
    answer.insert("partitions".into(), partitions.into());
    Ok(Value::Object(answer))
}

fn fault(error: faro::Error) -> Value {
    json!({ "error": Fault::from(error) })
}

/// The header of a file or a fragment.
pub(crate) fn header(header: &FileHeader) -> Value {
    json!({
        "kind": header.kind as u8,
        "version_minor": header.version_minor,
        "framing": header.framing as u8,
        "partition_count": header.partition_count,
        "first_partition": header.first_partition,
        "reader_features": header.reader_features,
        "writer_features": header.writer_features,
        "producer": header.producer.to_string(),
        "attempt": header.attempt.to_string(),
        "file_id": to_hex(&header.file_id),
    })
}

fn describe(output: &dyn Output) -> Map<String, Value> {
    let of = output.header();
    let footer = output.footer();
    let properties: Map<String, Value> = footer
        .map(|footer| footer.properties.as_slice())
        .unwrap_or_default()
        .iter()
        .map(|property| (property.key.clone(), property.value.clone().into()))
        .collect();
    let mut answer = Map::new();
    answer.insert("header".into(), header(of));
    answer.insert("regions".into(), output.regions().into());
    answer.insert("properties".into(), properties.into());
    answer.insert(
        "created_by".into(),
        json!(footer.and_then(|footer| footer.created_by.as_ref())),
    );
    if of.has_dictionaries() {
        let entry = |entry: &DictionaryEntry| json!({ "offset": entry.offset, "size": entry.size });
        let entries: Vec<Value> = output.dictionaries().iter().map(entry).collect();
        answer.insert("dictionaries".into(), entries.into());
    }
    answer.insert(
        "statistics".into(),
        footer.is_some_and(|footer| footer.statistics.is_some()).into(),
    );
    if of.is_selective() {
        let streams = footer.and_then(|footer| footer.streams.as_ref());
        answer.insert(
            "streams".into(),
            streams.map_or(Value::Null, |streams| described(streams, of)),
        );
    }
    answer
}

/// The next sequence and the missing blocks of the shared stream, and of each own stream that had blocks.
fn described(streams: &Streams, header: &FileHeader) -> Value {
    let missing = |at: usize| streams.missing.as_ref().map_or(0, |missing| missing[at]);
    let all = streams.next.iter().flatten().enumerate().filter(|(_, next)| **next > 0);
    let own: Map<String, Value> = all
        .map(|(at, next)| {
            let partition = header.first_partition + at as u32;
            (partition.to_string(), json!([next, missing(at)]))
        })
        .collect();
    json!({ "shared": [streams.shared_next, streams.shared_missing], "own": own })
}

/// The partitions that can have a block or an error. With a faulty region, every partition has an error.
fn candidates(output: &dyn Output) -> Vec<u32> {
    let header = output.header();
    let all = header.first_partition..header.first_partition + header.partition_count;
    let mut found = BTreeSet::new();
    for number in 0..output.regions() {
        let Ok(region) = output.region(number) else {
            return all.collect();
        };
        found.extend(region.slots().map(|slot| slot.partition));
        for shared in region.shared() {
            if shared.members.is_all() {
                return all.collect();
            }
            found.extend(shared.members.iter());
        }
    }
    found.into_iter().collect()
}

/// The summary of one partition, read alone.
fn summary(output: &dyn Output, partition: u32) -> faro::Result<Value> {
    let framing = output.header().framing;
    let mut hash = Sha256::new();
    let mut kinds = BTreeMap::<u8, u64>::new();
    let (mut blocks, mut plain_bytes, mut records) = (0u64, 0u64, 0u64);
    for block in output.partition(partition)? {
        let block = block?;
        records += block.records(framing)?.unwrap_or(0);
        blocks += 1;
        plain_bytes += block.payload.len() as u64;
        *kinds.entry(block.kind()).or_default() += 1;
        add_block(&mut hash, &block);
    }
    Ok(json!({
        "blocks": blocks,
        "kinds": kinds,
        "plain_bytes": plain_bytes,
        "records": (framing == Framing::Records).then_some(records),
        "stored_bytes": output.stored_bytes(partition)?,
        "sha256": to_hex(&hash.finalize()),
    }))
}

/// Several partitions at once.
fn range(output: &dyn Output, partitions: Range<u32>) -> faro::Result<Value> {
    let mut hash = Sha256::new();
    let mut blocks = 0u64;
    for block in output.range(partitions)? {
        let block = block?;
        blocks += 1;
        hash.update(block.partition.unwrap_or(u32::MAX).to_le_bytes());
        add_block(&mut hash, &block);
    }
    Ok(json!({ "blocks": blocks, "sha256": to_hex(&hash.finalize()) }))
}

/// Several partitions one after another, each block with the partition that it is read for.
fn by_partition(reader: &Reader, partitions: Range<u32>) -> faro::Result<Value> {
    let mut hash = Sha256::new();
    let mut blocks = 0u64;
    for item in reader.by_partition(partitions)? {
        let (partition, block) = item?;
        blocks += 1;
        hash.update(partition.to_le_bytes());
        hash.update(block.partition.unwrap_or(u32::MAX).to_le_bytes());
        add_block(&mut hash, &block);
    }
    Ok(json!({ "blocks": blocks, "sha256": to_hex(&hash.finalize()) }))
}

/// What a watch delivers until there is no block now.
pub(crate) fn watch(watch: &mut Watch, follower: &Follower) -> faro::Result<Value> {
    let mut hash = Sha256::new();
    let mut blocks = 0u64;
    while let Some(block) = watch.next(follower) {
        blocks += 1;
        add_block(&mut hash, &block?);
    }
    Ok(json!({ "blocks": blocks, "sha256": to_hex(&hash.finalize()) }))
}

pub(crate) fn add_block(hash: &mut Sha256, block: &Block) {
    hash.update([block.kind()]);
    hash.update(block.header.plain_size.to_le_bytes());
    hash.update(&block.payload);
}
