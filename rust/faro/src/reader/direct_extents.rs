//! The extents of one partition by direct lookup (spec, LKP-3).

use super::open_extent::OpenExtent;
use super::open_output::OpenOutput;
use crate::error::Result;
use crate::index::{Extent, LookedUp, Slot, look_up, sum_of};

/// The extents of a partition. All are looked up before the first is returned (LKP-3).
pub(super) struct DirectExtents {
    partition: u32,
    /// Where the footer block begins.
    footer_offset: u64,
    found: Option<std::vec::IntoIter<LookedUp>>,
}

impl DirectExtents {
    /// The extents of a partition of the file.
    pub(super) fn new(partition: u32, footer_offset: u64) -> Self {
        DirectExtents {
            partition,
            footer_offset,
            found: None,
        }
    }

    /// Moves to the next extent; returns false when there is none.
    pub(super) fn next(&mut self, output: &OpenOutput, extent: &mut OpenExtent) -> Result<bool> {
        let found = match &mut self.found {
            Some(found) => found,
            // Nothing is delivered after a fault (PRT-3), so this is not called again.
            empty => empty.insert(look_up_all(output, self.partition, self.footer_offset)?.into_iter()),
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

    /// Drops the rest of the extents.
    pub(super) fn stop(&mut self) {
        self.found = Some(Vec::new().into_iter());
    }
}

/// The stored bytes that a partition of the file reads, by the region messages (PRT-6).
pub(super) fn direct_stored_bytes(output: &OpenOutput, partition: u32, footer_offset: u64) -> Result<u64> {
    look_up_all(output, partition, footer_offset).map(|found| sum_of(&found))
}

fn look_up_all(output: &OpenOutput, partition: u32, footer_offset: u64) -> Result<Vec<LookedUp>> {
    look_up(
        output.index_file(),
        output.header(),
        &output.footer,
        footer_offset,
        partition,
    )
}
