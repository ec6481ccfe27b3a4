//! The calls that readers and followers share: blocks of partitions, records, and their sizes.

use super::blocks::Blocks;
use super::by_partition::ByPartition;
use super::direct_extents::{DirectExtents, direct_stored_bytes};
use super::extent_plan::ExtentPlan;
use super::extents::Extents;
use super::open_output::OpenOutput;
use super::options::Lookup;
use super::records::Records;
use crate::bytes::Framing;
use crate::error::{Error, Result};
use std::ops::Range;

/// Reads partitions of an open output.
#[derive(Clone, Debug)]
pub(crate) struct PartitionReader {
    pub output: OpenOutput,
    /// Where the footer block begins, when partitions are found by direct lookup (LKP).
    direct: Option<u64>,
}

impl PartitionReader {
    /// `footer_offset` is the offset of the footer block, if there is one.
    pub(crate) fn new(output: OpenOutput, footer_offset: Option<u64>) -> Self {
        let is_direct = output.opened.options.lookup == Lookup::Direct;
        PartitionReader {
            direct: footer_offset.filter(|_| is_direct),
            output,
        }
    }

    /// The range of one partition; empty for `u32::MAX`, which no partition has.
    fn one(partition: u32) -> Range<u32> {
        partition..partition.saturating_add(1)
    }

    pub(crate) fn blocks(&self, wanted: Range<u32>, regions: Range<usize>) -> Result<Blocks> {
        let from_start = regions.start == 0;
        let plan = self.plan(wanted, regions)?;
        Ok(Blocks::new(self.output.clone(), from_start, plan))
    }

    /// Finds the extents of a range of partitions by reading region messages whole.
    fn plan(&self, wanted: Range<u32>, regions: Range<usize>) -> Result<ExtentPlan> {
        self.output.check_partitions(&wanted)?;
        if regions.start > regions.end || regions.end > self.output.region_count() {
            let expected = format!("regions from 0 on and at most {}", self.output.region_count());
            return Err(Error::argument(
                expected,
                format!("{} to {}", regions.start, regions.end),
            ));
        }
        // An empty range reads no region, and so finds no fault of one (REG-10).
        let regions = if wanted.is_empty() { 0..0 } else { regions };
        Ok(ExtentPlan::Full(Extents::new(wanted, regions)))
    }

    pub(crate) fn partition(&self, partition: u32) -> Result<Blocks> {
        Ok(Blocks::new(self.output.clone(), true, self.plan_of(partition)?))
    }

    /// Finds the extents of a partition in all regions, by the option `lookup`.
    pub(crate) fn plan_of(&self, partition: u32) -> Result<ExtentPlan> {
        self.output.check_partition(partition)?;
        match self.direct {
            None => self.plan_of_range(Self::one(partition)),
            Some(footer_offset) => Ok(ExtentPlan::Direct(DirectExtents::new(partition, footer_offset))),
        }
    }

    /// Finds the extents of a range of partitions in all regions.
    pub(crate) fn plan_of_range(&self, partitions: Range<u32>) -> Result<ExtentPlan> {
        self.plan(partitions, 0..self.output.region_count())
    }

    pub(crate) fn partition_in(&self, partition: u32, regions: Range<usize>) -> Result<Blocks> {
        self.output.check_partition(partition)?;
        self.blocks(Self::one(partition), regions)
    }

    pub(crate) fn range(&self, partitions: Range<u32>) -> Result<Blocks> {
        self.blocks(partitions, 0..self.output.region_count())
    }

    pub(crate) fn by_partition(&self, partitions: Range<u32>) -> Result<ByPartition> {
        self.output.check_partitions(&partitions)?;
        Ok(ByPartition::new(self.output.clone(), partitions))
    }

    pub(crate) fn records(&self, partition: u32) -> Result<Records> {
        if self.output.header().framing != Framing::Records {
            let found = format!("framing {}", self.output.header().framing.as_str());
            return Err(Error::argument("a file with framing records", found));
        }
        Ok(Records::new(self.partition(partition)?))
    }

    /// The stored bytes that a partition reads (PRT-6).
    pub(crate) fn stored_bytes(&self, partition: u32) -> Result<u64> {
        self.output.check_partition(partition)?;
        if let Some(bytes) = self.output.statistics_of(partition) {
            return Ok(bytes);
        }
        if let Some(footer_offset) = self.direct {
            return direct_stored_bytes(&self.output, partition, footer_offset);
        }
        let mut sum = 0;
        for number in 0..self.output.region_count() {
            sum += self.output.region(number)?.stored_bytes(partition);
        }
        Ok(sum)
    }
}
