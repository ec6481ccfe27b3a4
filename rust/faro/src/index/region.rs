//! One region, after its message passed the checks.

use super::members::Members;
use super::rules::{self, DataBounds};
use crate::bytes::FileHeader;
use crate::error::{Error, ErrorCode, Result};
use crate::message::{Region, Run};
use std::ops::Range;
use std::sync::Arc;

/// Contiguous blocks in the data (or single) file: where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Absolute offset of the first byte in the file.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Extent {
    /// Absolute offset after the last byte.
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// One own extent of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slot {
    /// The partition that reads it.
    pub partition: u32,
    /// Where its blocks are. The length is 0 when the partition has none in this region.
    pub extent: Extent,
    /// The sequence number of the first block, in files with the reader feature `selective`.
    pub first_block: Option<u32>,
}

/// One shared extent of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedSlot {
    /// Where its blocks are.
    pub extent: Extent,
    /// The partitions that read it.
    pub members: Members,
    /// Sequence of the first block.
    pub first_block: u32,
}

/// A region of a file: what each partition reads from it. It takes a few bytes of memory for each slot; lookups
/// allocate nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionIndex {
    region: Region,
    first_partition: u32,
    partition_count: u32,
    shared: Vec<SharedSlot>,
}

impl RegionIndex {
    /// Checks REG-2 to REG-9 and REG-11. A fault is `inconsistent-index` at `offset`, the first byte of the message.
    pub(crate) fn new(
        mut region: Region,
        header: &FileHeader,
        number: u32,
        bounds: &DataBounds,
        offset: u64,
    ) -> Result<Self> {
        rules::check(&region, header, number, bounds).map_err(|found| {
            Error::at(
                ErrorCode::InconsistentIndex,
                offset,
                "a region message that fits its file",
                found,
            )
        })?;
        let (first_partition, partition_count) = (header.first_partition, header.partition_count);
        let mut at = region.data_offset + 8 * u64::from(region.offsets.last().copied().unwrap_or(0));
        let mut shared = Vec::with_capacity(region.shared.len());
        for extent in std::mem::take(&mut region.shared) {
            let length = 8 * u64::from(extent.length);
            let members = Members::new(first_partition, partition_count, extent.members.map(Arc::from));
            shared.push(SharedSlot {
                extent: Extent { offset: at, length },
                members,
                first_block: extent.first_block,
            });
            at += length;
        }
        Ok(RegionIndex {
            region,
            first_partition,
            partition_count,
            shared,
        })
    }

    /// The number of the region, counted from 0.
    pub fn sequence(&self) -> u32 {
        self.region.sequence
    }

    /// Where the region's blocks are.
    pub fn extent(&self) -> Extent {
        Extent {
            offset: self.region.data_offset,
            length: self.region.data_length,
        }
    }

    /// Whether the region is sparse: it names the partition of each slot. A dense region has one slot for each
    /// partition.
    pub fn is_sparse(&self) -> bool {
        self.region.partitions.is_some()
    }

    /// In dense regions, the partition of slot 0, counted from the file's first partition.
    pub fn rotation(&self) -> u32 {
        self.region.rotation
    }

    /// The runs of a merged file, in the order of the own extents; empty in other files.
    pub fn runs(&self) -> &[Run] {
        self.region.runs.as_deref().unwrap_or_default()
    }

    /// The runs of a merged file with their partitions, in the order of the own extents (REG-8).
    pub(crate) fn runs_by_partition(&self) -> impl Iterator<Item = (u32, &Run)> {
        let mut runs = self.runs().iter();
        self.slots().flat_map(move |slot| {
            let mut left = if runs.as_slice().is_empty() {
                0
            } else {
                slot.extent.length
            };
            let of_slot = runs.as_slice().iter().take_while(move |run| {
                let is_inside = left > 0;
                left = left.saturating_sub(8 * u64::from(run.length));
                is_inside
            });
            let count = of_slot.clone().count();
            let (of_slot, rest) = runs.as_slice().split_at(count);
            runs = rest.iter();
            of_slot.iter().map(move |run| (slot.partition, run))
        })
    }

    /// The runs of a partition in this region, each with its first byte in the data file (REG-8).
    pub(crate) fn runs_of(&self, partition: u32) -> Vec<(u64, Run)> {
        let Some(extent) = self.own_extent(partition) else {
            return Vec::new();
        };
        let (start, mut at) = (extent.offset, self.region.data_offset);
        let mut found = Vec::new();
        for run in self.runs() {
            if at >= extent.end() {
                break;
            }
            if at >= start {
                found.push((at, *run));
            }
            at += 8 * u64::from(run.length);
        }
        found
    }

    /// The number of slots.
    pub fn slot_count(&self) -> usize {
        self.region.offsets.len() - 1
    }

    /// The slot at a position.
    #[inline]
    pub fn slot(&self, at: usize) -> Slot {
        let (from, to) = (self.region.offsets[at], self.region.offsets[at + 1]);
        let partition = match &self.region.partitions {
            Some(partitions) => partitions[at],
            None => {
                // Both are below the count of partitions, at most 2^28. A subtraction is faster than a division.
                let turned = self.region.rotation + at as u32;
                let beyond = turned >= self.partition_count;
                self.first_partition + turned - if beyond { self.partition_count } else { 0 }
            }
        };
        Slot {
            partition,
            extent: Extent {
                offset: self.region.data_offset + 8 * u64::from(from),
                length: 8 * u64::from(to - from),
            },
            first_block: self.region.first_block.as_ref().map(|first| first[at]),
        }
    }

    /// All slots in order. In dense regions some may have no blocks.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.slot_count()).map(|at| self.slot(at))
    }

    /// The shared extents, in order.
    pub fn shared(&self) -> &[SharedSlot] {
        &self.shared
    }

    /// The own extent of a partition; none when it has no blocks in this region.
    pub fn own_extent(&self, partition: u32) -> Option<Extent> {
        self.slot_of(partition)
            .map(|at| self.slot(at).extent)
            .filter(|extent| extent.length > 0)
    }

    /// What a partition reads from this region, in order (PRT-1): its own extent, then the shared ones.
    pub fn extents_of(&self, partition: u32) -> impl Iterator<Item = Extent> + '_ {
        let shared = self
            .shared
            .iter()
            .filter(move |shared| shared.members.contains(partition));
        self.own_extent(partition)
            .into_iter()
            .chain(shared.map(|shared| shared.extent))
    }

    /// The bytes that a partition reads from this region, with block headers and padding.
    pub fn stored_bytes(&self, partition: u32) -> u64 {
        self.extents_of(partition).map(|extent| extent.length).sum()
    }

    fn slot_of(&self, partition: u32) -> Option<usize> {
        let at = partition
            .checked_sub(self.first_partition)
            .filter(|at| *at < self.partition_count)?;
        match &self.region.partitions {
            Some(partitions) => partitions.binary_search(&partition).ok(),
            None => Some(((at + self.partition_count - self.region.rotation) % self.partition_count) as usize),
        }
    }

    /// The slots of a range of partitions, in slot order: two ranges, since a rotation may split them.
    pub(crate) fn slot_ranges(&self, wanted: &Range<u32>) -> [Range<usize>; 2] {
        if wanted.is_empty() {
            return [0..0, 0..0];
        }
        if let Some(partitions) = &self.region.partitions {
            let at = |number: u32| partitions.partition_point(|partition| *partition < number);
            return [at(wanted.start)..at(wanted.end), 0..0];
        }
        let count = self.partition_count as usize;
        let length = (wanted.end - wanted.start) as usize;
        let start = self.slot_of(wanted.start).unwrap_or(count);
        if start + length <= count {
            [start..start + length, 0..0]
        } else {
            [0..start + length - count, start..count]
        }
    }

    /// Whether any partition of a range reads shared extent `at`.
    pub(crate) fn shared_is_wanted(&self, at: usize, wanted: &Range<u32>) -> bool {
        let from = wanted.start - self.first_partition;
        self.shared[at].members.any_in(from, wanted.end - self.first_partition)
    }

    /// About how much memory this takes, in bytes.
    pub(crate) fn memory_size(&self) -> u64 {
        let words = |vector: &Option<Vec<u32>>| vector.as_ref().map_or(0, |vector| 4 * vector.len());
        let region = &self.region;
        let numbers = 4 * region.offsets.len() + words(&region.partitions) + words(&region.first_block);
        let set = self.partition_count.div_ceil(8) as usize;
        let shared = self
            .shared
            .iter()
            .map(|shared| 64 + if shared.members.is_all() { 0 } else { set })
            .sum::<usize>();
        (size_of::<Self>() + numbers + shared + size_of_val(self.runs())) as u64
    }
}
