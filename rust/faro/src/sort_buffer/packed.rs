//! Records one after another in one piece of memory.

use super::Pushed;
use crate::block::DATA;
use crate::bytes::{self, CACHE_LINE};

/// A length that marks something other than a plain record: a byte for the kind and 8 bytes for the length follow.
const ESCAPE: u32 = u32::MAX;
/// The initial size, before large pages are requested. Small outputs need no more.
const SMALL: usize = 1 << 20;
/// How many records show how long records are.
const SAMPLED: usize = 4096;
/// The bytes of a record's entry, which are part of its charge.
const ENTRY: usize = 8;

/// The bytes of records. Their places, in units of `1 << shift` bytes, are kept elsewhere.
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// The most charges.
    capacity: usize,
    /// The charges for which memory is reserved when it grows beyond [`SMALL`].
    granted: usize,
    /// Whether that is the capacity from the start.
    all: bool,
    /// The logarithm of the unit of places. Places have 32 bits.
    shift: u32,
    /// Whether each record has a count, which is kept with it. Otherwise each counts as 1.
    counted: bool,
}

impl Packed {
    /// A buffer for records with charges of up to `capacity` in all.
    pub(super) fn new(capacity: u64, counted: bool) -> Self {
        Packed {
            bytes: Vec::new(),
            capacity: usize::try_from(capacity).unwrap_or(usize::MAX),
            granted: 0,
            all: false,
            // An event without bytes takes 13 bytes for a charge of 12. A record with a count takes 21 bytes beyond its
            // own 16 or more, for a charge of 12 beyond them. Each may have up to 3 bytes before it. In all that is
            // less than twice the capacity.
            shift: if capacity < 1 << 31 { 0 } else { 2 },
            counted,
        }
    }

    /// An empty buffer of the same kind, without memory yet.
    pub(super) fn another(&self, capacity: u64) -> Self {
        Packed::new(capacity, self.counted)
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Gives the memory back to the system.
    pub(super) fn give_back(&mut self) {
        bytes::give_back(std::mem::take(&mut self.bytes));
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Notes for how many charges there is memory.
    pub(super) fn grant(&mut self, granted: u64) {
        if !self.all {
            self.granted = usize::try_from(granted).unwrap_or(usize::MAX).min(self.capacity);
        }
    }

    /// Lets it reserve memory for the whole capacity at once.
    pub(super) fn reserve_all(&mut self) {
        self.all = true;
        self.granted = self.capacity;
    }

    /// Reserves memory, if possible for all charges that are granted. Untouched memory takes no pages, and a vector that
    /// grows step by step may take its memory twice.
    #[cold]
    fn grow(&mut self, count: usize) {
        let (length, granted) = (self.bytes.len(), self.granted);
        if self.bytes.capacity() == 0 {
            let _ = self.bytes.try_reserve_exact(SMALL.min(granted));
        } else {
            // Where the records turn out to be longer than they were, it takes some more each time.
            let wanted = self.share(granted).max(length + granted / 16).min(granted);
            if wanted > length && self.bytes.try_reserve_exact(wanted - length).is_ok() {
                bytes::advise_large_pages(&mut self.bytes);
            }
        }
        if self.bytes.capacity() - length < count {
            self.bytes.reserve_exact(count.max(granted / 64));
        }
    }

    /// The part of `granted` charges that packed bytes take, if records stay as they are: entries take the rest.
    fn share(&self, granted: usize) -> usize {
        let (mut at, mut records) = (0, 0);
        while records < SAMPLED && at < self.bytes.len() {
            at += match self.framed((at >> self.shift) as u32) {
                Some(framed) => framed.len(),
                None => match self.record((at >> self.shift) as u32) {
                    Pushed::Event(_, bytes) => 13 + bytes.len(),
                    Pushed::Data(bytes, _) => 21 + bytes.len(),
                    Pushed::Nothing(_) => 0,
                },
            };
            at = at.next_multiple_of(1 << self.shift);
            records += 1;
        }
        let share = granted as u128 * at as u128 / (at + records * ENTRY).max(1) as u128;
        share as usize + granted / 64 + (64 << 10)
    }

    /// Where the next record begins.
    #[inline(always)]
    fn next_place(&mut self, count: usize) -> u32 {
        if self.bytes.capacity() - self.bytes.len() < count + 4 {
            self.grow(count + 4);
        }
        if self.shift > 0 {
            self.bytes.resize(self.bytes.len().next_multiple_of(1 << self.shift), 0);
        }
        (self.bytes.len() >> self.shift) as u32
    }

    /// Adds a record that counts as one and has fewer than 2^32 - 1 bytes: its length and its bytes.
    #[inline(always)]
    pub(super) fn push_plain(&mut self, bytes: &[u8]) -> u32 {
        let place = self.next_place(4 + bytes.len());
        bytes::append_framed(&mut self.bytes, bytes);
        place
    }

    /// Adds any record or event that leaves bytes.
    pub(super) fn push(&mut self, record: &Pushed<'_>) -> u32 {
        let (kind, bytes, records) = match record {
            Pushed::Data(bytes, 1) if !self.counted && bytes.len() < ESCAPE as usize => {
                return self.push_plain(bytes);
            }
            Pushed::Data(bytes, records) => (DATA, *bytes, *records),
            Pushed::Event(kind, bytes) => (*kind, *bytes, 0),
            Pushed::Nothing(records) => (DATA, &[][..], *records),
        };
        let place = self.next_place(21 + bytes.len());
        self.bytes.extend_from_slice(&ESCAPE.to_le_bytes());
        self.bytes.push(kind);
        self.bytes.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        if kind == DATA {
            self.bytes.extend_from_slice(&records.to_le_bytes());
        }
        self.bytes.extend_from_slice(bytes);
        place
    }

    /// Prefetches the first and last cache lines of a record of about `length` bytes. The processor finds the lines
    /// between by itself.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: u32, length: usize) {
        let at = (place as usize) << self.shift;
        bytes::prefetch(&self.bytes, at);
        bytes::prefetch(&self.bytes, at + length.min(CACHE_LINE));
        bytes::prefetch(&self.bytes, at + length);
    }

    /// The record at a place with its length before it (FRM-2); none unless [`Packed::push_plain`] added it.
    #[inline(always)]
    pub(crate) fn framed(&self, place: u32) -> Option<&[u8]> {
        let rest = &self.bytes[(place as usize) << self.shift..];
        let length = u32::from_le_bytes(*rest.first_chunk::<4>()?);
        if length == ESCAPE {
            return None;
        }
        rest.get(..4 + length as usize)
    }

    /// The record at a place.
    pub(crate) fn record(&self, place: u32) -> Pushed<'_> {
        if let Some(framed) = self.framed(place) {
            return Pushed::Data(&framed[4..], 1);
        }
        let mut rest = &self.bytes[((place as usize) << self.shift) + 4..];
        let [kind] = take(&mut rest);
        let length = u64::from_le_bytes(take(&mut rest)) as usize;
        if kind != DATA {
            return Pushed::Event(kind, &rest[..length]);
        }
        let records = u64::from_le_bytes(take(&mut rest));
        Pushed::Data(&rest[..length], records)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (bytes, left) = rest.split_at(N);
    taken.copy_from_slice(bytes);
    *rest = left;
    taken
}
