//! Where the bytes of blocks come from: a window of a file, or reads that several consumers share.

use crate::error::Result;
use crate::storage::InputFile;
use bytes::Bytes;

/// Where the bytes of blocks come from.
pub(crate) trait ByteSource {
    /// The bytes `offset..offset + length` of the file; nothing when they are not there yet. More may be read ahead, up
    /// to `read_ahead`.
    fn get(&mut self, source: &InputFile, offset: u64, length: usize, read_ahead: u64) -> Result<Option<&[u8]>>;

    /// Bytes that the last [`ByteSource::get`] gave, or a part of them.
    fn bytes(&self, offset: u64, length: usize) -> &[u8];

    /// The same bytes, kept for as long as somebody has them.
    fn share(&self, offset: u64, length: usize) -> Bytes;
}
