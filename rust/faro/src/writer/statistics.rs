//! The footer's statistics, as regions are committed (spec, FTR-4).

use super::owner::Owner;
use crate::message::Statistics;

/// The sums that an extent adds to each partition that reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Bytes of the extent.
    pub stored: u64,
    /// Plain bytes of its data blocks.
    pub plain: u64,
    /// Records in its data blocks.
    pub records: u64,
}

/// Sums by partition. A vector takes memory when it gets its first value that is not zero.
#[derive(Debug)]
pub(crate) struct Sums {
    partition_count: usize,
    sums: Statistics,
}

impl Sums {
    pub(crate) fn new(partition_count: u32) -> Self {
        Sums {
            partition_count: partition_count as usize,
            sums: Statistics::default(),
        }
    }

    /// Adds an extent.
    pub(crate) fn add_extent(&mut self, owner: &Owner, tally: &Tally) {
        match owner {
            Owner::Own(at) => self.add(*at, tally),
            Owner::Shared(members) => self.add_shared(members.as_deref(), tally),
        }
    }

    /// Adds an extent of partition `at`, counted from the file's first.
    pub(crate) fn add(&mut self, at: u32, tally: &Tally) {
        let count = self.partition_count;
        let add = |vector: &mut Option<Vec<u64>>, value: u64| {
            if value > 0 {
                vector.get_or_insert_with(|| vec![0; count])[at as usize] += value;
            }
        };
        add(&mut self.sums.stored, tally.stored);
        add(&mut self.sums.plain, tally.plain);
        add(&mut self.sums.records, tally.records);
    }

    /// Adds an extent that these partitions read; `None` for every partition.
    pub(crate) fn add_shared(&mut self, members: Option<&[u8]>, tally: &Tally) {
        let Some(members) = members else {
            self.sums.stored_to_all += tally.stored;
            self.sums.plain_to_all += tally.plain;
            self.sums.records_to_all += tally.records;
            return;
        };
        for (place, byte) in members.iter().enumerate() {
            let mut bits = *byte;
            while bits != 0 {
                // Fewer than 2^28 partitions.
                self.add(place as u32 * 8 + bits.trailing_zeros(), tally);
                bits &= bits - 1;
            }
        }
    }

    pub(crate) fn into_statistics(self) -> Statistics {
        self.sums
    }
}
