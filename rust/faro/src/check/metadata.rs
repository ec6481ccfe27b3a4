//! The metadata blocks of a finished file, in file order (spec, CHK-1 steps 2 to 5).

use super::runs::Prefixes;
use super::statistics::Counter;
use crate::block::dictionary;
use crate::block::read_metadata;
use crate::block::{self, BlockHeader, Context, Kinds, Sequence};
use crate::bytes::{FileHeader, FileKind, Framing};
use crate::error::{Error, ErrorCode, Result};
use crate::index::RegionIndex;
use crate::index::dictionaries;
use crate::reader::Reader;

/// Checks the metadata blocks, and counts the stored bytes of the regions.
pub(super) fn check(reader: &Reader, stored: &mut Option<Counter<'_>>) -> Result<()> {
    let source = reader.output().index_file();
    let blame = |code, offset, expected: String, found: String| source.blame(Error::at(code, offset, expected, found));
    let (header, directory, end) = (reader.header(), &reader.footer().regions, reader.footer_offset());
    let single = header.kind == FileKind::Single;
    let (limits, seal) = (reader.output().limits(), reader.output().opened.files.seal);
    let start = FileHeader::SIZE as u64;
    let (mut offset, mut count, mut next) = (start, 0u64, 0usize);
    let dictionaries = &reader.footer().dictionaries;
    let mut dictionaries_found = 0;
    let mut prefixes = Prefixes::of(reader);
    while offset < end {
        let entry = directory.get(next);
        let mut bound = end;
        let mut kinds = Kinds {
            region: true,
            skippable: true,
            schema: offset == start && header.framing == Framing::Arrow,
            dictionary: single && header.has_dictionaries(),
            ..Kinds::default()
        };
        if let Some(entry) = entry.filter(|_| single) {
            if offset == entry.data_offset {
                offset = entry.message_offset;
                kinds = Kinds {
                    region: true,
                    ..Kinds::default()
                };
            } else {
                bound = entry.data_offset;
                kinds.region = false;
            }
        }
        // At most as many as in the footer, and that count was checked.
        let before = header.has_dictionaries().then_some(dictionaries_found as u32);
        let context = Context::metadata(limits, seal, kinds, Sequence::Is(count), before);
        let (found, message) = read_metadata(source, offset, bound, &context)?;
        if found.kind == block::REGION {
            let entry = entry
                .filter(|entry| entry.message_offset == offset && entry.message_size == found.stored_size)
                .ok_or_else(|| {
                    let expected = "a region message where the directory has one".to_string();
                    let found = format!("one of {} bytes that it does not have", found.stored_size);
                    blame(ErrorCode::InconsistentIndex, offset, expected, found)
                })?;
            // Fewer than 2^32 regions, since each has 32 bytes in the footer message.
            let region = reader
                .output()
                .index_region(next as u32, entry, &message)
                .map_err(|error| source.blame(error))?;
            prefixes.check(&region)?;
            if let Some(stored) = stored {
                count_stored(&region, header.first_partition, stored);
            }
            next += 1;
        }
        if found.kind == block::DICTIONARY {
            dictionaries
                .get(dictionaries_found)
                .filter(|entry| entry.offset == offset && entry.size == found.stored_size)
                .ok_or_else(|| {
                    let expected = "a dictionary where the footer has one of its number".to_string();
                    let found = format!("one of {} bytes that it does not have", found.stored_size);
                    blame(ErrorCode::InconsistentIndex, offset, expected, found)
                })?;
            dictionary::check(&message, offset).map_err(|error| source.blame(error))?;
            dictionaries_found += 1;
        }
        count += 1;
        offset += found.size_in_file();
    }
    if !single {
        for (at, entry) in dictionaries.iter().enumerate() {
            let data = reader.output().data_file();
            dictionaries::read(data, limits, seal, at as u32 + 1, entry, true)?;
        }
        dictionaries_found = dictionaries.len();
    }
    if dictionaries_found < dictionaries.len() {
        let expected = format!("{} dictionaries, as the footer says", dictionaries.len());
        let found = dictionaries_found.to_string();
        let offset = end + BlockHeader::SIZE as u64;
        return Err(blame(ErrorCode::InconsistentIndex, offset, expected, found));
    }
    if next < directory.len() {
        let expected = format!("{} region messages, as the directory says", directory.len());
        return Err(blame(
            ErrorCode::InconsistentIndex,
            end + BlockHeader::SIZE as u64,
            expected,
            next.to_string(),
        ));
    }
    let sequence = reader.footer_sequence();
    if u64::from(sequence) != count {
        let expected = format!("sequence {count} in the footer's block");
        return Err(blame(
            ErrorCode::InconsistentIndex,
            end + 12,
            expected,
            sequence.to_string(),
        ));
    }
    Ok(())
}

fn count_stored(region: &RegionIndex, first: u32, stored: &mut Counter<'_>) {
    for slot in region.slots() {
        stored.add(first, Some(slot.partition), None, slot.extent.length);
    }
    for shared in region.shared() {
        stored.add(first, None, Some(&shared.members), shared.extent.length);
    }
}
