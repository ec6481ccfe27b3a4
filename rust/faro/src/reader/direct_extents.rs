//! The extents of one partition by direct lookup (spec, LKP-3).

use super::open_extent::OpenExtent;
use super::open_output::OpenOutput;
use crate::error::Result;
use crate::index::{Extent, LookUp, LookedUp, Slot, sum_of};

/// The extents of a partition. All are looked up before the first is returned (LKP-3).
pub(crate) struct DirectExtents {
    partition: u32,
    /// Where the footer block begins.
    footer_offset: u64,
    look_up: LookUp,
    found: Option<std::vec::IntoIter<LookedUp>>,
}

impl DirectExtents {
    /// The extents of a partition of the file.
    pub(super) fn new(partition: u32, footer_offset: u64) -> Self {
        DirectExtents {
            partition,
            footer_offset,
            look_up: LookUp::new(partition),
            found: None,
        }
    }

    /// Moves to the next extent; returns false when there is none.
    pub(super) fn next(&mut self, output: &OpenOutput, extent: &mut OpenExtent) -> Result<bool> {
        let found = match &mut self.found {
            Some(found) => found,
            empty => empty.insert(run(&mut self.look_up, output, self.footer_offset)?.into_iter()),
        };
        let Some(found) = found.next() else {
            return Ok(false);
        };
        let data_offset = output.footer.regions[found.region as usize].data_offset;
        let place = Extent {
            offset: data_offset + 8 * u64::from(found.start),
            length: 8 * u64::from(found.length),
        };
        // There are no dictionaries inside a region.
        let dictionaries = output.dictionaries_before(data_offset);
        if found.is_shared {
            extent.open_shared_extent(place, found.first_block, found.region, dictionaries);
        } else {
            let slot = Slot {
                partition: self.partition,
                extent: place,
                first_block: output.header().is_selective().then_some(found.first_block),
            };
            extent.open_own(&slot, found.region, dictionaries);
        }
        Ok(true)
    }

    /// How many regions, from the first on, need no more reads.
    pub(super) fn passed(&self) -> usize {
        self.look_up.passed()
    }

    /// Looks up at most this many regions together.
    pub(super) fn take_at_most(&mut self, regions: usize) {
        self.look_up.take_at_most(regions);
    }

    /// Looks up fewer regions together.
    pub(super) fn take_fewer(&mut self) {
        self.look_up.take_fewer();
    }

    /// Drops the rest of the extents.
    pub(super) fn stop(&mut self) {
        self.found = Some(Vec::new().into_iter());
    }
}

/// The stored bytes that a partition of the file reads, by the region messages (PRT-6).
pub(super) fn direct_stored_bytes(output: &OpenOutput, partition: u32, footer_offset: u64) -> Result<u64> {
    run(&mut LookUp::new(partition), output, footer_offset).map(|found| sum_of(&found))
}

fn run(look_up: &mut LookUp, output: &OpenOutput, footer_offset: u64) -> Result<Vec<LookedUp>> {
    look_up.run(output.index_file(), output.header(), &output.footer, footer_offset)
}
