//! Writes regions and the footer to the files, for the sort buffer and the region writer.

mod finish;
mod from_buckets;
mod from_slots;

use super::blocks::{BlockBuilder, Sink, append_block};
use super::dictionaries::Dictionaries;
use super::figures::{BlockTimes, Counts, WriterFigures};
use super::listener::News;
use super::options::WriterOptions;
use super::output::{Output, Target};
use super::owner::Owner;
use super::recent_regions::RecentRegions;
use super::region::{OpenRegion, Shape, Stream};
use super::statistics::{Sums, Tally};
use super::stored_block::StoredBlock;
use super::streams::{StreamCounters, StreamName};
use super::training::{self, Preview};
use crate::block::{self, ANY_PARTITION, BlockHeader, Seal};
use crate::bytes::{FileHeader, FileKind, Framing};
use crate::error::{Error, ErrorCode, Result};
use crate::message::{RegionEntry, Schema};
use crate::sort_buffer::{PackedRecords, Pushed};
use crate::storage::{Files, Layout, OutputFile};

/// The files of a writer, the region that it is filling, and the counters for both.
pub(crate) struct RegionBuilder {
    output: Output,
    block_builder: BlockBuilder,
    /// The block builders of the threads that compress, if there are several.
    block_builders: Vec<BlockBuilder>,
    pub shape: Shape,
    streams: StreamCounters,
    metadata_sequence: u32,
    /// The header of the index or single file.
    header: FileHeader,
    /// With framing arrow, the schema's message until it is written, and the stored size of its block.
    schema: Option<Vec<u8>>,
    schema_size: u32,
    directory: Vec<RegionEntry>,
    recent: RecentRegions,
    sums: Option<Sums>,
    region: OpenRegion,
    /// Whether the current region may be given up.
    revocable: bool,
    dictionaries: Dictionaries,
    /// The stream of the current extent, the last of the region.
    stream: Option<Stream>,
    /// What the committed regions have, and what the current one has so far.
    counts: Counts,
    counting: Counts,
    regions: u64,
    news: News,
    /// Whether a dictionary may still be trained, and at which level.
    training: Option<i32>,
}

impl RegionBuilder {
    pub(crate) fn create(target: Target, options: &WriterOptions) -> Result<Self> {
        options.check()?;
        let file_id = options.file_id_or_random();
        let make_builder = || BlockBuilder::new(options, Seal::new(&file_id));
        let block_builder = make_builder()?;
        let threads = if options.compress_threads > 1 {
            options.compress_threads
        } else {
            0
        };
        let block_builders = (0..threads).map(|_| make_builder()).collect::<Result<Vec<_>>>()?;
        let schema = match &options.schema {
            Some(arrow) => Some(Schema { arrow: arrow.clone() }.build()?),
            None => None,
        };
        let output = Output::create(target, options, file_id)?;
        let mut builder = RegionBuilder {
            output,
            block_builder,
            block_builders,
            shape: Shape {
                first_partition: options.first_partition,
                partition_count: options.partition_count,
                rotation: options.rotation,
                selective: options.selective,
            },
            streams: StreamCounters::new(options.partition_count),
            metadata_sequence: 0,
            header: options.header(FileKind::Index, file_id),
            schema,
            schema_size: 0,
            directory: Vec::new(),
            recent: RecentRegions::default(),
            sums: options.statistics.then(|| Sums::new(options.partition_count)),
            region: OpenRegion::new(0),
            revocable: false,
            dictionaries: Dictionaries::default(),
            stream: None,
            counts: Counts::default(),
            counting: Counts::default(),
            regions: 0,
            news: News::new(options.listener.clone()),
            training: options.trains().then_some(options.level),
        };
        if !builder.output.is_undecided() {
            builder.begin_files()?;
        }
        Ok(builder)
    }

    /// Frees what only writing needs, at the end. The figures stay, and what a reader takes over.
    pub(super) fn free(&mut self) {
        self.block_builder.free();
        self.block_builders.iter_mut().for_each(BlockBuilder::free);
    }

    /// Frees the regions that no reader takes over.
    pub(super) fn forget_regions(&mut self) {
        self.recent = RecentRegions::default();
    }

    /// Creates the files in this layout, if the option `single_below` left it open so far (WRT-13).
    pub(crate) fn decide(&mut self, layout: Layout, options: &WriterOptions) -> Result<()> {
        if self.output.is_undecided() {
            self.output.decide(layout, options, self.header.file_id)?;
            self.begin_files()?;
        }
        Ok(())
    }

    /// Whether the layout is still open.
    pub(crate) fn is_undecided(&self) -> bool {
        self.output.is_undecided()
    }

    /// Writes what comes before the first region: headers, and with framing arrow the schema.
    fn begin_files(&mut self) -> Result<()> {
        if self.output.is_single() {
            self.header.kind = FileKind::Single;
        }
        if let Some(schema) = self.schema.take() {
            self.metadata_block(block::SCHEMA, &schema)?;
            // Messages are smaller than 2^31 bytes, by the check of their builder.
            self.schema_size = schema.len() as u32;
            self.output.message_is_complete()?;
        }
        self.output.show()
    }

    pub(crate) fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    /// The number of regions, and the bytes of their blocks.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.regions, self.counts.stored)
    }

    pub(super) fn files(&self) -> &Files {
        self.output.files()
    }

    /// Tells the listener about the regions that are news.
    pub(super) fn tell_regions(&mut self) {
        self.news.tell(self.output.files().first().1);
    }

    /// The figures of regions, blocks and files.
    pub(super) fn figures(&self) -> WriterFigures {
        let mut figures = WriterFigures {
            records: self.counts.records,
            regions: self.regions,
            blocks: self.counts.blocks,
            plain_bytes: self.counts.plain,
            stored_bytes: self.counts.stored,
            ..WriterFigures::default()
        };
        let builders = self.block_builders.iter().chain([&self.block_builder]);
        for BlockTimes { compress, checksum, .. } in builders.map(BlockBuilder::times) {
            figures.compress_time += compress;
            figures.checksum_time += checksum;
        }
        for file in self.output.files_in_use() {
            let calls = file.calls();
            figures.file_bytes += calls.bytes;
            figures.write_time += calls.write_time;
            figures.sync_time += calls.sync_time;
        }
        figures
    }

    /// The dictionaries, with those that are not written yet.
    pub(crate) fn dictionaries(&mut self) -> &mut Dictionaries {
        &mut self.dictionaries
    }

    /// Whether a dictionary may be trained on the next region. A caller that passed dictionaries has trained them.
    pub(crate) fn may_train(&self) -> bool {
        self.training.is_some() && self.dictionaries.count() == 0
    }

    /// An empty preview of a region, for training.
    pub(crate) fn preview<'a>(&self) -> Preview<'a> {
        Preview::new(self.block_builder.framing(), self.block_builder.target())
    }

    /// Trains a dictionary on a region before it is written, if it is the first suitable one (DIC-7).
    pub(crate) fn train(&mut self, preview: &Preview<'_>) -> Result<()> {
        let Some(level) = self.training else { return Ok(()) };
        let Some(outcome) = training::train(preview, level)? else {
            return Ok(());
        };
        self.training = None;
        if let Some(trained) = outcome {
            let number = self.dictionaries.add(&trained.bytes);
            for block_builder in self.block_builders.iter_mut().chain([&mut self.block_builder]) {
                block_builder.use_dictionary(number, &trained)?;
            }
        }
        Ok(())
    }

    /// Begins a region at the end of the file, after the dictionaries that waited for one. A region that is not
    /// `revocable` is counted as it is written: after giving it up, the writer could not continue.
    pub(crate) fn begin_region(&mut self, revocable: bool) -> Result<()> {
        self.revocable = revocable;
        let (seal, single) = (self.block_builder.seal(), self.output.is_single());
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
        self.stream = None;
        self.counting = Counts::default();
        self.region.data_offset = self.output.blocks().offset();
        self.region.clear();
        self.streams.begin_region();
        Ok(())
    }

    /// Removes the dictionaries before a region that leaves nothing.
    fn give_up_dictionaries(&mut self) -> Result<()> {
        if let Some((offset, count)) = self.dictionaries.give_up() {
            if self.output.is_single() {
                self.metadata_sequence -= count as u32;
            }
            self.output.blocks().cut(offset)?;
        }
        Ok(())
    }

    /// Reserves memory for `count` extents of the current region: a vector that grows takes its memory twice.
    pub(super) fn expect_extents(&mut self, count: usize) {
        self.region.expect(count);
    }

    /// Begins an extent of the region.
    pub(crate) fn begin_extent(&mut self, owner: Owner) {
        self.settle();
        let stream = self.stream_of(&owner);
        self.region.begin(owner, stream.sequence);
        self.stream = Some(stream);
    }

    /// The stream that an extent's blocks belong to.
    pub(super) fn stream_of(&self, owner: &Owner) -> Stream {
        let name = StreamName::from(owner);
        Stream {
            partition: self.partition_field(name),
            sequence: self.streams.next(name),
            gaps: 0,
            tally: Tally::default(),
            plain: 0,
        }
    }

    /// The partition field of a stream's blocks.
    fn partition_field(&self, name: StreamName) -> u32 {
        match name {
            StreamName::Own(at) => self.shape.first_partition + at,
            StreamName::Shared => ANY_PARTITION,
        }
    }

    /// The sequence number of the stream's next block.
    pub(crate) fn next_sequence(&self, name: StreamName) -> u32 {
        match &self.stream {
            Some(stream) if stream.partition == self.partition_field(name) => stream.sequence,
            _ => self.streams.next(name),
        }
    }

    /// Between two regions: no block of the stream below this sequence number follows (WRT-15).
    pub(crate) fn skip_stream_to(&mut self, name: StreamName, sequence: u32) {
        self.streams.skip_to(name, sequence);
    }

    /// Lets the next block of the current extent have this sequence number, which is not below its own.
    pub(crate) fn skip_to(&mut self, sequence: u32) {
        if let (Some(stream), Some(owner)) = (&mut self.stream, self.region.last()) {
            if stream.tally.stored == 0 && stream.sequence != sequence {
                self.streams.jump(StreamName::from(&owner), stream.sequence);
                self.region.begin_at(sequence);
            }
            stream.skip_to(sequence);
        }
    }

    /// Stores the length and sums of the current extent, which is complete.
    fn settle(&mut self) {
        if let (Some(stream), Some(owner)) = (self.stream.take(), self.region.last()) {
            self.region.settle(stream.tally.stored);
            if self.revocable {
                self.region.count_later(stream.tally);
            } else if let Some(sums) = &mut self.sums {
                sums.add_extent(&owner, &stream.tally);
            }
            let name = StreamName::from(&owner);
            self.counting.add(&Counts {
                records: stream.tally.records,
                blocks: u64::from(stream.sequence - self.streams.next(name) - stream.gaps),
                plain: stream.plain,
                stored: stream.tally.stored,
            });
            self.streams.advance(name, stream.sequence, stream.gaps);
        }
    }

    /// Runs a step on the current extent.
    fn in_extent(
        &mut self,
        act: impl FnOnce(&mut BlockBuilder, &mut OutputFile, &mut Stream) -> Result<()>,
    ) -> Result<()> {
        let file = self.output.blocks();
        if let Some(stream) = &mut self.stream {
            act(&mut self.block_builder, file, stream)?;
        }
        self.region.check_length(file.offset())
    }

    /// Takes over the state of the stream after blocks that a thread builds for the current extent.
    pub(super) fn add_to_extent(&mut self, made: &Stream) {
        if let Some(stream) = &mut self.stream {
            stream.sequence = made.sequence;
            stream.tally.stored += made.tally.stored;
            stream.tally.plain += made.tally.plain;
            stream.plain += made.plain;
            stream.tally.records += made.tally.records;
        }
    }

    /// Appends blocks that a thread has built. They are counted already.
    pub(super) fn add_made(&mut self, bytes: &[u8]) -> Result<()> {
        let file = self.output.blocks();
        file.buffer().extend_from_slice(bytes);
        file.block_ended()?;
        self.region.check_length(file.offset())
    }

    /// The framing and the target size of blocks, which determine where blocks end.
    pub(super) fn cuts(&self) -> (Framing, usize) {
        (self.block_builder.framing(), self.block_builder.target())
    }

    /// Takes the block builders of the threads, one for each, if there are several. [`RegionBuilder::keep_block_builders`] puts
    /// them back.
    pub(super) fn take_block_builders(&mut self) -> Vec<BlockBuilder> {
        std::mem::take(&mut self.block_builders)
    }

    pub(super) fn keep_block_builders(&mut self, block_builders: Vec<BlockBuilder>) {
        self.block_builders = block_builders;
    }

    /// Counts records of the current extent.
    pub(crate) fn add_records(&mut self, records: u64) {
        if let Some(stream) = &mut self.stream {
            stream.tally.records += records;
        }
    }

    /// Adds records and events to the current extent, by their places. `all` begins with `places`.
    pub(super) fn push_all(&mut self, from: PackedRecords<'_>, places: &[u32], all: &[u32]) -> Result<()> {
        self.in_extent(|block_builder, file, stream| block_builder.push_all(file, stream, from, places, all))
    }

    /// Adds a record or an event to the current extent.
    pub(super) fn pushed(&mut self, record: &Pushed<'_>) -> Result<()> {
        self.in_extent(|block_builder, file, stream| block_builder.pushed(file, stream, record))
    }

    /// Adds an event to the current extent, as a block.
    pub(crate) fn push_event(&mut self, kind: u8, bytes: &[u8]) -> Result<()> {
        self.in_extent(|block_builder, file, stream| block_builder.event(file, stream, kind, bytes))
    }

    /// Adds a data block to the current extent, compressed as the options say.
    pub(crate) fn plain_block(&mut self, plain: &[u8]) -> Result<()> {
        self.in_extent(|block_builder, file, stream| block_builder.plain_block(file, stream, plain))
    }

    /// Adds a stored block to the current extent, as it is.
    pub(crate) fn stored_block(&mut self, block: &StoredBlock<'_>) -> Result<()> {
        self.in_extent(|block_builder, file, stream| block_builder.stored_block(file, stream, block))
    }

    /// Ends the current extent.
    pub(crate) fn end_extent(&mut self) -> Result<()> {
        self.in_extent(|block_builder, file, stream| block_builder.end_data_block(file, stream))
    }

    /// Commits the current region: its message is written after its blocks (WRT-5). A region without blocks leaves
    /// nothing in the files.
    pub(crate) fn commit_region(&mut self, wrapped: bool) -> Result<()> {
        self.settle();
        let region = std::mem::replace(&mut self.region, OpenRegion::new(0));
        if region.length() > 0 {
            let too_many = || Error::bare(ErrorCode::LimitExceeded, "fewer than 2^32 regions", "one more");
            let sequence = u32::try_from(self.directory.len()).map_err(|_| too_many())?;
            let content = region.message(sequence, &self.shape, wrapped);
            let message = content.build()?;
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
            self.regions += 1;
            self.news.region_written(sequence as usize, region.length());
            self.dictionaries.commit();
            self.recent.push(content, message.len());
        } else {
            self.give_up_dictionaries()?;
        }
        self.streams.commit_region();
        if let Some(sums) = &mut self.sums {
            region.add_to(sums);
        }
        self.counts.add(&std::mem::take(&mut self.counting));
        // Keep its memory.
        self.region = region;
        self.region.clear();
        Ok(())
    }

    /// Undoes the current region: no byte and no sequence number of it stays (WRT-8).
    pub(crate) fn give_up_region(&mut self) -> Result<()> {
        self.block_builder.forget();
        self.stream = None;
        let region = std::mem::replace(&mut self.region, OpenRegion::new(0));
        self.streams.give_up_region(region.backwards());
        self.output.blocks().cut(region.data_offset)?;
        self.give_up_dictionaries()
    }

    /// Appends a metadata block and returns where it begins.
    fn metadata_block(&mut self, kind: u8, message: &[u8]) -> Result<u64> {
        let file = self.output.metadata();
        let offset = file.offset();
        append_metadata(
            file.buffer(),
            self.block_builder.seal(),
            kind,
            self.metadata_sequence,
            message,
        );
        self.metadata_sequence += 1;
        Ok(offset)
    }
}

/// Appends a metadata block to a buffer that ends at a multiple of 8.
pub(crate) fn append_metadata(to: &mut Vec<u8>, seal: Seal, kind: u8, sequence: u32, message: &[u8]) {
    append_metadata_block(to, seal, kind, sequence, 0, message);
}

/// The same. `dictionary` is the number in a dictionary block, else 0.
fn append_metadata_block(to: &mut Vec<u8>, seal: Seal, kind: u8, sequence: u32, dictionary: u16, message: &[u8]) {
    // Messages are smaller than 2^31 bytes, by the check of their builder.
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
