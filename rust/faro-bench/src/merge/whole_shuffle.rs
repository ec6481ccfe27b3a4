//! A whole shuffle on the disk, with an empty page cache: each consumer reads its partition from all producers' outputs,
//! or from its merged file.

use crate::data::{Kind, Records, shuffled};
use crate::outcome::{Outcome, Run, timed};
use crate::page_cache::forget;
use crate::results::{Case, Results};
use faro::merge::{Begun, Merge, MergeOptions};
use faro::{Blocks, Files, Framing, Reader, ReaderOptions, Writer, WriterOptions};
use serde_json::json;
use std::path::Path;

/// Bytes that each producer has for each partition.
const BLOCK: usize = 10 << 10;
/// How many partitions are merged at once.
const MERGED_AT_ONCE: u32 = 200;

/// Writes the shuffle, merges it, and reads it in both forms.
pub(super) fn run(folder: &Path, quick: bool, results: &mut Results) -> Outcome<()> {
    let (producers, partitions) = if quick { (20, 30) } else { (1_000, 1_000) };
    let scratch = tempfile::tempdir_in(folder)?;
    let outputs = write(scratch.path(), producers, partitions)?;
    let merged = merge(scratch.path(), &outputs, partitions)?;
    let mut case = Case::new();
    case.insert("data".into(), "whole shuffle".into());
    case.insert("producers".into(), producers.into());
    case.insert("partitions".into(), partitions.into());
    case.insert("block_bytes".into(), BLOCK.into());
    case.insert("cache".into(), "cold".into());
    let plain_bytes = producers * u64::from(partitions) * BLOCK as u64;
    for (subject, files, read) in [
        ("originals", &outputs, one_by_one as Reading),
        ("faro-merged", &merged, together as Reading),
    ] {
        for files in files {
            forget(files)?;
        }
        let readers = open(files)?;
        let before = sums(&readers);
        let (seconds, plain) = timed(|| read(&readers, partitions))?;
        if plain != plain_bytes {
            return Err(format!("{plain} plain bytes in place of {plain_bytes}").into());
        }
        let after = sums(&readers);
        let (reads, bytes) = (after.0 - before.0, after.1 - before.1);
        let figures = json!({ "reads": reads, "bytes_each_read": bytes / reads.max(1) });
        let run = Run {
            files: Some(2 * files.len() as u64),
            figures: figures.as_object().cloned().unwrap_or_default(),
            ..Run::timed(seconds)
        };
        results.add(subject, &case, plain_bytes, &[run])?;
    }
    Ok(())
}

/// Reads all partitions. Returns their plain bytes.
type Reading = fn(&[Reader], u32) -> Outcome<u64>;

fn open(files: &[Files]) -> Outcome<Vec<Reader>> {
    let readers = files.iter().map(|files| Reader::open(files, ReaderOptions::default()));
    Ok(readers.collect::<faro::Result<_>>()?)
}

/// The reads and the bytes of all readers so far.
fn sums(readers: &[Reader]) -> (u64, u64) {
    let each = readers.iter().map(Reader::figures);
    each.fold((0, 0), |(reads, bytes), figures| {
        (reads + figures.reads, bytes + figures.bytes_read)
    })
}

fn write(folder: &Path, producers: u64, partitions: u32) -> Outcome<Vec<Files>> {
    let records = Records::make(Kind::Text, BLOCK)?;
    let mut outputs = Vec::new();
    for producer in 0..producers {
        let options = WriterOptions::new(partitions)
            .producer(producer)
            .framing(Framing::Opaque)
            .buffer_size(16 << 20);
        let mut writer = Writer::create(folder.join(format!("map-{producer}")), options)?;
        for partition in 0..partitions {
            let record = records.get((producer + u64::from(partition)) as usize);
            writer.write(partition, &record[..BLOCK])?;
        }
        outputs.push(writer.finish()?.files);
    }
    Ok(outputs)
}

/// A merged file for each partition, as a shuffle service makes them.
fn merge(folder: &Path, outputs: &[Files], partitions: u32) -> Outcome<Vec<Files>> {
    let mut merged = Vec::new();
    for first in (0..partitions).step_by(MERGED_AT_ONCE as usize) {
        let range = first..partitions.min(first + MERGED_AT_ONCE);
        let merges = range.clone().map(|partition| {
            let options = MergeOptions::new(1).first_partition(partition).framing(Framing::Opaque);
            Merge::create(folder.join(format!("merged-{partition}")), options)
        });
        let merges = merges.collect::<faro::Result<Vec<_>>>()?;
        let mut fragment = Vec::new();
        for files in outputs {
            let output = Reader::open(files, ReaderOptions::default())?;
            for (partition, merge) in range.clone().zip(&merges) {
                fragment.clear();
                output.fragment(partition..partition + 1, None, &mut fragment)?;
                let Begun::Open(mut push) = merge.begin(output.header().producer, 0)? else {
                    return Err("a push was refused".into());
                };
                if push.write(&fragment)?.is_some() || !push.commit()?.is_success() {
                    return Err("a push was refused".into());
                }
            }
        }
        for merge in merges {
            merged.push(merge.finalize()?.files);
        }
    }
    Ok(merged)
}

/// The consumers take turns, and each takes the outputs in another order, so that they do not all want the same one.
fn one_by_one(outputs: &[Reader], partitions: u32) -> Outcome<u64> {
    let (order, consumers) = (shuffled(outputs.len()), shuffled(partitions as usize));
    let mut plain = 0;
    for turn in 0..outputs.len() {
        for consumer in &consumers {
            let output = &outputs[order[(turn + consumer) % outputs.len()]];
            for block in output.partition(*consumer as u32)? {
                plain += block?.payload.len() as u64;
            }
        }
    }
    Ok(plain)
}

/// The consumers take turns, block by block.
fn together(merged: &[Reader], partitions: u32) -> Outcome<u64> {
    let mut readings = (0..partitions)
        .zip(merged)
        .map(|(partition, reader)| reader.partition(partition))
        .collect::<faro::Result<Vec<Blocks>>>()?;
    let consumers = shuffled(readings.len());
    let (mut plain, mut left) = (0, true);
    while left {
        left = false;
        for consumer in &consumers {
            if let Some(block) = readings[*consumer].next() {
                plain += block?.payload.len() as u64;
                left = true;
            }
        }
    }
    Ok(plain)
}
