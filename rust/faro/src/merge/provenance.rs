//! Whose blocks a merged file has (spec, MRG-2 and MRG-11).

use crate::error::{Error, Result};
use crate::follow::Follower;
use crate::index::{Holdings, RegionIndex};
use crate::message::Run;
use crate::reader::{OpenOutput, Reader};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run of a partition, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartitionRun {
    /// The number of its region.
    pub region: u32,
    /// Where its first block begins in the data file.
    pub offset: u64,
    /// Producer, attempt, and which blocks these are.
    pub run: Run,
}

/// What a merged file has of one producer in a partition: the blocks with the numbers 0 to `blocks` - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Have {
    /// The producer.
    pub producer: u64,
    /// Its attempt.
    pub attempt: u64,
    /// How many blocks there are.
    pub blocks: u64,
    /// Whether the producer has no further block for the partition.
    pub is_complete: bool,
}

/// A producer that a reader expects, with the attempt whose output counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expected {
    /// The producer.
    pub producer: u64,
    /// Its attempt.
    pub attempt: u64,
}

/// A producer that a merged file does not have completely in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// The producer.
    pub producer: u64,
    /// The attempt that is expected.
    pub attempt: u64,
    /// The number of the first block that the file does not have.
    pub from: u64,
}

impl Reader {
    /// The runs of a partition of a merged file, in order (MRG-11). A file that is not merged has none.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have; the faults of REG-10; `inconsistent-index` for
    /// runs that contradict each other (MRG-2).
    pub fn runs(&self, partition: u32) -> Result<Vec<PartitionRun>> {
        runs(self.output(), partition)
    }

    /// What a merged file has of each producer in a partition, by producer, ascending (MRG-11).
    ///
    /// # Errors
    /// As [`Reader::runs`].
    pub fn have(&self, partition: u32) -> Result<Vec<Have>> {
        Ok(have(&runs(self.output(), partition)?))
    }

    /// Which of the expected producers are not complete in a partition, ascending (MRG-11). A producer without any block
    /// for a partition pushes nothing, and is never complete there.
    ///
    /// # Errors
    /// As [`Reader::runs`]; `invalid-argument` for a producer that is named twice.
    pub fn missing(&self, partition: u32, expected: &[Expected]) -> Result<Vec<Missing>> {
        missing(&runs(self.output(), partition)?, &ordered(expected)?)
    }
}

impl Follower {
    /// As [`Reader::runs`], of the regions seen so far.
    ///
    /// # Errors
    /// As [`Reader::runs`].
    pub fn runs(&self, partition: u32) -> Result<Vec<PartitionRun>> {
        runs(self.output(), partition)
    }

    /// As [`Reader::have`], of the regions seen so far.
    ///
    /// # Errors
    /// As [`Reader::runs`].
    pub fn have(&self, partition: u32) -> Result<Vec<Have>> {
        Ok(have(&runs(self.output(), partition)?))
    }

    /// As [`Reader::missing`], of the regions seen so far.
    ///
    /// # Errors
    /// As [`Reader::missing`].
    pub fn missing(&self, partition: u32, expected: &[Expected]) -> Result<Vec<Missing>> {
        missing(&runs(self.output(), partition)?, &ordered(expected)?)
    }
}

/// The expected producers, ascending. None is named twice.
pub(super) fn ordered(expected: &[Expected]) -> Result<Vec<Expected>> {
    let mut ordered = expected.to_vec();
    ordered.sort_unstable();
    match ordered.windows(2).find(|pair| pair[0].producer == pair[1].producer) {
        None => Ok(ordered),
        Some(pair) => {
            let found = format!("producer {} twice", pair[0].producer);
            Err(Error::argument("each producer once", found))
        }
    }
}

/// The runs of a partition, after the runs of all partitions were checked by MRG-2.
fn runs(output: &OpenOutput, partition: u32) -> Result<Vec<PartitionRun>> {
    output.check_partition(partition)?;
    let mut holdings = Holdings::default();
    let mut found = Vec::new();
    for number in 0..output.region_count() {
        let region = output.region(number)?;
        output.hold(&region, &mut holdings)?;
        found.extend(runs_of(&region, partition));
    }
    Ok(found)
}

/// The runs of a partition in a region.
pub(super) fn runs_of(region: &Arc<RegionIndex>, partition: u32) -> impl Iterator<Item = PartitionRun> {
    let number = region.sequence();
    region
        .runs_of(partition)
        .into_iter()
        .map(move |(offset, run)| PartitionRun {
            region: number,
            offset,
            run,
        })
}

fn have(runs: &[PartitionRun]) -> Vec<Have> {
    let mut found: BTreeMap<u64, Have> = BTreeMap::new();
    for PartitionRun { run, .. } in runs {
        let have = Have {
            producer: run.producer,
            attempt: run.attempt,
            blocks: u64::from(run.first_block) + u64::from(run.blocks),
            is_complete: run.is_last(),
        };
        found.insert(run.producer, have);
    }
    found.into_values().collect()
}

fn missing(runs: &[PartitionRun], expected: &[Expected]) -> Result<Vec<Missing>> {
    let have: BTreeMap<u64, Have> = have(runs).into_iter().map(|have| (have.producer, have)).collect();
    let of = |wanted: &Expected| {
        let found = have.get(&wanted.producer).filter(|have| have.attempt == wanted.attempt);
        (!found.is_some_and(|have| have.is_complete)).then(|| Missing {
            producer: wanted.producer,
            attempt: wanted.attempt,
            from: found.map_or(0, |have| have.blocks),
        })
    };
    Ok(expected.iter().filter_map(of).collect())
}
