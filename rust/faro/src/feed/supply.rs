//! The bytes of blocks, out of what was brought.

use crate::error::Result;
use crate::reader::ByteSource;
use crate::storage::{BroughtFile, InputFile, is_missing};
use bytes::Bytes;
use std::sync::Arc;

/// Takes the bytes of blocks out of a file, piece by piece.
#[derive(Debug)]
pub(super) struct Supply {
    file: Arc<BroughtFile>,
    /// The piece that the reading is in, and its offset in the file.
    start: u64,
    bytes: Bytes,
}

impl Supply {
    pub(super) fn new(file: Arc<BroughtFile>) -> Self {
        Supply {
            file,
            start: 0,
            bytes: Bytes::new(),
        }
    }

    /// The size of the piece that the reading is in.
    pub(super) fn held(&self) -> u64 {
        self.bytes.len() as u64
    }

    #[inline]
    fn has(&self, offset: u64, length: usize) -> bool {
        offset >= self.start && offset + length as u64 <= self.start + self.bytes.len() as u64
    }

    /// Makes `offset..offset + length` the piece, or a part of it. Returns false if not all of it was brought.
    fn advance(&mut self, source: &InputFile, offset: u64, length: usize) -> Result<bool> {
        let passed = offset
            .checked_sub(self.start)
            .and_then(|passed| usize::try_from(passed).ok());
        let kept = passed.filter(|passed| *passed < self.bytes.len());
        let kept = kept.map_or_else(Bytes::new, |passed| self.bytes.slice(passed..));
        let have = kept.len() as u64;
        let missing = length as u64 - have;
        let next = offset + have;
        if self.file.with_pieces(|pieces| pieces.length_from(next, missing)) < missing {
            // The piece before is needed no more.
            (self.start, self.bytes) = (offset, kept);
            return Ok(false);
        }
        let piece = self.file.with_pieces(|pieces| pieces.from(next));
        if let (0, Some(piece)) = (have, piece)
            && piece.len() >= length
        {
            self.file.remove(next..next + piece.len() as u64);
            (self.start, self.bytes) = (offset, piece);
            return Ok(true);
        }
        // The block is in several pieces. Its size was compared with the limits.
        let mut joined = source.room(length)?;
        joined.extend_from_slice(&kept);
        while joined.len() < length {
            let at = offset + joined.len() as u64;
            let Some(piece) = self.file.with_pieces(|pieces| pieces.from(at)) else {
                return Ok(false);
            };
            joined.extend_from_slice(&piece[..piece.len().min(length - joined.len())]);
        }
        self.file.remove(next..offset + length as u64);
        (self.start, self.bytes) = (offset, Bytes::from(joined));
        Ok(true)
    }

    /// Why bytes are not there: nothing if they will be brought.
    fn reason(&self, source: &InputFile, offset: u64, length: usize) -> Result<()> {
        let have = self.start + self.bytes.len() as u64;
        let from = if self.has(offset, 1) { have } else { offset };
        let most = (offset + length as u64).saturating_sub(from);
        let there = self.file.with_pieces(|pieces| pieces.length_from(from, most));
        // This reads no byte that is there, so the first one that is missing decides.
        let result = source.read_exact(from + there, &mut [0]);
        let _ = self.file.take_missed();
        match result {
            Err(error) if is_missing(&error) => Ok(()),
            result => result,
        }
    }
}

impl ByteSource for Supply {
    #[inline]
    fn get(&mut self, source: &InputFile, offset: u64, length: usize, _: u64) -> Result<Option<&[u8]>> {
        if !self.has(offset, length) && !self.advance(source, offset, length)? {
            self.reason(source, offset, length)?;
            return Ok(None);
        }
        Ok(Some(self.bytes(offset, length)))
    }

    #[inline]
    fn bytes(&self, offset: u64, length: usize) -> &[u8] {
        let from = (offset - self.start) as usize;
        &self.bytes[from..from + length]
    }

    fn share(&self, offset: u64, length: usize) -> Bytes {
        let from = (offset - self.start) as usize;
        self.bytes.slice(from..from + length)
    }
}
