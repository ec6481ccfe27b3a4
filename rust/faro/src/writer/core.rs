//! Blocks, regions and the footer to files: what the sort buffer and the region writer share.

use super::dictionaries::Dictionaries;
use super::options::WriterOptions;
use super::output::Output;
use super::region::{OpenRegion, Owner, Part, Shape};
use super::statistics::Sums;
use super::training::{self, Preview};
use crate::block::{self, ANY_PARTITION, BlockHeader, DATA, Seal, pad8};
use crate::codec::{Codec, Compressor};
use crate::error::{Code, Error, Result};
use crate::header::Framing;
use crate::message::{Footer, Property, RegionEntry, Schema};
use crate::tail::Tail;
use std::path::Path;

/// The files of a writer, and the counters that blocks need.
pub(crate) struct Core {
    output: Output,
    seal: Seal,
    compressor: Compressor,
    pub shape: Shape,
    framing: Framing,
    block_target: usize,
    /// Next sequence of each partition's own blocks.
    own_sequences: Vec<u32>,
    shared_sequence: u32,
    metadata_sequence: u32,
    directory: Vec<RegionEntry>,
    sums: Option<Sums>,
    region: OpenRegion,
    dictionaries: Dictionaries,
    /// Where the header of the data block in hand will stand in the buffer.
    open_block: Option<usize>,
    /// Whether a dictionary may still be trained, and at which level.
    training: Option<i32>,
}

impl Core {
    pub(crate) fn create(base: &Path, options: &WriterOptions) -> Result<Self> {
        options.check()?;
        let compressor = Compressor::new(options.codec, options.level)?;
        let schema = match &options.schema {
            Some(arrow) => Some(Schema { arrow: arrow.clone() }.build()?),
            None => None,
        };
        let file_id = options.file_id_or_random();
        let mut output = Output::create(base, options, file_id)?;
        let data_offset = output.blocks().offset();
        let mut core = Core {
            output,
            seal: Seal::new(&file_id),
            compressor,
            shape: Shape {
                first_partition: options.first_partition,
                partition_count: options.partition_count,
                rotation: options.rotation,
                selective: false,
            },
            framing: options.framing,
            block_target: options.block_target(),
            own_sequences: vec![0; options.partition_count as usize],
            shared_sequence: 0,
            metadata_sequence: 0,
            directory: Vec::new(),
            sums: options.statistics.then(|| Sums::new(options.partition_count)),
            region: OpenRegion::new(data_offset),
            dictionaries: Dictionaries::default(),
            open_block: None,
            training: (options.dictionaries && options.codec == Codec::Zstd).then_some(options.level),
        };
        if let Some(schema) = schema {
            core.metadata_block(block::SCHEMA, &schema)?;
            core.output.message_is_complete()?;
        }
        core.output.show()?;
        Ok(core)
    }

    pub(crate) fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    pub(crate) fn region_count(&self) -> usize {
        self.directory.len()
    }

    /// Bytes of the blocks of all committed regions.
    pub(crate) fn data_length(&self) -> u64 {
        self.directory.iter().map(|entry| entry.data_length).sum()
    }

    /// The dictionaries, those that are not written yet too.
    pub(crate) fn dictionaries(&mut self) -> &mut Dictionaries {
        &mut self.dictionaries
    }

    /// Whether the next region may be trained on. Who hands over dictionaries has trained them already.
    pub(crate) fn may_train(&self) -> bool {
        self.training.is_some() && self.dictionaries.count() == 0
    }

    /// What training on a region begins with.
    pub(crate) fn preview<'a>(&self) -> Preview<'a> {
        Preview::new(self.framing, self.block_target)
    }

    /// Trains a dictionary on a region that is about to be written, if it is the first that promises something (DIC-7).
    pub(crate) fn train(&mut self, preview: &Preview<'_>) -> Result<()> {
        let Some(level) = self.training else { return Ok(()) };
        let Some(outcome) = training::train(preview, level)? else {
            return Ok(());
        };
        self.training = None;
        if let Some(trained) = outcome {
            let number = self.dictionaries.add(&trained.bytes);
            self.compressor.use_dictionary(number, &trained)?;
        }
        Ok(())
    }

    /// Begins a region where the file ends now, behind the dictionaries that waited for one.
    pub(crate) fn begin_region(&mut self) -> Result<()> {
        let (seal, single) = (self.seal, self.output.is_single());
        let (output, metadata_sequence) = (&mut self.output, &mut self.metadata_sequence);
        let offset = output.blocks().offset();
        self.dictionaries.begin_region(offset, |number, bytes| {
            let mut sequence = u32::from(number) - 1;
            if single {
                sequence = *metadata_sequence;
                *metadata_sequence += 1;
            }
            let file = output.blocks();
            let offset = file.offset();
            append_metadata_block(file.buffer(), seal, block::DICTIONARY, sequence, number, bytes);
            Ok(offset)
        })?;
        self.region = OpenRegion::new(self.output.blocks().offset());
        Ok(())
    }

    /// Takes back the dictionaries before a region that leaves nothing.
    fn give_up_dictionaries(&mut self) -> Result<()> {
        if let Some((offset, count)) = self.dictionaries.give_up() {
            if self.output.is_single() {
                self.metadata_sequence -= count as u32;
            }
            self.output.blocks().cut(offset)?;
        }
        Ok(())
    }

    /// Begins an extent of the region.
    pub(crate) fn begin_extent(&mut self, owner: Owner) {
        let first_sequence = match &owner {
            Owner::Own(at) => self.own_sequences[*at as usize],
            Owner::Shared(_) => self.shared_sequence,
        };
        self.region.parts.push(Part {
            owner,
            tally: Default::default(),
            first_sequence,
        });
    }

    /// Counts records of the extent in hand.
    pub(crate) fn add_records(&mut self, records: u64) {
        self.region.add_records(records);
    }

    /// A data record of the extent in hand, cut into blocks or joined with others (SRT-6).
    pub(crate) fn push_record(&mut self, record: &[u8]) -> Result<()> {
        match self.framing {
            Framing::Records => {
                let needed = 4 + record.len();
                if self
                    .open_length()
                    .is_some_and(|length| length + needed > self.block_target)
                {
                    self.end_data_block()?;
                }
                // Longer records were refused: a block's plain size is 32 bits wide.
                let length = (record.len() as u32).to_le_bytes();
                let buffer = self.open_data_block();
                buffer.extend_from_slice(&length);
                buffer.extend_from_slice(record);
            }
            Framing::Opaque => {
                let mut rest = record;
                while !rest.is_empty() {
                    let room = self.block_target - self.open_length().unwrap_or(0);
                    let (now, later) = rest.split_at(room.min(rest.len()));
                    self.open_data_block().extend_from_slice(now);
                    rest = later;
                    if self.open_length() == Some(self.block_target) {
                        self.end_data_block()?;
                    }
                }
            }
            Framing::Arrow => {
                self.open_data_block().extend_from_slice(record);
                self.end_data_block()?;
            }
        }
        Ok(())
    }

    /// An event of the extent in hand: a block of its own.
    pub(crate) fn push_event(&mut self, kind: u8, bytes: &[u8]) -> Result<()> {
        self.end_data_block()?;
        self.stored_block(kind, block::CODEC_NONE, bytes.len() as u32, 0, bytes)
    }

    /// A data block of the extent in hand, compressed as the options say.
    pub(crate) fn plain_block(&mut self, plain: &[u8]) -> Result<()> {
        self.open_data_block().extend_from_slice(plain);
        self.end_data_block()
    }

    /// A block of the extent in hand, as it is.
    pub(crate) fn stored_block(
        &mut self,
        kind: u8,
        codec: u8,
        plain_size: u32,
        dictionary: u16,
        stored: &[u8],
    ) -> Result<()> {
        let (partition, sequence) = self.next_sequence()?;
        let header = BlockHeader {
            stored_size: stored.len() as u32,
            plain_size,
            partition,
            sequence,
            kind,
            codec,
            dictionary,
            checksum: 0,
        };
        append_block(self.output.blocks().buffer(), self.seal, &header, stored);
        self.count_block(&header)
    }

    /// No more blocks of the extent in hand.
    pub(crate) fn end_extent(&mut self) -> Result<()> {
        self.end_data_block()
    }

    fn open_length(&mut self) -> Option<usize> {
        let start = self.open_block?;
        Some(self.output.blocks().buffer().len() - start - BlockHeader::SIZE)
    }

    /// The buffer, where the payload of the data block in hand may be appended: blocks are made where they are written
    /// from.
    fn open_data_block(&mut self) -> &mut Vec<u8> {
        let buffer = self.output.blocks().buffer();
        if self.open_block.is_none() {
            self.open_block = Some(buffer.len());
            buffer.extend_from_slice(&[0; BlockHeader::SIZE]);
        }
        buffer
    }

    fn end_data_block(&mut self) -> Result<()> {
        let Some(start) = self.open_block.take() else {
            return Ok(());
        };
        let (partition, sequence) = self.next_sequence()?;
        let payload = start + BlockHeader::SIZE;
        let buffer = self.output.blocks().buffer();
        let plain_size = (buffer.len() - payload) as u32;
        let mut codec = block::CODEC_NONE;
        let mut dictionary = 0;
        if let Some(compressed) = self.compressor.compress(&buffer[payload..]) {
            (codec, dictionary) = (compressed.codec, compressed.dictionary);
            buffer.truncate(payload);
            buffer.extend_from_slice(compressed.stored);
        }
        let stored_size = (buffer.len() - payload) as u32;
        let header = BlockHeader {
            stored_size,
            plain_size,
            partition,
            sequence,
            kind: DATA,
            codec,
            dictionary,
            checksum: 0,
        };
        let bytes = header.encode(self.seal, &buffer[payload..]);
        buffer[start..payload].copy_from_slice(&bytes);
        buffer.resize(payload + pad8(stored_size) as usize, 0);
        self.count_block(&header)
    }

    /// The partition field and the sequence of the next block of the extent in hand.
    fn next_sequence(&mut self) -> Result<(u32, u32)> {
        let (partition, next) = match self.region.parts.last().map(|part| &part.owner) {
            Some(Owner::Own(at)) => (self.shape.first_partition + at, &mut self.own_sequences[*at as usize]),
            _ => (ANY_PARTITION, &mut self.shared_sequence),
        };
        let sequence = *next;
        *next = sequence
            .checked_add(1)
            .ok_or_else(|| Error::bare(Code::LimitExceeded, "fewer than 2^32 blocks in a stream", "one more"))?;
        Ok((partition, sequence))
    }

    fn count_block(&mut self, header: &BlockHeader) -> Result<()> {
        let plain = if header.kind == DATA { header.plain_size } else { 0 };
        let blocks = self.output.blocks();
        let offset = blocks.offset();
        if blocks.is_full() {
            blocks.write_pieces()?;
        }
        self.region.add(header.size_in_file(), plain.into(), offset)
    }

    /// Commits the region in hand: its message is written behind its blocks (WRT-5). A region without blocks leaves
    /// nothing in the files.
    pub(crate) fn commit_region(&mut self, wrapped: bool) -> Result<()> {
        let region = std::mem::replace(&mut self.region, OpenRegion::new(0));
        if region.length() > 0 {
            let too_many = || Error::bare(Code::LimitExceeded, "fewer than 2^32 regions", "one more");
            let sequence = u32::try_from(self.directory.len()).map_err(|_| too_many())?;
            let message = region.message(sequence, &self.shape, wrapped).build()?;
            self.output.blocks_are_complete()?;
            let message_offset = self.metadata_block(block::REGION, &message)?;
            self.output.message_is_complete()?;
            self.directory.push(RegionEntry {
                message_offset,
                message_size: message.len() as u32,
                flags: 0,
                data_offset: region.data_offset,
                data_length: region.length(),
            });
            self.dictionaries.commit();
        } else {
            self.give_up_dictionaries()?;
        }
        if let Some(sums) = &mut self.sums {
            region.add_to(sums);
        }
        Ok(())
    }

    /// Undoes the region in hand: no byte and no sequence of it stays (WRT-8).
    pub(crate) fn give_up_region(&mut self) -> Result<()> {
        self.open_block = None;
        let region = std::mem::replace(&mut self.region, OpenRegion::new(0));
        for part in region.parts.iter().rev() {
            match &part.owner {
                Owner::Own(at) => self.own_sequences[*at as usize] = part.first_sequence,
                Owner::Shared(_) => self.shared_sequence = part.first_sequence,
            }
        }
        self.output.blocks().cut(region.data_offset)?;
        self.give_up_dictionaries()
    }

    /// Appends a metadata block and returns where it begins.
    fn metadata_block(&mut self, kind: u8, message: &[u8]) -> Result<u64> {
        let file = self.output.metadata();
        let offset = file.offset();
        append_metadata(file.buffer(), self.seal, kind, self.metadata_sequence, message);
        self.metadata_sequence += 1;
        Ok(offset)
    }

    /// Writes footer and tail, and publishes the files.
    pub(crate) fn finish(&mut self, properties: Vec<Property>, created_by: Option<String>) -> Result<()> {
        let data_size = if self.output.is_single() {
            self.output.metadata().offset()
        } else {
            self.output.blocks().offset()
        };
        let statistics = self.sums.take().map(Sums::into_statistics);
        let regions = std::mem::take(&mut self.directory);
        let footer = Footer {
            regions,
            data_size,
            statistics,
            properties,
            created_by,
            dictionaries: self.dictionaries.entries(),
        };
        let message = footer.build()?;
        self.directory = footer.regions;
        let footer_offset = self.metadata_block(block::FOOTER, &message)?;
        let tail = Tail {
            footer_offset,
            footer_size: message.len() as u32,
        };
        let file = self.output.metadata();
        let tail_offset = file.offset();
        file.buffer().extend_from_slice(&tail.encode());
        self.output.publish(tail_offset)
    }
}

/// Appends a metadata block to bytes that end at a multiple of 8.
pub(crate) fn append_metadata(to: &mut Vec<u8>, seal: Seal, kind: u8, sequence: u32, message: &[u8]) {
    append_metadata_block(to, seal, kind, sequence, 0, message);
}

/// The same; `dictionary` is the number of the dictionary that it is, else 0.
fn append_metadata_block(to: &mut Vec<u8>, seal: Seal, kind: u8, sequence: u32, dictionary: u16, message: &[u8]) {
    // Messages are smaller than 2^31 bytes, as their builder saw to.
    let size = message.len() as u32;
    let header = BlockHeader {
        stored_size: size,
        plain_size: size,
        partition: ANY_PARTITION,
        sequence,
        kind,
        codec: block::CODEC_NONE,
        dictionary,
        checksum: 0,
    };
    append_block(to, seal, &header, message);
}

fn append_block(to: &mut Vec<u8>, seal: Seal, header: &BlockHeader, stored: &[u8]) {
    to.extend_from_slice(&header.encode(seal, stored));
    to.extend_from_slice(stored);
    to.resize(to.len() + (pad8(header.stored_size) as usize - stored.len()), 0);
}
