//! The runs of a merged file (spec, MRG-2 and MRG-3; CHK-1 steps 2 and 7).

use crate::error::Result;
use crate::index::{Holdings, RegionIndex};
use crate::message::Run;
use crate::reader::{Block, Reader};
use std::collections::VecDeque;

/// Checks the runs of regions in order, by MRG-2. It keeps nothing unless the file is merged.
pub(super) struct Prefixes<'a> {
    reader: &'a Reader,
    holdings: Option<Holdings>,
}

impl<'a> Prefixes<'a> {
    pub(super) fn of(reader: &'a Reader) -> Self {
        Prefixes {
            reader,
            holdings: reader.header().is_merged().then(Holdings::default),
        }
    }

    pub(super) fn check(&mut self, region: &RegionIndex) -> Result<()> {
        match &mut self.holdings {
            Some(holdings) => self.reader.output().hold(region, holdings),
            None => Ok(()),
        }
    }
}

/// Checks that the runs of each own extent hold whole blocks, by MRG-3.
pub(super) struct WholeBlocks<'a> {
    reader: &'a Reader,
    /// The extent of the last block: its region and partition.
    extent: Option<(u32, u32)>,
    /// Where the runs of the extent end that have not ended, and their blocks.
    runs: VecDeque<(u64, u32)>,
    /// The blocks of the current run.
    blocks: u32,
    /// The first fault of the extent. The faults of its blocks come before.
    fault: Option<String>,
}

impl<'a> WholeBlocks<'a> {
    pub(super) fn of(reader: &'a Reader) -> Self {
        WholeBlocks {
            reader,
            extent: None,
            runs: VecDeque::new(),
            blocks: 0,
            fault: None,
        }
    }

    /// Notes a block that passed its checks. After the last block of an extent, the fault of its runs.
    pub(super) fn add(&mut self, block: &Block) -> Result<()> {
        if !self.reader.header().is_merged() {
            return Ok(());
        }
        let extent = block.partition.map(|partition| (block.region, partition));
        if let Some((region, partition)) = extent.filter(|_| extent != self.extent) {
            let found = self.reader.output().region(region as usize)?.runs_of(partition);
            let ends = |(at, run): (u64, Run)| (at + 8 * u64::from(run.length), run.blocks);
            self.runs = found.into_iter().map(ends).collect();
            (self.blocks, self.fault) = (0, None);
        }
        self.extent = extent;
        let end = block.offset + block.header.size_in_file();
        self.blocks = self.blocks.saturating_add(1);
        while let Some(&(run_end, blocks)) = self.runs.front().filter(|(run_end, _)| *run_end <= end) {
            self.runs.pop_front();
            if self.blocks != blocks || run_end != end {
                let found = format!("{} blocks up to {end} in a run of {blocks}", self.blocks);
                self.fault.get_or_insert(found);
            }
            self.blocks = 0;
        }
        match (self.fault.take(), extent) {
            // The runs of an extent end where it does.
            (Some(found), Some((region, _))) if self.runs.is_empty() => {
                let expected = "runs of whole blocks";
                Err(self.reader.output().fault_of_runs(region, expected, found))
            }
            (fault, _) => {
                self.fault = fault;
                Ok(())
            }
        }
    }
}
