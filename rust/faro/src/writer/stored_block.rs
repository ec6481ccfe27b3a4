//! A block that was compressed elsewhere.

use crate::block::DATA;

/// A block as it is stored, for [`crate::RegionWriter::stored_block`].
///
/// ```
/// // One LZ4 block that decodes to 4,096 bytes with 17 records.
/// # let compressed = [0; 100];
/// let block = faro::StoredBlock::new(&compressed, 4096).codec(1).records(17);
/// assert_eq!(block.kind, faro::block::DATA);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StoredBlock<'a> {
    /// The kind in the block header: data, or an event.
    pub kind: u8,
    /// The codec number in the block header: 0 none, 1 LZ4, 2 Zstandard.
    pub codec: u8,
    /// Payload bytes after decompression.
    pub plain_size: u32,
    /// The payload.
    pub stored: &'a [u8],
    /// Records in the block; 0 for an event.
    pub records: u64,
    /// The number in this file of the dictionary that the payload is compressed with, as [`crate::Writer::dictionary`]
    /// returned it; 0 without a dictionary.
    pub dictionary: u16,
}

impl<'a> StoredBlock<'a> {
    /// A data block with an uncompressed payload and no records; methods change the rest.
    pub const fn new(stored: &'a [u8], plain_size: u32) -> Self {
        StoredBlock {
            kind: DATA,
            codec: 0,
            plain_size,
            stored,
            records: 0,
            dictionary: 0,
        }
    }

    /// Sets `kind`.
    #[must_use]
    pub fn kind(mut self, kind: u8) -> Self {
        self.kind = kind;
        self
    }

    /// Sets `codec`.
    #[must_use]
    pub fn codec(mut self, codec: u8) -> Self {
        self.codec = codec;
        self
    }

    /// Sets `records`.
    #[must_use]
    pub fn records(mut self, records: u64) -> Self {
        self.records = records;
        self
    }

    /// Sets `dictionary`.
    #[must_use]
    pub fn dictionary(mut self, dictionary: u16) -> Self {
        self.dictionary = dictionary;
        self
    }
}
