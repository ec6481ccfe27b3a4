//! Records in the blocks from which they are written, so that each is copied once.
//!
//! Each partition has a chain of slots. In a chain, blocks follow one another as in the file: 24 bytes for the header,
//! records with their lengths, zeros up to a multiple of 8. A header never continues in the next slot; a payload may.

use super::arena::{Arena, LARGEST_SLOT, NONE, Place, smallest_slot};
use super::sizes::sorting_memory;
use crate::block::BlockHeader;
use crate::bytes::{self, CACHE_LINE, PayloadSum, Seal, pad8};

/// What a block takes beside its payload, at most: header, padding, and the end of a slot that is too short for a header.
const BESIDE_PAYLOAD: u64 = 24 + 7 + 23;

/// What a block of a slot of its own leaves free in it, at most, so that the next one begins in another slot.
const LEFT_FREE: u64 = 512;

/// How many bytes are summed at a time, while they are in the cache.
const SUMMED: u32 = 8 << 10;
/// The bytes of all partitions that are not summed yet should stay in the cache.
const ALL_SUMMED: u64 = 1 << 20;

/// Where the next record of a partition goes. It is small, since all of them should stay in the cache.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    /// The end of its bytes in the arena.
    end: u32,
    /// The end of the room for records that need neither a new slot nor a new block.
    limit: u32,
    records: u32,
}

/// The chain of a partition.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
    /// Where the header of the open block is; [`NONE`] if no block is open.
    header: u32,
    /// The open block's plain bytes before `mark`.
    plain: u32,
    /// Where the open block's plain bytes begin in the last slot.
    mark: u32,
    /// The sum of the open block's plain bytes before `summed`, if blocks are summed as they grow.
    sum: PayloadSum,
    summed: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Chain {
            first: NONE,
            last: NONE,
            header: NONE,
            plain: 0,
            mark: 0,
            sum: PayloadSum::default(),
            summed: 0,
        }
    }
}

/// The records of one open region, in slots.
pub(crate) struct Slots {
    arena: Arena,
    /// The plain size at which blocks end.
    target: u32,
    /// Whether blocks are summed as they grow. Otherwise they are summed when they are sealed.
    sums: bool,
    /// The room in a slot below which a block begins in the next one.
    least_room: u32,
    tails: Vec<Tail>,
    chains: Vec<Chain>,
}

/// A place between two blocks of a partition, and the end of the blocks.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    place: Place,
    end: u32,
}

/// Pieces of the slots in the order in which they are written.
#[derive(Default)]
pub(crate) struct Pieces {
    pieces: std::collections::VecDeque<(u32, u32)>,
    bytes: usize,
}

/// The size of slots for a buffer, and what they take beside the charges of records. None if that is more than half of
/// the buffer or 8 MiB, which is granted for sorting. With `alone`, large blocks have slots of their own if possible, so
/// that their bytes are in one piece.
fn plan(partition_count: u32, capacity: u64, target: u32, alone: bool) -> Option<(u64, u64)> {
    let partitions = u64::from(partition_count);
    let most = sorting_memory(capacity);
    let smallest = smallest_slot(capacity);
    let tables = (size_of::<Tail>() + size_of::<Chain>()) as u64;
    // Two blocks in a row have more than the target.
    let blocks = 2 * capacity / u64::from(target.max(1)) + partitions;
    let fits = |slot: u64, of_block: u64| {
        let in_arena = partitions * slot + blocks * of_block;
        let beside = in_arena + partitions * tables + 8 * (capacity + in_arena) / slot;
        (beside <= most && capacity + in_arena + slot < u64::from(NONE)).then_some((slot, in_arena))
    };
    let of_block = slot_of_block(target);
    if alone
        && of_block > LARGEST_SLOT
        && let Some(plan) = fits(of_block, BESIDE_PAYLOAD + LEFT_FREE)
    {
        return Some(plan);
    }
    let mut slot = LARGEST_SLOT;
    while slot >= smallest {
        if let Some(plan) = fits(slot, BESIDE_PAYLOAD) {
            return Some(plan);
        }
        slot /= 2;
    }
    None
}

/// The size of a slot for one block.
fn slot_of_block(target: u32) -> u64 {
    BlockHeader::SIZE as u64 + pad8(target)
}

impl Slots {
    /// Empty slots without memory, if they suit the buffer. If blocks will be `compressed`, their plain bytes are not
    /// summed, and each is in one piece if possible.
    pub(super) fn new(partition_count: u32, capacity: u64, target: u32, compressed: bool) -> Option<Slots> {
        let (size, beside) = plan(partition_count, capacity, target, compressed)?;
        let header = BlockHeader::SIZE as u64;
        let least_room = if size > LARGEST_SLOT {
            LEFT_FREE.max(header)
        } else {
            header
        };
        Some(Slots {
            arena: Arena::new(size, capacity, beside),
            target,
            sums: !compressed && u64::from(partition_count) * u64::from(SUMMED) <= ALL_SUMMED,
            least_room: least_room as u32,
            tails: vec![Tail::default(); partition_count as usize],
            chains: vec![Chain::default(); partition_count as usize],
        })
    }

    /// Whether large blocks have slots of their own.
    pub(super) fn are_of_blocks(&self) -> bool {
        self.least_room as u64 >= LEFT_FREE
    }

    /// Reserves memory for records with these charges.
    pub(super) fn reserve(&mut self, charges: u64) {
        self.arena.reserve(charges);
    }

    /// Gives back the memory that no record has reached.
    pub(super) fn shrink(&mut self) {
        self.arena.shrink();
    }

    /// Gives the memory back to the system.
    pub(super) fn give_back(self) {
        self.arena.give_back();
    }

    /// Forgets all records, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.tails.fill(Tail::default());
        self.chains.fill(Chain::default());
        self.arena.clear();
    }

    /// Whether a partition has records.
    pub(crate) fn holds(&self, at: u32) -> bool {
        self.chains[at as usize].first != NONE
    }

    /// The number of records of a partition.
    pub(crate) fn records_of(&self, at: u32) -> u64 {
        u64::from(self.tails[at as usize].records)
    }

    /// The number of records.
    pub(super) fn records(&self) -> u64 {
        self.tails.iter().map(|tail| u64::from(tail.records)).sum()
    }

    /// Adds a record of fewer than 2^32 - 1 bytes for a partition, counted from the file's first.
    #[inline(always)]
    pub(super) fn push(&mut self, at: u32, record: &[u8]) {
        let tail = &mut self.tails[at as usize];
        let begin = tail.end as usize;
        let end = begin + 4 + record.len();
        if end > tail.limit as usize {
            return self.push_slowly(at, record);
        }
        tail.end = end as u32;
        tail.records += 1;
        bytes::write_framed(&mut self.arena.bytes[begin..end], record);
        // The next record of this partition comes after those of others, which take its lines from the cache.
        bytes::prefetch_to_write(&self.arena.bytes, end + 2 * CACHE_LINE - 1);
        if record.len() >= CACHE_LINE {
            bytes::prefetch_to_write(&self.arena.bytes, end + CACHE_LINE - 1);
        }
    }

    /// Adds a record that needs a new block or a new slot.
    #[cold]
    #[inline(never)]
    fn push_slowly(&mut self, at: u32, record: &[u8]) {
        let plain = self.plain(at);
        if plain > 0 && plain as usize + 4 + record.len() > self.target as usize {
            self.end_block(at);
        }
        if self.chains[at as usize].header == NONE {
            self.begin_block(at);
        }
        // The plain size of a block has 32 bits: longer records were refused.
        self.append(at, &(record.len() as u32).to_le_bytes());
        self.append(at, record);
        self.sum(at);
        let slot_end = self.slot_end(at);
        let (tail, chain) = (&mut self.tails[at as usize], &self.chains[at as usize]);
        tail.records += 1;
        let block_end = u64::from(chain.mark) + u64::from(self.target.saturating_sub(chain.plain));
        let limit = u64::from(slot_end).min(block_end);
        tail.limit = match self.sums {
            true => limit.min(u64::from(tail.end) + u64::from(SUMMED)) as u32,
            false => limit as u32,
        };
    }

    /// Sums what has come to the open block, if blocks are summed as they grow.
    fn sum(&mut self, at: u32) {
        let (tail, chain) = (&self.tails[at as usize], &mut self.chains[at as usize]);
        if self.sums && chain.header != NONE {
            chain
                .sum
                .update(&self.arena.bytes[chain.summed as usize..tail.end as usize]);
            chain.summed = tail.end;
        }
    }

    /// The plain bytes of the open block; 0 if none is open, for a block has a record.
    fn plain(&self, at: u32) -> u32 {
        let (tail, chain) = (&self.tails[at as usize], &self.chains[at as usize]);
        match chain.header {
            NONE => 0,
            _ => chain.plain + (tail.end - chain.mark),
        }
    }

    /// The end of the last slot of a partition.
    fn slot_end(&self, at: u32) -> u32 {
        self.arena.end(self.chains[at as usize].last)
    }

    fn begin_block(&mut self, at: u32) {
        if !self.holds(at) || self.slot_end(at) - self.tails[at as usize].end < self.least_room {
            self.add_slot(at);
        }
        let (tail, chain) = (&mut self.tails[at as usize], &mut self.chains[at as usize]);
        chain.header = tail.end;
        tail.end += BlockHeader::SIZE as u32;
        (chain.plain, chain.mark) = (0, tail.end);
        (chain.sum, chain.summed) = (PayloadSum::default(), tail.end);
    }

    /// Ends the open block of a partition, if there is one. Its plain size and its sum wait in the place of its header.
    pub(crate) fn end_block(&mut self, at: u32) {
        self.sum(at);
        let plain = self.plain(at);
        let (tail, chain) = (&mut self.tails[at as usize], &mut self.chains[at as usize]);
        let header = std::mem::replace(&mut chain.header, NONE) as usize;
        if plain > 0 {
            self.arena.bytes[header..header + 4].copy_from_slice(&plain.to_le_bytes());
            self.arena.bytes[header + 4..header + 8].copy_from_slice(&chain.sum.to_le_bytes());
            let padded = tail.end.next_multiple_of(8);
            self.arena.bytes[tail.end as usize..padded as usize].fill(0);
            (tail.end, tail.limit) = (padded, 0);
        }
    }

    /// Appends bytes to the open block, from slot to slot.
    fn append(&mut self, at: u32, mut bytes: &[u8]) {
        loop {
            let begin = self.tails[at as usize].end as usize;
            let room = self.slot_end(at) as usize - begin;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.arena.bytes[begin..begin + now.len()].copy_from_slice(now);
            self.tails[at as usize].end += now.len() as u32;
            if later.is_empty() {
                return;
            }
            bytes = later;
            self.add_slot(at);
        }
    }

    /// Adds a slot to the chain of a partition.
    fn add_slot(&mut self, at: u32) {
        self.sum(at);
        let (tail, chain) = (&mut self.tails[at as usize], &mut self.chains[at as usize]);
        let slot = self.arena.take(chain.last, tail.end);
        let begin = self.arena.begin(slot);
        if chain.first == NONE {
            chain.first = slot;
        }
        chain.plain += tail.end - chain.mark;
        (chain.mark, chain.summed, chain.last) = (begin, begin, slot);
        (tail.end, tail.limit) = (begin, 0);
    }

    /// The place before the first block of a partition that has records.
    pub(crate) fn walk(&self, at: u32) -> Walk {
        let (tail, chain) = (&self.tails[at as usize], &self.chains[at as usize]);
        Walk {
            place: self.arena.place(chain.first),
            end: if chain.header == NONE { tail.end } else { chain.header },
        }
    }

    /// The plain size of the next block that has ended.
    pub(crate) fn next_block(&self, walk: &mut Walk) -> Option<u32> {
        if walk.place.at != walk.end {
            self.arena.settle(&mut walk.place);
        }
        let size = self.arena.bytes.get(walk.place.at as usize..)?.first_chunk::<4>()?;
        (walk.place.at != walk.end).then(|| u32::from_le_bytes(*size))
    }

    /// Writes the header of the next block, and notes where its bytes are.
    pub(crate) fn seal(&mut self, walk: &mut Walk, header: &BlockHeader, seal: Seal, pieces: &mut Pieces) {
        let fields = header.checked_bytes();
        let place = walk.place.at as usize;
        let sum = self.arena.bytes[place + 4..].first_chunk().copied().unwrap_or_default();
        let mut checksum = (!self.sums).then(|| seal.running());
        if let Some(checksum) = &mut checksum {
            checksum.update(&fields);
        }
        let mut payload = header.plain_size as usize;
        let mut left = BlockHeader::SIZE + pad8(header.plain_size) as usize;
        let mut skip = BlockHeader::SIZE;
        while left > 0 {
            let piece = self.arena.piece(&mut walk.place, left);
            let of_payload = payload.min(piece.len() - skip);
            if let Some(checksum) = &mut checksum {
                checksum.update(&self.arena.bytes[piece.start + skip..][..of_payload]);
            }
            pieces.push(piece.start as u32, piece.len() as u32);
            (left, payload, skip) = (left - piece.len(), payload - of_payload, 0);
        }
        let checksum = match checksum {
            Some(checksum) => checksum.value(),
            None => seal.checksum_of_sum(&fields, PayloadSum::from_le_bytes(sum), header.plain_size),
        };
        self.arena.bytes[place..place + fields.len()].copy_from_slice(&fields);
        self.arena.bytes[place + fields.len()..place + BlockHeader::SIZE].copy_from_slice(&checksum.to_le_bytes());
    }

    /// The payload of the next block, in pieces. The walk moves after the block.
    pub(crate) fn payload(&self, walk: &mut Walk, plain_size: u32) -> impl Iterator<Item = &[u8]> {
        let mut place = walk.place;
        place.at += BlockHeader::SIZE as u32;
        self.skip(walk, plain_size);
        self.bytes_from(place, plain_size as usize)
    }

    /// Moves a walk after the next block.
    pub(crate) fn skip(&self, walk: &mut Walk, plain_size: u32) {
        let mut left = BlockHeader::SIZE + pad8(plain_size) as usize;
        while left > 0 {
            left -= self.arena.piece(&mut walk.place, left).len();
        }
    }

    /// The next bytes of a chain, in pieces.
    fn bytes_from(&self, mut place: Place, mut left: usize) -> impl Iterator<Item = &[u8]> {
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let piece = self.arena.piece(&mut place, left);
            left -= piece.len();
            Some(&self.arena.bytes[piece])
        })
    }

    /// The payload of the block of a partition that is still open, in pieces.
    pub(crate) fn open_block(&self, at: u32) -> impl Iterator<Item = &[u8]> {
        let left = self.plain(at) as usize;
        let header = self.chains[at as usize].header;
        // None is open without plain bytes.
        let mut place = self.arena.place_of(if left == 0 { 0 } else { header });
        place.at += BlockHeader::SIZE as u32;
        self.bytes_from(place, left)
    }

    /// The bytes of pieces.
    pub(crate) fn slices<'a>(&'a self, pieces: &'a Pieces) -> impl Iterator<Item = &'a [u8]> {
        let slice = |(at, length): &(u32, u32)| &self.arena.bytes[*at as usize..][..*length as usize];
        pieces.pieces.iter().map(slice)
    }
}

impl Pieces {
    fn push(&mut self, at: u32, length: u32) {
        self.bytes += length as usize;
        match self.pieces.back_mut() {
            Some((last, before)) if *last + *before == at => *before += length,
            _ => self.pieces.push_back((at, length)),
        }
    }

    /// The sum of their sizes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Removes bytes from the front.
    pub(crate) fn drop_front(&mut self, mut bytes: usize) {
        self.bytes -= bytes;
        while let Some((at, length)) = self.pieces.front_mut()
            && bytes > 0
        {
            let now = bytes.min(*length as usize);
            (*at, *length) = (*at + now as u32, *length - now as u32);
            bytes -= now;
            if *length == 0 {
                self.pieces.pop_front();
            }
        }
    }
}
