//! The region that is being written: its extents so far, and the message and statistics that come of them.

use super::statistics::{Sums, Tally};
use crate::block::{BlockHeader, DATA};
use crate::error::{Code, Error, Result};
use crate::index::LARGEST_REGION;
use crate::message::{Region, SharedExtent};
use std::sync::Arc;

/// A set of partitions as the bits of a shared extent's members; `None`: every partition.
pub(crate) type MemberBits = Option<Arc<[u8]>>;

/// Whose extent it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A partition, counted from the file's first.
    Own(u32),
    Shared(MemberBits),
}

/// The stream that an extent's blocks belong to, and what the extent has of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// The partition field of its blocks.
    pub partition: u32,
    /// Sequence of its next block.
    pub sequence: u32,
    /// Of this extent.
    pub tally: Tally,
}

impl Stream {
    /// The next block's sequence, which is then taken.
    pub(crate) fn take_sequence(&mut self) -> Result<u32> {
        let sequence = self.sequence;
        self.sequence = sequence
            .checked_add(1)
            .ok_or_else(|| Error::bare(Code::LimitExceeded, "fewer than 2^32 blocks in a stream", "one more"))?;
        Ok(sequence)
    }

    /// Counts a block.
    pub(crate) fn count(&mut self, header: &BlockHeader) {
        self.tally.stored += header.size_in_file();
        if header.kind == DATA {
            self.tally.plain += u64::from(header.plain_size);
        }
    }
}

/// An extent, or records that left no bytes in one.
#[derive(Debug)]
pub(crate) struct Part {
    pub owner: Owner,
    pub tally: Tally,
    /// Sequence of the stream's next block when the extent began.
    pub first_sequence: u32,
}

/// The extents of a region in the order in which they are written.
#[derive(Debug)]
pub(crate) struct OpenRegion {
    pub data_offset: u64,
    pub parts: Vec<Part>,
}

impl OpenRegion {
    pub(crate) fn new(data_offset: u64) -> Self {
        OpenRegion {
            data_offset,
            parts: Vec::new(),
        }
    }

    /// Refuses a region that has grown too long.
    pub(crate) fn check_length(&self, end: u64) -> Result<()> {
        if end - self.data_offset > LARGEST_REGION {
            return Err(Error::bare(
                Code::LimitExceeded,
                format!("a region of at most {LARGEST_REGION} bytes"),
                "more; smaller buffers make smaller regions",
            ));
        }
        Ok(())
    }

    /// Counts a block of the last extent.
    pub(crate) fn add(&mut self, stored: u64, plain: u64, end: u64) -> Result<()> {
        self.check_length(end)?;
        if let Some(part) = self.parts.last_mut() {
            part.tally.stored += stored;
            part.tally.plain += plain;
        }
        Ok(())
    }

    pub(crate) fn length(&self) -> u64 {
        self.parts.iter().map(|part| part.tally.stored).sum()
    }

    pub(crate) fn add_to(&self, sums: &mut Sums) {
        for part in &self.parts {
            match &part.owner {
                Owner::Own(at) => sums.add(*at, &part.tally),
                Owner::Shared(members) => sums.add_shared(members.as_deref(), &part.tally),
            }
        }
    }

    /// The region's message (SRT-7 and SRT-8). `wrapped`: own blocks went past the last partition to the first.
    pub(crate) fn message(&self, sequence: u32, shape: &Shape, wrapped: bool) -> Region {
        let mut own = Vec::with_capacity(self.parts.len());
        let mut shared = Vec::new();
        // Regions are at most 2^32 - 1 units long, so every length fits.
        for part in self.parts.iter().filter(|part| part.tally.stored > 0) {
            let length = (part.tally.stored / 8) as u32;
            match &part.owner {
                Owner::Own(at) => own.push((*at, length, part.first_sequence)),
                Owner::Shared(members) => {
                    shared.push(SharedExtent {
                        length,
                        members: members.as_ref().map(|bits| bits.to_vec()),
                        first_block: part.first_sequence,
                    });
                }
            }
        }
        let is_sparse = shape.is_sparse(own.len()) && !wrapped;
        let mut region = Region {
            sequence,
            data_offset: self.data_offset,
            data_length: self.length(),
            rotation: if is_sparse { 0 } else { shape.rotation },
            shared,
            ..Region::default()
        };
        let mut end = 0;
        let slots = if is_sparse {
            own.len()
        } else {
            shape.partition_count as usize
        };
        region.offsets.reserve_exact(slots + 1);
        let mut first_block = Vec::with_capacity(if shape.selective { slots } else { 0 });
        region.offsets.push(0);
        for (at, length, first_sequence) in &own {
            if !is_sparse {
                // The slots without blocks before this one: the end of the last extent again.
                let slot = shape.slot(*at) as usize;
                region.offsets.resize(slot + 1, end);
                if shape.selective {
                    first_block.resize(slot, 0);
                }
            }
            end += length;
            region.offsets.push(end);
            if shape.selective {
                first_block.push(*first_sequence);
            }
        }
        if is_sparse {
            region.partitions = Some(own.iter().map(|(at, _, _)| shape.first_partition + at).collect());
        } else {
            let slots = shape.partition_count as usize;
            region.offsets.resize(slots + 1, end);
            if shape.selective {
                first_block.resize(slots, 0);
            }
        }
        region.first_block = shape.selective.then_some(first_block);
        region
    }
}

/// What of the options decides where extents stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub first_partition: u32,
    pub partition_count: u32,
    pub rotation: u32,
    /// Whether region messages name the sequences of first blocks.
    pub selective: bool,
}

impl Shape {
    /// Whether a region with so many own extents is sparse (SRT-8).
    pub(crate) fn is_sparse(&self, own_extents: usize) -> bool {
        2 * own_extents as u64 + 1 < u64::from(self.partition_count)
    }

    /// The slot of a partition in a dense region.
    pub(crate) fn slot(&self, at: u32) -> u32 {
        (at + self.partition_count - self.rotation) % self.partition_count
    }

    /// Where a partition counts from the file's first; nothing when the file does not have it.
    #[inline(always)]
    pub(crate) fn place(&self, partition: u32) -> Option<u32> {
        partition
            .checked_sub(self.first_partition)
            .filter(|at| *at < self.partition_count)
    }

    /// A set of partitions as bits (SRT-5); `invalid-argument` when it is empty or names others (WRT-1).
    pub(crate) fn bits(&self, partitions: &[u32]) -> Result<MemberBits> {
        if partitions.is_empty() {
            return Err(Error::argument("a set of partitions", "an empty one"));
        }
        let mut bits = vec![0u8; self.partition_count.div_ceil(8) as usize];
        for partition in partitions {
            let at = self.place(*partition).ok_or_else(|| self.no_such(*partition))?;
            bits[at as usize / 8] |= 1 << (at % 8);
        }
        let count: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
        Ok(if count == self.partition_count {
            None
        } else {
            Some(Arc::from(bits))
        })
    }

    pub(crate) fn no_such(&self, partition: u32) -> Error {
        let last = self.first_partition + (self.partition_count - 1);
        Error::argument(
            format!("a partition from {} to {last}", self.first_partition),
            partition.to_string(),
        )
    }
}
