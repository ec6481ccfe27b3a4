//! The rules of the footer's directory, statistics, streams and properties (spec, FTR-2 to FTR-5, FTR-7,
//! FTR-8; INT-5 for reserved fields).

use super::rules::{LARGEST_REGION, LEAST_REGION};
use crate::block::BlockHeader;
use crate::block::dictionary;
use crate::bytes::pad8;
use crate::bytes::{FileHeader, FileKind};
use crate::error::{Error, ErrorCode, Result};
use crate::message::{Footer, RegionEntry};

/// Checks the footer at `footer_offset`. A fault is `inconsistent-index` at the first byte of its message.
pub(crate) fn check_footer(footer: &Footer, header: &FileHeader, footer_offset: u64) -> Result<()> {
    let single = header.kind == FileKind::Single;
    let mut previous = Previous {
        message_end: FileHeader::SIZE as u64,
        data_end: FileHeader::SIZE as u64,
    };
    let verdict = (|| {
        for (number, entry) in footer.regions.iter().enumerate() {
            previous = check_entry(entry, &previous, footer_offset, single)
                .map_err(|found| format!("entry {number} with {found}"))?;
        }
        let data_end = check_dictionaries(footer, header, footer_offset)?;
        let expected_size = if single { footer_offset } else { data_end };
        if footer.data_size != expected_size {
            return Err(format!(
                "a data size of {} in place of {expected_size}",
                footer.data_size
            ));
        }
        check_statistics(footer, header.partition_count)?;
        check_streams(footer, header)?;
        if let Some(pair) = footer
            .properties
            .windows(2)
            .find(|pair| pair[0].key.as_bytes() >= pair[1].key.as_bytes())
        {
            return Err(format!("the property {:?} after {:?}", pair[1].key, pair[0].key));
        }
        Ok(())
    })();
    verdict.map_err(|found: String| {
        let offset = footer_offset + BlockHeader::SIZE as u64;
        Error::at(
            ErrorCode::InconsistentIndex,
            offset,
            "a directory of regions that tile the file",
            found,
        )
    })
}

/// The ends of what comes before a directory entry.
struct Previous {
    message_end: u64,
    data_end: u64,
}

fn check_entry(
    entry: &RegionEntry,
    previous: &Previous,
    footer_offset: u64,
    single: bool,
) -> std::result::Result<Previous, String> {
    let RegionEntry {
        message_offset,
        message_size,
        flags,
        data_offset,
        data_length,
    } = *entry;
    if flags != 0 {
        return Err(format!("flags {flags:X}"));
    }
    if message_offset % 8 != 0 || message_offset < previous.message_end {
        return Err(format!(
            "message offset {message_offset}, where {} or more is expected",
            previous.message_end
        ));
    }
    let message_end = message_offset.checked_add(BlockHeader::SIZE as u64 + pad8(message_size));
    let Some(message_end) = message_end.filter(|end| *end <= footer_offset) else {
        return Err(format!(
            "message offset {message_offset}, too far for {message_size} bytes"
        ));
    };
    if data_length % 8 != 0 || !(LEAST_REGION..=LARGEST_REGION).contains(&data_length) {
        return Err(format!("a data length of {data_length}"));
    }
    let data_end = data_offset.checked_add(data_length);
    let begins_well = if single {
        data_offset % 8 == 0 && data_offset >= previous.message_end && data_end == Some(message_offset)
    } else {
        // Only dictionaries may be in a gap; [`check_dictionaries`] checks that they and the regions tile the file.
        data_offset >= previous.data_end
    };
    match data_end.filter(|_| begins_well) {
        Some(data_end) => Ok(Previous { message_end, data_end }),
        None => Err(format!("data of {data_length} bytes at {data_offset}")),
    }
}

/// Checks FTR-7, and that regions and dictionaries tile the data file of a pair (FTR-3). Returns the end of that file.
fn check_dictionaries(footer: &Footer, header: &FileHeader, footer_offset: u64) -> std::result::Result<u64, String> {
    let single = header.kind == FileKind::Single;
    let entries = &footer.dictionaries;
    if !entries.is_empty() && !header.has_dictionaries() {
        return Err("dictionaries, without the reader feature".into());
    }
    if entries.len() > dictionary::MOST {
        return Err(format!("{} dictionaries", entries.len()));
    }
    let mut regions = footer.regions.iter().peekable();
    let mut end = FileHeader::SIZE as u64;
    for (at, entry) in entries.iter().enumerate() {
        let fault = |found: &str| {
            format!(
                "dictionary {} of {} bytes at {}{found}",
                at + 1,
                entry.size,
                entry.offset
            )
        };
        // Pass the regions before the dictionary. In a pair they must tile the file; in a single file they must not
        // overlap.
        while let Some(region) = regions.next_if(|region| region.data_offset < entry.offset) {
            end = region_end(region, end, single)?;
        }
        let block_end = entry
            .offset
            .checked_add(BlockHeader::SIZE as u64 + pad8(entry.size))
            .ok_or_else(|| fault(""))?;
        if entry.reserved != 0 || entry.size < dictionary::LEAST {
            return Err(fault(" that cannot be one"));
        }
        let begins_well = if single {
            entry.offset >= end
        } else {
            entry.offset == end
        };
        if entry.offset % 8 != 0 || !begins_well {
            return Err(fault(&format!(", where {end} is expected")));
        }
        let next = regions.peek().map(|region| region.data_offset);
        let most = match next {
            Some(next) => next,
            None if single => footer_offset,
            None => return Err(fault(" after the last region")),
        };
        if block_end > most {
            return Err(fault(&format!(", which ends after {most}")));
        }
        end = block_end;
    }
    for region in regions {
        end = region_end(region, end, single)?;
    }
    Ok(end)
}

/// The end of a region that must begin at `end` in a pair, and not before it in a single file.
fn region_end(region: &RegionEntry, end: u64, single: bool) -> std::result::Result<u64, String> {
    if single {
        return Ok(region.message_offset + BlockHeader::SIZE as u64 + pad8(region.message_size));
    }
    match region.data_offset == end {
        true => Ok(end + region.data_length),
        false => Err(format!("a region at {} in place of {end}", region.data_offset)),
    }
}

fn check_statistics(footer: &Footer, partition_count: u32) -> std::result::Result<(), String> {
    let Some(statistics) = &footer.statistics else {
        return Ok(());
    };
    for (name, vector, to_all) in [
        ("stored", &statistics.stored, statistics.stored_to_all),
        ("plain", &statistics.plain, statistics.plain_to_all),
        ("records", &statistics.records, statistics.records_to_all),
    ] {
        let Some(vector) = vector else { continue };
        if vector.len() != partition_count as usize {
            return Err(format!(
                "{} {name} statistics for {partition_count} partitions",
                vector.len()
            ));
        }
        let most = vector.iter().max().copied().unwrap_or(0);
        if most.checked_add(to_all).is_none() {
            return Err(format!(
                "{name} statistics whose sum {most} + {to_all} exceeds 2^64 - 1"
            ));
        }
    }
    Ok(())
}

/// FTR-8.
fn check_streams(footer: &Footer, header: &FileHeader) -> std::result::Result<(), String> {
    let Some(streams) = &footer.streams else {
        return Ok(());
    };
    if !header.is_selective() {
        return Err("streams, in a file that is not selective".into());
    }
    for (name, vector) in [("next", &streams.next), ("missing", &streams.missing)] {
        if let Some(vector) = vector
            && vector.len() != header.partition_count as usize
        {
            return Err(format!(
                "{} values of {name} for {} partitions",
                vector.len(),
                header.partition_count
            ));
        }
    }
    let next = |at: usize| streams.next.as_ref().map_or(0, |next| next[at]);
    let missing = streams.missing.iter().flatten().enumerate();
    if let Some((at, missing)) = missing.into_iter().find(|(at, missing)| **missing > next(*at)) {
        return Err(format!("{missing} missing of {} blocks in stream {at}", next(at)));
    }
    match streams.shared_missing <= streams.shared_next {
        true => Ok(()),
        false => Err(format!(
            "{} missing of {} shared blocks",
            streams.shared_missing, streams.shared_next
        )),
    }
}

/// The stored bytes that a partition reads, if the footer has statistics (FTR-4).
pub(crate) fn stored_in_statistics(footer: &Footer, header: &FileHeader, partition: u32) -> Option<u64> {
    let statistics = footer.statistics.as_ref()?;
    let at = (partition - header.first_partition) as usize;
    let stored = statistics.stored.as_ref();
    let own = stored.and_then(|stored| stored.get(at)).copied().unwrap_or(0);
    // The statistics are a hint and may be wrong (FTR-6).
    Some(own.saturating_add(statistics.stored_to_all))
}
