//! A block that was compressed elsewhere.

/// A block as it is stored, for [`crate::RegionWriter::stored_block`].
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredBlock<'a> {
    /// Data, or which event.
    pub kind: u8,
    /// The number in the block header: 0 none, 1 LZ4, 2 Zstandard.
    pub codec: u8,
    /// Payload bytes after decompression.
    pub plain_size: u32,
    /// The payload.
    pub stored: &'a [u8],
    /// How many records it counts as, if it is data.
    pub records: u64,
    /// The number of the dictionary that it is compressed with in this file, as [`crate::Writer::dictionary`] gave it; 0 without.
    pub dictionary: u16,
}
