//! Decides whether a block of a growing file is there yet (spec, FOL-2 and REP-1).

use crate::block::{self, BlockHeader, Context, Seal, field};
use crate::bytes::Tail;
use crate::error::Result;
use crate::storage::InputFile;

/// The size of a read for a checksum, in bytes.
const CHUNK: usize = 64 << 10;

/// The purpose of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A writer may still be at work: only the last block of the file can be incomplete.
    Follow,
    /// The writer is dead: more counts as never committed (REP-1).
    Repair,
}

/// The header of the block at `offset` in a file of `size` bytes; none when the block is not there yet (FOL-2, REP-1).
/// `context_of` returns the context of the block. An incomplete block with a header that its context does not allow is
/// a fault.
pub(crate) fn next_block<'a>(
    source: &InputFile,
    offset: u64,
    size: u64,
    purpose: Purpose,
    context_of: impl FnOnce(&BlockHeader) -> Context<'a>,
) -> Result<Option<BlockHeader>> {
    let left = size.saturating_sub(offset);
    if left < BlockHeader::SIZE as u64 {
        return Ok(None);
    }
    let mut bytes = [0; BlockHeader::SIZE];
    source.read_exact(offset, &mut bytes)?;
    if purpose == Purpose::Repair && bytes[field::KIND..] == [0; 8] && is_zero(source, offset, size)? {
        return Ok(None);
    }
    let header = BlockHeader::parse(&bytes);
    let context = context_of(&header);
    block::check_count(&header, offset, &context).map_err(|error| source.blame(error))?;
    // Checks 3 and 5 to 10 of BLK-7: the size counts only if the rest of the header is valid.
    let check_allowed = || {
        block::check_limit(&header, offset, &context)
            .and_then(|()| block::check_fields(&header, offset, &context))
            .map_err(|error| source.blame(error))
    };
    let Some(after) = left.checked_sub(header.size_in_file()) else {
        return check_allowed().map(|()| None);
    };
    let may_be_torn = match purpose {
        Purpose::Follow => after == 0,
        Purpose::Repair => after <= Tail::SIZE as u64,
    };
    if may_be_torn && checksum_in_file(source, context.seal, &header, offset)? != header.checksum {
        match check_allowed() {
            Ok(()) => return Ok(None),
            Err(fault) if after == 0 => return Err(fault),
            // With bytes after the block, the checks have their usual order, as for a follower (REP-2).
            Err(_) => {}
        }
    }
    Ok(Some(header))
}

/// Computes the checksum of a block with at most a chunk of it in memory.
pub(crate) fn checksum_in_file(source: &InputFile, seal: Seal, header: &BlockHeader, offset: u64) -> Result<u32> {
    let mut running = seal.running();
    running.update(&header.checked_bytes());
    let start = offset + BlockHeader::SIZE as u64;
    chunks(source, start, start + u64::from(header.stored_size), |chunk| {
        running.update(chunk);
        true
    })?;
    Ok(running.value())
}

/// Whether all bytes from 16 bytes after `offset` to `end` are zero (REP-1).
fn is_zero(source: &InputFile, offset: u64, end: u64) -> Result<bool> {
    chunks(source, offset + field::KIND as u64, end, |chunk| {
        chunk.iter().all(|byte| *byte == 0)
    })
}

/// Passes the bytes to `take`, chunk by chunk, until it returns false; returns whether it never did.
fn chunks(source: &InputFile, offset: u64, end: u64, mut take: impl FnMut(&[u8]) -> bool) -> Result<bool> {
    let mut buffer = vec![0; CHUNK.min((end - offset) as usize)];
    let mut at = offset;
    while at < end {
        let length = buffer.len().min((end - at) as usize);
        source.read_exact(at, &mut buffer[..length])?;
        if !take(&buffer[..length]) {
            return Ok(false);
        }
        at += length as u64;
    }
    Ok(true)
}
