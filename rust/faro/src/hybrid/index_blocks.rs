//! Cutting what a writer appends to an index file into its header, its blocks, and the tail.

use crate::block::{self, BlockHeader};
use crate::bytes::{FileHeader, pad8};
use bytes::Bytes;

/// What a piece of an index file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Header,
    Region,
    Footer,
    Other,
    Tail,
}

/// Collects bytes until a piece is complete.
#[derive(Debug, Default)]
pub(super) struct IndexBlocks {
    bytes: Vec<u8>,
    last: Option<Piece>,
}

impl IndexBlocks {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next piece, if it is complete.
    pub(super) fn next(&mut self) -> Option<(Piece, Bytes)> {
        let (piece, size) = match self.last {
            None => (Piece::Header, FileHeader::SIZE),
            Some(Piece::Footer | Piece::Tail) => (Piece::Tail, self.bytes.len()),
            Some(_) => {
                let header = BlockHeader::parse(self.bytes.first_chunk()?);
                let piece = match header.kind {
                    block::REGION => Piece::Region,
                    block::FOOTER => Piece::Footer,
                    _ => Piece::Other,
                };
                let size = pad8(header.stored_size) + BlockHeader::SIZE as u64;
                (piece, usize::try_from(size).ok()?)
            }
        };
        if self.bytes.is_empty() || self.bytes.len() < size {
            return None;
        }
        let rest = self.bytes.split_off(size);
        let taken = std::mem::replace(&mut self.bytes, rest);
        self.last = Some(piece);
        Some((piece, taken.into()))
    }
}
