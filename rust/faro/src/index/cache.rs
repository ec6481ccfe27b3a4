//! A cache of the regions that were used last, bounded by the memory that they take. Several outputs may share it.

use super::region::RegionIndex;
use crate::limits::{Grants, MemoryBudget};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory for regions of the index, which readers share ([`ReaderOptions::region_cache`]). It keeps the regions that
/// were used last. Clones share the memory, and any threads may use it.
///
/// A region is dropped when room is needed, or when the last reader of its output and what reads from it are dropped.
/// Two readers of one output, opened separately, each have their own regions.
///
/// ```
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// # let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
/// # writer.write(2, b"a record")?;
/// # writer.finish()?;
/// let cache = faro::RegionCache::new(256 << 20);
/// let options = faro::ReaderOptions::default().region_cache(cache.clone());
/// let reader = faro::Reader::open(&faro::Files::locate(&name)?, options)?;
/// assert_eq!(reader.partition(2)?.count(), 1);
/// assert_eq!(cache.memory_used(), reader.memory_used());
/// # Ok(()) }
/// ```
///
/// [`ReaderOptions::region_cache`]: crate::ReaderOptions::region_cache
#[derive(Clone, Debug)]
pub struct RegionCache(Arc<Shared>);

/// What the clones of a cache share.
#[derive(Debug)]
struct Shared {
    capacity: u64,
    budget: Option<Arc<dyn MemoryBudget>>,
    regions: Mutex<Regions>,
}

impl RegionCache {
    /// A cache of at most `bytes` bytes. A region that is larger by itself is used and not kept.
    pub fn new(bytes: u64) -> Self {
        Self::of(bytes, None)
    }

    /// A cache of at most `bytes` bytes, which asks an engine's budget before it keeps a region. A region that the budget
    /// refuses is used and not kept. The budgets of the readers are not asked for regions.
    ///
    /// ```
    /// # struct Engine;
    /// # impl faro::MemoryBudget for Engine {
    /// #     fn try_grow(&self, _: u64) -> bool { true }
    /// #     fn shrink(&self, _: u64) {}
    /// # }
    /// # let budget = std::sync::Arc::new(Engine);
    /// let cache = faro::RegionCache::with_budget(256 << 20, budget.clone());
    /// let options = faro::ReaderOptions::default().region_cache(cache).memory_budget(budget);
    /// ```
    pub fn with_budget(bytes: u64, budget: Arc<dyn MemoryBudget>) -> Self {
        Self::of(bytes, Some(budget))
    }

    pub(crate) fn of(bytes: u64, budget: Option<Arc<dyn MemoryBudget>>) -> Self {
        RegionCache(Arc::new(Shared {
            capacity: bytes,
            regions: Mutex::new(Regions {
                capacity: bytes,
                grants: Grants::new(budget.clone()),
                ..Regions::default()
            }),
            budget,
        }))
    }

    /// How many bytes the regions take that it keeps now.
    pub fn memory_used(&self) -> u64 {
        self.lock().used
    }

    /// The part for one more output.
    pub(crate) fn for_output(&self) -> OutputRegions {
        let mut regions = self.lock();
        regions.outputs += 1;
        OutputRegions {
            output: regions.outputs,
            cache: self.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Regions> {
        // It is sound even after a panic elsewhere, since only its own methods change it.
        self.0.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The regions of one output in a cache. They are removed when it is dropped.
#[derive(Debug)]
pub(crate) struct OutputRegions {
    cache: RegionCache,
    output: u64,
}

impl OutputRegions {
    pub(crate) fn get(&self, number: u32) -> Option<Arc<RegionIndex>> {
        self.cache.lock().get((self.output, number))
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        self.cache.lock().regions.contains_key(&(self.output, number))
    }

    /// Whether a budget may refuse to keep a region.
    pub(crate) fn has_budget(&self) -> bool {
        self.cache.0.budget.is_some()
    }

    /// Keeps a region, if it fits and the budget grants its memory.
    pub(crate) fn put(&self, number: u32, region: &Arc<RegionIndex>) {
        let Shared { capacity, budget, .. } = &*self.cache.0;
        let (key, size) = ((self.output, number), region.memory_size());
        if size > *capacity || (budget.is_some() && self.has(number)) {
            return;
        }
        let mut more = Grants::new(budget.clone());
        if !more.try_grow(size) {
            // Older regions make room, as they do when the cache is full.
            let mut regions = self.cache.lock();
            regions.evict(size);
            let gone = regions.unused();
            drop(regions);
            drop(gone);
            if !more.try_grow(size) {
                return;
            }
        }
        let mut regions = self.cache.lock();
        regions.grants.merge(more);
        regions.put(key, region);
        // The grants of regions that made room, or of this one if another thread has put it first.
        let rest = regions.unused();
        drop(regions);
        drop(rest);
    }

    /// The most bytes of the whole cache.
    pub(crate) fn capacity(&self) -> u64 {
        self.cache.0.capacity
    }

    /// How many bytes the regions of this output take.
    pub(crate) fn memory_used(&self) -> u64 {
        self.cache.lock().used_by.get(&self.output).copied().unwrap_or(0)
    }
}

impl Drop for OutputRegions {
    fn drop(&mut self) {
        let mut regions = self.cache.lock();
        regions.remove_all(self.output);
        let rest = regions.unused();
        drop(regions);
        drop(rest);
    }
}

/// An output, and the number of a region.
type Key = (u64, u32);

/// The regions of all outputs.
#[derive(Debug, Default)]
struct Regions {
    capacity: u64,
    used: u64,
    grants: Grants,
    used_by: HashMap<u64, u64>,
    clock: u64,
    /// How many outputs there were.
    outputs: u64,
    regions: BTreeMap<Key, (u64, Arc<RegionIndex>)>,
    /// The regions by the time of their last use.
    by_age: BTreeMap<u64, Key>,
}

impl Regions {
    fn get(&mut self, key: Key) -> Option<Arc<RegionIndex>> {
        self.clock += 1;
        let (age, region) = self.regions.get_mut(&key)?;
        self.by_age.remove(age);
        *age = self.clock;
        self.by_age.insert(self.clock, key);
        Some(region.clone())
    }

    fn put(&mut self, key: Key, region: &Arc<RegionIndex>) {
        let size = region.memory_size();
        if size > self.capacity || self.regions.contains_key(&key) {
            return;
        }
        self.evict((self.used + size).saturating_sub(self.capacity));
        self.clock += 1;
        self.used += size;
        *self.used_by.entry(key.0).or_default() += size;
        self.by_age.insert(self.clock, key);
        self.regions.insert(key, (self.clock, region.clone()));
    }

    /// Removes the oldest regions, until `bytes` are free or none is left.
    fn evict(&mut self, bytes: u64) {
        let left = self.used.saturating_sub(bytes);
        while self.used > left
            && let Some((_, oldest)) = self.by_age.first_key_value()
        {
            self.remove(*oldest);
        }
    }

    /// What is granted and not used. The caller drops it without the lock.
    fn unused(&mut self) -> Grants {
        self.grants.split_off(self.used)
    }

    fn remove(&mut self, key: Key) {
        let Some((age, region)) = self.regions.remove(&key) else {
            return;
        };
        self.by_age.remove(&age);
        let size = region.memory_size();
        self.used -= size;
        if let Some(used) = self.used_by.get_mut(&key.0) {
            *used -= size;
        }
    }

    fn remove_all(&mut self, output: u64) {
        let keys: Vec<Key> = self
            .regions
            .range((output, 0)..=(output, u32::MAX))
            .map(|(key, _)| *key)
            .collect();
        keys.into_iter().for_each(|key| self.remove(key));
        self.used_by.remove(&output);
    }
}
