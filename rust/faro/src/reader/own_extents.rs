//! The own extents of partitions, by partition: what the region messages say by region, turned round for as many
//! partitions at a time as memory is set aside for.

use super::open_output::OpenOutput;
use crate::error::{Error, Result};
use crate::index::RegionIndex;
use std::ops::Range;
use std::sync::Arc;

/// Extents at a time when the regions of the index stay in memory: few enough to be turned round in the cache.
pub(super) const FEW: usize = 1 << 16;

/// An own extent that has blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnExtent {
    pub partition: u32,
    pub region: u32,
    /// From the beginning of the region's data, in units of 8 bytes.
    pub start: u32,
    /// In units of 8 bytes.
    pub length: u32,
    /// In selective files.
    pub first_block: u32,
}

/// What the next partitions of a reading read.
pub(super) struct Extents {
    /// The partitions that this tells of.
    pub partitions: Range<u32>,
    /// By partition, then by region.
    pub own: Vec<OwnExtent>,
    /// The regions with shared extents, ascending; kept in hand when the whole index may be in memory anyway.
    pub shared: Vec<(u32, Option<Arc<RegionIndex>>)>,
    /// The first region whose message has a fault: those before it are here.
    pub fault: Option<Error>,
}

impl Extents {
    /// Those of no partition.
    pub(super) fn none(at: u32) -> Self {
        Extents {
            partitions: at..at,
            own: Vec::new(),
            shared: Vec::new(),
            fault: None,
        }
    }

    /// Those of the first partitions of a range that is not empty: of one at least, and about `few` of them when the
    /// index may be in memory.
    pub(super) fn of_first(output: &OpenOutput, wanted: Range<u32>, few: usize) -> Self {
        let index: u64 = output
            .footer
            .regions
            .iter()
            .map(|entry| u64::from(entry.message_size))
            .sum();
        let budget = output.opened.options.region_cache_bytes;
        let in_memory = index <= budget;
        // Each time the regions are gone through again: seldom, when they have to be read for it.
        let most = if in_memory {
            few
        } else {
            few.max((budget / size_of::<OwnExtent>() as u64) as usize)
        };
        // Four bytes of a message for each slot at least.
        let guess = u64::from(wanted.end - wanted.start).saturating_mul(most as u64) / (index / 4).max(1);
        let to = u64::from(wanted.start).saturating_add(guess.max(1));
        let mut collected = Collected {
            from: wanted.start,
            to: to.min(u64::from(wanted.end)) as u32,
            most,
            own: Vec::new(),
        };
        let mut shared = Vec::new();
        let mut fault = None;
        for number in 0..output.region_count() {
            match output.region(number) {
                Ok(region) => {
                    collected.add(&region);
                    if !region.shared().is_empty() {
                        shared.push((region.sequence(), in_memory.then_some(region)));
                    }
                }
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            }
        }
        Extents {
            partitions: collected.from..collected.to,
            own: collected.by_partition(),
            shared,
            fault,
        }
    }
}

/// Own extents of the partitions `from..to`, region by region.
struct Collected {
    from: u32,
    to: u32,
    /// With more than these, `to` comes down.
    most: usize,
    own: Vec<OwnExtent>,
}

impl Collected {
    fn add(&mut self, region: &RegionIndex) {
        let data = region.extent().offset;
        for run in region.slot_runs(&(self.from..self.to)) {
            for at in run {
                let slot = region.slot(at);
                if slot.extent.length > 0 {
                    self.own.push(OwnExtent {
                        partition: slot.partition,
                        region: region.sequence(),
                        // Regions are below 2^35 bytes, in units of 8 (REG-3).
                        start: ((slot.extent.offset - data) / 8) as u32,
                        length: (slot.extent.length / 8) as u32,
                        first_block: slot.first_block.unwrap_or(0),
                    });
                }
            }
        }
        if self.own.len() > self.most {
            self.drop_last_partitions();
        }
    }

    /// Leaves the first half of the extents, or the first partition.
    fn drop_last_partitions(&mut self) {
        let half = self.own.len() / 2;
        let (_, middle, _) = self.own.select_nth_unstable_by_key(half, |own| own.partition);
        self.to = middle.partition.max(self.from + 1);
        let to = self.to;
        self.own.retain(|own| own.partition < to);
        // The selection mixed the regions.
        self.own.sort_unstable_by_key(|own| own.region);
    }

    /// Sorted by partition, then by region.
    fn by_partition(self) -> Vec<OwnExtent> {
        let partitions = (self.to - self.from) as usize;
        if partitions > 4 * self.own.len() {
            let mut own = self.own;
            own.sort_by_key(|own| own.partition);
            return own;
        }
        // They are sorted by region already, so that counting sorts them, in one pass and without comparisons.
        let mut ends = vec![0usize; partitions + 1];
        for own in &self.own {
            ends[(own.partition - self.from) as usize + 1] += 1;
        }
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut sorted = self.own.clone();
        for own in &self.own {
            let place = &mut ends[(own.partition - self.from) as usize];
            sorted[*place] = *own;
            *place += 1;
        }
        sorted
    }
}

/// Fails when a region's message cannot be had any more.
pub(super) fn shared_region(
    output: &OpenOutput,
    number: u32,
    kept: &Option<Arc<RegionIndex>>,
) -> Result<Arc<RegionIndex>> {
    match kept {
        Some(region) => Ok(region.clone()),
        None => output.region(number as usize),
    }
}
