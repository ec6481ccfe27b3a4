//! How a reading finds its extents.

use super::direct_extents::DirectExtents;
use super::extents::Extents;
use super::open_extent::OpenExtent;
use super::open_output::OpenOutput;
use crate::error::Result;
use std::ops::Range;

/// How the extents are found.
pub(crate) enum ExtentPlan {
    /// By reading region messages whole.
    Full(Extents),
    /// By direct lookup of one partition.
    Direct(DirectExtents),
}

impl ExtentPlan {
    /// Moves to the next extent; returns false when there is none. After a message could not be read, the next call
    /// reads it again.
    #[inline]
    pub(crate) fn next(&mut self, output: &OpenOutput, extent: &mut OpenExtent) -> Result<bool> {
        match self {
            ExtentPlan::Full(extents) => extents.next(output, extent),
            ExtentPlan::Direct(direct) => direct.next(output, extent),
        }
    }

    /// The regions whose messages will be read whole; none with direct lookup.
    pub(crate) fn regions(&self) -> Range<usize> {
        match self {
            ExtentPlan::Full(extents) => extents.regions(),
            ExtentPlan::Direct(_) => 0..0,
        }
    }

    /// How many regions, from the first on, have messages that are needed no more.
    pub(crate) fn passed(&self) -> usize {
        match self {
            ExtentPlan::Full(extents) => extents.regions().start,
            ExtentPlan::Direct(direct) => direct.passed(),
        }
    }

    /// Looks up at most this many regions together.
    pub(crate) fn take_at_most(&mut self, regions: usize) {
        if let ExtentPlan::Direct(direct) = self {
            direct.take_at_most(regions);
        }
    }

    /// Looks up fewer regions together, so that less of the index is in memory at a time.
    pub(crate) fn take_fewer(&mut self) {
        if let ExtentPlan::Direct(direct) = self {
            direct.take_fewer();
        }
    }

    /// Drops the rest of the extents.
    pub(crate) fn stop(&mut self) {
        match self {
            ExtentPlan::Full(extents) => extents.stop(),
            ExtentPlan::Direct(direct) => direct.stop(),
        }
    }
}
