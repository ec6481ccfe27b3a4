//! A window of a file in memory: few reads for many blocks, and payloads that share it.

use crate::error::Result;
use crate::source::Source;
use bytes::{Bytes, BytesMut};

/// Bytes of an ordinary read: large enough that reads cost little, small enough to stay in the processor's cache.
const CHUNK: u64 = 256 << 10;

/// The bytes of a file from some offset on. What is handed out shares the window's memory; when everybody else has let
/// go of it, the next read uses it again.
#[derive(Default)]
pub(crate) struct Window {
    bytes: Bytes,
    start: u64,
}

impl Window {
    /// The bytes `offset..offset + length` of the file, which has them all up to `limit` at least. More is read ahead,
    /// not beyond `limit`. `length` was checked against the limits.
    pub(crate) fn get(&mut self, source: &Source, offset: u64, length: usize, limit: u64) -> Result<Bytes> {
        let end = offset + length as u64;
        if offset < self.start || end > self.start + self.bytes.len() as u64 {
            self.fill(source, offset, length, limit)?;
        }
        let from = (offset - self.start) as usize;
        Ok(self.bytes.slice(from..from + length))
    }

    fn fill(&mut self, source: &Source, offset: u64, length: usize, limit: u64) -> Result<()> {
        // A chunk at most, unless more is asked for: both fit into memory's address space.
        let wanted = CHUNK.min(limit.saturating_sub(offset)).max(length as u64) as usize;
        let old = std::mem::take(&mut self.bytes);
        // What the window has already of the wanted bytes.
        let kept = match offset.checked_sub(self.start) {
            Some(skip) if skip < old.len() as u64 => skip as usize..old.len(),
            _ => 0..0,
        };
        let have = kept.len();
        let mut buffer = match old.try_into_mut() {
            Ok(mut buffer) => {
                buffer.copy_within(kept, 0);
                buffer.resize(wanted.max(have), 0);
                buffer
            }
            Err(shared) => {
                let mut buffer = BytesMut::zeroed(wanted.max(have));
                buffer[..have].copy_from_slice(&shared[kept]);
                buffer
            }
        };
        source.read_exact(offset + have as u64, &mut buffer[have..])?;
        self.bytes = buffer.freeze();
        self.start = offset;
        Ok(())
    }
}
