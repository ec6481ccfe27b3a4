//! A cache of the regions that were used last, bounded by the memory that they take.

use super::region::RegionIndex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Keeps as many of the last used regions as fit. It does not keep a region that is too large by itself.
#[derive(Debug)]
pub(crate) struct RegionCache {
    capacity: u64,
    used: u64,
    clock: u64,
    regions: HashMap<u32, (u64, Arc<RegionIndex>)>,
    /// The regions by the time of their last use.
    by_age: BTreeMap<u64, u32>,
}

impl RegionCache {
    pub(crate) fn new(capacity: u64) -> Self {
        RegionCache {
            capacity,
            used: 0,
            clock: 0,
            regions: HashMap::new(),
            by_age: BTreeMap::new(),
        }
    }

    pub(crate) fn get(&mut self, number: u32) -> Option<Arc<RegionIndex>> {
        self.clock += 1;
        let (age, region) = self.regions.get_mut(&number)?;
        self.by_age.remove(age);
        *age = self.clock;
        self.by_age.insert(self.clock, number);
        Some(region.clone())
    }

    pub(crate) fn put(&mut self, number: u32, region: &Arc<RegionIndex>) {
        let size = region.memory_size();
        if size > self.capacity || self.regions.contains_key(&number) {
            return;
        }
        while self.used + size > self.capacity {
            let Some((_, oldest)) = self.by_age.pop_first() else {
                break;
            };
            if let Some((_, region)) = self.regions.remove(&oldest) {
                self.used -= region.memory_size();
            }
        }
        self.clock += 1;
        self.used += size;
        self.by_age.insert(self.clock, number);
        self.regions.insert(number, (self.clock, region.clone()));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        assert_eq!(self.regions.len(), self.by_age.len());
        self.regions.len()
    }
}
