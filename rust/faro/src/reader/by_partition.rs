//! Reads one partition after another with few, long reads (spec, PRT-7). The blocks of each are the same as when it is
//! read alone.

use super::block::{Block, BorrowedBlock};
use super::block_check::{BlockCheck, CheckOutcome};
use super::open_extent::OpenExtent;
use super::open_output::OpenOutput;
use super::own_extents::{Extents, FEW, shared_region};
use super::trace::fault;
use super::windows::{Windows, window_of};
use crate::error::Result;
use crate::index::{Extent, RegionIndex, Slot};
use std::ops::Range;
use std::sync::Arc;

/// An iterator over the blocks of several partitions, one partition after another. Each block comes with the partition
/// that it is read for. It ends after the first error.
pub struct ByPartition {
    few: usize,
    window: u64,
    checker: BlockCheck,
    windows: Windows,
    extent: OpenExtent,
    /// Partitions that are not begun yet.
    rest: Range<u32>,
    /// The current partition.
    partition: u32,
    extents: Extents,
    /// Its own extents that are not begun yet.
    own: Range<usize>,
    /// Regions with shared extents that are not visited for it yet.
    shared: Range<usize>,
    /// The region with the shared extents that are being visited, and the next of them.
    shared_of: Option<(Arc<RegionIndex>, usize)>,
}

impl ByPartition {
    pub(crate) fn new(output: OpenOutput, partitions: Range<u32>) -> Self {
        let window = window_of(output.data_file().read_bytes());
        Self::with(output, partitions, FEW, window)
    }

    /// Holds about `few` extents in memory, and `window` bytes of blocks.
    pub(super) fn with(output: OpenOutput, partitions: Range<u32>, few: usize, window: u64) -> Self {
        ByPartition {
            few,
            window,
            windows: Windows::new(output.budget()),
            checker: BlockCheck::new(output, true),
            extent: OpenExtent::NONE,
            partition: partitions.start,
            extents: Extents::none(partitions.start),
            rest: partitions,
            own: 0..0,
            shared: 0..0,
            shared_of: None,
        }
    }

    /// The next block and the partition that it is read for, lent until the next call. It is faster than the iterator
    /// for small blocks and for compressed blocks.
    ///
    /// # Errors
    /// As the iterator's. Nothing follows an error.
    #[inline]
    pub fn next_borrowed(&mut self) -> Option<Result<(u32, BorrowedBlock<'_>)>> {
        match self.advance_and_decode() {
            Ok(true) => Some(Ok((self.partition, self.checker.lend(&self.extent, &self.windows)))),
            Ok(false) => None,
            Err(error) => {
                fault(&error);
                self.stop();
                Some(Err(error))
            }
        }
    }

    /// Nothing is delivered after a fault (PRT-3) or at the end, and nothing is held.
    #[cold]
    fn stop(&mut self) {
        self.checker.ends();
        self.windows.end();
        self.extent = OpenExtent::NONE;
        self.rest = 0..0;
        self.extents = Extents::none(0);
        (self.own, self.shared, self.shared_of) = (0..0, 0..0, None);
    }

    /// Moves to the next block that passes checks 1 to 11; returns false at the end.
    #[inline]
    fn advance(&mut self) -> Result<bool> {
        loop {
            if self.extent.at < self.extent.end {
                // The windows supply every byte of the file.
                if self.checker.check(&mut self.extent, &mut self.windows)? == CheckOutcome::Block {
                    return Ok(true);
                }
            } else if !self.next_extent()? && !self.next_partition()? {
                self.stop();
                return Ok(false);
            }
        }
    }

    #[inline]
    fn advance_and_decode(&mut self) -> Result<bool> {
        let is_there = self.advance()?;
        if is_there {
            self.checker.decode_to_lend(&self.windows)?;
        }
        Ok(is_there)
    }

    fn next_block(&mut self) -> Result<Option<(u32, Block)>> {
        match self.advance()? {
            true => self
                .checker
                .own(&self.extent, &self.windows)
                .map(|block| Some((self.partition, block))),
            false => Ok(None),
        }
    }

    /// Moves to the next extent of the current partition; returns false when there is none.
    #[inline]
    fn next_extent(&mut self) -> Result<bool> {
        loop {
            if self.shared_of.is_some() && self.next_shared_extent() {
                return Ok(true);
            }
            // A region's own extent comes before its shared ones (PRT-1).
            let own = self.extents.own.get(self.own.start).filter(|_| !self.own.is_empty());
            let shared = self.extents.shared.get(self.shared.start);
            match (own, shared) {
                (Some(own), Some((region, _))) if *region < own.region => self.begin_shared()?,
                (Some(_), _) => {
                    self.open_own();
                    return Ok(true);
                }
                (None, Some(_)) => self.begin_shared()?,
                (None, None) => return Ok(false),
            }
        }
    }

    #[inline]
    fn open_own(&mut self) {
        let number = self.own.start;
        self.own.start += 1;
        let own = self.extents.own[number];
        let output = &self.checker.output;
        let data_offset = output.footer.regions[own.region as usize].data_offset;
        let extent = Extent {
            offset: data_offset + 8 * u64::from(own.start),
            length: 8 * u64::from(own.length),
        };
        let slot = Slot {
            partition: own.partition,
            extent,
            first_block: output.header().is_selective().then_some(own.first_block),
        };
        // There are no dictionaries inside a region.
        let dictionaries = output.dictionaries_before(data_offset);
        self.extent.open_own(&slot, own.region, dictionaries);
        self.windows.open(Some(number), extent.offset);
    }

    fn begin_shared(&mut self) -> Result<()> {
        let (number, kept) = &self.extents.shared[self.shared.start];
        let region = shared_region(&self.checker.output, *number, kept)?;
        self.shared_of = Some((region, 0));
        self.shared.start += 1;
        Ok(())
    }

    /// Moves to the next shared extent of a region; returns false when there is none.
    fn next_shared_extent(&mut self) -> bool {
        let Some((region, at)) = &mut self.shared_of else {
            return false;
        };
        while let Some(shared) = region.shared().get(*at) {
            *at += 1;
            if shared.members.contains(self.partition) {
                let dictionaries = self.checker.output.dictionaries_before(region.extent().offset);
                self.extent.open_shared(shared, region.sequence(), dictionaries);
                self.windows.open(None, shared.extent.offset);
                return true;
            }
        }
        self.shared_of = None;
        false
    }

    /// Moves to the next partition that may have blocks; returns false when there is none.
    fn next_partition(&mut self) -> Result<bool> {
        // The first partition reports a region's fault, after the blocks of the regions before it.
        if let Some(fault) = self.extents.fault.take() {
            return Err(fault);
        }
        let own = loop {
            let known = &self.extents;
            let next = known.own.get(self.own.end);
            // Without shared extents and faults, a partition without own extents reads nothing.
            if known.shared.is_empty() && known.fault.is_none() {
                self.rest.start = next.map_or(known.partitions.end, |own| own.partition);
            }
            if self.rest.start < known.partitions.end {
                break next
                    .filter(|own| own.partition == self.rest.start)
                    .map(|_| self.own.end);
            }
            if self.rest.is_empty() {
                return Ok(false);
            }
            // Their memory is given back first.
            self.extents = Extents::none(self.rest.start);
            self.extents = Extents::of_first(&self.checker.output, self.rest.clone(), self.few);
            self.windows.forget();
            self.own = 0..0;
        };
        self.partition = self.rest.start;
        self.rest.start += 1;
        self.checker.sequences.restart();
        self.shared = 0..self.extents.shared.len();
        if let Some(from) = own {
            let known = &self.extents.own;
            let count = known[from..]
                .iter()
                .take_while(|own| own.partition == self.partition)
                .count();
            self.own = from..from + count;
            if !self.windows.extents().contains(&from) {
                self.windows.load(&self.checker.output, known, from, self.window);
            }
        }
        Ok(true)
    }
}

impl Iterator for ByPartition {
    type Item = Result<(u32, Block)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.next_block().transpose();
        if let Some(Err(error)) = &item {
            fault(error);
            self.stop();
        }
        item
    }
}
