//! Records one behind another in one piece of memory.

use super::Pushed;
use crate::block::DATA;
use crate::bytes::{self, CACHE_LINE};

/// A length that says that what follows is no plain record: a byte for the kind, then the length in 8 bytes.
const ESCAPE: u32 = u32::MAX;
/// What is there before large pages are asked for: writers that get little do not touch more.
const SMALL: usize = 1 << 20;

/// The bytes of records. Where each begins is kept elsewhere, in units of [`Packed::place`].
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// What it may hold without growing, beyond [`SMALL`].
    capacity: usize,
    /// Logarithm of the unit of places, which have 32 bits.
    shift: u32,
    /// Whether records count as other numbers than 1, which are kept with them.
    counted: bool,
}

impl Packed {
    /// For records whose charges sum up to `capacity`.
    pub(super) fn new(capacity: u64, counted: bool) -> Self {
        Packed {
            bytes: Vec::new(),
            capacity: usize::try_from(capacity).unwrap_or(usize::MAX),
            // An event without bytes takes 13 for a charge of 12, a counted record 21 more than its own 16 or more for one
            // of 12 more, and each up to 3 before it: less than twice the capacity.
            shift: if capacity < 1 << 31 { 0 } else { 2 },
            counted,
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Makes room, for all that will ever come if it can be had: memory that nothing is put into is not taken, and a
    /// vector that grows step by step would take it twice.
    #[cold]
    fn grow(&mut self, count: usize) {
        if self.bytes.capacity() == 0 {
            let first = SMALL.min(self.capacity);
            let _ = self.bytes.try_reserve_exact(first);
        } else if self.bytes.capacity() < self.capacity {
            let more = self.capacity - self.bytes.len();
            if self.bytes.try_reserve_exact(more).is_ok() {
                bytes::advise_large_pages(&mut self.bytes);
            }
        }
        self.bytes.reserve(count);
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

    /// A record that counts as one, of fewer than 2^32 - 1 bytes: its length and its bytes.
    #[inline(always)]
    pub(super) fn push_plain(&mut self, bytes: &[u8]) -> u32 {
        let place = self.next_place(4 + bytes.len());
        bytes::append_framed(&mut self.bytes, bytes);
        place
    }

    /// Any record that leaves bytes.
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

    /// Asks for the lines of a record of about `length` bytes at a place: its first ones and its last. What lies between
    /// in a long record the processor finds by itself.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: u32, length: usize) {
        let at = (place as usize) << self.shift;
        bytes::prefetch(&self.bytes, at);
        bytes::prefetch(&self.bytes, at + length.min(CACHE_LINE));
        bytes::prefetch(&self.bytes, at + length);
    }

    /// The record at a place with its length before it (FRM-2); nothing when it is none that [`Packed::push_plain`] put
    /// there.
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
