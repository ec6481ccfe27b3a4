//! A window of a file in memory: few reads serve many blocks, and payloads share its memory.

use super::byte_source::ByteSource;
use crate::error::Result;
use crate::limits::{Grants, MemoryBudget};
use crate::storage::InputFile;
use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// The size of a cache line, in bytes. Copies from the page cache are a quarter faster when bytes have the same
/// position in a line in memory as in the file.
const LINE: u64 = 64;

/// The first position in `buffer`, from `at` on, with the same position in a cache line as `offset` has in the file.
pub(super) fn aligned(buffer: &[u8], at: usize, offset: u64) -> usize {
    let address = buffer.as_ptr() as u64 + at as u64;
    at + (offset.wrapping_sub(address) % LINE) as usize
}

/// Takes back the memory of bytes that were handed out, with room for `length` bytes at any position in a line. It
/// fails while another holder has a part of it.
pub(super) fn reuse(bytes: Bytes, length: usize) -> std::result::Result<BytesMut, Bytes> {
    let room = length + LINE as usize;
    bytes.try_into_mut().map(|mut buffer| {
        if buffer.len() < room {
            buffer.resize(room, 0);
        }
        buffer
    })
}

/// New memory with room for `length` bytes at any position in a line.
pub(super) fn allocate(length: usize) -> BytesMut {
    BytesMut::zeroed(length + LINE as usize)
}

/// After a refusal, a window makes this many reads before it asks again.
const PATIENCE: u32 = 64;

/// Some bytes of a file. Shared payloads keep the window's memory; the next read reuses it once they are dropped.
#[derive(Default)]
pub(crate) struct Window {
    memory: Bytes,
    /// Where in the memory the bytes begin.
    skip: usize,
    /// Where they begin in the file.
    start: u64,
    length: usize,
    /// The grants for reading ahead. They are dropped after the memory.
    grants: Grants,
    /// How many reads come before it asks the budget again.
    patience: u32,
}

impl Window {
    /// A window that asks a budget before it reads ahead.
    pub(crate) fn new(budget: Option<Arc<dyn MemoryBudget>>) -> Self {
        Window {
            grants: Grants::new(budget),
            ..Window::default()
        }
    }

    /// Drops the bytes, and gives back what was granted.
    pub(crate) fn end(&mut self) {
        (self.memory, self.length) = (Bytes::new(), 0);
        self.grants.shrink_to(0);
    }

    /// The bytes `offset..offset + length` of the file. It reads ahead, up to `limit`, which is not above the size of
    /// the file. `length` was compared with the limits.
    #[inline]
    pub(crate) fn get(&mut self, source: &InputFile, offset: u64, length: usize, limit: u64) -> Result<&[u8]> {
        if !self.has(offset, length) {
            self.fill(source, offset, length, limit)?;
        }
        Ok(self.bytes(offset, length))
    }

    #[inline]
    fn has(&self, offset: u64, length: usize) -> bool {
        offset >= self.start && offset + length as u64 <= self.start + self.length as u64
    }

    fn fill(&mut self, source: &InputFile, offset: u64, length: usize, limit: u64) -> Result<()> {
        let mut ahead = source.read_bytes().min(limit.saturating_sub(offset));
        if self.grants.has_budget() && ahead > length as u64 {
            ahead = self.granted(ahead);
        }
        // It is at most 64 MiB, or `length`; both fit into the address space.
        let wanted = ahead.max(length as u64) as usize;
        // The wanted bytes that the window has already.
        let kept = match offset.checked_sub(self.start) {
            Some(passed) if passed < self.length as u64 => self.skip + passed as usize..self.skip + self.length,
            _ => 0..0,
        };
        let have = kept.len();
        let wanted = wanted.max(have);
        self.length = 0;
        let memory = std::mem::take(&mut self.memory);
        // The memory of a large block is not kept for reading ahead without a grant.
        let is_large = memory.len() > wanted.max(self.grants.held() as usize) + LINE as usize;
        let reused = match self.grants.has_budget() && is_large {
            true => Err(memory),
            false => reuse(memory, wanted),
        };
        let (mut buffer, skip) = match reused {
            Ok(mut buffer) => {
                let skip = aligned(&buffer, 0, offset);
                buffer.copy_within(kept, skip);
                (buffer, skip)
            }
            Err(shared) => {
                let mut buffer = allocate(wanted);
                let skip = aligned(&buffer, 0, offset);
                buffer[skip..skip + have].copy_from_slice(&shared[kept]);
                (buffer, skip)
            }
        };
        source.read_exact(offset + have as u64, &mut buffer[skip + have..skip + wanted])?;
        self.memory = buffer.freeze();
        (self.skip, self.start, self.length) = (skip, offset, wanted);
        Ok(())
    }

    /// How many of the wanted bytes may be in memory: all of them, or those that were granted before.
    fn granted(&mut self, wanted: u64) -> u64 {
        let held = self.grants.held();
        if wanted <= held {
            return wanted;
        }
        if self.patience > 0 {
            self.patience -= 1;
        } else if self.grants.try_grow(wanted - held) {
            return wanted;
        } else {
            self.patience = PATIENCE;
        }
        held
    }
}

impl ByteSource for Window {
    #[inline]
    fn get(&mut self, source: &InputFile, offset: u64, length: usize, read_ahead: u64) -> Result<Option<&[u8]>> {
        Window::get(self, source, offset, length, read_ahead).map(Some)
    }

    #[inline]
    fn bytes(&self, offset: u64, length: usize) -> &[u8] {
        let from = self.skip + (offset - self.start) as usize;
        &self.memory[from..from + length]
    }

    fn share(&self, offset: u64, length: usize) -> Bytes {
        let from = self.skip + (offset - self.start) as usize;
        self.memory.slice(from..from + length)
    }
}
