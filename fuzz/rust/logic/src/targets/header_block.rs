//! The header of a data file and the blocks behind it, against a model of the clauses.

use crate::container::{Container, limits_of};
use crate::scratch;
use crate::seal::{block_checksum, crc32c, seal, u32_at};
use faro::{Code, Files, Limits, RebuildOptions, rebuild};
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
    let options = RebuildOptions {
        dry_run: true,
        ..RebuildOptions::default()
    };
    let said = rebuild(&files, &limits, options).map_err(|error| (error.code, error.offset));
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

type Fault = (Code, Option<u64>);

const MAGIC: &[u8; 8] = b"\x89FARO\r\n\x1A";

/// HDR-1, the kind that REP-5 asks for, HDR-4, and REP-7 on framing arrow.
fn header(file: &[u8]) -> Result<(), Fault> {
    let of_magic = file.len().min(8);
    let fault = |code, offset| Err((code, Some(offset)));
    if file[..of_magic] != MAGIC[..of_magic] {
        return fault(Code::NotFaro, 0);
    }
    if file.len() < 64 {
        return fault(Code::Truncated, file.len() as u64);
    }
    let field = |at| u32_at(file, at);
    let count = field(12);
    let checks = [
        (field(60) == crc32c(&[&file[..60]]), Code::Checksum, 0),
        (file[9] == 1, Code::UnsupportedVersion, 9),
        (field(16) & !1 == 0, Code::UnsupportedFeature, 16),
        (file[8] != 4, Code::UnsupportedFeature, 8),
        ((1..=3).contains(&file[8]), Code::MalformedHeader, 8),
        (file[11] <= 2, Code::MalformedHeader, 11),
        ((1..=1 << 28).contains(&count), Code::MalformedHeader, 12),
        (
            u64::from(count) + u64::from(field(36)) <= 1 << 28,
            Code::MalformedHeader,
            36,
        ),
        (field(56) == 0, Code::MalformedHeader, 56),
        (file[8] == 1, Code::MismatchedPair, 8),
        (field(20) == 0, Code::UnsupportedFeature, 20),
    ];
    match checks.into_iter().find(|(holds, _, _)| !holds) {
        Some((_, code, offset)) => fault(code, offset),
        None if file[11] == 2 => Err((Code::InvalidArgument, None)),
        None => Ok(()),
    }
}

/// REP-5 and REP-6, with BLK-7.
fn blocks(file: &[u8], limits: &Limits) -> Result<Found, Fault> {
    let selective = file[16] & 1 != 0;
    let first = u32_at(file, 36);
    let partitions = first..first + u32_at(file, 12);
    let mut found = Found {
        regions: 0,
        blocks: 0,
        kept: 0,
        cut: 0,
        orphaned: 0,
    };
    let mut last: HashMap<u32, u32> = HashMap::new();
    // What the open region ends with: no block, an own extent of a partition, or a shared one.
    let (mut begun, mut end) = (64, None);
    let mut at = 64;
    while at < file.len() {
        let expected = |partition| last.get(&partition).copied();
        match block(file, at, &partitions, selective, expected, limits) {
            Ok(size) => {
                let (partition, sequence) = (u32_at(file, at + 8), u32_at(file, at + 12));
                let is_own = partition != u32::MAX;
                if end.is_some_and(|last| is_own && (last == u32::MAX || partition < last)) {
                    found.regions += 1;
                    region_limit(&found, begun, limits)?;
                    begun = at as u64;
                }
                end = Some(partition);
                last.insert(partition, sequence);
                found.blocks += 1;
                found.orphaned += u64::from(!is_own);
                at += size;
            }
            Err((code @ (Code::LimitExceeded | Code::UnsupportedCodec), offset)) => return Err((code, Some(offset))),
            Err(_) => break,
        }
    }
    if end.is_some() {
        found.regions += 1;
        region_limit(&found, begun, limits)?;
    }
    found.kept = at as u64;
    found.cut = file.len() as u64 - found.kept;
    Ok(found)
}

fn region_limit(found: &Found, begun: u64, limits: &Limits) -> Result<(), Fault> {
    match found.regions > limits.max_regions {
        true => Err((Code::LimitExceeded, Some(begun))),
        false => Ok(()),
    }
}

/// Checks 1 to 11 of BLK-7: the block's size in the file.
fn block(
    file: &[u8],
    at: usize,
    partitions: &std::ops::Range<u32>,
    selective: bool,
    last: impl Fn(u32) -> Option<u32>,
    limits: &Limits,
) -> Result<usize, (Code, u64)> {
    let o = at as u64;
    let rest = &file[at..];
    if rest.len() < 24 {
        return Err((Code::MalformedBlock, o));
    }
    let [stored, plain, partition, sequence] = [0, 4, 8, 12].map(|field| u32_at(rest, field));
    let size = 24 + u64::from(stored).div_ceil(8) * 8;
    if size > rest.len() as u64 {
        return Err((Code::MalformedBlock, o));
    }
    let payload_end = 24 + stored as usize;
    let (kind, codec) = (rest[16], rest[17]);
    let is_event = kind == 1 || (64..=127).contains(&kind);
    let fits = if codec == 0 { plain == stored } else { stored < plain };
    let follows = match last(partition) {
        None => selective || sequence == 0,
        Some(last) if selective => sequence > last,
        Some(last) => u64::from(sequence) == u64::from(last) + 1,
    };
    let checks = [
        (u64::from(stored) <= limits.max_block_size, Code::LimitExceeded, 0),
        (
            u32_at(rest, 20) == block_checksum(&file[40..56], rest, &rest[24..payload_end]),
            Code::Checksum,
            0,
        ),
        (rest[18..20] == [0, 0], Code::MalformedBlock, 18),
        (kind == 0 || is_event, Code::MalformedBlock, 16),
        (codec <= 2, Code::UnsupportedCodec, 17),
        (codec == 0 || !is_event, Code::MalformedBlock, 17),
        (fits, Code::MalformedBlock, 4),
        (kind != 0 || plain > 0, Code::MalformedBlock, 4),
        (u64::from(plain) <= limits.max_plain_size, Code::LimitExceeded, 4),
        (
            partition == u32::MAX || partitions.contains(&partition),
            Code::InconsistentIndex,
            8,
        ),
        (follows, Code::InconsistentIndex, 12),
    ];
    if let Some((_, code, field)) = checks.into_iter().find(|(holds, _, _)| !holds) {
        return Err((code, o + field));
    }
    match rest[payload_end..size as usize].iter().all(|byte| *byte == 0) {
        true => Ok(size as usize),
        false => Err((Code::MalformedBlock, o)),
    }
}
