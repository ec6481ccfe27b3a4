//! The bytes of the open extent that a consumer has taken.

use super::waiting::ReadyBytes;
use crate::error::Result;
use crate::reader::ByteSource;
use crate::storage::InputFile;
use bytes::Bytes;
use std::ops::Range;

/// The bytes that were taken of the open extent.
#[derive(Default)]
pub(super) struct Held {
    start: u64,
    bytes: Bytes,
}

impl Held {
    /// Appends bytes, and drops those before `from`; `needed` bytes are needed from there on. A lack of memory is an
    /// error of the file.
    pub(super) fn append(&mut self, source: &InputFile, from: u64, ready: ReadyBytes, needed: usize) -> Result<()> {
        let end = self.start + self.bytes.len() as u64;
        if from >= end || ready.offset != end {
            (self.start, self.bytes) = (ready.offset, ready.bytes);
            return Ok(());
        }
        // The beginning of a block that is not complete yet. A large block grows in place.
        let (old, skip) = (std::mem::take(&mut self.bytes), (from - self.start) as usize);
        let length = old.len() - skip + ready.bytes.len();
        let mut joined = match old.try_into_mut() {
            Ok(whole) if skip == 0 && whole.capacity() >= length => Vec::from(whole),
            other => {
                let old = other.map_or_else(|shared| shared, |whole| whole.freeze());
                let mut larger = source.room(needed.max(length))?;
                larger.extend_from_slice(&old[skip..]);
                larger
            }
        };
        joined.extend_from_slice(&ready.bytes);
        (self.start, self.bytes) = (from, Bytes::from(joined));
        Ok(())
    }

    fn place(&self, offset: u64, length: usize) -> Option<Range<usize>> {
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        let to = from.checked_add(length)?;
        (to <= self.bytes.len()).then_some(from..to)
    }
}

impl ByteSource for Held {
    fn get(&mut self, _: &InputFile, offset: u64, length: usize, _: u64) -> Result<Option<&[u8]>> {
        Ok(self.place(offset, length).map(|place| &self.bytes[place]))
    }

    fn bytes(&self, offset: u64, length: usize) -> &[u8] {
        let from = (offset - self.start) as usize;
        &self.bytes[from..from + length]
    }

    fn share(&self, offset: u64, length: usize) -> Bytes {
        let from = (offset - self.start) as usize;
        self.bytes.slice(from..from + length)
    }
}
