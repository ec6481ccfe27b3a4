//! The own extents of partitions, grouped by partition. Region messages have them by region; they are regrouped for as
//! many partitions at a time as memory allows.

use super::open_output::OpenOutput;
use crate::error::{Error, Result};
use crate::index::RegionIndex;
use crate::limits::Grants;
use std::ops::Range;
use std::sync::Arc;

/// How many extents are regrouped at a time when the index stays in memory: few enough for the processor's cache.
pub(super) const FEW: usize = 1 << 16;

/// An own extent that has blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnExtent {
    pub partition: u32,
    pub region: u32,
    /// Offset from the start of the region's data, in units of 8 bytes.
    pub start: u32,
    /// Length in units of 8 bytes.
    pub length: u32,
    /// The sequence number of the first block, in files with the feature `selective`.
    pub first_block: u32,
}

/// The extents of the next partitions of a reading.
pub(super) struct Extents {
    /// The partitions.
    pub partitions: Range<u32>,
    /// Their own extents, by partition, then by region.
    pub own: Vec<OwnExtent>,
    /// The regions with shared extents, ascending; held here when the whole index may be in memory.
    pub shared: Vec<(u32, Option<Arc<RegionIndex>>)>,
    /// The fault of the first region message that has one. The extents before it are here.
    pub fault: Option<Error>,
    /// The grants for more than a few extents.
    _grants: Grants,
}

impl Extents {
    /// The extents of no partition.
    pub(super) fn none(at: u32) -> Self {
        Extents {
            partitions: at..at,
            own: Vec::new(),
            shared: Vec::new(),
            fault: None,
            _grants: Grants::default(),
        }
    }

    /// The extents of the first partitions of a range that is not empty: of at least one partition, and about `few`
    /// extents when the index may be in memory.
    pub(super) fn of_first(output: &OpenOutput, wanted: Range<u32>, few: usize) -> Self {
        let index: u64 = output
            .footer
            .regions
            .iter()
            .map(|entry| u64::from(entry.message_size))
            .sum();
        let budget = output.cache_bytes();
        let in_memory = index <= budget;
        // Each call visits all regions again. If they must be read for it, take more extents at a time, so that there
        // are few calls.
        let mut most = if in_memory {
            few
        } else {
            few.max((budget / size_of::<OwnExtent>() as u64) as usize)
        };
        // Twice what the wanted partitions have on average: no more is asked for. A message has at least four bytes for
        // each slot.
        let (slots, all) = (index / 4, output.header().partition_count);
        let share = u64::from(wanted.end - wanted.start) as f64 / f64::from(all.max(1));
        most = most.min((2.0 * share * slots as f64) as usize).max(few);
        let mut grants = Grants::new(output.budget());
        // They are in memory twice while they are sorted.
        if most > few && !grants.try_grow(2 * ((most - few) * size_of::<OwnExtent>()) as u64) {
            most = few;
        }
        let guess = u64::from(wanted.end - wanted.start).saturating_mul(most as u64) / slots.max(1);
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
                        // One that the budget refused to keep is not kept here either.
                        let is_kept = in_memory && (!output.is_budgeted() || output.has_region(region.sequence()));
                        shared.push((region.sequence(), is_kept.then_some(region)));
                    }
                }
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            }
        }
        let partitions = collected.from..collected.to;
        let own = collected.by_partition();
        grants.shrink_to((own.len().saturating_sub(few) * size_of::<OwnExtent>()) as u64);
        Extents {
            partitions,
            own,
            shared,
            fault,
            _grants: grants,
        }
    }
}

/// Own extents of the partitions `from..to`, region by region.
struct Collected {
    from: u32,
    to: u32,
    /// The most extents; above that, `to` decreases.
    most: usize,
    own: Vec<OwnExtent>,
}

impl Collected {
    fn add(&mut self, region: &RegionIndex) {
        let data = region.extent().offset;
        for slots in region.slot_ranges(&(self.from..self.to)) {
            for at in slots {
                let slot = region.slot(at);
                if slot.extent.length > 0 {
                    self.own.push(OwnExtent {
                        partition: slot.partition,
                        region: region.sequence(),
                        // Regions have fewer than 2^35 bytes (REG-3), in units of 8.
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

    /// Keeps the first half of the extents, or the first partition.
    fn drop_last_partitions(&mut self) {
        let half = self.own.len() / 2;
        let (_, middle, _) = self.own.select_nth_unstable_by_key(half, |own| own.partition);
        self.to = middle.partition.max(self.from + 1);
        let to = self.to;
        self.own.retain(|own| own.partition < to);
        // The selection changed the order of the regions.
        self.own.sort_unstable_by_key(|own| own.region);
    }

    /// The extents sorted by partition, then by region.
    fn by_partition(self) -> Vec<OwnExtent> {
        let partitions = (self.to - self.from) as usize;
        if partitions > 4 * self.own.len() {
            let mut own = self.own;
            own.sort_by_key(|own| own.partition);
            return own;
        }
        // They are sorted by region already, so a counting sort takes one pass.
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

/// A region with shared extents. It fails when the message cannot be read again.
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
