//! The rules of a region message beyond its structure (spec, REG-2 to REG-9, REG-11).

use crate::block::BlockHeader;
use crate::bytes::FileHeader;
use crate::message::{Region, Run};

/// The least size of a region's blocks in bytes (REG-3): one block without payload.
pub(crate) const LEAST_REGION: u64 = LEAST_BLOCK;
/// The size of the smallest block in bytes.
const LEAST_BLOCK: u64 = BlockHeader::SIZE as u64;
/// The most bytes that a region's blocks take.
pub(crate) const LARGEST_REGION: u64 = 8 * (u32::MAX as u64);

/// Where a region's blocks must be (REG-3).
pub(crate) struct DataBounds {
    /// Where they begin.
    pub offset: u64,
    /// Whether they may begin later, after dictionaries (DIC-5).
    pub later: bool,
    /// Where they end, if that is known without the message.
    pub end: Option<u64>,
}

/// The fault of a region message, as a text for people.
type Verdict = std::result::Result<(), String>;

/// Checks the rules in the order of the specification's tables, and returns the first fault.
pub(super) fn check(region: &Region, header: &FileHeader, number: u32, bounds: &DataBounds) -> Verdict {
    if region.sequence != number {
        return Err(format!("sequence {} in region {number}", region.sequence));
    }
    check_bounds(region, bounds)?;
    check_slots(region, header)?;
    check_shared(region, header.partition_count)?;
    if let Some(runs) = &region.runs {
        check_runs(region, header, runs)?;
    }
    match (&region.first_block, header.is_selective()) {
        (None, false) => Ok(()),
        (Some(_), false) => Err("first_block in a file that is not selective".into()),
        // A vector without elements is left out (CAN-3).
        (None, true) if region.offsets.len() == 1 => Ok(()),
        (None, true) => Err("no first_block in a selective file".into()),
        (Some(first), true) => check_first_block(region, first),
    }
}

/// REG-3.
fn check_bounds(region: &Region, bounds: &DataBounds) -> Verdict {
    let (offset, length) = (region.data_offset, region.data_length);
    if length % 8 != 0 || !(LEAST_REGION..=LARGEST_REGION).contains(&length) {
        return Err(format!("a data length of {length}"));
    }
    if offset != bounds.offset && !(bounds.later && offset > bounds.offset) {
        return Err(format!("data at {offset} in place of {}", bounds.offset));
    }
    match (offset.checked_add(length), bounds.end) {
        (None, _) => Err(format!("a data length of {length} from {offset} on")),
        (Some(end), Some(expected)) if end != expected => {
            Err(format!("data that ends at {end} in place of {expected}"))
        }
        _ => Ok(()),
    }
}

/// REG-4 and REG-5.
fn check_slots(region: &Region, header: &FileHeader) -> Verdict {
    let slots = region
        .partitions
        .as_ref()
        .map_or(header.partition_count as usize, Vec::len);
    if region.offsets.len() != slots + 1 {
        return Err(format!("{} offsets for {slots} slots", region.offsets.len()));
    }
    if region.offsets[0] != 0 {
        return Err(format!("a first offset of {}", region.offsets[0]));
    }
    let strictly = region.partitions.is_some();
    if let Some(pair) = region
        .offsets
        .windows(2)
        .find(|pair| pair[1] < pair[0] || (strictly && pair[1] == pair[0]))
    {
        return Err(format!("offset {} after {}", pair[1], pair[0]));
    }
    let Some(partitions) = &region.partitions else {
        return match region.rotation < header.partition_count {
            true => Ok(()),
            false => Err(format!(
                "a rotation of {} in {} partitions",
                region.rotation, header.partition_count
            )),
        };
    };
    if region.rotation != 0 {
        return Err(format!("a rotation of {} in a sparse region", region.rotation));
    }
    if let Some(pair) = partitions.windows(2).find(|pair| pair[1] <= pair[0]) {
        return Err(format!("partition {} after {}", pair[1], pair[0]));
    }
    let range = header.partitions();
    match partitions
        .first()
        .into_iter()
        .chain(partitions.last())
        .find(|partition| !range.contains(partition))
    {
        Some(partition) => Err(format!(
            "partition {partition} in a file of {} to {}",
            range.start,
            range.end - 1
        )),
        None => Ok(()),
    }
}

/// REG-6, REG-7 and REG-11.
fn check_shared(region: &Region, partition_count: u32) -> Verdict {
    // Each length is below 2^32 and there are fewer than 2^32 of them: the sum does not wrap.
    let mut units = u64::from(region.offsets[region.offsets.len() - 1]);
    let mut last = None;
    for extent in &region.shared {
        if last.is_some_and(|last| extent.first_block <= last) {
            return Err(format!("a shared extent whose first block is {}", extent.first_block));
        }
        last = Some(extent.first_block);
        if extent.length < 3 {
            return Err(format!("a shared extent of {} units", extent.length));
        }
        units += u64::from(extent.length);
        let Some(members) = &extent.members else { continue };
        if members.is_empty() {
            continue;
        }
        if members.len() != partition_count.div_ceil(8) as usize {
            return Err(format!(
                "{} bytes of members for {partition_count} partitions",
                members.len()
            ));
        }
        let used = partition_count % 8;
        if used != 0 && members[members.len() - 1] >> used != 0 {
            return Err(format!("members beyond the {partition_count} partitions"));
        }
    }
    match units * 8 == region.data_length {
        true => Ok(()),
        false => Err(format!(
            "extents of {} bytes in a region of {}",
            units * 8,
            region.data_length
        )),
    }
}

/// REG-8.
fn check_runs(region: &Region, header: &FileHeader, runs: &[Run]) -> Verdict {
    if !header.is_merged() {
        return Err(format!("runs in a file of producer {}", header.producer));
    }
    if !region.shared.is_empty() {
        return Err("runs in a region with shared extents".into());
    }
    let mut rest = runs.iter();
    for pair in region.offsets.windows(2) {
        let mut left = pair[1] - pair[0];
        while left > 0 {
            let run = rest.next().ok_or("runs that end before the extents do")?;
            check_run(run)?;
            left = left
                .checked_sub(run.length)
                .ok_or_else(|| format!("a run of {} units, of which {left} are in its extent", run.length))?;
        }
    }
    match rest.next() {
        None => Ok(()),
        Some(_) => Err("runs after the last extent".into()),
    }
}

/// What REG-8 says of each run by itself. A run that passes has a length above 0.
fn check_run(run: &Run) -> Verdict {
    let (first, blocks) = (u64::from(run.first_block), u64::from(run.blocks));
    if blocks == 0 || u64::from(run.length) * 8 < blocks * LEAST_BLOCK {
        return Err(format!("a run of {blocks} blocks in {} units", run.length));
    }
    if first + blocks > 1 << 32 {
        return Err(format!("a run of {blocks} blocks from number {first} on"));
    }
    match run.flags & !Run::LAST {
        0 => Ok(()),
        unknown => Err(format!("a run with the unknown flags {unknown:#X}")),
    }
}

/// REG-9, in a selective file.
fn check_first_block(region: &Region, first: &[u32]) -> Verdict {
    if first.len() != region.offsets.len() - 1 {
        return Err(format!(
            "{} first blocks for {} slots",
            first.len(),
            region.offsets.len() - 1
        ));
    }
    match region
        .offsets
        .windows(2)
        .zip(first)
        .find(|(pair, first)| pair[0] == pair[1] && **first != 0)
    {
        Some((_, first)) => Err(format!("first block {first} of a slot without blocks")),
        None => Ok(()),
    }
}
