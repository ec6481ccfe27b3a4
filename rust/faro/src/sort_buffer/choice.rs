//! Where the records of a region go: to slots, to buckets, or packed.

use super::entries::{partition_of, place_of};
use super::sizes::RECORD_CHARGE;
use super::{Buckets, Slots, SortBuffer};
use std::hash::Hash;
use std::sync::OnceLock;

/// How many bytes of records are looked at before slots are chosen, at most.
const SAMPLE: u64 = 1 << 20;
/// The longest mean record, in bytes, for which slots are faster with many partitions.
const MEAN_FOR_SLOTS: u64 = 512;
/// With this many partitions or fewer, slots are faster whatever the length.
const FEW_PARTITIONS: u32 = 64;

/// What the open block of a partition takes of the second-level cache, in bytes: its end, the lines that are prefetched
/// for it, and its entries in tables. Measured: slots and buckets cross at 2,000 partitions where the cache has 2 MiB.
const OF_OPEN_BLOCK: u64 = 1 << 10;
/// Records shorter than this, in bytes, have the most from slots, in the cache or not: each is copied once.
const TINY: u64 = 64;
/// The second-level cache of a processor that does not say how large it is.
const COMMON_CACHE: u64 = 1 << 20;

/// The size of the processor's second-level cache in bytes.
fn second_level_cache() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE.get_or_init(|| {
        let told = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size");
        let kib = told
            .ok()
            .and_then(|size| size.trim().strip_suffix('K')?.parse::<u64>().ok());
        kib.map_or(COMMON_CACHE, |kib| kib << 10)
    })
}

impl<S: Clone + Eq + Hash> SortBuffer<S> {
    /// Lets the buffer choose slots. `block_target` is the plain size at which blocks end. Records have framing records.
    /// `compressed` says whether blocks will be compressed, `buckets` whether buckets may be chosen too.
    pub(crate) fn allow_slots(&mut self, block_target: u32, compressed: bool, buckets: bool) {
        self.block_target = Some(block_target);
        self.compressed = compressed;
        self.may_choose_buckets = buckets;
    }

    /// Withholds room until the first records were looked at.
    pub(super) fn withhold(&mut self) {
        if self.block_target.is_some() && !self.is_direct() && !self.looked {
            let sample = SAMPLE.min(self.capacity / 16);
            let room = sample.saturating_sub(self.charged()).min(self.room);
            self.withheld += self.room - room;
            self.room = room;
        }
    }

    /// Grants what was withheld, and chooses where the records of the region go.
    pub(crate) fn look_at_records(&mut self) {
        if self.withheld == 0 {
            return;
        }
        self.room += std::mem::take(&mut self.withheld);
        self.looked = true;
        if let Some(target) = self.block_target
            && self.suits_slots(self.own.len() as u64)
        {
            self.move_to_slots(target);
        }
    }

    /// The mean length of `count` records, which are those of the region.
    fn mean(&self, count: u64) -> u64 {
        (self.charged() / count.max(1)).saturating_sub(RECORD_CHARGE)
    }

    /// Whether slots are faster for records such as those of the region; `count` is their number.
    fn suits_slots(&self, count: u64) -> bool {
        let mean = self.mean(count);
        count > 0 && (self.partition_count <= FEW_PARTITIONS || mean <= MEAN_FOR_SLOTS)
    }

    /// Moves the packed records to slots or to buckets, if one of them suits the buffer and the records.
    fn move_to_slots(&mut self, target: u32) {
        let (count, compressed) = (self.partition_count, self.compressed);
        // A codec needs the bytes of a block in one piece. Gathering them from slots of many partitions is slower than
        // what follows.
        self.slots = Slots::new(count, self.capacity, target, compressed)
            .filter(|slots| !compressed || count <= FEW_PARTITIONS || slots.are_of_blocks());
        let in_cache = u64::from(count) * OF_OPEN_BLOCK <= second_level_cache();
        let are_tiny = self.mean(self.own.len() as u64) < TINY;
        if (self.slots.is_none() || !in_cache && !are_tiny) && self.may_choose_buckets && count > FEW_PARTITIONS {
            self.buckets = Buckets::new(count, self.capacity, target)
                .filter(|buckets| buckets.would_suit(self.counts.iter().copied()));
        }
        if self.buckets.is_some() {
            self.slots = None;
        }
        if !self.is_direct() {
            self.block_target = None;
            return;
        }
        self.reserve_direct(self.charged());
        for entry in self.own.iter() {
            let Some(framed) = self.packed.framed(place_of(entry)) else {
                continue;
            };
            let (at, record) = (partition_of(entry), &framed[4..]);
            match (&mut self.slots, &mut self.buckets) {
                (Some(slots), _) => slots.push(at, record),
                (None, Some(buckets)) => buckets.push(at, record),
                (None, None) => {}
            }
        }
        self.packed.give_back();
        self.own.give_back();
        self.counts = Vec::new();
        // Only now, since earlier regions may have filled the memory of packed records.
        self.reserve_direct(if self.all { self.capacity } else { self.granted });
    }

    /// Whether own records go to slots or buckets, or went there.
    pub(super) fn is_direct(&self) -> bool {
        self.slots.is_some() || self.buckets.is_some()
    }

    /// Reserves memory of slots or buckets for records with these charges.
    pub(super) fn reserve_direct(&mut self, charges: u64) {
        if let Some(slots) = &mut self.slots {
            slots.reserve(charges);
        }
        if let Some(buckets) = &mut self.buckets {
            buckets.reserve(charges);
        }
    }

    /// Lets no more records go to slots: of what follows, slots cannot hold all. Buckets get no more memory at once.
    pub(super) fn leave_slots(&mut self) {
        self.block_target = None;
        self.room += std::mem::take(&mut self.withheld);
        if !self.is_direct() || self.left.is_some() {
            return;
        }
        if let Some(slots) = &mut self.slots {
            slots.shrink();
        }
        if let Some(buckets) = &mut self.buckets {
            buckets.shrink();
        }
        self.left = Some(self.charged());
        self.renew_packed();
    }

    /// Lets packed records have the memory that slots do not have.
    fn renew_packed(&mut self) {
        let in_slots = self.left.unwrap_or_default();
        self.packed.give_back();
        self.packed = self.packed.another(self.capacity - in_slots);
        if self.all {
            self.packed.reserve_all();
        }
        self.packed.grant(self.granted - in_slots);
    }

    /// Takes the slots with own records of the region, to write from them. Own records that are packed came after them.
    pub(crate) fn take_slots(&mut self) -> Option<Slots> {
        self.slots.take()
    }

    /// Returns them.
    pub(crate) fn put_back(&mut self, slots: Option<Slots>) {
        self.slots = slots;
    }

    /// The buckets with all own records of the region, if there are any.
    pub(crate) fn buckets(&mut self) -> Option<&mut Buckets> {
        self.buckets.as_mut()
    }

    /// Empties slots and buckets, and gives those back that do not suit the next region.
    pub(super) fn clear_slots(&mut self) {
        let in_slots = self.slots.as_ref().map(Slots::records);
        let count = in_slots
            .or(self.buckets.as_ref().map(Buckets::entries))
            .unwrap_or_default();
        let are_skewed = self.buckets.as_ref().is_some_and(|buckets| !buckets.suit());
        if are_skewed {
            self.block_target = None;
        }
        let suits = self.left.take().is_none() && !are_skewed && self.suits_slots(count);
        if self.is_direct() && !suits {
            self.slots.take().into_iter().for_each(Slots::give_back);
            self.buckets.take().into_iter().for_each(Buckets::give_back);
            self.renew_packed();
        }
        if let Some(slots) = &mut self.slots {
            slots.clear();
        }
        if let Some(buckets) = &mut self.buckets {
            buckets.clear();
        }
    }
}
