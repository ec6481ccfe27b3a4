//! The work of threads that compress: the own extents of a region, in units of whole blocks.

use super::blocks::BlockBuilder;
use super::owner::Owner;
use super::region::Stream;
use super::region_builder::RegionBuilder;
use super::statistics::Tally;
use crate::bytes::Framing;
use crate::error::Result;
use crate::sort_buffer::{PackedRecords, PartitionRecords, Pushed, Slots, Walk};
use std::ops::Range;

/// About how many bytes a unit takes: its plain bytes, and for each partition a `UnitPart` and a block header. It
/// bounds the memory of the threads.
const UNIT: usize = 128 << 10;
const EACH_PART: usize = 128;

/// Where the records of all units are.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Packed records, and the places of all own ones, sorted.
    Packed(PackedRecords<'a>, &'a [u32]),
    /// Slots in which all blocks have ended.
    Slots(&'a Slots),
}

/// Which of them a part of a unit takes.
enum Taken {
    Places(Range<usize>),
    /// So many blocks after a place, or all if there are fewer.
    Blocks(Walk, u32),
}

/// Records of one partition that become one or more whole blocks.
struct UnitPart {
    at: u32,
    /// Whether it begins the partition's extent.
    begins: bool,
    taken: Taken,
    stream: Stream,
}

/// A unit of work, and its result.
#[derive(Default)]
pub(super) struct Unit {
    parts: Vec<UnitPart>,
    bytes: Vec<u8>,
}

impl Unit {
    /// Builds the blocks.
    pub(super) fn make(&mut self, block_builder: &mut BlockBuilder, source: Source<'_>) -> Result<()> {
        self.bytes.clear();
        for part in &mut self.parts {
            let (bytes, stream) = (&mut self.bytes, &mut part.stream);
            match (&mut part.taken, source) {
                (Taken::Places(range), Source::Packed(from, places)) => {
                    let (own, all) = (&places[range.clone()], &places[range.start..]);
                    block_builder.push_all(bytes, stream, from, own, all)?;
                    block_builder.end_data_block(bytes, stream)?;
                }
                (Taken::Blocks(walk, count), Source::Slots(slots)) => {
                    for _ in 0..*count {
                        let Some(plain_size) = slots.next_block(walk) else {
                            break;
                        };
                        block_builder.block_of_slots(bytes, stream, slots, walk, plain_size)?;
                    }
                }
                // A plan hands out what its source has.
                _ => {}
            }
        }
        Ok(())
    }

    /// Appends the blocks to the file.
    pub(super) fn append(&self, builder: &mut RegionBuilder) -> Result<()> {
        for part in &self.parts {
            if part.begins {
                builder.begin_extent(Owner::Own(part.at));
            }
            builder.add_to_extent(&part.stream);
        }
        builder.add_made(&self.bytes)
    }
}

/// Cuts the packed records of a region into units. All places of the region are sorted.
pub(super) struct PackedPlan<'a> {
    from: PackedRecords<'a>,
    places: &'a [u32],
    by_partition: &'a [PartitionRecords],
    /// If a part of the first partition was handed out: where the rest begins, and its stream.
    rest: Option<(usize, Stream)>,
}

impl<'a> PackedPlan<'a> {
    pub(super) fn new(from: PackedRecords<'a>, places: &'a [u32], by_partition: &'a [PartitionRecords]) -> Self {
        let rest = None;
        PackedPlan {
            from,
            places,
            by_partition,
            rest,
        }
    }

    /// Finds the parts of the next unit; returns false at the end.
    pub(super) fn next(&mut self, builder: &RegionBuilder, unit: &mut Unit) -> bool {
        unit.parts.clear();
        let most = (UNIT / self.from.length.max(1)).max(1);
        let mut taken = 0;
        while let Some(records) = self.by_partition.first()
            && taken < UNIT
        {
            let begins = self.rest.is_none();
            let (begin, stream) = self
                .rest
                .take()
                .unwrap_or_else(|| (records.begin as usize, builder.stream_of(&Owner::Own(records.at))));
            let mut end = records.end as usize;
            if end - begin > 2 * most
                && let Some((cut, blocks)) = self.cut(builder, begin, end)
                // The thread that builds its blocks reports a stream that is too long.
                && let Some(sequence) = stream.sequence.checked_add(blocks)
            {
                end = cut;
                self.rest = Some((cut, Stream { sequence, ..stream }));
            } else {
                self.by_partition = &self.by_partition[1..];
            }
            taken += (end - begin) * self.from.length + EACH_PART;
            unit.parts.push(UnitPart {
                at: records.at,
                begins,
                taken: Taken::Places(begin..end),
                stream,
            });
        }
        !unit.parts.is_empty()
    }

    /// Where a block begins after one unit of records and before `end`, and how many blocks end before it.
    fn cut(&self, builder: &RegionBuilder, begin: usize, end: usize) -> Option<(usize, u32)> {
        let (framing, target) = builder.cuts();
        let (mut blocks, mut open, mut sum) = (0u32, 0, 0);
        for at in begin..end {
            if let Some(ahead) = self.places.get(at + self.from.ahead) {
                self.from.packed.prefetch(*ahead, 0);
            }
            let (length, ends) = match (self.from.packed.framed(self.places[at]), framing) {
                (Some(framed), Framing::Records) => (framed.len(), false),
                // Blocks may end inside records.
                (_, Framing::Opaque) => return None,
                (Some(framed), Framing::Arrow) => (framed.len(), true),
                (None, _) => match self.from.packed.record(self.places[at]) {
                    Pushed::Data(bytes, _) if framing == Framing::Records => (4 + bytes.len(), false),
                    Pushed::Data(bytes, _) | Pushed::Event(_, bytes) => (bytes.len(), true),
                    Pushed::Nothing(_) => (0, false),
                },
            };
            // As the block builder does (SRT-6).
            if open > 0 && (ends || open + length > target) {
                blocks += 1;
                open = 0;
            }
            if open == 0 && sum >= UNIT {
                return Some((at, blocks));
            }
            sum += length;
            if ends {
                blocks += 1;
            } else {
                open += length;
            }
        }
        None
    }
}

/// Cuts the blocks of slots into units. All blocks have ended.
pub(super) struct SlotsPlan<'a, I> {
    slots: &'a Slots,
    /// The partitions that were not begun, in the order of the region.
    order: I,
    /// If a part of a partition was handed out: where the rest begins, and its stream.
    rest: Option<(u32, Walk, Stream)>,
}

impl<'a, I: Iterator<Item = u32>> SlotsPlan<'a, I> {
    pub(super) fn new(slots: &'a Slots, order: I) -> Self {
        let rest = None;
        SlotsPlan { slots, order, rest }
    }

    /// Finds the parts of the next unit; returns false at the end.
    pub(super) fn next(&mut self, builder: &RegionBuilder, unit: &mut Unit) -> bool {
        unit.parts.clear();
        let mut taken = 0;
        while taken < UNIT {
            let begins = self.rest.is_none();
            let Some((at, walk, stream)) = self.rest.take().or_else(|| self.next_partition(builder)) else {
                break;
            };
            let (mut end, mut blocks) = (walk, 0u32);
            while taken < UNIT
                && let Some(plain_size) = self.slots.next_block(&mut end)
            {
                self.slots.skip(&mut end, plain_size);
                blocks += 1;
                taken += plain_size as usize;
            }
            taken += EACH_PART;
            if self.slots.next_block(&mut end).is_some() {
                match stream.sequence.checked_add(blocks) {
                    Some(sequence) => {
                        // The records were counted in the first part.
                        let tally = Tally::default();
                        self.rest = Some((
                            at,
                            end,
                            Stream {
                                sequence,
                                tally,
                                ..stream
                            },
                        ));
                    }
                    // The thread that builds its blocks reports a stream that is too long.
                    None => blocks = u32::MAX,
                }
            }
            unit.parts.push(UnitPart {
                at,
                begins,
                taken: Taken::Blocks(walk, blocks),
                stream,
            });
        }
        !unit.parts.is_empty()
    }

    fn next_partition(&mut self, builder: &RegionBuilder) -> Option<(u32, Walk, Stream)> {
        let at = self.order.find(|at| self.slots.holds(*at))?;
        let mut stream = builder.stream_of(&Owner::Own(at));
        stream.tally.records = self.slots.records_of(at);
        Some((at, self.slots.walk(at), stream))
    }
}
