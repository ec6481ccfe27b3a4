//! The memory that stores share (spec, HYB-6).

use super::image_state::{Counts, ImageState};
use super::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::PoisonError;

/// The memory that hybrid stores share, usually one for each process. Clones share it. When more than 70 % of it is in
/// use, regions leave it until 40 % are: first those of stores without a consumer, then those that will be consumed last.
///
/// Blocks exceed it by at most one region for each store: a region is complete in memory before it is counted. The message
/// of a region is counted too. That of a selective store stays until all of its partitions have passed the region, so
/// messages alone can exceed the memory: every region is written at once then, and producers wait for the writes. The sort
/// buffers of the stores' writers are not counted.
#[derive(Clone)]
pub struct HybridMemory {
    shared: Arc<Shared>,
}

struct Shared {
    ledger: Mutex<Ledger>,
    changed: Condvar,
    bytes: u64,
}

/// What writes the regions of a store that are about to leave.
pub(super) trait Spills: Send + Sync {
    /// Begins to write, in another thread.
    fn spill(self: Arc<Self>);
}

/// The regions of all stores, and what they use. No file is used, and no caller's code is run, by a thread that has it.
#[derive(Default)]
pub(super) struct Ledger {
    pub counts: Counts,
    /// By their number, in the order in which they were made.
    images: BTreeMap<u64, ImageState>,
    spills: BTreeMap<u64, Weak<dyn Spills>>,
    made: u64,
}

impl Ledger {
    /// A store, and the counts.
    ///
    /// # Panics
    /// If the store was removed: its owner has a number only until then.
    pub(super) fn image(&mut self, number: u64) -> (&mut ImageState, &mut Counts) {
        #[allow(
            clippy::expect_used,
            reason = "a store is removed when no object with its number is left"
        )]
        let image = self.images.get_mut(&number).expect("a store that exists");
        (image, &mut self.counts)
    }

    /// Lets one region leave; returns its store, if one may leave.
    fn choose(&mut self) -> Option<u64> {
        let spills = &self.spills;
        for (&number, image) in &mut self.images {
            if spills.contains_key(&number) && !image.is_read() && image.give_up(false, &mut self.counts) {
                return Some(number);
            }
        }
        let mut read: Vec<_> = self.images.iter_mut().collect();
        read.retain(|(number, image)| spills.contains_key(number) && image.is_read());
        read.sort_by_key(|(number, image)| (std::cmp::Reverse(image.staying()), **number));
        for (&number, image) in read {
            if image.give_up(true, &mut self.counts) {
                return Some(number);
            }
        }
        None
    }
}

impl HybridMemory {
    /// A memory of this many bytes. With 0, every region is spilled.
    pub fn new(bytes: u64) -> Self {
        HybridMemory {
            shared: Arc::new(Shared {
                ledger: Mutex::default(),
                changed: Condvar::new(),
                bytes,
            }),
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes
    }

    /// The bytes of blocks and of region messages that are in memory (HYB-6).
    pub fn used(&self) -> u64 {
        self.lock().counts.used
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.shared.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changed.
    pub(super) fn wait<'a>(&self, ledger: MutexGuard<'a, Ledger>) -> MutexGuard<'a, Ledger> {
        self.shared.changed.wait(ledger).unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those that wait for memory, or for the end of a spill.
    pub(super) fn changed(&self) {
        self.shared.changed.notify_all();
    }

    pub(super) fn add(&self, image: ImageState) -> u64 {
        let mut ledger = self.lock();
        ledger.made += 1;
        let number = ledger.made;
        ledger.images.insert(number, image);
        number
    }

    /// Says what writes the regions of a store.
    pub(super) fn spills_with(&self, number: u64, spills: Weak<dyn Spills>) {
        self.lock().spills.insert(number, spills);
    }

    /// Keeps a store out of the choice of what leaves.
    pub(super) fn retire(&self, number: u64) {
        self.lock().spills.remove(&number);
    }

    pub(super) fn remove(&self, number: u64) {
        let mut ledger = self.lock();
        ledger.spills.remove(&number);
        ledger.images.remove(&number);
    }

    /// Lets regions leave if there are too many, and waits while there is no room and a spill may make some.
    pub(super) fn reclaim(&self) {
        for spills in self.choose() {
            spills.spill();
        }
        let mut ledger = self.lock();
        while ledger.counts.used > self.shared.bytes && ledger.counts.spills > 0 {
            ledger = self.wait(ledger);
        }
    }

    /// What has to write now.
    fn choose(&self) -> Vec<Arc<dyn Spills>> {
        let mut ledger = self.lock();
        let mut chosen = Vec::new();
        let above = |counts: &Counts, tenths: u64| {
            u128::from(counts.used - counts.leaving) * 10 > u128::from(self.shared.bytes) * u128::from(tenths)
        };
        if above(&ledger.counts, 7) {
            while above(&ledger.counts, 4) {
                let Some(number) = ledger.choose() else {
                    break;
                };
                if !chosen.contains(&number) {
                    chosen.push(number);
                }
            }
        }
        let spills = chosen.iter().filter_map(|number| ledger.spills.get(number)?.upgrade());
        spills.collect()
    }
}

impl fmt::Debug for HybridMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridMemory")
            .field("bytes", &self.bytes())
            .field("used", &self.used())
            .finish()
    }
}
