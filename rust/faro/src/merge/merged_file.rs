//! The two files of a merge: what is committed, the open region, and the push that appends (spec, MRG-7 to MRG-10).

use super::growing_file::GrowingFile;
use super::options::MergeOptions;
use crate::block::{self, ANY_PARTITION, BlockHeader, CODEC_NONE, Seal, dictionary};
use crate::bytes::{FileHeader, FileKind, Tail};
use crate::error::{Error, ErrorCode, FileRole, Result};
use crate::index::{Holdings, LARGEST_REGION};
use crate::message::{DictionaryEntry, Footer, Property, Region, RegionEntry, Run, Schema};
use crate::storage::Files;
use crate::writer::{Durability, append_metadata};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// What dictionaries are known by: the SHA-256 of their bytes.
type Known = [u8; 32];

/// The region that is not committed yet: the runs of committed pushes, with their partitions.
#[derive(Debug, Default)]
struct OpenRegion {
    start: u64,
    runs: Vec<(u32, Run)>,
}

/// What a push has appended so far.
#[derive(Debug)]
struct Appended {
    /// Where its bytes begin.
    start: u64,
    /// Where its first block begins.
    blocks_start: u64,
    runs: Vec<(u32, Run)>,
    /// How many dictionaries the file had before it.
    dictionaries_before: usize,
    /// The numbers in the file of the fragment's dictionaries.
    numbers: HashMap<u16, u16>,
}

/// The files of a merge.
#[derive(Debug)]
pub(super) struct MergedFile {
    // The index comes first: without it the data file is not an output.
    index: GrowingFile,
    data: GrowingFile,
    pub header: FileHeader,
    seal: Seal,
    pub files: Files,
    durability: Durability,
    /// Where the last metadata block in the index ends, and how many there are.
    index_end: u64,
    metadata_blocks: u32,
    regions: Vec<RegionEntry>,
    dictionaries: Vec<DictionaryEntry>,
    known: HashMap<Known, u16>,
    open: OpenRegion,
    push: Option<Appended>,
    /// The emptied list of a push that has ended, for the next one.
    spare_runs: Vec<(u32, Run)>,
    holdings: Holdings,
    /// The next sequence of each partition.
    sequences: HashMap<u32, u32>,
    /// The runs of the committed regions.
    committed_runs: u64,
    /// Whether a commit was not synced.
    is_unsynced: bool,
}

/// What a file that is resumed has.
#[derive(Default)]
pub(super) struct Committed {
    pub data_end: u64,
    pub index_end: u64,
    pub metadata_blocks: u32,
    pub regions: Vec<RegionEntry>,
    /// Each with its bytes' SHA-256.
    pub dictionaries: Vec<(DictionaryEntry, Known)>,
    pub holdings: Holdings,
    pub sequences: HashMap<u32, u32>,
    pub runs: u64,
}

/// The SHA-256 of a dictionary.
pub(super) fn known_by(dictionary: &[u8]) -> Known {
    Sha256::digest(dictionary).into()
}

impl MergedFile {
    /// Creates both files, with their headers and the schema (MRG-4).
    pub(super) fn create(files: Files, options: &MergeOptions) -> Result<Self> {
        let Files::Paired { data, index } = &files else {
            return Err(Error::argument("the NAME of a pair", "a single file"));
        };
        let header = options.header();
        let mut data = GrowingFile::create(data, FileRole::Data)?;
        let index = GrowingFile::create(index, FileRole::Index).and_then(|mut index| {
            let started = begin(&mut data, &mut index, &header, options);
            started
                .inspect_err(|_| drop(index.remove()))
                .map(|blocks| (index, blocks))
        });
        let (index, metadata_blocks) = index.inspect_err(|_| drop(data.remove()))?;
        let committed = Committed {
            data_end: data.end(),
            index_end: index.end(),
            metadata_blocks,
            ..Committed::default()
        };
        Ok(MergedFile::new(files, header, (data, index), options, committed))
    }

    /// Goes on with what is committed. Both files are cut there.
    pub(super) fn resume(
        files: Files,
        header: FileHeader,
        (mut data, mut index): (GrowingFile, GrowingFile),
        options: &MergeOptions,
        committed: Committed,
    ) -> Result<Self> {
        data.take_back(committed.data_end);
        index.take_back(committed.index_end);
        index.cut()?;
        data.cut()?;
        Ok(MergedFile::new(files, header, (data, index), options, committed))
    }

    fn new(
        files: Files,
        header: FileHeader,
        (data, index): (GrowingFile, GrowingFile),
        options: &MergeOptions,
        committed: Committed,
    ) -> Self {
        let entries = committed.dictionaries.iter().map(|(entry, _)| *entry).collect();
        // Numbers have 16 bits (DIC-3), so there are no more.
        let known = std::iter::zip(1..=u16::MAX, &committed.dictionaries).map(|(number, (_, known))| (*known, number));
        MergedFile {
            known: known.collect(),
            index,
            data,
            seal: Seal::new(&header.file_id),
            header,
            files,
            durability: options.durability,
            index_end: committed.index_end,
            metadata_blocks: committed.metadata_blocks,
            regions: committed.regions,
            dictionaries: entries,
            open: OpenRegion::default(),
            push: None,
            spare_runs: Vec::new(),
            holdings: committed.holdings,
            sequences: committed.sequences,
            committed_runs: committed.runs,
            is_unsynced: false,
        }
    }

    /// The attempt of a producer that has a run here.
    pub(super) fn attempt(&self, producer: u64) -> Option<u64> {
        self.holdings.attempt(producer)
    }

    /// Begins to append a push.
    pub(super) fn begin_push(&mut self) {
        self.push = Some(Appended {
            start: self.data.end(),
            blocks_start: self.data.end(),
            runs: std::mem::take(&mut self.spare_runs),
            dictionaries_before: self.dictionaries.len(),
            numbers: HashMap::new(),
        });
    }

    /// Takes back all that the push has appended (MRG-8).
    pub(super) fn give_up_push(&mut self) {
        if let Some(push) = self.push.take() {
            self.data.take_back(push.start);
            self.dictionaries.truncate(push.dictionaries_before);
            self.known
                .retain(|_, number| usize::from(*number) <= push.dictionaries_before);
        }
    }

    /// A dictionary of the push, with its number in the producer's output; `at` is its place in the fragment.
    pub(super) fn dictionary(&mut self, number: u16, content: &[u8], at: u64) -> Result<()> {
        let known_by = known_by(content);
        let in_file = match self.known.get(&known_by) {
            Some(number) => *number,
            None => {
                let Ok(next) = u16::try_from(self.dictionaries.len() + 1) else {
                    let expected = format!("at most {} dictionaries in a file", dictionary::MOST);
                    return Err(Error::at(ErrorCode::LimitExceeded, at, expected, "one more").in_fragment());
                };
                self.end_open_region()?;
                self.append_dictionary(next, content)?;
                self.known.insert(known_by, next);
                next
            }
        };
        if let Some(push) = &mut self.push {
            push.numbers.insert(number, in_file);
            push.blocks_start = self.data.end();
        }
        Ok(())
    }

    /// Ends the open region before the push appends its first bytes.
    fn end_open_region(&mut self) -> Result<()> {
        if !self.open.runs.is_empty() {
            self.end_region()?;
        }
        Ok(())
    }

    fn append_dictionary(&mut self, number: u16, content: &[u8]) -> Result<()> {
        let entry = DictionaryEntry {
            offset: self.data.end(),
            // It was within the limit, which has 32 bits.
            size: content.len() as u32,
            reserved: 0,
        };
        let header = BlockHeader {
            stored_size: entry.size,
            plain_size: entry.size,
            partition: ANY_PARTITION,
            sequence: u32::from(number) - 1,
            kind: block::DICTIONARY,
            codec: CODEC_NONE,
            dictionary: number,
            checksum: 0,
        };
        let padding = header.size_in_file() as usize - BlockHeader::SIZE - content.len();
        self.dictionaries.push(entry);
        self.data.append(&header.encode(self.seal, content))?;
        self.data.append(content)?;
        self.data.append(&[0; 8][..padding])
    }

    /// A block of the push, if the file does not have it yet (MRG-7). False if there is a gap before it. `rest` are its
    /// bytes after the header, and `at` is its place in the fragment.
    pub(super) fn block(
        &mut self,
        of: &FileHeader,
        from: Seal,
        header: &BlockHeader,
        rest: &[u8],
        at: u64,
    ) -> Result<bool> {
        let Some(push) = &mut self.push else { return Ok(true) };
        let (partition, number) = (header.partition, u64::from(header.sequence));
        let held = self.holdings.held(of.producer, partition);
        let current = push.runs.last_mut().filter(|(whose, _)| *whose == partition);
        let count = match &current {
            Some((_, run)) => u64::from(run.first_block) + u64::from(run.blocks),
            None => held.blocks,
        };
        if number < count {
            return Ok(true);
        }
        if held.is_complete {
            return Err(Error::at(
                ErrorCode::InconsistentIndex,
                at + block::field::SEQUENCE as u64,
                format!("no block after the last, of which there are {count}"),
                format!("number {number}"),
            )
            .in_fragment());
        }
        if number > count {
            return Ok(false);
        }
        let in_run = current.as_ref().map_or(0, |(_, run)| run.blocks);
        let before = self.sequences.get(&partition).copied().unwrap_or(0);
        // The largest sequence is never given, so that the next number always fits.
        let too_many = || {
            let expected = "fewer than 2^32 - 1 blocks in a partition of a merged file";
            Error::at(ErrorCode::LimitExceeded, at, expected, "one more").in_fragment()
        };
        let sequence = before
            .checked_add(in_run)
            .filter(|next| *next < u32::MAX)
            .ok_or_else(too_many)?;
        if push.runs.is_empty() && self.open.runs.last().is_some_and(|(last, _)| partition < *last) {
            self.end_region()?;
        }
        let Some(push) = &mut self.push else { return Ok(true) };
        let region_start = match self.open.runs.is_empty() {
            true => push.blocks_start,
            false => self.open.start,
        };
        let size = header.size_in_file();
        if self.data.end() + size - region_start > LARGEST_REGION {
            let expected = format!("a region of at most {LARGEST_REGION} bytes");
            return Err(Error::at(ErrorCode::LimitExceeded, at, expected, "a larger push").in_fragment());
        }
        let mut moved = *header;
        moved.sequence = sequence;
        moved.dictionary = match header.dictionary {
            0 => 0,
            // DIC-9; the intake has seen the dictionary.
            number => push.numbers.get(&number).copied().unwrap_or(0),
        };
        let to = moved.checked_bytes();
        let checksum = self
            .seal
            .moved(&to, from, &header.checked_bytes(), header.checksum, header.stored_size);
        match push.runs.last_mut().filter(|(whose, _)| *whose == partition) {
            Some((_, run)) => {
                run.blocks += 1;
                run.length += (size / 8) as u32;
            }
            None => push.runs.push((
                partition,
                Run {
                    producer: of.producer,
                    attempt: of.attempt,
                    first_block: header.sequence,
                    blocks: 1,
                    // Regions have fewer units than 2^32, and a run is inside one.
                    length: (size / 8) as u32,
                    flags: 0,
                },
            )),
        }
        let mut head = [0; BlockHeader::SIZE];
        head[..block::field::CHECKSUM].copy_from_slice(&to);
        head[block::field::CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        self.data.append(&head)?;
        self.data.append(rest)?;
        Ok(true)
    }

    /// Commits the push. False if it has appended nothing (MRG-9).
    pub(super) fn commit_push(&mut self, last: bool) -> bool {
        let Some(push) = self.push.take() else { return false };
        if push.runs.is_empty() {
            self.push = Some(push);
            self.give_up_push();
            return false;
        }
        if self.open.runs.is_empty() {
            self.open.start = push.blocks_start;
        }
        let mut runs = push.runs;
        for (_, run) in &mut runs {
            run.flags = if last { Run::LAST } else { 0 };
        }
        let before = self.open.runs.len();
        // Together and first: a copy of a run that was just put together waits for the stores to the tables.
        self.open.runs.append(&mut runs);
        for (partition, run) in &self.open.runs[before..] {
            *self.sequences.entry(*partition).or_default() += run.blocks;
            // Each block was the next one, and none followed the last.
            let added = self.holdings.add(*partition, run);
            debug_assert_eq!(added, Ok(()));
        }
        self.spare_runs = runs;
        true
    }

    /// The bytes of the open region.
    pub(super) fn open_bytes(&self) -> u64 {
        match self.open.runs.is_empty() {
            true => 0,
            false => self.data.end() - self.open.start,
        }
    }

    /// Ends the open region, if it has runs (MRG-10). What a push has appended stays after it.
    pub(super) fn end_region(&mut self) -> Result<()> {
        if self.open.runs.is_empty() {
            return self.sync_again();
        }
        let region = self.region_message();
        let message = region.build()?;
        let mut block = Vec::new();
        append_metadata(&mut block, self.seal, block::REGION, self.metadata_blocks, &message);
        self.data.flush()?;
        if self.durability == Durability::Commit {
            self.data.sync()?;
        }
        let written = self.index.append(&block).and_then(|()| self.index.flush());
        if let Err(error) = written {
            self.take_index_back();
            return Err(error);
        }
        self.regions.push(RegionEntry {
            message_offset: self.index_end,
            // A message is below 2^31 bytes.
            message_size: message.len() as u32,
            flags: 0,
            data_offset: region.data_offset,
            data_length: region.data_length,
        });
        self.index_end = self.index.end();
        self.metadata_blocks += 1;
        self.committed_runs += self.open.runs.len() as u64;
        self.open.runs.clear();
        self.is_unsynced = self.durability == Durability::Commit;
        self.sync_again()
    }

    /// Writes what was appended.
    pub(super) fn write_buffer(&mut self) -> Result<()> {
        self.data.flush()
    }

    /// Gives back the memory for appending, if nothing waits in it.
    pub(super) fn release_buffer(&mut self) {
        self.data.release_buffer();
    }

    /// Syncs the index, if a commit was not synced.
    fn sync_again(&mut self) -> Result<()> {
        if self.is_unsynced {
            self.index.sync()?;
            self.is_unsynced = false;
        }
        Ok(())
    }

    /// Takes back what was written to the index after the last metadata block. What stays there is not a whole block.
    fn take_index_back(&mut self) {
        self.index.take_back(self.index_end);
        // If the system refuses that too, the next message takes the place of what is there.
        let _ = self.index.cut();
    }

    /// SRT-8, with rotation 0.
    fn region_message(&self) -> Region {
        let OpenRegion { start, runs } = &self.open;
        let mut extents: Vec<(u32, u32)> = Vec::new();
        for (partition, run) in runs {
            match extents.last_mut().filter(|(whose, _)| whose == partition) {
                Some((_, length)) => *length += run.length,
                None => extents.push((*partition, run.length)),
            }
        }
        let is_sparse = 2 * extents.len() as u64 + 1 < u64::from(self.header.partition_count);
        let mut offsets = vec![0];
        let mut end = 0;
        if is_sparse {
            for (_, length) in &extents {
                end += length;
                offsets.push(end);
            }
        } else {
            let mut rest = extents.iter().peekable();
            for partition in self.header.partitions() {
                if let Some((_, length)) = rest.next_if(|(whose, _)| *whose == partition) {
                    end += length;
                }
                offsets.push(end);
            }
        }
        Region {
            // There are fewer regions than blocks of metadata, which have 32 bits.
            sequence: self.regions.len() as u32,
            data_offset: *start,
            data_length: 8 * u64::from(end),
            offsets,
            rotation: 0,
            partitions: is_sparse.then(|| extents.iter().map(|(partition, _)| *partition).collect()),
            shared: Vec::new(),
            runs: Some(runs.iter().map(|(_, run)| *run).collect()),
            first_block: None,
        }
    }

    /// Ends the open region and finishes the file (MRG-10). Returns the runs of all regions.
    pub(super) fn finish(&mut self, properties: &[Property], created_by: Option<&String>) -> Result<u64> {
        self.give_up_push();
        self.end_region()?;
        let data_end = self.committed_end();
        self.data.take_back(data_end);
        self.data.flush()?;
        self.data.cut()?;
        let footer = Footer {
            regions: self.regions.clone(),
            data_size: data_end,
            statistics: None,
            properties: properties.to_vec(),
            created_by: created_by.cloned(),
            dictionaries: self.dictionaries.clone(),
            streams: None,
        };
        let message = footer.build()?;
        let mut end = Vec::new();
        append_metadata(&mut end, self.seal, block::FOOTER, self.metadata_blocks, &message);
        let tail = Tail {
            footer_offset: self.index_end,
            // A message is below 2^31 bytes.
            footer_size: message.len() as u32,
        };
        end.extend_from_slice(&tail.encode());
        let is_durable = self.durability == Durability::Commit;
        if is_durable {
            self.data.sync()?;
        }
        let written = self
            .index
            .append(&end)
            .and_then(|()| self.index.flush())
            .and_then(|()| match is_durable {
                true => self.index.sync(),
                false => Ok(()),
            });
        if let Err(error) = written {
            self.take_index_back();
            return Err(error);
        }
        Ok(self.committed_runs)
    }

    /// Cuts both files at the last commit.
    pub(super) fn cut(&mut self) -> Result<()> {
        self.give_up_push();
        self.open.runs.clear();
        self.data.take_back(self.committed_end());
        self.index.take_back(self.index_end);
        self.data.cut()?;
        self.index.cut()
    }

    /// Where the last committed region ends in the data file.
    fn committed_end(&self) -> u64 {
        self.regions
            .last()
            .map_or(FileHeader::SIZE as u64, |last| last.data_offset + last.data_length)
    }

    /// The regions that are committed.
    pub(super) fn region_count(&self) -> usize {
        self.regions.len()
    }

    /// Removes both files.
    pub(super) fn remove(&self) -> Result<()> {
        self.index.remove()?;
        self.data.remove()
    }
}

/// Writes the headers and the schema; returns the number of metadata blocks.
fn begin(data: &mut GrowingFile, index: &mut GrowingFile, header: &FileHeader, options: &MergeOptions) -> Result<u32> {
    let mut data_header = header.clone();
    data_header.kind = FileKind::Data;
    data.append(&data_header.encode())?;
    let mut start = header.encode().to_vec();
    if let Some(arrow) = &options.schema {
        let message = Schema { arrow: arrow.clone() }.build()?;
        append_metadata(&mut start, Seal::new(&header.file_id), block::SCHEMA, 0, &message);
    }
    index.append(&start)?;
    data.flush()?;
    index.flush()?;
    Ok(u32::from(options.schema.is_some()))
}
