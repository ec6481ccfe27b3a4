//! Reading one metadata block.

use super::check::{self, Context};
use super::header::BlockHeader;
use crate::error::Result;
use crate::storage::InputFile;

/// Reads and checks the metadata block at `offset`, which must end at or before `end` (BLK-7). Returns its header and
/// message. Errors name the file.
pub(crate) fn read_metadata(
    source: &InputFile,
    offset: u64,
    end: u64,
    context: &Context<'_>,
) -> Result<(BlockHeader, Vec<u8>)> {
    let blame = |error| source.blame(error);
    check::check_header_space(offset, end).map_err(blame)?;
    let mut bytes = [0; BlockHeader::SIZE];
    source.read_exact(offset, &mut bytes)?;
    let header = BlockHeader::parse(&bytes);
    check::check_fits(&header, offset, end).map_err(blame)?;
    check::check_limit(&header, offset, context).map_err(blame)?;
    let rest = (header.size_in_file() - BlockHeader::SIZE as u64) as usize;
    let mut rest = source.read_vec(offset + BlockHeader::SIZE as u64, rest)?;
    check::check_whole(&header, &rest, offset, context).map_err(blame)?;
    rest.truncate(header.stored_size as usize);
    Ok((header, rest))
}
