//! The extents of a range of partitions, from region messages that are read whole.

use super::open_extent::OpenExtent;
use super::open_output::OpenOutput;
use crate::block::Dictionaries;
use crate::error::Result;
use crate::index::RegionIndex;
use std::ops::Range;
use std::sync::Arc;

/// The extents of a range of partitions, region by region.
pub(crate) struct Extents {
    wanted: Range<u32>,
    regions: Range<usize>,
    /// Includes shared extents that no partition reads, with the sequences of the whole file (CHK-1, step 7).
    whole_file: bool,
    region: Option<Cursor>,
}

/// A position in a region.
struct Cursor {
    region: Arc<RegionIndex>,
    slots: [Range<usize>; 2],
    /// Where the blocks of each range of slots end.
    ends: [u64; 2],
    next_shared: usize,
    /// There are no dictionaries inside a region, so this holds for all of its blocks.
    dictionaries: Dictionaries,
}

impl Cursor {
    fn new(output: &OpenOutput, number: usize, wanted: &Range<u32>) -> Result<Self> {
        let region = output.region(number)?;
        let slots = region.slot_ranges(wanted);
        let end = |run: &Range<usize>| match run.is_empty() {
            true => 0,
            false => region.slot(run.end - 1).extent.end(),
        };
        Ok(Cursor {
            ends: [end(&slots[0]), end(&slots[1])],
            dictionaries: output.dictionaries_before(region.extent().offset),
            region,
            slots,
            next_shared: 0,
        })
    }

    /// Moves to the next wanted extent that has blocks; returns false when there is none.
    #[inline]
    fn next_extent(&mut self, wanted: &Range<u32>, whole_file: bool, extent: &mut OpenExtent) -> bool {
        for (run, run_end) in self.slots.iter_mut().zip(self.ends) {
            for at in run.by_ref() {
                let slot = self.region.slot(at);
                if slot.extent.length > 0 {
                    extent.open_own(&slot, self.region.sequence(), self.dictionaries);
                    extent.read_ahead = run_end;
                    return true;
                }
            }
        }
        while let Some(shared) = self.region.shared().get(self.next_shared) {
            let at = self.next_shared;
            self.next_shared += 1;
            if whole_file || self.region.shared_is_wanted(at, wanted) {
                extent.open_shared(shared, self.region.sequence(), self.dictionaries);
                return true;
            }
        }
        false
    }
}

impl Extents {
    /// The extents of a range of partitions in some of the regions.
    pub(crate) fn new(wanted: Range<u32>, regions: Range<usize>) -> Self {
        Extents {
            wanted,
            regions,
            whole_file: false,
            region: None,
        }
    }

    /// Moves to the next extent; returns false when there is none.
    #[inline]
    pub(crate) fn next(&mut self, output: &OpenOutput, extent: &mut OpenExtent) -> Result<bool> {
        loop {
            if let Some(is_there) = self.turn(output, extent)? {
                return Ok(is_there);
            }
        }
    }

    /// As [`Extents::next`], but it reads at most one region message: at the end of a region it returns none.
    #[inline]
    pub(crate) fn turn(&mut self, output: &OpenOutput, extent: &mut OpenExtent) -> Result<Option<bool>> {
        let cursor = match &mut self.region {
            Some(cursor) => cursor,
            _ if self.regions.is_empty() => return Ok(Some(false)),
            empty => {
                // A region whose message could not be read is read again by the next call.
                let cursor = Cursor::new(output, self.regions.start, &self.wanted)?;
                self.regions.start += 1;
                empty.insert(cursor)
            }
        };
        if cursor.next_extent(&self.wanted, self.whole_file, extent) {
            return Ok(Some(true));
        }
        self.region = None;
        Ok(None)
    }

    /// Includes shared extents that no partition reads.
    pub(super) fn of_whole_file(mut self) -> Self {
        self.whole_file = true;
        self
    }

    /// Adds the regions up to this number.
    pub(crate) fn go_on(&mut self, regions: usize) {
        self.regions.end = regions;
    }

    /// The regions whose messages are still needed.
    pub(super) fn regions(&self) -> Range<usize> {
        self.regions.clone()
    }

    /// Drops the rest of the extents.
    pub(super) fn stop(&mut self) {
        (self.regions, self.region) = (0..0, None);
    }
}
