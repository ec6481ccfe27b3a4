//! The blocks of a partition, a range, or everything, in the order of PRT-1 and PRT-5.

use super::block::{Block, BorrowedBlock};
use super::checker::{Checker, Depth, OpenExtent, Step};
use super::lookup::Direct;
use super::partition_reader::PartitionReader;
use super::window::Window;
use crate::block::Dictionaries;
use crate::error::Result;
use crate::index::RegionIndex;
use std::ops::Range;
use std::sync::Arc;

/// An iterator over blocks. It ends behind the first error.
pub struct Blocks {
    checker: Checker,
    window: Window,
    plan: Plan,
    extent: OpenExtent,
}

/// Where the extents come from.
enum Plan {
    /// Region messages that are read whole.
    Full(Extents),
    /// Those of one partition, looked up by position.
    Direct(Direct),
}

impl Plan {
    /// Turns to the next extent; whether there is one.
    fn next(&mut self, view: &PartitionReader, extent: &mut OpenExtent) -> Result<bool> {
        match self {
            Plan::Full(extents) => extents.next(view, extent),
            Plan::Direct(direct) => direct.next(view, extent),
        }
    }
}

/// The extents of a range of partitions, region by region.
pub(crate) struct Extents {
    wanted: Range<u32>,
    regions: Range<usize>,
    /// Also shared extents that nobody reads, with the sequences of the whole file (CHK-1, step 5).
    whole_file: bool,
    region: Option<Cursor>,
}

/// A place in a region.
struct Cursor {
    region: Arc<RegionIndex>,
    slots: [Range<usize>; 2],
    /// Where the blocks of each run of slots end.
    ends: [u64; 2],
    next_shared: usize,
    /// No dictionary stands inside a region.
    dictionaries: Dictionaries,
}

impl Cursor {
    fn new(view: &PartitionReader, number: usize, wanted: &Range<u32>) -> Result<Self> {
        let region = view.region(number)?;
        let slots = region.slot_runs(wanted);
        let end = |run: &Range<usize>| match run.is_empty() {
            true => 0,
            false => region.slot(run.end - 1).extent.end(),
        };
        Ok(Cursor {
            ends: [end(&slots[0]), end(&slots[1])],
            dictionaries: view.dictionaries_before(region.extent().offset),
            region,
            slots,
            next_shared: 0,
        })
    }

    /// Turns to the next extent that is wanted and has blocks; whether there is one.
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
    /// Those of a range in some of the regions.
    pub(crate) fn new(wanted: Range<u32>, regions: Range<usize>) -> Self {
        Extents {
            wanted,
            regions,
            whole_file: false,
            region: None,
        }
    }

    /// Turns to the next extent; whether there is one.
    pub(crate) fn next(&mut self, view: &PartitionReader, extent: &mut OpenExtent) -> Result<bool> {
        loop {
            if let Some(is_there) = self.turn(view, extent)? {
                return Ok(is_there);
            }
        }
    }

    /// As [`Extents::next`], but says nothing at the end of a region: at most one region message is read.
    #[inline]
    pub(crate) fn turn(&mut self, view: &PartitionReader, extent: &mut OpenExtent) -> Result<Option<bool>> {
        let cursor = match &mut self.region {
            Some(cursor) => cursor,
            empty => match self.regions.next() {
                None => return Ok(Some(false)),
                Some(number) => empty.insert(Cursor::new(view, number, &self.wanted)?),
            },
        };
        if cursor.next_extent(&self.wanted, self.whole_file, extent) {
            return Ok(Some(true));
        }
        self.region = None;
        Ok(None)
    }
}

impl Blocks {
    pub(crate) fn new(view: PartitionReader, wanted: Range<u32>, regions: Range<usize>) -> Self {
        Self::with(view, regions.start == 0, Plan::Full(Extents::new(wanted, regions)))
    }

    /// Those of one partition that the file has, by direct lookup.
    pub(super) fn direct(view: PartitionReader, direct: Direct) -> Self {
        Self::with(view, true, Plan::Direct(direct))
    }

    fn with(view: PartitionReader, from_start: bool, plan: Plan) -> Self {
        Blocks {
            checker: Checker::new(view, from_start),
            window: Window::default(),
            plan,
            extent: OpenExtent::NONE,
        }
    }

    /// Every block of the file, shared ones that nobody reads too, with the sequences of CHK-1.
    pub(crate) fn of_whole_file(view: PartitionReader, depth: Depth) -> Self {
        let (wanted, regions) = (view.header().partitions(), 0..view.region_count());
        let mut extents = Extents::new(wanted, regions);
        extents.whole_file = true;
        let mut blocks = Blocks::with(view, true, Plan::Full(extents));
        blocks.checker.depth = depth;
        blocks.checker.sequences.count_all_shared();
        blocks
    }

    /// The next block, lent until this is asked again: faster than the iterator for small and for compressed blocks.
    ///
    /// ```
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
    /// # writer.write(2, b"a record")?;
    /// # writer.finish()?;
    /// # let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
    /// let mut blocks = reader.all()?;
    /// while let Some(block) = blocks.next_borrowed() {
    ///     println!("{} bytes", block?.payload().len());
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As the iterator's; nothing follows an error.
    #[inline]
    pub fn next_borrowed(&mut self) -> Option<Result<BorrowedBlock<'_>>> {
        match self.advance_and_decode() {
            Ok(true) => Some(Ok(self.checker.lend(&self.extent, &self.window))),
            Ok(false) => None,
            Err(error) => {
                self.stop();
                Some(Err(error))
            }
        }
    }

    /// Nothing is delivered behind a fault (PRT-3).
    pub(crate) fn stop(&mut self) {
        match &mut self.plan {
            Plan::Full(extents) => (extents.regions, extents.region) = (0..0, None),
            Plan::Direct(direct) => direct.stop(),
        }
        self.extent = OpenExtent::NONE;
    }

    /// Turns to the next block that passes checks 1 to 11; whether there is one.
    #[inline]
    fn advance(&mut self) -> Result<bool> {
        loop {
            if self.extent.at < self.extent.end {
                // A window has every byte that it is asked for.
                if self.checker.check(&mut self.extent, &mut self.window)? == Step::Block {
                    return Ok(true);
                }
            } else if !self.plan.next(&self.checker.view, &mut self.extent)? {
                return Ok(false);
            }
        }
    }

    #[inline]
    fn advance_and_decode(&mut self) -> Result<bool> {
        let is_there = self.advance()?;
        if is_there {
            self.checker.decode_to_lend(&self.window)?;
        }
        Ok(is_there)
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        match self.advance()? {
            true => self.checker.own(&self.extent, &self.window).map(Some),
            false => Ok(None),
        }
    }
}

impl Iterator for Blocks {
    type Item = Result<Block>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.next_block().transpose();
        if matches!(item, Some(Err(_))) {
            self.stop();
        }
        item
    }
}
