//! The blocks of a partition whose records are in a bucket, while those of the bucket are made.

use crate::block::BlockHeader;

/// The header of a block that has ended.
const ENDED: usize = usize::MAX;

/// The blocks of a partition, while those of its bucket are made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    /// The size of all blocks, in bytes.
    pub size: u64,
    pub records: u64,
    /// The plain bytes of the last block, if that is a data block; 0 if another has to begin.
    pub plain: u32,
    /// Where they begin in the scratch, the next byte, and the header of the last block.
    pub begin: usize,
    pub end: usize,
    pub header: usize,
}

impl Blocks {
    /// Ends the last block.
    #[inline]
    pub(super) fn pad(&mut self) {
        self.size = self.size.next_multiple_of(8);
        self.plain = 0;
    }

    /// Counts an entry. A data block ends before a record with which it would exceed the target (SRT-6).
    #[inline]
    pub(super) fn count(&mut self, is_event: bool, length: usize, target: u32) {
        let needed = if is_event { length } else { 4 + length };
        if is_event || u64::from(self.plain) + needed as u64 > u64::from(target) {
            self.pad();
        }
        if self.plain == 0 {
            self.size += BlockHeader::SIZE as u64;
        }
        self.size += needed as u64;
        if is_event {
            self.pad();
        } else {
            self.plain += needed as u32;
            self.records += 1;
        }
    }

    /// Begins a block. Its kind and later its plain size wait in the place of its header.
    #[inline]
    pub(super) fn begin_block(&mut self, scratch: &mut [u8], kind: u8) {
        self.header = self.end;
        scratch[self.header + 4] = kind;
        self.end += BlockHeader::SIZE;
        self.plain = 0;
    }

    /// Ends the last block, if it has not ended.
    #[inline]
    pub(super) fn end_block(&mut self, scratch: &mut [u8]) {
        if self.end > self.begin && self.header != ENDED {
            scratch[self.header..self.header + 4].copy_from_slice(&self.plain.to_le_bytes());
            let end = self.end.next_multiple_of(8);
            scratch[self.end..end].fill(0);
            (self.end, self.plain, self.header) = (end, 0, ENDED);
        }
    }
}
