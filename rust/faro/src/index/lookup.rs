//! Direct lookup (spec, LKP-1): finds the extents of one partition by position, without reading whole region messages.

use super::footer::stored_in_statistics;
use crate::block::BlockHeader;
use crate::bytes::{FileHeader, VERSION_MINOR};
use crate::error::{Error, ErrorCode, Result};
use crate::message::{
    Elements, Followed, Footer, PIECE, Piecewise, REGION, REGION_IDENTIFIER, RegionEntry, SHARED_EXTENT, Table, broken,
};
use crate::storage::{InputFile, RangeRead, is_missing};
use std::cmp::Ordering;

/// Fields of the table Region.
mod region {
    pub(super) const SEQUENCE: u64 = 0;
    pub(super) const DATA_OFFSET: u64 = 1;
    pub(super) const DATA_LENGTH: u64 = 2;
    pub(super) const OFFSETS: u64 = 3;
    pub(super) const ROTATION: u64 = 4;
    pub(super) const PARTITIONS: u64 = 5;
    pub(super) const SHARED: u64 = 6;
    pub(super) const FIRST_BLOCK: u64 = 8;
}

/// Fields of the table SharedExtent.
mod shared {
    pub(super) const LENGTH: u64 = 0;
    pub(super) const MEMBERS: u64 = 1;
    pub(super) const FIRST_BLOCK: u64 = 2;
}

/// An extent that the partition reads, in units of 8 bytes from the start of its region's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookedUp {
    pub region: u32,
    pub start: u32,
    pub length: u32,
    /// The sequence number of the first block. Own extents have it only in files with the feature `selective`; it is 0
    /// otherwise.
    pub first_block: u32,
    pub is_shared: bool,
}

/// The total size of extents in bytes. They do not overlap in the file, so the sum does not wrap.
pub(crate) fn sum_of(found: &[LookedUp]) -> u64 {
    found.iter().map(|found| 8 * u64::from(found.length)).sum()
}

/// The most regions that are looked up together: their first pieces take 1 MiB.
const TOGETHER: usize = 4096;

/// The lookup of what a partition reads from all regions (LKP-3). After a failed read it can be continued: what was
/// found stays.
pub(crate) struct LookUp {
    partition: u32,
    /// The first region that is not complete.
    next: usize,
    /// The most regions that are looked up together.
    together: usize,
    /// The state of the lookups in the next regions.
    open: Vec<Progress>,
    /// The extents of the regions before.
    found: Vec<LookedUp>,
}

/// How far the lookup in a region has come.
#[derive(Clone, Debug, Default)]
struct Progress {
    found: Vec<LookedUp>,
    /// Where the shared extents go on, once the own extent was found.
    shared: Option<SharedProgress>,
    is_complete: bool,
}

/// How many shared extents were visited, and what their successor is compared with.
#[derive(Clone, Copy, Debug)]
struct SharedProgress {
    count: u64,
    /// Where the next one begins, in units.
    at: u32,
    /// The first block of the last one.
    previous: Option<u32>,
}

impl LookUp {
    pub(crate) fn new(partition: u32) -> Self {
        LookUp {
            partition,
            next: 0,
            together: TOGETHER,
            open: Vec::new(),
            found: Vec::new(),
        }
    }

    /// How many regions, from the first on, need no more reads.
    pub(crate) fn passed(&self) -> usize {
        self.next
    }

    /// Looks up at most this many regions together.
    pub(crate) fn take_at_most(&mut self, regions: usize) {
        self.together = self.together.min(regions.max(1));
    }

    /// Looks up fewer regions together, so that less of the index is in memory at a time.
    pub(crate) fn take_fewer(&mut self) {
        self.together = (self.open.len() / 2).max(1);
        self.open.truncate(self.together);
    }

    /// The extents of all regions, in order (PRT-1). `source` is the index (or single) file; the footer block begins at
    /// `footer_offset`.
    pub(crate) fn run(
        &mut self,
        source: &InputFile,
        header: &FileHeader,
        footer: &Footer,
        footer_offset: u64,
    ) -> Result<Vec<LookedUp>> {
        while self.next < footer.regions.len() {
            self.run_together(source, header, footer)?;
        }
        let found = std::mem::take(&mut self.found);
        match stored_in_statistics(footer, header, self.partition) {
            Some(bytes) if bytes != sum_of(&found) => Err(source.blame(Error::at(
                ErrorCode::InconsistentIndex,
                footer_offset + BlockHeader::SIZE as u64,
                format!(
                    "{} bytes of partition {}, as the region messages say",
                    sum_of(&found),
                    self.partition
                ),
                format!("{bytes} in the statistics"),
            ))),
            _ => Ok(found),
        }
    }

    fn run_together(&mut self, source: &InputFile, header: &FileHeader, footer: &Footer) -> Result<()> {
        let most = self.together.min(footer.regions.len() - self.next);
        self.open.resize(most, Progress::default());
        let entries = &footer.regions[self.next..self.next + most];
        let waiting = || self.open.iter().zip(entries).filter(|(open, _)| !open.is_complete);
        let mut pieces = FirstPieces::read(source, waiting().map(|(_, entry)| entry));
        let mut missing = None;
        // There are fewer than 2^32 regions, since the footer message has 32 bytes for each.
        for ((number, entry), open) in (self.next as u32..).zip(entries).zip(&mut self.open) {
            if open.is_complete {
                continue;
            }
            let start = entry.message_offset + BlockHeader::SIZE as u64;
            let newer = header.version_minor > VERSION_MINOR;
            let mut lookup = RegionLookup {
                message: Piecewise::new(source, start, entry.message_size, newer, pieces.next()),
                header,
                entry,
                number,
                partition: self.partition,
            };
            match lookup.find(open).map_err(|fault| fault.at(source, start)) {
                Ok(()) => open.is_complete = true,
                // The other regions say what they miss too, so that all of it can be brought at once.
                Err(error) if is_missing(&error) => missing = missing.or(Some(error)),
                Err(error) => return Err(missing.unwrap_or(error)),
            }
        }
        if let Some(error) = missing {
            return Err(error);
        }
        self.found.extend(self.open.drain(..).flat_map(|open| open.found));
        self.next += most;
        Ok(())
    }
}

/// The first pieces of messages, which are read at once.
struct FirstPieces {
    bytes: Vec<u8>,
    /// The length of each piece, and whether it was read.
    places: std::vec::IntoIter<(usize, bool)>,
    /// Where the next piece begins.
    at: usize,
}

impl FirstPieces {
    fn read<'a>(source: &InputFile, entries: impl Iterator<Item = &'a RegionEntry>) -> Self {
        let places: Vec<_> = entries
            .map(|entry| {
                (
                    entry.message_offset + BlockHeader::SIZE as u64,
                    PIECE.min(entry.message_size as usize),
                )
            })
            .collect();
        let mut bytes = vec![0; places.iter().map(|(_, length)| length).sum()];
        let (mut ranges, mut rest) = (Vec::with_capacity(places.len()), bytes.as_mut_slice());
        for (offset, length) in places {
            let (piece, after) = rest.split_at_mut(length);
            ranges.push(RangeRead::new(offset, piece));
            rest = after;
        }
        // After a failure each message is read alone, so that the fault belongs to one of them.
        let is_read = source.read_ranges(&mut ranges).is_ok();
        let places = ranges
            .iter()
            .map(|range| (range.length(), is_read && range.filled() == range.length()));
        let places = places.collect::<Vec<_>>().into_iter();
        FirstPieces { bytes, places, at: 0 }
    }

    /// The piece of the next message; none if it was not read.
    fn next(&mut self) -> Option<&[u8]> {
        let (length, is_read) = self.places.next()?;
        let from = self.at;
        self.at += length;
        is_read.then(|| &self.bytes[from..self.at])
    }
}

/// The lookup in one region message (LKP-2).
struct RegionLookup<'a> {
    message: Piecewise<'a>,
    header: &'a FileHeader,
    entry: &'a RegionEntry,
    number: u32,
    partition: u32,
}

impl RegionLookup<'_> {
    /// Adds the extents that the partition reads: its own, then the shared ones.
    fn find(&mut self, open: &mut Progress) -> Followed<()> {
        let root = self.message.root(REGION_IDENTIFIER, &REGION)?;
        let shared = match open.shared {
            Some(shared) => shared,
            None => {
                let at = self.find_own(&root, &mut open.found)?;
                let (count, previous) = (0, None);
                *open.shared.insert(SharedProgress { count, at, previous })
            }
        };
        self.find_shared(&root, shared, open)
    }

    /// Adds the own extent of the partition, if it has blocks. Returns where the own extents of all partitions end, in
    /// units.
    fn find_own(&mut self, root: &Table, found: &mut Vec<LookedUp>) -> Followed<u32> {
        let message = &mut self.message;
        let sequence = message.u32_field(root, region::SEQUENCE)?;
        if sequence != self.number {
            return broken(format!("sequence {sequence} in region {}", self.number));
        }
        let data_offset = message.u64_field(root, region::DATA_OFFSET)?;
        let data_length = message.u64_field(root, region::DATA_LENGTH)?;
        if (data_offset, data_length) != (self.entry.data_offset, self.entry.data_length) {
            return broken(format!("{data_length} bytes of data at {data_offset}"));
        }
        // At most 2^32 - 1, as checked for the directory entry (FTR-3).
        let units = data_length / 8;
        let partition_count = self.header.partition_count;
        let rotation = message.u32_field(root, region::ROTATION)?;
        if rotation >= partition_count {
            return broken(format!("a rotation of {rotation} in {partition_count} partitions"));
        }
        let partitions = message.vector_field(root, region::PARTITIONS, 4)?;
        let slots = partitions.map_or(partition_count.into(), |partitions| partitions.count);
        if slots > partition_count.into() {
            return broken(format!("{slots} slots for {partition_count} partitions"));
        }
        let offsets = match message.vector_field(root, region::OFFSETS, 4)? {
            Some(offsets) if offsets.count == slots + 1 => offsets,
            Some(offsets) => return broken(format!("{} offsets for {slots} slots", offsets.count)),
            None => return broken("no offsets"),
        };
        let last = message.u32_element(&offsets, slots)?;
        if u64::from(last) > units {
            return broken(format!("a last offset of {last} in a region of {units} units"));
        }
        let slot = match partitions {
            Some(partitions) => self.search(partitions)?,
            None => {
                let at = u64::from(self.partition - self.header.first_partition);
                Some((at + slots - u64::from(rotation)) % slots)
            }
        };
        if let Some(slot) = slot {
            let message = &mut self.message;
            let start = message.u32_element(&offsets, slot)?;
            let end = message.u32_element(&offsets, slot + 1)?;
            // A slot of a sparse region has blocks (REG-5).
            if start > end || end > last || (start == end && partitions.is_some()) {
                return broken(format!(
                    "slot {slot} from {start} to {end}, where the last ends at {last}"
                ));
            }
            if start < end {
                let first_block = self.first_block(root, slot, slots)?;
                found.push(LookedUp {
                    region: self.number,
                    start,
                    length: end - start,
                    first_block,
                    is_shared: false,
                });
            }
        }
        Ok(last)
    }

    /// The slot of the partition in a sparse region. The partitions that the search sees must ascend (REG-5).
    fn search(&mut self, partitions: Elements) -> Followed<Option<u64>> {
        let range = self.header.partitions();
        let (mut from, mut to) = (0, partitions.count);
        let (mut least, mut end) = (range.start, range.end);
        while from < to {
            let middle = from + (to - from) / 2;
            let name = self.message.u32_element(&partitions, middle)?;
            if !(least..end).contains(&name) {
                return broken(format!("slot {middle} of partition {name}, not of {least} to {end}"));
            }
            match name.cmp(&self.partition) {
                Ordering::Equal => return Ok(Some(middle)),
                // It is below the end of the range, so adding 1 does not overflow.
                Ordering::Less => (from, least) = (middle + 1, name + 1),
                Ordering::Greater => (to, end) = (middle, name),
            }
        }
        Ok(None)
    }

    /// The sequence number of the first block of a slot, in a file with the feature `selective` (REG-9); 0 in other
    /// files.
    fn first_block(&mut self, root: &Table, slot: u64, slots: u64) -> Followed<u32> {
        if !self.header.is_selective() {
            return Ok(0);
        }
        match self.message.vector_field(root, region::FIRST_BLOCK, 4)? {
            Some(first) if first.count == slots => self.message.u32_element(&first, slot),
            Some(first) => broken(format!("{} first blocks for {slots} slots", first.count)),
            None => broken("no first_block in a selective file"),
        }
    }

    /// Adds the shared extents that the partition reads. They come after the own ones, and end with the region (REG-6,
    /// REG-7 and REG-11). Their first blocks ascend, so no table is visited twice and the size of the message bounds the
    /// time.
    fn find_shared(&mut self, root: &Table, from: SharedProgress, open: &mut Progress) -> Followed<()> {
        let message = &mut self.message;
        let units = self.entry.data_length / 8;
        let extents = message.vector_field(root, region::SHARED, 4)?;
        let partition_count = self.header.partition_count;
        let member = self.partition - self.header.first_partition;
        let SharedProgress {
            count,
            mut at,
            mut previous,
        } = from;
        let tables = extents
            .iter()
            .flat_map(|extents| (count..extents.count).map(move |number| (extents, number)));
        for (extents, number) in tables {
            let table = message.table_element(extents, number, &SHARED_EXTENT)?;
            let length = message.u32_field(&table, shared::LENGTH)?;
            let first_block = message.u32_field(&table, shared::FIRST_BLOCK)?;
            let end = at.checked_add(length).filter(|end| u64::from(*end) <= units);
            let Some(end) = end.filter(|_| length >= 3) else {
                return broken(format!(
                    "shared extent {number} of {length} units, from {at} on of {units}"
                ));
            };
            if previous >= Some(first_block) {
                return broken(format!("shared extent {number} whose first block is {first_block}"));
            }
            let is_member = match message.vector_field(&table, shared::MEMBERS, 1)? {
                None => true,
                Some(members) if members.count == 0 => false,
                Some(members) if members.count == u64::from(partition_count.div_ceil(8)) => {
                    message.byte_element(&members, u64::from(member / 8))? >> (member % 8) & 1 != 0
                }
                Some(members) => {
                    return broken(format!(
                        "{} bytes of members for {partition_count} partitions",
                        members.count
                    ));
                }
            };
            if is_member {
                open.found.push(LookedUp {
                    region: self.number,
                    start: at,
                    length,
                    first_block,
                    is_shared: true,
                });
            }
            (at, previous) = (end, Some(first_block));
            open.shared = Some(SharedProgress {
                count: number + 1,
                at,
                previous,
            });
        }
        match u64::from(at) == units {
            true => Ok(()),
            false => broken(format!("extents of {at} units in a region of {units}")),
        }
    }
}
