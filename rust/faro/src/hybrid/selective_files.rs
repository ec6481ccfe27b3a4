//! The files of a selective store: the blocks that were not delivered when their region left the memory (spec, HYB-5).

use super::image::Image;
use super::part::Location;
use crate::block::BlockHeader;
use crate::bytes::{FileHeader, pad8};
use crate::error::{Error, Result};
use crate::index::RegionIndex;
use crate::writer::{StoredBlock, Writer, WriterOptions};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// About how many bytes are read from the image at once.
const COPIED: u64 = 256 << 10;

pub(super) struct SelectiveFiles {
    name: PathBuf,
    options: WriterOptions,
    writer: Option<Writer>,
    /// By partition, and of shared blocks, the sequence after the last block that was written.
    own: Vec<u64>,
    shared: u64,
    /// Where the data file ends.
    end: u64,
    pub properties: BTreeMap<String, String>,
    finished: Vec<PathBuf>,
}

/// Blocks of an extent that were not delivered, from `start` to `end` in the image.
struct Rest {
    owner: ExtentOwner,
    start: u64,
    end: u64,
}

enum ExtentOwner {
    Partition(u32),
    /// None for all.
    Shared(Option<Vec<u32>>),
}

impl SelectiveFiles {
    /// `options` are the caller's, with the file_id of the image.
    pub(super) fn new(name: PathBuf, options: WriterOptions) -> Self {
        SelectiveFiles {
            name,
            own: vec![0; options.partition_count as usize],
            options,
            writer: None,
            shared: 0,
            end: FileHeader::SIZE as u64,
            properties: BTreeMap::new(),
            finished: Vec::new(),
        }
    }

    /// Writes what is left of a region, and tells the image where it is.
    pub(super) fn write(&mut self, image: &Image, number: usize) -> Result<()> {
        let region = {
            let mut reader = image.reader()?;
            let Some(reader) = reader.as_mut() else {
                return Err(Error::argument("a region", "none"));
            };
            reader.poll()?;
            reader.region(number)?
        };
        let rests = self.rests(image, &region)?;
        let before = self.end;
        let mut stretches = BTreeMap::new();
        if !rests.is_empty() {
            if self.writer.is_none() {
                self.writer = Some(Writer::create(&self.name, self.options.clone())?);
            }
            for rest in &rests {
                stretches.insert(rest.start, (rest.end, self.end));
                self.end += rest.end - rest.start;
            }
            self.copy(image, &rests)?;
        }
        let written = self.end - before;
        image.with(|state, counts| state.wrote(number, Location::Stretches(stretches), None, written, counts));
        Ok(())
    }

    fn rests(&self, image: &Image, region: &RegionIndex) -> Result<Vec<Rest>> {
        let mut rests = Vec::new();
        let first = self.options.first_partition;
        let number = region.sequence() as usize;
        // In the order that a region writer wants; a sparse region has another.
        let turn = first + self.options.rotation;
        let mut slots: Vec<_> = region.slots().collect();
        slots.sort_by_key(|slot| (slot.partition < turn, slot.partition));
        for slot in slots {
            let progress = image.with(|state, _| state.progress((slot.partition - first) as usize));
            let from = progress.map_or(0, |progress| progress.wanted(number, false));
            if let Some(start) = rest(image, slot.extent.offset, slot.extent.end(), from)? {
                rests.push(Rest {
                    owner: ExtentOwner::Partition(slot.partition),
                    start,
                    end: slot.extent.end(),
                });
            }
        }
        for shared in region.shared() {
            let all = first..first + self.options.partition_count;
            let members: Option<Vec<u32>> = (!shared.members.is_all()).then(|| shared.members.iter().collect());
            let from = |partition: u32| {
                let progress = image.with(|state, _| state.progress((partition - first) as usize));
                progress.map_or(0, |progress| progress.wanted(number, true))
            };
            let from = match &members {
                None => all.map(from).min(),
                Some(members) => members.iter().copied().map(from).min(),
            };
            if let Some(start) = rest(
                image,
                shared.extent.offset,
                shared.extent.end(),
                from.unwrap_or(u64::MAX),
            )? {
                rests.push(Rest {
                    owner: ExtentOwner::Shared(members),
                    start,
                    end: shared.extent.end(),
                });
            }
        }
        Ok(rests)
    }

    fn copy(&mut self, image: &Image, rests: &[Rest]) -> Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let first_partition = self.options.first_partition;
        let mut written = writer.region()?;
        let mut blocks = Vec::new();
        for rest in rests {
            let partition = match &rest.owner {
                ExtentOwner::Partition(partition) => Some(*partition),
                ExtentOwner::Shared(members) => {
                    written.shared(members.as_deref())?;
                    None
                }
            };
            let mut at = rest.start;
            while at < rest.end {
                // Many blocks with one read.
                let first = size_in_file(&header_at(image, at)?);
                let size = (rest.end - at).min(first.max(COPIED));
                blocks.resize(usize::try_from(size).unwrap_or(usize::MAX), 0);
                image.read(at, &mut blocks)?;
                let mut from = 0;
                while let Some((header, stored, end)) = whole_block(&blocks, from) {
                    written.sequence(header.sequence)?;
                    let block = StoredBlock::new(stored, header.plain_size);
                    written.stored_block(partition, block.kind(header.kind).codec(header.codec))?;
                    let stream = match partition {
                        Some(partition) => &mut self.own[(partition - first_partition) as usize],
                        None => &mut self.shared,
                    };
                    *stream = u64::from(header.sequence) + 1;
                    from = end;
                }
                at += from as u64;
            }
        }
        written.end()
    }

    /// Ends the files, if there are any: the footer says that all else was delivered.
    pub(super) fn finish(&mut self, image: &Image) -> Result<()> {
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };
        let mut shared = self.shared;
        for (at, own) in self.own.iter().enumerate() {
            let Some(progress) = image.with(|state, _| state.progress(at)) else {
                continue;
            };
            let partition = self.options.first_partition + at as u32;
            writer.skip_to(partition, sequence(progress.own().max(*own)))?;
            shared = shared.max(progress.shared());
        }
        writer.skip_shared_to(sequence(shared))?;
        for (key, value) in std::mem::take(&mut self.properties) {
            writer.property(key, value)?;
        }
        let summary = writer.finish()?;
        self.finished = summary
            .files
            .paths()
            .into_iter()
            .map(|(_, path)| path.to_path_buf())
            .collect();
        Ok(())
    }

    /// Removes the files. The index goes first, because it is the commit.
    pub(super) fn remove(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            // It fails only in a process that was forked, whose files these are not.
            let _ = writer.abort();
        }
        for path in self.finished.drain(..).rev() {
            // What cannot be removed stays, finished as it is (WRT-6).
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Where the blocks of an extent begin that have this sequence or a later one, if there are such.
fn rest(image: &Image, start: u64, end: u64, from: u64) -> Result<Option<u64>> {
    if from == u64::MAX {
        return Ok(None);
    }
    let mut at = start;
    while from > 0 && at < end {
        let header = header_at(image, at)?;
        if u64::from(header.sequence) >= from {
            break;
        }
        at += size_in_file(&header);
    }
    Ok((at < end).then_some(at))
}

/// The block at an offset: its header, its stored payload, and where it ends. None if it is not whole.
fn whole_block(bytes: &[u8], at: usize) -> Option<(BlockHeader, &[u8], usize)> {
    let rest = bytes.get(at..)?;
    let header = BlockHeader::parse(rest.first_chunk()?);
    let end = usize::try_from(size_in_file(&header)).ok()?;
    let block = rest.get(..end)?;
    let stored = block.get(BlockHeader::SIZE..BlockHeader::SIZE + header.stored_size as usize)?;
    Some((header, stored, at + end))
}

fn header_at(image: &Image, at: u64) -> Result<BlockHeader> {
    let mut bytes = [0; BlockHeader::SIZE];
    image.read(at, &mut bytes)?;
    Ok(BlockHeader::parse(&bytes))
}

fn size_in_file(header: &BlockHeader) -> u64 {
    BlockHeader::SIZE as u64 + pad8(header.stored_size)
}

/// A sequence is below 2^32.
fn sequence(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
