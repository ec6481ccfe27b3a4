//! The codec alone, on the blocks that the writer compresses.

use super::Task;
use crate::data::Partitions;
use crate::outcome::{Outcome, Run, timed};
use faro::Codec;
use std::hint::black_box;

const BLOCK: usize = 64 << 10;
/// The charge of a record in the sort buffer beyond its bytes (SRT-1).
const CHARGE: usize = 12;

/// The plain payloads of one region's blocks, one after another.
struct Blocks {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Compresses the blocks of the first region again and again, for as many bytes as are written.
pub(super) fn alone(task: &Task<'_>) -> Outcome<Run> {
    let blocks = blocks(task);
    let mut target = vec![0; BLOCK];
    let mut zstd = zstd_safe::CCtx::create();
    let failed = |code| zstd_safe::get_error_name(code).to_string();
    for parameter in [
        zstd_safe::CParameter::Format(zstd_safe::FrameFormat::Magicless),
        zstd_safe::CParameter::CompressionLevel(1),
        zstd_safe::CParameter::ContentSizeFlag(false),
    ] {
        zstd.set_parameter(parameter).map_err(failed)?;
    }
    let (mut plain, mut stored) = (0, 0);
    let (seconds, ()) = timed(|| {
        while plain < task.plain_bytes {
            let mut begin = 0;
            for end in &blocks.ends {
                let block = &blocks.bytes[begin..*end];
                begin = *end;
                let target = &mut target[..block.len() - 1];
                let size = match task.codec {
                    Codec::Zstd => zstd.compress2(target, block).ok(),
                    _ => lzzzz::lz4::compress(block, target, lzzzz::lz4::ACC_LEVEL_DEFAULT).ok(),
                };
                stored += size.unwrap_or(block.len());
                plain += block.len() as u64;
                black_box(&target);
                if plain >= task.plain_bytes {
                    break;
                }
            }
        }
        Ok(())
    })?;
    // The last block may exceed the count.
    let seconds = seconds * task.plain_bytes as f64 / plain as f64;
    Ok(Run {
        stored_bytes: Some(stored as u64),
        ..Run::timed(seconds)
    })
}

fn blocks(task: &Task<'_>) -> Blocks {
    let mut partitions = Partitions::new(task.kind, task.partitions);
    let mut parts = vec![Vec::new(); task.partitions as usize];
    let (mut charged, mut number) = (0, 0);
    while number < task.count {
        let record = task.records.get(number);
        charged += record.len() + CHARGE;
        if charged > (task.buffer_mib << 20) as usize {
            break;
        }
        let part: &mut Vec<usize> = &mut parts[partitions.next() as usize];
        part.push(number);
        number += 1;
    }
    let mut blocks = Blocks {
        bytes: Vec::new(),
        ends: Vec::new(),
    };
    for part in parts {
        let mut begin = blocks.bytes.len();
        for number in part {
            let record = task.records.get(number);
            if blocks.bytes.len() - begin + 4 + record.len() > BLOCK {
                blocks.ends.push(blocks.bytes.len());
                begin = blocks.bytes.len();
            }
            blocks.bytes.extend_from_slice(&(record.len() as u32).to_le_bytes());
            blocks.bytes.extend_from_slice(record);
        }
        if blocks.bytes.len() > begin {
            blocks.ends.push(blocks.bytes.len());
        }
    }
    blocks
}
