//! One report over many outputs: `faro info DIR`, `faro info --total`.

use std::path::PathBuf;

use faro::shuffle::{self, Amount, Producer, Shuffle, ShuffleSums};
use faro::{ErrorCode, Files, ReaderOptions};

use super::total_report::{
    BadOutput, OutputsInfo, PartitionTotal, PartitionsInfo, ProducerInfo, ProducersInfo, RangeInfo, Total,
};
use super::total_text;
use crate::commands::fault::Fault;
use crate::failure::{Failure, Outcome, code_of};
use crate::folder;
use crate::term::Out;

/// How many of the largest are named.
const LARGEST: usize = 5;

/// Reports on all outputs in folders and by names. The exit code is that of the worst output, unfinished ones aside.
pub(super) fn run(names: &[PathBuf], each: bool, json: bool, out: &mut Out) -> Outcome {
    let found = shuffle::find(names);
    folder::check_any(names, &found)?;
    let shuffle = Shuffle::new(found.outputs, ReaderOptions::default());
    let progress = crate::progress::outputs(shuffle.outputs().len(), "adding up");
    let sums = shuffle.sum_up(|_| progress.inc(1));
    progress.finish_and_clear();
    let mut total = Total::of(&sums, each);
    total.outputs.other_files = found.other_files;
    total.not_found = found.faults.iter().map(Fault::of).collect();
    if json {
        out.json(&total)?;
    } else {
        total_text::print(&total, out)?;
    }
    let damaged = sums.faults.iter().map(|fault| &fault.error);
    let bad = damaged.filter(|error| error.code != ErrorCode::Unfinished);
    match bad.chain(&found.faults).map(code_of).max() {
        Some(code) => Err(Failure::Shown(code)),
        None => Ok(()),
    }
}

impl Total {
    fn of(sums: &ShuffleSums, each: bool) -> Total {
        let (unfinished, damaged): (Vec<_>, Vec<_>) = sums
            .faults
            .iter()
            .partition(|fault| fault.error.code == ErrorCode::Unfinished);
        let bad = |faults: Vec<&shuffle::Fault>| -> Vec<BadOutput> {
            faults
                .into_iter()
                .map(|fault| BadOutput::of(&fault.files, &fault.error))
                .collect()
        };
        Total {
            outputs: OutputsInfo {
                count: sums.finished + sums.faults.len() as u64,
                finished: sums.finished,
                unfinished: unfinished.len() as u64,
                damaged: damaged.len() as u64,
                other_files: 0,
            },
            bytes: sums.bytes,
            records: sums.records,
            producers: ProducersInfo::of(sums),
            partitions: PartitionsInfo::of(sums, each),
            unfinished: bad(unfinished),
            damaged: bad(damaged),
            not_found: Vec::new(),
        }
    }
}

impl BadOutput {
    fn of(files: &Files, error: &faro::Error) -> BadOutput {
        BadOutput {
            name: shuffle::name(files).display().to_string(),
            error: Fault::of(error),
        }
    }
}

impl ProducersInfo {
    fn of(sums: &ShuffleSums) -> ProducersInfo {
        let mut bytes: Vec<u64> = sums.producers.values().map(|sums| sums.amount.bytes).collect();
        bytes.sort_unstable();
        let merged = |producer: &&Producer| matches!(producer, Producer::Merged(_));
        let merged = sums.producers.keys().filter(merged).count() as u64;
        let info = |(producer, own): (Producer, &shuffle::ProducerSums)| ProducerInfo {
            producer: match producer {
                Producer::Number(number) => Some(number),
                Producer::Merged(_) => None,
            },
            generation: match producer {
                Producer::Number(_) => None,
                Producer::Merged(generation) => Some(generation),
            },
            outputs: own.outputs,
            bytes: own.amount.bytes,
            records: sums.records.map(|_| own.amount.records),
        };
        ProducersInfo {
            count: bytes.len() as u64 - merged,
            merged,
            least_bytes: bytes.first().copied().unwrap_or(0),
            median_bytes: bytes.get(bytes.len() / 2).copied().unwrap_or(0),
            mean_bytes: sums.bytes as f64 / bytes.len().max(1) as f64,
            most_bytes: bytes.last().copied().unwrap_or(0),
            skew: sums.producer_skew(),
            largest: sums.largest_producers(LARGEST).into_iter().map(info).collect(),
            with_several_attempts: sums.producers.values().filter(|sums| sums.attempts.len() > 1).count() as u64,
            copies: sums.producers.values().map(|sums| sums.copies).sum(),
        }
    }
}

impl PartitionsInfo {
    fn of(sums: &ShuffleSums, each: bool) -> PartitionsInfo {
        let range = sums.partitions();
        let info = |(partition, amount): (u32, Amount)| PartitionTotal {
            partition,
            bytes: amount.bytes,
            records: sums.records.map(|_| amount.records),
        };
        let largest: Vec<PartitionTotal> = sums.largest_partitions(LARGEST).into_iter().map(info).collect();
        let most = largest.first().map_or(0, |largest| largest.bytes);
        let skew = sums.partition_skew();
        PartitionsInfo {
            first: range.start,
            count: range.end - range.start,
            empty: sums.empty_partitions(),
            mean_bytes: skew.map_or(0.0, |skew| most as f64 / skew),
            most_bytes: most,
            skew,
            largest,
            ranges: sums
                .ranges
                .iter()
                .map(|((first, count), (outputs, _))| RangeInfo {
                    first: *first,
                    count: *count,
                    outputs: *outputs,
                })
                .collect(),
            each: each.then(|| sums.each_partition().map(info).collect()),
        }
    }
}
