//! Where the bytes of blocks come from: a window of a file, or reads that several consumers share.

use crate::error::Result;
use crate::storage::InputFile;
use bytes::Bytes;

/// Where the bytes of blocks come from.
pub(crate) trait ByteSource {
    /// The bytes `offset..offset + length` of the file; none when they are not available yet. It may read ahead, up to
    /// `read_ahead`.
    fn get(&mut self, source: &InputFile, offset: u64, length: usize, read_ahead: u64) -> Result<Option<&[u8]>>;

    /// All or some of the bytes that the last [`ByteSource::get`] returned.
    fn bytes(&self, offset: u64, length: usize) -> &[u8];

    /// The same bytes, shared: they are kept as long as any holder needs them.
    fn share(&self, offset: u64, length: usize) -> Bytes;
}
