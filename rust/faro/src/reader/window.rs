//! A window of a file in memory: few reads for many blocks, and payloads that share it.

use super::byte_source::ByteSource;
use crate::error::Result;
use crate::storage::InputFile;
use bytes::{Bytes, BytesMut};

/// Bytes of an ordinary read: large enough that reads cost little, small enough to stay in the processor's cache.
const CHUNK: u64 = 256 << 10;

/// Bytes of a line of the processor's cache. Copies from the page cache are a quarter faster when a byte's place in its
/// line is the same in memory and in the file.
const LINE: u64 = 64;

/// Where in `buffer` the byte at `offset` of a file goes at `at` or a little behind: to the same place in its line.
pub(super) fn aligned(buffer: &[u8], at: usize, offset: u64) -> usize {
    let address = buffer.as_ptr() as u64 + at as u64;
    at + (offset.wrapping_sub(address) % LINE) as usize
}

/// The memory of bytes that were handed out, with room for `length` of them at any place in a line: the same if nobody
/// has a part of it any more.
pub(super) fn reuse(bytes: Bytes, length: usize) -> std::result::Result<BytesMut, Bytes> {
    let room = length + LINE as usize;
    bytes.try_into_mut().map(|mut buffer| {
        if buffer.len() < room {
            buffer.resize(room, 0);
        }
        buffer
    })
}

/// New memory with room for `length` bytes at any place in a line.
pub(super) fn allocate(length: usize) -> BytesMut {
    BytesMut::zeroed(length + LINE as usize)
}

/// The bytes of a file from some offset on. What is shared keeps the window's memory; when everybody else has let go of
/// it, the next read uses it again.
#[derive(Default)]
pub(crate) struct Window {
    memory: Bytes,
    /// Where in the memory the bytes begin.
    skip: usize,
    /// Where in the file, and how many there are.
    start: u64,
    length: usize,
}

impl Window {
    /// The bytes `offset..offset + length` of the file, which has them all up to `limit` at least. More is read ahead,
    /// not beyond `limit`. `length` was checked against the limits.
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
        // A chunk at most, unless more is asked for: both fit into memory's address space.
        let wanted = CHUNK.min(limit.saturating_sub(offset)).max(length as u64) as usize;
        // What the window has already of the wanted bytes.
        let kept = match offset.checked_sub(self.start) {
            Some(passed) if passed < self.length as u64 => self.skip + passed as usize..self.skip + self.length,
            _ => 0..0,
        };
        let have = kept.len();
        let wanted = wanted.max(have);
        self.length = 0;
        let (mut buffer, skip) = match reuse(std::mem::take(&mut self.memory), wanted) {
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
