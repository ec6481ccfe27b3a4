//! The blocks of a partition, a range, or everything, in the order of PRT-1 and PRT-5.

use super::block::{Block, BorrowedBlock};
use super::block_check::{BlockCheck, CheckOutcome, Depth};
use super::extent_plan::ExtentPlan;
use super::extents::Extents;
use super::open_extent::OpenExtent;
use super::open_output::OpenOutput;
use super::trace::fault;
use super::window::Window;
use crate::error::Result;

/// An iterator over blocks, in the order of PRT-1 or PRT-5. It ends after the first error.
pub struct Blocks {
    checker: BlockCheck,
    window: Window,
    plan: ExtentPlan,
    extent: OpenExtent,
}

impl Blocks {
    /// The blocks of the planned extents. `from_start` says whether the reading begins at the first region.
    pub(super) fn new(output: OpenOutput, from_start: bool, plan: ExtentPlan) -> Self {
        Blocks {
            window: Window::new(output.budget()),
            checker: BlockCheck::new(output, from_start),
            plan,
            extent: OpenExtent::NONE,
        }
    }

    /// Every block of the file, with the sequences of CHK-1; also shared blocks that no partition reads.
    pub(crate) fn of_whole_file(output: OpenOutput, depth: Depth) -> Self {
        let (wanted, regions) = (output.header().partitions(), 0..output.region_count());
        let extents = Extents::new(wanted, regions).of_whole_file();
        let mut blocks = Blocks::new(output, true, ExtentPlan::Full(extents));
        blocks.checker.depth = depth;
        blocks.checker.sequences.count_all_shared();
        blocks
    }

    /// The next block, lent until the next call. It is faster than the iterator for small blocks and for compressed
    /// blocks.
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
    /// As the iterator's. Nothing follows an error.
    #[inline]
    pub fn next_borrowed(&mut self) -> Option<Result<BorrowedBlock<'_>>> {
        match self.advance_and_decode() {
            Ok(true) => Some(Ok(self.checker.lend(&self.extent, &self.window))),
            Ok(false) => None,
            Err(error) => {
                fault(&error);
                self.stop();
                Some(Err(error))
            }
        }
    }

    /// Goes on with the regions that the output has more now, after all others were delivered (FOL-7).
    pub(crate) fn go_on(&mut self, output: &OpenOutput) {
        if let ExtentPlan::Full(extents) = &mut self.plan {
            extents.go_on(output.region_count());
            self.checker.output = output.clone();
        }
    }

    /// The output that is read.
    pub(crate) fn output(&self) -> &OpenOutput {
        &self.checker.output
    }

    /// The same blocks, with this of each.
    pub(crate) fn with_depth(mut self, depth: Depth) -> Self {
        self.checker.depth = depth;
        self
    }

    /// Nothing is delivered after a fault (PRT-3).
    pub(crate) fn stop(&mut self) {
        self.plan.stop();
        self.ends();
        self.extent = OpenExtent::NONE;
    }

    /// Moves to the next block that passes checks 1 to 11; returns false at the end.
    #[inline]
    fn advance(&mut self) -> Result<bool> {
        loop {
            if self.extent.at < self.extent.end {
                // A window supplies every byte of the file.
                if self.checker.check(&mut self.extent, &mut self.window)? == CheckOutcome::Block {
                    return Ok(true);
                }
            } else if !self.plan.next(&self.checker.output, &mut self.extent)? {
                self.ends();
                return Ok(false);
            }
        }
    }

    #[cold]
    fn ends(&mut self) {
        self.checker.ends();
        self.window.end();
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
        if let Some(Err(error)) = &item {
            fault(error);
            self.stop();
        }
        item
    }
}
