//! The sums of one output: from its footer, or from its region messages.

use crate::bytes::FileHeader;
use crate::error::{Error, ErrorCode, Result};
use crate::message::Statistics;
use crate::reader::{Reader, ReaderOptions};
use crate::storage::Files;
use std::collections::BTreeMap;

/// The most partitions with data of which sums are kept: a file may claim 2^28, and say in a few bytes that each reads
/// something.
pub(super) const MOST_PARTITIONS: usize = 1 << 24;

/// An amount of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Stored bytes of blocks, with their headers and padding.
    pub bytes: u64,
    /// Records in data blocks, as the statistics count them; 0 without statistics.
    pub records: u64,
}

impl Amount {
    /// Both amounts together. Sums from damaged statistics may be too large for 64 bits: they stay at the largest value.
    pub(super) fn plus(self, other: Amount) -> Amount {
        Amount {
            bytes: self.bytes.saturating_add(other.bytes),
            records: self.records.saturating_add(other.records),
        }
    }

    pub(super) fn add(&mut self, other: Amount) {
        *self = self.plus(other);
    }
}

/// The sums of one output. Its memory grows with the partitions that read anything, not with those that the file claims.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputSums {
    /// The header of the index (or single) file: producer, attempt, partitions.
    pub header: FileHeader,
    /// Stored bytes of all blocks. A block that several partitions share counts once.
    pub bytes: u64,
    /// The records for all partitions together; none without statistics. A record for all partitions counts once, one for
    /// some partitions counts for each of them.
    pub records: Option<u64>,
    /// What every partition reads.
    pub to_all: Amount,
    /// What partitions read besides that, ascending by number. Partitions that read nothing more are not here.
    pub partitions: Vec<(u32, Amount)>,
}

impl OutputSums {
    /// Sums up an output. With statistics in its footer, no region message is read. The statistics are a hint, which
    /// [`crate::check`] proves (FTR-6).
    ///
    /// # Errors
    /// Those of [`Reader::open`]; without statistics, also those of REG-10; `limit-exceeded` for more than 2^24 partitions
    /// with data.
    pub fn of(files: &Files, options: &ReaderOptions) -> Result<OutputSums> {
        OutputSums::of_reader(&Reader::open(files, options.clone())?)
    }

    /// As [`OutputSums::of`], for an output that is open.
    ///
    /// # Errors
    /// As [`OutputSums::of`], except those of opening.
    pub fn of_reader(reader: &Reader) -> Result<OutputSums> {
        let mut sums = OutputSums::empty(reader);
        match &reader.footer().statistics {
            Some(statistics) => sums.take_statistics(statistics),
            None => sums.take_regions(reader)?,
        }
        if sums.partitions.len() > MOST_PARTITIONS {
            return Err(too_many(reader));
        }
        Ok(sums)
    }

    /// As [`OutputSums::of_reader`], from the region messages and not from the statistics: what a partition reads is exact.
    /// Records are not counted.
    ///
    /// # Errors
    /// As [`OutputSums::of_reader`] for an output without statistics.
    pub fn of_regions(reader: &Reader) -> Result<OutputSums> {
        let mut sums = OutputSums::empty(reader);
        sums.take_regions(reader)?;
        Ok(sums)
    }

    /// The header, and the bytes of all regions.
    fn empty(reader: &Reader) -> OutputSums {
        let lengths = reader.footer().regions.iter().map(|entry| entry.data_length);
        OutputSums {
            header: reader.header().clone(),
            bytes: lengths.fold(0, u64::saturating_add),
            records: None,
            to_all: Amount::default(),
            partitions: Vec::new(),
        }
    }

    /// What a partition reads; nothing for a partition that the file does not have.
    pub fn partition(&self, partition: u32) -> Amount {
        if !self.header.partitions().contains(&partition) {
            return Amount::default();
        }
        let more = self.partitions.binary_search_by_key(&partition, |(number, _)| *number);
        let more = more.map_or_else(|_| Amount::default(), |at| self.partitions[at].1);
        self.to_all.plus(more)
    }

    /// FTR-4.
    fn take_statistics(&mut self, statistics: &Statistics) {
        let (stored, records) = (vector(&statistics.stored), vector(&statistics.records));
        self.to_all = Amount {
            bytes: statistics.stored_to_all,
            records: statistics.records_to_all,
        };
        let value = |vector: &[u64], at: usize| vector.get(at).copied().unwrap_or(0);
        let amounts = (0..stored.len().max(records.len())).map(|at| Amount {
            bytes: value(stored, at),
            records: value(records, at),
        });
        let numbered = (self.header.first_partition..).zip(amounts);
        self.partitions = numbered.filter(|(_, amount)| *amount != Amount::default()).collect();
        let all = records.iter().copied();
        self.records = Some(all.fold(statistics.records_to_all, u64::saturating_add));
    }

    fn take_regions(&mut self, reader: &Reader) -> Result<()> {
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        for number in 0..reader.region_count() {
            let region = reader.region(number)?;
            for slot in region.slots().filter(|slot| slot.extent.length > 0) {
                *sums.entry(slot.partition).or_default() += slot.extent.length;
            }
            for shared in region.shared() {
                if shared.members.is_all() {
                    self.to_all.bytes += shared.extent.length;
                    continue;
                }
                for partition in shared.members.iter() {
                    *sums.entry(partition).or_default() += shared.extent.length;
                    if sums.len() > MOST_PARTITIONS {
                        return Err(too_many(reader));
                    }
                }
            }
            if sums.len() > MOST_PARTITIONS {
                return Err(too_many(reader));
            }
        }
        let amount = |(partition, bytes)| (partition, Amount { bytes, records: 0 });
        self.partitions = sums.into_iter().map(amount).collect();
        Ok(())
    }
}

fn vector(values: &Option<Vec<u64>>) -> &[u64] {
    values.as_deref().unwrap_or_default()
}

/// The error for an output with too many partitions to sum up.
pub(super) fn too_many(reader: &Reader) -> Error {
    let error = Error::bare(
        ErrorCode::LimitExceeded,
        format!("at most {MOST_PARTITIONS} partitions with data"),
        "more of them",
    );
    reader.output().index_file().blame(error)
}
