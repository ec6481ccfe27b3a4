//! Makes a new index for a data file (spec, REP-5 to REP-7).

use super::cut::{cut_and_append, footer};
use super::report::{Action, RepairReport};
use crate::block::dictionary;
use crate::block::framing;
use crate::block::{self, ANY_PARTITION, BlockHeader, Context, Kinds, Partition, Seal, Sequence};
use crate::bytes::Tail;
use crate::bytes::{FileHeader, FileKind, Framing};
use crate::error::{Error, ErrorCode, FileRole, Result};
use crate::index::LARGEST_REGION;
use crate::limits::Limits;
use crate::message::{DictionaryEntry, RegionEntry, Schema};
use crate::reader::{Window, check_kind, read_header};
use crate::storage::{Files, InputFile, OutputFile, with_extension};
use crate::writer::{OpenRegion, Owner, Shape, append_metadata, sync_folder};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Which partitions read shared blocks. Only the lost index had their members (REP-6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedPolicy {
    /// None: the blocks stay in the file, and no partition gets data that was not for it.
    #[default]
    None,
    /// Every partition. That is right for broadcasts and wrong for multicasts.
    All,
}

/// The options of [`rebuild`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RebuildOptions {
    /// What is taken from the data file at most.
    pub limits: Limits,
    /// Which partitions read shared blocks.
    pub shared: SharedPolicy,
    /// Whether to report only, and change nothing.
    pub dry_run: bool,
    /// The encapsulated Arrow IPC schema message. Framing arrow requires it, since only the lost index had it.
    pub schema: Option<Vec<u8>>,
}

impl RebuildOptions {
    /// Sets `limits`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets `shared`.
    #[must_use]
    pub fn shared(mut self, shared: SharedPolicy) -> Self {
        self.shared = shared;
        self
    }

    /// Sets `dry_run`.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets `schema`.
    #[must_use]
    pub fn schema(mut self, schema: Option<Vec<u8>>) -> Self {
        self.schema = schema;
        self
    }
}

const LOST: &[&str] = &[
    "members of shared extents",
    "runs of merged files",
    "statistics and properties",
    "whether regions are missing at the end",
    "whether the last blocks were ever committed",
];

/// Makes a new index file for the data file of a pair, and cuts the data file after its last valid partition block
/// (REP-5 to REP-7). The report has the fault of the block after it.
///
/// No writer may be at work on the files.
///
/// # Errors
/// `invalid-argument` for a single file, and for framing arrow without a schema message; the faults of HDR-1;
/// `mismatched-pair` for another kind of file; `unsupported-feature` for a writer feature that this library does not
/// know; `limit-exceeded` and `unsupported-codec` when a block exceeds the caller's limits or has a codec that this
/// library does not know, since that is not damage; `io`. The files are unchanged then, except after `io` on writing.
pub fn rebuild(files: &Files, options: &RebuildOptions) -> Result<RepairReport> {
    let temporary = match files {
        Files::Paired { index, .. } | Files::Single(index) => with_extension(index, "rebuild.tmp"),
    };
    rebuild_as(files, &temporary, options)
}

/// As [`rebuild`]. The index has the name `temporary` until it is complete (REP-10).
pub(super) fn rebuild_as(files: &Files, temporary: &Path, options: &RebuildOptions) -> Result<RepairReport> {
    let limits = &options.limits;
    let Files::Paired {
        data: data_path,
        index: index_path,
    } = files
    else {
        return Err(Error::argument(
            "a data file and the name of its index",
            "a single file",
        ));
    };
    let data = InputFile::open(data_path, FileRole::Data)?;
    let header = read_header(&data)?;
    check_kind(&data, &header, FileKind::Data)?;
    header.check_writer_features().map_err(|error| data.blame(error))?;
    let schema = schema_message(&header, options)?;

    let size = data.size()?;
    let mut scan = Scan::new(&header, limits, options.shared);
    let data_end = scan.run(&data, size)?;
    let report = RepairReport {
        action: Action::Rebuilt,
        regions: scan.regions,
        blocks: Some(scan.blocks),
        data_kept: data_end,
        data_cut: size - data_end,
        fault: scan.fault.take(),
        index_kept: 0,
        index_cut: 0,
        orphaned: if options.shared == SharedPolicy::None {
            scan.shared_blocks
        } else {
            0
        },
        lost: LOST,
    };
    if options.dry_run {
        return Ok(report);
    }
    let index = index_bytes(&header, schema.as_deref(), &scan, data_end)?;
    // Only an interrupted rebuild can have left a file with this name.
    let _ = std::fs::remove_file(temporary);
    let mut file = OutputFile::create(temporary.to_path_buf(), FileRole::Index, false)?;
    *file.buffer() = index;
    file.flush()?;
    file.sync()?;
    cut_and_append(data_path, FileRole::Data, data_end, &[])?;
    file.rename(index_path)?;
    file.finish();
    sync_folder(index_path)?;
    Ok(report)
}

/// REP-5, check 5: with framing arrow, and only then, the caller passes the schema.
fn schema_message(header: &FileHeader, options: &RebuildOptions) -> Result<Option<Vec<u8>>> {
    match (&options.schema, header.framing) {
        (Some(arrow), Framing::Arrow) => match framing::encapsulated_fault(arrow) {
            Some(found) => Err(Error::argument("a schema message that is encapsulated", found)),
            None => Schema { arrow: arrow.clone() }.build().map(Some),
        },
        (None, Framing::Arrow) => Err(Error::argument(
            "a schema message for a file with framing arrow",
            "none",
        )),
        (Some(_), _) => Err(Error::argument("no schema for a file without framing arrow", "one")),
        (None, _) => Ok(None),
    }
}

/// The bytes of the whole index file.
fn index_bytes(header: &FileHeader, schema: Option<&[u8]>, scan: &Scan<'_>, data_size: u64) -> Result<Vec<u8>> {
    let mut index = FileHeader {
        kind: FileKind::Index,
        ..header.clone()
    }
    .encode()
    .to_vec();
    let seal = Seal::new(&header.file_id);
    let mut sequence = 0;
    if let Some(schema) = schema {
        append_metadata(&mut index, seal, block::SCHEMA, sequence, schema);
        sequence += 1;
    }
    let mut directory = Vec::with_capacity(scan.messages.len());
    for (message, data_offset, data_length) in &scan.messages {
        directory.push(RegionEntry {
            message_offset: index.len() as u64,
            message_size: message.len() as u32,
            flags: 0,
            data_offset: *data_offset,
            data_length: *data_length,
        });
        append_metadata(&mut index, seal, block::REGION, sequence, message);
        sequence += 1;
    }
    let message = footer(directory, scan.dictionaries.clone(), data_size, "rebuilt").build()?;
    let tail = Tail {
        footer_offset: index.len() as u64,
        footer_size: message.len() as u32,
    };
    append_metadata(&mut index, seal, block::FOOTER, sequence, &message);
    index.extend_from_slice(&tail.encode());
    Ok(index)
}

/// The walk over the blocks of a data file, which groups them into regions (REP-6).
struct Scan<'a> {
    header: &'a FileHeader,
    seal: Seal,
    limits: &'a Limits,
    shape: Shape,
    /// The members for every shared extent.
    members: Option<Arc<[u8]>>,
    region: OpenRegion,
    /// For each region: its message, the offset of its data, and the length of its data.
    messages: Vec<(Vec<u8>, u64, u64)>,
    regions: u64,
    blocks: u64,
    own: HashMap<u32, u32>,
    shared: Option<u32>,
    shared_blocks: u64,
    /// The dictionaries so far.
    dictionaries: Vec<DictionaryEntry>,
    /// Where the last partition block ends, and how many dictionaries come before it.
    end: (u64, usize),
    /// The fault of the block at which the walk ended.
    fault: Option<Error>,
}

impl<'a> Scan<'a> {
    fn new(header: &'a FileHeader, limits: &'a Limits, shared: SharedPolicy) -> Self {
        let members = match shared {
            SharedPolicy::All => None,
            SharedPolicy::None => Some(Arc::from([])),
        };
        Scan {
            header,
            seal: Seal::new(&header.file_id),
            limits,
            shape: Shape {
                first_partition: header.first_partition,
                partition_count: header.partition_count,
                rotation: 0,
                selective: header.is_selective(),
            },
            members,
            region: OpenRegion::new(FileHeader::SIZE as u64),
            messages: Vec::new(),
            regions: 0,
            blocks: 0,
            own: HashMap::new(),
            shared: None,
            shared_blocks: 0,
            dictionaries: Vec::new(),
            end: (FileHeader::SIZE as u64, 0),
            fault: None,
        }
    }

    /// Takes blocks until one fails its checks, and returns where the last valid partition block ends (REP-5, REP-7).
    fn run(&mut self, data: &InputFile, size: u64) -> Result<u64> {
        let mut window = Window::default();
        let mut offset = FileHeader::SIZE as u64;
        while offset < size {
            match self.read_block(data, &mut window, offset, size) {
                Ok(block) => {
                    let take = match block.kind {
                        block::DICTIONARY => Scan::take_dictionary,
                        _ => Scan::take,
                    };
                    take(self, &block, offset).map_err(|error| data.blame(error))?;
                    offset += block.size_in_file();
                    if block.kind != block::DICTIONARY {
                        self.end = (offset, self.dictionaries.len());
                    }
                }
                Err(error)
                    if matches!(
                        error.code,
                        ErrorCode::LimitExceeded | ErrorCode::UnsupportedCodec | ErrorCode::Io
                    ) =>
                {
                    return Err(error);
                }
                Err(error) => {
                    self.fault = Some(error);
                    break;
                }
            }
        }
        self.end_region(offset).map_err(|error| data.blame(error))?;
        // Dictionaries without a region after them are left out (DIC-3).
        let (end, dictionaries) = self.end;
        self.dictionaries.truncate(dictionaries);
        Ok(end)
    }

    fn read_block(&self, data: &InputFile, window: &mut Window, offset: u64, size: u64) -> Result<BlockHeader> {
        let blame = |error| data.blame(error);
        block::check_header_space(offset, size).map_err(blame)?;
        let bytes = window.get(data, offset, BlockHeader::SIZE, size)?;
        let mut fields = [0; BlockHeader::SIZE];
        fields.copy_from_slice(bytes);
        let header = BlockHeader::parse(&fields);
        let context = self.context(&header);
        block::check_count(&header, offset, &context).map_err(blame)?;
        block::check_fits(&header, offset, size).map_err(blame)?;
        block::check_limit(&header, offset, &context).map_err(blame)?;
        let whole = window.get(data, offset, header.size_in_file() as usize, size)?;
        let after = &whole[BlockHeader::SIZE..];
        block::check_whole(&header, after, offset, &context).map_err(blame)?;
        if header.kind == block::DICTIONARY {
            dictionary::check(&after[..header.stored_size as usize], offset).map_err(blame)?;
        }
        Ok(header)
    }

    /// The context of the next block, by its header.
    fn context(&self, header: &BlockHeader) -> Context<'a> {
        // At most 65,535: each had its own 16-bit number.
        let count = self.dictionaries.len() as u32;
        let dictionaries = self.header.has_dictionaries().then_some(count);
        if header.kind == block::DICTIONARY && dictionaries.is_some() {
            let sequence = Sequence::Is(count.into());
            return Context::metadata(self.limits, self.seal, Kinds::DICTIONARY, sequence, dictionaries);
        }
        let (last, selective) = match header.partition {
            ANY_PARTITION => (self.shared, self.header.is_selective()),
            partition => (self.own.get(&partition).copied(), self.header.is_selective()),
        };
        Context {
            limits: self.limits,
            seal: self.seal,
            metadata: false,
            verify: true,
            kinds: Kinds::EXTENT,
            partition: Partition::OfFile(self.header.partitions()),
            sequence: match last {
                None if selective => Sequence::Unknown,
                None => Sequence::Is(0),
                Some(last) if selective => Sequence::Above(last),
                Some(last) => Sequence::Is(u64::from(last) + 1),
            },
            dictionaries,
        }
    }

    /// Adds a valid dictionary, which ends the region before it (REP-6).
    fn take_dictionary(&mut self, block: &BlockHeader, offset: u64) -> Result<()> {
        self.end_region(offset)?;
        self.dictionaries.push(DictionaryEntry {
            offset,
            size: block.stored_size,
            reserved: 0,
        });
        self.region.data_offset = offset + block.size_in_file();
        Ok(())
    }

    /// Adds a valid block to its region.
    fn take(&mut self, block: &BlockHeader, offset: u64) -> Result<()> {
        let owner = match block.partition {
            ANY_PARTITION => Owner::Shared(self.members.clone()),
            partition => Owner::Own(partition - self.header.first_partition),
        };
        let size = block.size_in_file();
        let begins = match (self.region.last(), &owner) {
            (None, _) | (_, Owner::Shared(_)) => false,
            (Some(Owner::Shared(_)), Owner::Own(_)) => true,
            (Some(Owner::Own(last)), Owner::Own(at)) => *at < last,
        };
        if begins || offset + size - self.region.data_offset > LARGEST_REGION {
            self.end_region(offset)?;
        }
        if self.region.last().is_none_or(|last| last != owner) {
            self.region.begin(owner, block.sequence);
        }
        self.region.add(size, offset + size)?;
        self.blocks += 1;
        match block.partition {
            ANY_PARTITION => {
                self.shared = Some(block.sequence);
                self.shared_blocks += 1;
            }
            partition => {
                self.own.insert(partition, block.sequence);
            }
        }
        Ok(())
    }

    fn end_region(&mut self, offset: u64) -> Result<()> {
        let region = std::mem::replace(&mut self.region, OpenRegion::new(offset));
        if region.is_empty() {
            return Ok(());
        }
        if self.regions >= self.limits.max_regions {
            let expected = format!("at most {} regions (max_regions)", self.limits.max_regions);
            return Err(Error::at(
                ErrorCode::LimitExceeded,
                region.data_offset,
                expected,
                "one more",
            ));
        }
        // The caller's limit may be higher than the 32 bits of a region's number.
        let sequence = u32::try_from(self.regions)
            .map_err(|_| Error::bare(ErrorCode::LimitExceeded, "fewer than 2^32 regions", "one more"))?;
        let message = region.message(sequence, &self.shape, false).build()?;
        let most = self.limits.max_message_size;
        if message.len() as u64 > most {
            let expected = format!("a region whose message has at most {most} bytes (max_message_size)");
            let found = format!("one that would have {}", message.len());
            return Err(Error::at(ErrorCode::LimitExceeded, region.data_offset, expected, found));
        }
        self.messages.push((message, region.data_offset, region.length()));
        self.regions += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
