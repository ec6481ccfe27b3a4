//! The header of a data file and the blocks after it, compared with a model of the clauses.

use crate::container::{Container, limits_of};
use crate::scratch;
use crate::seal::{block_checksum, crc32c, seal, u32_at};
use faro::message::{Region, SharedExtent};
use faro::{ErrorCode, Files, Limits, RebuildOptions, rebuild};
use std::collections::HashMap;

/// The properties of `header_block`.
pub fn header_block(input: &[u8]) {
    let (flags, file) = input.split_first().unwrap_or((&0, &[]));
    let mut file = file.to_vec();
    if flags & Container::SEAL != 0 {
        seal(&mut file);
    }
    let limits = limits_of(*flags);
    let data = scratch::path("h.data");
    scratch::write(&data, &file);
    let files = Files::Paired {
        data,
        index: scratch::path("h.index"),
    };
    let options = RebuildOptions::default().dry_run(true);
    let said = rebuild(&files, &options.limits(limits.clone())).map_err(|error| (error.code, error.offset));
    let said = said.map(|report| Found {
        regions: report.regions,
        blocks: report.blocks.unwrap_or(u64::MAX),
        kept: report.data_kept,
        orphaned: report.orphaned,
        cut: report.data_cut,
    });
    let expected = header(&file).and_then(|()| blocks(&file, &limits));
    assert_eq!(said, expected, "the library, and the model");
}

#[derive(Debug, PartialEq, Eq)]
struct Found {
    regions: u64,
    blocks: u64,
    kept: u64,
    cut: u64,
    orphaned: u64,
}

type Fault = (ErrorCode, Option<u64>);

const MAGIC: &[u8; 8] = b"\x89FARO\r\n\x1A";

/// HDR-1, the kind by REP-5, HDR-4, and REP-7 for framing arrow.
fn header(file: &[u8]) -> Result<(), Fault> {
    let of_magic = file.len().min(8);
    let fault = |code, offset| Err((code, Some(offset)));
    if file[..of_magic] != MAGIC[..of_magic] {
        return fault(ErrorCode::NotFaro, 0);
    }
    if file.len() < 64 {
        return fault(ErrorCode::Truncated, file.len() as u64);
    }
    let field = |at| u32_at(file, at);
    let count = field(12);
    let checks = [
        (field(60) == crc32c(&[&file[..60]]), ErrorCode::Checksum, 0),
        (file[9] == 1, ErrorCode::UnsupportedVersion, 9),
        (field(16) & !3 == 0, ErrorCode::UnsupportedFeature, 16),
        (file[8] != 4, ErrorCode::UnsupportedFeature, 8),
        ([1, 2, 3, 5].contains(&file[8]), ErrorCode::MalformedHeader, 8),
        (file[11] <= 2, ErrorCode::MalformedHeader, 11),
        ((1..=1 << 28).contains(&count), ErrorCode::MalformedHeader, 12),
        (
            u64::from(count) + u64::from(field(56)) <= 1 << 28,
            ErrorCode::MalformedHeader,
            56,
        ),
        (file[8] == 1, ErrorCode::MismatchedPair, 8),
        (field(20) == 0, ErrorCode::UnsupportedFeature, 20),
    ];
    match checks.into_iter().find(|(holds, _, _)| !holds) {
        Some((_, code, offset)) => fault(code, offset),
        None if file[11] == 2 => Err((ErrorCode::InvalidArgument, None)),
        None => Ok(()),
    }
}

/// REP-5 and REP-6, with BLK-7.
fn blocks(file: &[u8], limits: &Limits) -> Result<Found, Fault> {
    let selective = file[16] & 1 != 0;
    let first = u32_at(file, 56);
    let partitions = first..first + u32_at(file, 12);
    let mut found = Found {
        regions: 0,
        blocks: 0,
        kept: 0,
        cut: 0,
        orphaned: 0,
    };
    let mut last: HashMap<u32, u32> = HashMap::new();
    let mut open = OpenRegion::default();
    let mut at = 64;
    let (mut kept, mut dictionaries) = (at, 0);
    while at < file.len() {
        if file[16] & 2 != 0 && file.len() - at >= 24 && file[at + 16] == 131 {
            match dictionary(file, at, dictionaries, limits) {
                Ok(size) => {
                    open.close(file, &mut found, limits)?;
                    open = OpenRegion::default();
                    dictionaries += 1;
                    at += size;
                    continue;
                }
                Err((code @ (ErrorCode::LimitExceeded | ErrorCode::UnsupportedCodec), offset)) => {
                    return Err((code, Some(offset)));
                }
                Err(_) => break,
            }
        }
        let expected = |partition| last.get(&partition).copied();
        match block(file, at, &partitions, selective, dictionaries, expected, limits) {
            Ok(size) => {
                let (partition, sequence) = (u32_at(file, at + 8), u32_at(file, at + 12));
                if open.ends_before(partition) {
                    open.close(file, &mut found, limits)?;
                    open = OpenRegion::default();
                }
                open.add(partition, sequence, at, size);
                last.insert(partition, sequence);
                found.blocks += 1;
                found.orphaned += u64::from(partition == u32::MAX);
                at += size;
                kept = at;
            }
            Err((code @ (ErrorCode::LimitExceeded | ErrorCode::UnsupportedCodec), offset)) => {
                return Err((code, Some(offset)));
            }
            Err(_) => break,
        }
    }
    open.close(file, &mut found, limits)?;
    found.kept = kept as u64;
    found.cut = file.len() as u64 - found.kept;
    Ok(found)
}

/// The extents of a region by REP-6: partition, length in units of 8 bytes, sequence number of the first block. A
/// shared extent is the last.
#[derive(Default)]
struct OpenRegion {
    begun: usize,
    extents: Vec<(u32, u32, u32)>,
}

impl OpenRegion {
    fn ends_before(&self, partition: u32) -> bool {
        // A shared extent's number is above all partitions.
        self.extents.last().is_some_and(|(last, _, _)| partition < *last)
    }

    fn add(&mut self, partition: u32, sequence: u32, at: usize, size: usize) {
        let units = (size / 8) as u32;
        match self.extents.last_mut() {
            Some((last, length, _)) if *last == partition => *length += units,
            last => {
                self.begun = if last.is_none() { at } else { self.begun };
                self.extents.push((partition, units, sequence));
            }
        }
    }

    fn close(&self, file: &[u8], found: &mut Found, limits: &Limits) -> Result<(), Fault> {
        if self.extents.is_empty() {
            return Ok(());
        }
        let message = self
            .message(file, found.regions as u32)
            .build()
            .expect("a small message");
        if found.regions >= limits.max_regions || message.len() as u64 > limits.max_message_size {
            return Err((ErrorCode::LimitExceeded, Some(self.begun as u64)));
        }
        found.regions += 1;
        Ok(())
    }

    /// The region's message, by REP-6 and SRT-8.
    fn message(&self, file: &[u8], sequence: u32) -> Region {
        let (own, shared): (Vec<_>, Vec<_>) = self
            .extents
            .iter()
            .partition(|(partition, _, _)| *partition != u32::MAX);
        let count = u32_at(file, 12);
        let sparse = 2 * own.len() as u64 + 1 < u64::from(count);
        let mut slots: Vec<(u32, u32)> = own.iter().map(|(_, length, first)| (*length, *first)).collect();
        if !sparse {
            slots = vec![(0, 0); count as usize];
            for (partition, length, first) in &own {
                slots[(partition - u32_at(file, 56)) as usize] = (*length, *first);
            }
        }
        let mut offsets = vec![0];
        for (length, _) in &slots {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let mut region = Region::default();
        region.sequence = sequence;
        region.data_offset = self.begun as u64;
        region.data_length = self.extents.iter().map(|(_, length, _)| u64::from(*length) * 8).sum();
        region.offsets = offsets;
        region.partitions = sparse.then(|| own.iter().map(|(partition, _, _)| *partition).collect());
        region.first_block = (file[16] & 1 != 0).then(|| slots.iter().map(|(_, first)| *first).collect());
        for (_, length, first_block) in shared {
            let mut extent = SharedExtent::default();
            (extent.length, extent.first_block) = (length, first_block);
            extent.members = Some(Vec::new());
            region.shared.push(extent);
        }
        region
    }
}

/// DIC-5 and DIC-4 for a dictionary after `known` others; returns the size of its block in the file.
fn dictionary(file: &[u8], at: usize, known: u32, limits: &Limits) -> Result<usize, (ErrorCode, u64)> {
    let (o, rest) = (at as u64, &file[at..]);
    if u64::from(known) >= limits.max_dictionaries {
        return Err((ErrorCode::LimitExceeded, o));
    }
    let damage = Err((ErrorCode::MalformedBlock, o));
    let [stored, plain, partition, sequence] = [0, 4, 8, 12].map(|field| u32_at(rest, field));
    let size = 24 + u64::from(stored).div_ceil(8) * 8;
    if size > rest.len() as u64 {
        return damage;
    }
    if u64::from(stored) > limits.max_dictionary_size {
        return Err((ErrorCode::LimitExceeded, o));
    }
    let (payload, padding) = rest[24..size as usize].split_at(stored as usize);
    if u32_at(rest, 20) != block_checksum(&file[40..56], rest, payload) {
        return damage;
    }
    if rest[17] > 2 {
        return Err((ErrorCode::UnsupportedCodec, o + 17));
    }
    let number = u32::from(u16::from_le_bytes([rest[18], rest[19]]));
    let right = rest[17] == 0 && plain == stored && partition == u32::MAX && sequence == known && number == known + 1;
    let begins = payload.len() >= 8 && payload.starts_with(b"\x37\xA4\x30\xEC");
    match right && begins && padding.iter().all(|byte| *byte == 0) {
        true => Ok(size as usize),
        false => damage,
    }
}

/// Checks 1 to 11 of BLK-7; returns the size of the block in the file.
fn block(
    file: &[u8],
    at: usize,
    partitions: &std::ops::Range<u32>,
    selective: bool,
    dictionaries: u32,
    last: impl Fn(u32) -> Option<u32>,
    limits: &Limits,
) -> Result<usize, (ErrorCode, u64)> {
    let o = at as u64;
    let rest = &file[at..];
    if rest.len() < 24 {
        return Err((ErrorCode::MalformedBlock, o));
    }
    let [stored, plain, partition, sequence] = [0, 4, 8, 12].map(|field| u32_at(rest, field));
    let size = 24 + u64::from(stored).div_ceil(8) * 8;
    if size > rest.len() as u64 {
        return Err((ErrorCode::MalformedBlock, o));
    }
    let payload_end = 24 + stored as usize;
    let (kind, codec) = (rest[16], rest[17]);
    let number = u32::from(u16::from_le_bytes([rest[18], rest[19]]));
    let is_event = kind == 1 || (64..=127).contains(&kind);
    let fits = if codec == 0 { plain == stored } else { stored < plain };
    let follows = match last(partition) {
        None => selective || sequence == 0,
        Some(last) if selective => sequence > last,
        Some(last) => u64::from(sequence) == u64::from(last) + 1,
    };
    let checks = [
        (u64::from(stored) <= limits.max_block_size, ErrorCode::LimitExceeded, 0),
        (
            u32_at(rest, 20) == block_checksum(&file[40..56], rest, &rest[24..payload_end]),
            ErrorCode::Checksum,
            0,
        ),
        (number == 0 || file[16] & 2 != 0, ErrorCode::MalformedBlock, 18),
        (kind == 0 || is_event, ErrorCode::MalformedBlock, 16),
        (codec <= 2, ErrorCode::UnsupportedCodec, 17),
        (codec == 0 || !is_event, ErrorCode::MalformedBlock, 17),
        (number == 0 || (codec == 2 && kind == 0), ErrorCode::MalformedBlock, 18),
        (fits, ErrorCode::MalformedBlock, 4),
        (kind != 0 || plain > 0, ErrorCode::MalformedBlock, 4),
        (u64::from(plain) <= limits.max_plain_size, ErrorCode::LimitExceeded, 4),
        (
            partition == u32::MAX || partitions.contains(&partition),
            ErrorCode::InconsistentIndex,
            8,
        ),
        (follows, ErrorCode::InconsistentIndex, 12),
        (number <= dictionaries, ErrorCode::InconsistentIndex, 18),
    ];
    if let Some((_, code, field)) = checks.into_iter().find(|(holds, _, _)| !holds) {
        return Err((code, o + field));
    }
    match rest[payload_end..size as usize].iter().all(|byte| *byte == 0) {
        true => Ok(size as usize),
        false => Err((ErrorCode::MalformedBlock, o)),
    }
}
