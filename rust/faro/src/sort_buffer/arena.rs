//! Memory in slots of one size, which form chains.

use crate::bytes;
use std::ops::Range;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// The largest slot, in bytes. More gains nothing.
pub(super) const LARGEST_SLOT: u64 = 32 << 10;
/// The smallest slot of a large buffer. Below it, chains cost more than the second copy does.
const SMALLEST_SLOT: u64 = 4 << 10;

/// The smallest slot of a buffer, in bytes.
pub(super) fn smallest_slot(capacity: u64) -> u64 {
    SMALLEST_SLOT.min(capacity / 64).max(64).next_power_of_two()
}

/// How much memory is taken at a time, at least, beyond what was reserved.
const STEP: usize = 1 << 20;

/// Slots, and the slot after each in its chain. They are given out in ascending order.
pub(super) struct Arena {
    /// Its length is the end of the last slot that was ever given out.
    pub bytes: Vec<u8>,
    /// A slot's size, a multiple of 8.
    size: u32,
    /// What the arena takes beside the charges of the records, at most.
    beside: usize,
    /// The slot after each slot in its chain.
    next: Vec<u32>,
    /// The bytes of each slot that is followed by another.
    used: Vec<u32>,
}

impl Arena {
    /// An arena without memory. `size` is a multiple of 8. The charges of the records are up to `capacity`.
    pub(super) fn new(size: u64, capacity: u64, beside: u64) -> Self {
        let slots = ((capacity + beside) / size) as usize + 1;
        Arena {
            bytes: Vec::new(),
            // The arena has fewer than 2^32 bytes.
            size: size as u32,
            beside: beside as usize,
            next: Vec::with_capacity(slots),
            used: Vec::with_capacity(slots),
        }
    }

    /// Reserves memory for records with these charges. Untouched memory takes no pages. If the system refuses it, the
    /// memory grows with the records.
    pub(super) fn reserve(&mut self, charges: u64) {
        let wanted = charges as usize + self.beside;
        let more = wanted.saturating_sub(self.bytes.len());
        if self.bytes.try_reserve_exact(more).is_ok() {
            bytes::advise_large_pages(&mut self.bytes);
        }
    }

    /// Gives back the memory that no record has reached.
    pub(super) fn shrink(&mut self) {
        self.bytes.truncate(self.next.len() * self.size as usize);
        self.bytes.shrink_to_fit();
    }

    /// Gives the memory back to the system.
    pub(super) fn give_back(self) {
        bytes::give_back(self.bytes);
    }

    /// Takes all slots back, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.next.clear();
        self.used.clear();
    }

    /// Gives out a slot, after the last one of a chain, if it has one, whose bytes end at `end`.
    pub(super) fn take(&mut self, last: u32, end: u32) -> u32 {
        let slot = self.next.len() as u32;
        let end_of_slot = (slot as usize + 1) * self.size as usize;
        if self.bytes.len() < end_of_slot {
            if self.bytes.capacity() < end_of_slot {
                // Doubling could take more than what is granted.
                self.bytes.reserve_exact(STEP.max(self.size as usize));
            }
            self.bytes.resize(end_of_slot, 0);
        }
        self.next.push(NONE);
        self.used.push(0);
        if last != NONE {
            self.next[last as usize] = slot;
            self.used[last as usize] = end - self.begin(last);
        }
        slot
    }

    /// Where a slot begins.
    pub(super) fn begin(&self, slot: u32) -> u32 {
        slot * self.size
    }

    /// Where a slot ends.
    pub(super) fn end(&self, slot: u32) -> u32 {
        (slot + 1) * self.size
    }

    /// The place at the beginning of a slot.
    pub(super) fn place(&self, slot: u32) -> Place {
        Place {
            slot,
            at: self.begin(slot),
        }
    }

    /// A place by its offset in the arena.
    pub(super) fn place_of(&self, at: u32) -> Place {
        Place {
            slot: at / self.size,
            at,
        }
    }

    /// Moves a place that is at the end of a slot to the next slot of its chain, if there is one.
    pub(super) fn settle(&self, place: &mut Place) {
        let next = self.next[place.slot as usize];
        if next != NONE && place.at - self.begin(place.slot) == self.used[place.slot as usize] {
            *place = self.place(next);
        }
    }

    /// The next bytes of a chain, up to `most`, as far as they are in one slot. The place moves after them.
    pub(super) fn piece(&self, place: &mut Place, most: usize) -> Range<usize> {
        self.settle(place);
        let begin = place.at as usize;
        let end = (begin + most).min(self.end(place.slot) as usize);
        place.at = end as u32;
        begin..end
    }

    /// The bytes of a slot from a place on, up to `end` if that is in the slot. The place moves after them.
    pub(super) fn rest_of_slot(&self, place: &mut Place, end: u32) -> Range<usize> {
        self.settle(place);
        let in_slot = self.begin(place.slot)..=self.end(place.slot);
        let is_last = self.next[place.slot as usize] == NONE && in_slot.contains(&end);
        let most = if is_last { end } else { self.end(place.slot) };
        self.piece(place, (most - place.at) as usize)
    }
}

/// A place in a chain of slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    slot: u32,
    /// The place in the arena.
    pub at: u32,
}
