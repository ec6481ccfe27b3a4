//! Builds sealed blocks from records, in memory (spec, SRT-6).

use super::figures::{BlockTimes, since};
use super::options::WriterOptions;
use super::region::Stream;
use super::stored_block::StoredBlock;
use crate::block::{self, BlockHeader, DATA, Seal};
use crate::bytes::Framing;
use crate::bytes::append;
use crate::bytes::pad8;
use crate::codec::{Codec, Compressor, Trained};
use crate::error::Result;
use crate::sort_buffer::{PackedRecords, Pushed, Slots, Walk};
use crate::storage::OutputFile;

/// Where blocks go.
pub(crate) trait Sink {
    /// The bytes that blocks are appended to.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// Called when a block is complete: the sink may take the bytes from the buffer.
    fn block_ended(&mut self) -> Result<()>;
}

/// Blocks that stay in memory.
impl Sink for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }

    fn block_ended(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Blocks that go to a file.
impl Sink for OutputFile {
    #[inline(always)]
    fn buffer(&mut self) -> &mut Vec<u8> {
        OutputFile::buffer(self)
    }

    #[inline(always)]
    fn block_ended(&mut self) -> Result<()> {
        if self.is_full() { self.write_pieces() } else { Ok(()) }
    }
}

/// Builds blocks one after another, directly in the buffer that is written.
pub(crate) struct BlockBuilder {
    seal: Seal,
    framing: Framing,
    target: usize,
    compressor: Compressor,
    times: BlockTimes,
    /// Whether blocks are compressed. The open block's payload is in `plain` then, else it is in the buffer.
    compresses: bool,
    plain: Vec<u8>,
    /// Where the payload of the open data block begins.
    open: Option<usize>,
}

impl BlockBuilder {
    pub(crate) fn new(options: &WriterOptions, seal: Seal) -> Result<Self> {
        Ok(BlockBuilder {
            seal,
            framing: options.framing,
            target: options.block_target(),
            compresses: options.codec != Codec::None,
            plain: Vec::new(),
            compressor: Compressor::new(options.codec, options.level)?,
            times: BlockTimes {
                wanted: options.timed,
                ..BlockTimes::default()
            },
            open: None,
        })
    }

    /// Frees the memory, and keeps the times. No block is built after that.
    pub(crate) fn free(&mut self) {
        self.compressor.free();
        self.plain = Vec::new();
    }

    /// Compresses small blocks with a dictionary from now on; `number` is its number in the file.
    pub(crate) fn use_dictionary(&mut self, number: u16, trained: &Trained) -> Result<()> {
        self.compressor.use_dictionary(number, trained)
    }

    /// Whether data blocks are compressed.
    pub(super) fn compresses(&self) -> bool {
        self.compresses
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    pub(super) fn times(&self) -> BlockTimes {
        self.times
    }

    pub(crate) fn target(&self) -> usize {
        self.target
    }

    pub(crate) fn seal(&self) -> Seal {
        self.seal
    }

    /// Adds the records and events of an extent, by their places. `all` begins with `places` and continues with the
    /// places after them.
    pub(crate) fn push_all<S: Sink>(
        &mut self,
        to: &mut S,
        stream: &mut Stream,
        from: PackedRecords<'_>,
        places: &[u32],
        all: &[u32],
    ) -> Result<()> {
        let is_framed = self.framing == Framing::Records;
        for (number, place) in places.iter().enumerate() {
            if let Some(ahead) = all.get(number + from.ahead) {
                from.packed.prefetch(*ahead, from.length);
            }
            match from.packed.framed(*place) {
                Some(framed) if is_framed => self.framed(to, stream, framed)?,
                Some(framed) => self.record(to, stream, &framed[4..], 1)?,
                None => self.pushed(to, stream, &from.packed.record(*place))?,
            }
        }
        Ok(())
    }

    /// Adds a record or an event.
    pub(crate) fn pushed<S: Sink>(&mut self, to: &mut S, stream: &mut Stream, record: &Pushed<'_>) -> Result<()> {
        match record {
            Pushed::Data(bytes, records) => self.record(to, stream, bytes, *records),
            Pushed::Event(kind, bytes) => self.event(to, stream, *kind, bytes),
            Pushed::Nothing(records) => {
                stream.tally.records += records;
                Ok(())
            }
        }
    }

    /// Adds a record with its length before it.
    #[inline(always)]
    fn framed<S: Sink>(&mut self, to: &mut S, stream: &mut Stream, framed: &[u8]) -> Result<()> {
        stream.tally.records += 1;
        if self
            .length(to)
            .is_some_and(|length| length + framed.len() > self.target)
        {
            self.end_data_block(to, stream)?;
        }
        append(self.data_block(to.buffer()), framed);
        Ok(())
    }

    /// Adds a data record: cut into blocks, or together with others in one.
    fn record<S: Sink>(&mut self, to: &mut S, stream: &mut Stream, record: &[u8], records: u64) -> Result<()> {
        stream.tally.records += records;
        match self.framing {
            Framing::Records => {
                let needed = 4 + record.len();
                if self.length(to).is_some_and(|length| length + needed > self.target) {
                    self.end_data_block(to, stream)?;
                }
                // Longer records were refused, since the plain size of a block has 32 bits.
                let length = (record.len() as u32).to_le_bytes();
                let buffer = self.data_block(to.buffer());
                buffer.extend_from_slice(&length);
                buffer.extend_from_slice(record);
            }
            Framing::Opaque => {
                let mut rest = record;
                while !rest.is_empty() {
                    let room = self.target - self.length(to).unwrap_or(0);
                    let (now, later) = rest.split_at(room.min(rest.len()));
                    append(self.data_block(to.buffer()), now);
                    rest = later;
                    if self.length(to) == Some(self.target) {
                        self.end_data_block(to, stream)?;
                    }
                }
            }
            Framing::Arrow => {
                self.data_block(to.buffer()).extend_from_slice(record);
                self.end_data_block(to, stream)?;
            }
        }
        Ok(())
    }

    /// Adds the next block of slots, compressed as the options say.
    pub(super) fn block_of_slots<S: Sink>(
        &mut self,
        to: &mut S,
        stream: &mut Stream,
        slots: &Slots,
        walk: &mut Walk,
        plain_size: u32,
    ) -> Result<()> {
        let mut payload = slots.payload(walk, plain_size);
        let first = payload.next().unwrap_or_default();
        if first.len() == plain_size as usize {
            return self.plain_block(to, stream, first);
        }
        // The codec needs one piece.
        for piece in std::iter::once(first).chain(payload) {
            self.continue_block(to, piece);
        }
        self.end_data_block(to, stream)
    }

    /// Continues the open data block, or begins one, with bytes that fit into it.
    pub(super) fn continue_block<S: Sink>(&mut self, to: &mut S, plain: &[u8]) {
        self.data_block(to.buffer()).extend_from_slice(plain);
    }

    /// Counts the time of a checksum that another computes.
    pub(super) fn timed_checksum(&mut self, compute: impl FnOnce(Seal)) {
        let begun = self.times.start();
        compute(self.seal);
        self.times.checksum += since(begun);
    }

    /// Adds an event, as a block.
    pub(crate) fn event<S: Sink>(&mut self, to: &mut S, stream: &mut Stream, kind: u8, bytes: &[u8]) -> Result<()> {
        self.end_data_block(to, stream)?;
        let event = StoredBlock::new(bytes, bytes.len() as u32).kind(kind);
        self.stored_block(to, stream, &event)
    }

    /// Adds a data block, compressed as the options say.
    pub(crate) fn plain_block<S: Sink>(&mut self, to: &mut S, stream: &mut Stream, plain: &[u8]) -> Result<()> {
        if self.compresses {
            return self.compressed_block(to, stream, plain);
        }
        self.data_block(to.buffer()).extend_from_slice(plain);
        self.end_data_block(to, stream)
    }

    /// Compresses a data block straight from its plain bytes to its place.
    fn compressed_block<S: Sink>(&mut self, to: &mut S, stream: &mut Stream, plain: &[u8]) -> Result<()> {
        let buffer = to.buffer();
        let payload = buffer.len() + BlockHeader::SIZE;
        buffer.extend_from_slice(&[0; BlockHeader::SIZE]);
        let begun = self.times.start();
        let compressed = self.compressor.compress_onto(plain, buffer);
        self.times.compress += since(begun);
        if compressed.is_none() {
            buffer.extend_from_slice(plain);
        }
        let (codec, dictionary) = compressed.unwrap_or((block::CODEC_NONE, 0));
        self.seal_block(to, stream, payload, plain.len() as u32, (codec, dictionary))
    }

    /// Writes the header of a data block whose stored payload is at the end of the buffer.
    fn seal_block<S: Sink>(
        &mut self,
        to: &mut S,
        stream: &mut Stream,
        payload: usize,
        plain_size: u32,
        (codec, dictionary): (u8, u16),
    ) -> Result<()> {
        let buffer = to.buffer();
        let stored_size = (buffer.len() - payload) as u32;
        let header = BlockHeader {
            stored_size,
            plain_size,
            partition: stream.partition,
            sequence: stream.take_sequence()?,
            kind: DATA,
            codec,
            dictionary,
            checksum: 0,
        };
        let begun = self.times.start();
        let bytes = header.encode(self.seal, &buffer[payload..]);
        self.times.checksum += since(begun);
        buffer[payload - BlockHeader::SIZE..payload].copy_from_slice(&bytes);
        pad(buffer, stored_size);
        stream.count(&header);
        to.block_ended()
    }

    /// Adds a stored block as it is.
    pub(crate) fn stored_block<S: Sink>(
        &mut self,
        to: &mut S,
        stream: &mut Stream,
        block: &StoredBlock<'_>,
    ) -> Result<()> {
        let header = BlockHeader {
            stored_size: block.stored.len() as u32,
            plain_size: block.plain_size,
            partition: stream.partition,
            sequence: stream.take_sequence()?,
            kind: block.kind,
            codec: block.codec,
            dictionary: block.dictionary,
            checksum: 0,
        };
        let begun = self.times.start();
        append_block(to.buffer(), self.seal, &header, block.stored);
        self.times.checksum += since(begun);
        stream.count(&header);
        to.block_ended()
    }

    /// Forgets the open block. The caller drops its bytes.
    pub(crate) fn forget(&mut self) {
        self.open = None;
    }

    /// The plain bytes of the open data block.
    #[inline(always)]
    fn length<S: Sink>(&self, to: &mut S) -> Option<usize> {
        let payload = self.open?;
        let end = if self.compresses {
            self.plain.len()
        } else {
            to.buffer().len()
        };
        Some(end - payload)
    }

    /// Where the payload of the open data block is, of one that begins if none is open. Bytes are appended to it.
    #[inline(always)]
    fn data_block<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> &'a mut Vec<u8> {
        if self.compresses {
            if self.open.is_none() {
                self.plain.clear();
                self.open = Some(0);
            }
            return &mut self.plain;
        }
        if self.open.is_none() {
            buffer.extend_from_slice(&[0; BlockHeader::SIZE]);
            self.open = Some(buffer.len());
        }
        buffer
    }

    /// Seals the open data block, if there is one.
    pub(crate) fn end_data_block<S: Sink>(&mut self, to: &mut S, stream: &mut Stream) -> Result<()> {
        let Some(payload) = self.open.take() else {
            return Ok(());
        };
        if self.compresses {
            let plain = std::mem::take(&mut self.plain);
            let ended = self.compressed_block(to, stream, &plain);
            // Keep its memory.
            self.plain = plain;
            return ended;
        }
        let plain_size = (to.buffer().len() - payload) as u32;
        self.seal_block(to, stream, payload, plain_size, (block::CODEC_NONE, 0))
    }
}

/// Appends a block to a buffer that ends at a multiple of 8.
pub(super) fn append_block(to: &mut Vec<u8>, seal: Seal, header: &BlockHeader, stored: &[u8]) {
    to.extend_from_slice(&header.encode(seal, stored));
    to.extend_from_slice(stored);
    pad(to, header.stored_size);
}

/// The zeros after a stored payload.
#[inline(always)]
fn pad(to: &mut Vec<u8>, stored_size: u32) {
    append(to, &[0; 8][..(pad8(stored_size) - u64::from(stored_size)) as usize]);
}
