//! The region that is being written: its extents so far, and their message and statistics.

use super::owner::{MemberBits, Owner};
use super::statistics::{Sums, Tally};
use crate::block::{BlockHeader, CODEC_NONE, DATA};
use crate::error::{Error, ErrorCode, Result};
use crate::index::LARGEST_REGION;
use crate::message::{Region, SharedExtent};
use std::sync::Arc;

/// The stream of an extent's blocks, and the extent's share of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// The partition field of its blocks.
    pub partition: u32,
    /// The sequence number of its next block.
    pub sequence: u32,
    /// The sequence numbers of this extent's share that no block has (BLK-3).
    pub gaps: u32,
    /// The sums of this extent, for the statistics.
    pub tally: Tally,
    /// The plain bytes of all its blocks, events included.
    pub plain: u64,
}

impl Stream {
    /// Takes the sequence number for the next block.
    pub(crate) fn take_sequence(&mut self) -> Result<u32> {
        let sequence = self.sequence;
        self.sequence = sequence.checked_add(1).ok_or_else(|| {
            Error::bare(
                ErrorCode::LimitExceeded,
                "fewer than 2^32 blocks in a stream",
                "one more",
            )
        })?;
        Ok(sequence)
    }

    /// Lets the next block have this sequence number, which is not below its own.
    pub(crate) fn skip_to(&mut self, sequence: u32) {
        self.gaps += sequence - self.sequence;
        self.sequence = sequence;
    }

    /// The header of the next block, which is not compressed. The block is counted.
    pub(crate) fn plain_block(&mut self, kind: u8, size: u32) -> Result<BlockHeader> {
        let header = BlockHeader {
            stored_size: size,
            plain_size: size,
            partition: self.partition,
            sequence: self.take_sequence()?,
            kind,
            codec: CODEC_NONE,
            dictionary: 0,
            checksum: 0,
        };
        self.count(&header);
        Ok(header)
    }

    /// Counts a block.
    pub(crate) fn count(&mut self, header: &BlockHeader) {
        self.tally.stored += header.size_in_file();
        self.plain += u64::from(header.plain_size);
        if header.kind == DATA {
            self.tally.plain += u64::from(header.plain_size);
        }
    }
}

/// An extent, or records that left no bytes in one. It is small, since a region may have one for each partition.
#[derive(Debug)]
struct Part {
    /// The partition, counted from the file's first; or with the bit [`SHARED`], the number of the shared extent.
    owner: u32,
    /// The sequence number of its first block.
    first_sequence: u32,
    /// Its length, in units of 8 bytes.
    stored: u32,
}

/// The bit that marks shared extents. Partition numbers are below 2^28.
const SHARED: u32 = 1 << 31;

/// The extents of a region in the order in which they are written.
#[derive(Debug)]
pub(crate) struct OpenRegion {
    pub data_offset: u64,
    parts: Vec<Part>,
    /// The members of the shared extents.
    members: Vec<MemberBits>,
    /// The sums of the extents for the statistics, if the region may be given up. Otherwise they are added at once.
    tallies: Vec<Tally>,
}

impl OpenRegion {
    pub(crate) fn new(data_offset: u64) -> Self {
        OpenRegion {
            data_offset,
            parts: Vec::new(),
            members: Vec::new(),
            tallies: Vec::new(),
        }
    }

    /// Reserves memory for `count` more extents: a vector that grows takes its memory twice.
    pub(crate) fn expect(&mut self, count: usize) {
        self.parts.reserve_exact(count);
    }

    /// Forgets the extents and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
        self.members.clear();
        self.tallies.clear();
    }

    /// Releases the memory.
    pub(crate) fn forget(&mut self) {
        *self = OpenRegion::new(self.data_offset);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Begins an extent. `first_sequence` is the sequence number of its stream's next block.
    pub(crate) fn begin(&mut self, owner: Owner, first_sequence: u32) {
        let owner = match owner {
            Owner::Own(at) => at,
            Owner::Shared(members) => {
                self.members.push(members);
                // Each has a block in the region, or is a group of the sort buffer, so there are fewer than 2^31.
                SHARED | (self.members.len() - 1) as u32
            }
        };
        self.parts.push(Part {
            owner,
            first_sequence,
            stored: 0,
        });
    }

    /// Lets the last extent, which has no block yet, begin with another sequence number.
    pub(crate) fn begin_at(&mut self, first_sequence: u32) {
        if let Some(part) = self.parts.last_mut() {
            part.first_sequence = first_sequence;
        }
    }

    fn owner(&self, part: &Part) -> Owner {
        match part.owner & SHARED {
            0 => Owner::Own(part.owner),
            _ => Owner::Shared(self.members[(part.owner & !SHARED) as usize].clone()),
        }
    }

    /// The owner of the last extent.
    pub(crate) fn last(&self) -> Option<Owner> {
        self.parts.last().map(|part| self.owner(part))
    }

    /// Sets the length of the last extent, in bytes.
    pub(crate) fn settle(&mut self, stored: u64) {
        if let Some(part) = self.parts.last_mut() {
            // Longer extents were refused.
            part.stored = (stored / 8) as u32;
        }
    }

    /// Keeps the sums of the last extent until the region is committed.
    pub(crate) fn count_later(&mut self, tally: Tally) {
        self.tallies.push(tally);
    }

    /// The owners of the extents, from the last to the first, and the sequence numbers with which they began.
    pub(crate) fn backwards(&self) -> impl Iterator<Item = (Owner, u32)> {
        let parts = self.parts.iter().rev();
        parts.map(|part| (self.owner(part), part.first_sequence))
    }

    /// Refuses a region that has grown too long.
    pub(crate) fn check_length(&self, end: u64) -> Result<()> {
        if end - self.data_offset > LARGEST_REGION {
            return Err(Error::bare(
                ErrorCode::LimitExceeded,
                format!("a region of at most {LARGEST_REGION} bytes"),
                "more; smaller buffers make smaller regions",
            ));
        }
        Ok(())
    }

    /// Counts the bytes of a block of the last extent.
    pub(crate) fn add(&mut self, stored: u64, end: u64) -> Result<()> {
        self.check_length(end)?;
        if let Some(part) = self.parts.last_mut() {
            part.stored += (stored / 8) as u32;
        }
        Ok(())
    }

    pub(crate) fn length(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.stored) * 8).sum()
    }

    /// Adds the sums that were kept.
    pub(crate) fn add_to(&self, sums: &mut Sums) {
        for (part, tally) in self.parts.iter().zip(&self.tallies) {
            sums.add_extent(&self.owner(part), tally);
        }
    }

    /// The region's message (SRT-7 and SRT-8). `wrapped` says whether own blocks continued from the last partition to
    /// the first.
    pub(crate) fn message(&self, sequence: u32, shape: &Shape, wrapped: bool) -> Region {
        let with_blocks = || self.parts.iter().filter(|part| part.stored > 0);
        let own = || with_blocks().filter(|part| part.owner & SHARED == 0);
        let shared = with_blocks().filter_map(|part| match self.owner(part) {
            Owner::Own(_) => None,
            Owner::Shared(members) => Some(SharedExtent {
                length: part.stored,
                members: members.map(|bits| bits.to_vec()),
                first_block: part.first_sequence,
            }),
        });
        let shared = shared.collect();
        let own_count = own().count();
        let is_sparse = shape.is_sparse(own_count) && !wrapped;
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
            own_count
        } else {
            shape.partition_count as usize
        };
        region.offsets.reserve_exact(slots + 1);
        let mut first_block = Vec::with_capacity(if shape.selective { slots } else { 0 });
        region.offsets.push(0);
        for part in own() {
            if !is_sparse {
                // Slots without blocks before this one repeat the end of the last extent.
                let slot = shape.slot(part.owner) as usize;
                region.offsets.resize(slot + 1, end);
                if shape.selective {
                    first_block.resize(slot, 0);
                }
            }
            end += part.stored;
            region.offsets.push(end);
            if shape.selective {
                first_block.push(part.first_sequence);
            }
        }
        if is_sparse {
            region.partitions = Some(own().map(|part| shape.first_partition + part.owner).collect());
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

/// The options that determine the positions of extents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub first_partition: u32,
    pub partition_count: u32,
    pub rotation: u32,
    /// Whether region messages have the sequence numbers of first blocks.
    pub selective: bool,
}

impl Shape {
    /// Whether a region with `own_extents` own extents is sparse (SRT-8).
    pub(crate) fn is_sparse(&self, own_extents: usize) -> bool {
        2 * own_extents as u64 + 1 < u64::from(self.partition_count)
    }

    /// The slot of a partition in a dense region.
    pub(crate) fn slot(&self, at: u32) -> u32 {
        (at + self.partition_count - self.rotation) % self.partition_count
    }

    /// The number of a partition, counted from the file's first; none when the file does not have it.
    #[inline(always)]
    pub(crate) fn place(&self, partition: u32) -> Option<u32> {
        partition
            .checked_sub(self.first_partition)
            .filter(|at| *at < self.partition_count)
    }

    /// A set of partitions as bits (SRT-5); `invalid-argument` when it is empty or has partitions that the file does
    /// not have (WRT-1).
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
