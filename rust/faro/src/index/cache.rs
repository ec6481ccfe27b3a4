//! A cache of the regions that were used last, bounded by the memory that they take. Several outputs may share it.

use super::region::RegionIndex;
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
pub struct RegionCache(Arc<Mutex<Regions>>);

impl RegionCache {
    /// A cache of at most `bytes` bytes. A region that is larger by itself is used and not kept.
    pub fn new(bytes: u64) -> Self {
        RegionCache(Arc::new(Mutex::new(Regions {
            capacity: bytes,
            ..Regions::default()
        })))
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    pub(crate) fn put(&self, number: u32, region: &Arc<RegionIndex>) {
        self.cache.lock().put((self.output, number), region);
    }

    /// The most bytes of the whole cache.
    pub(crate) fn capacity(&self) -> u64 {
        self.cache.lock().capacity
    }

    /// How many bytes the regions of this output take.
    pub(crate) fn memory_used(&self) -> u64 {
        self.cache.lock().used_by.get(&self.output).copied().unwrap_or(0)
    }
}

impl Drop for OutputRegions {
    fn drop(&mut self) {
        self.cache.lock().remove_all(self.output);
    }
}

/// An output, and the number of a region.
type Key = (u64, u32);

/// The regions of all outputs.
#[derive(Debug, Default)]
struct Regions {
    capacity: u64,
    used: u64,
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
        while self.used + size > self.capacity {
            let Some((_, oldest)) = self.by_age.first_key_value() else {
                break;
            };
            self.remove(*oldest);
        }
        self.clock += 1;
        self.used += size;
        *self.used_by.entry(key.0).or_default() += size;
        self.by_age.insert(self.clock, key);
        self.regions.insert(key, (self.clock, region.clone()));
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
