//! Writes the records of a sort buffer as the extents of a region (spec, SRT-2 and SRT-6 to SRT-8).

use super::compress_threads::write_own;
use super::compress_units::{PackedPlan, SlotsPlan, Source, Unit};
use super::owner::{MemberBits, Owner};
use super::region_builder::RegionBuilder;
use super::training::Preview;
use crate::error::Result;
use crate::sort_buffer::{Pushed, Slots, SortBuffer, places_of};

/// Writes the region that a sort buffer holds (SRT-6 to SRT-8).
pub(super) fn write_region(builder: &mut RegionBuilder, buffer: &mut SortBuffer<MemberBits>) -> Result<()> {
    let shape = builder.shape;
    if builder.may_train() {
        let preview = preview(builder, buffer);
        builder.train(&preview)?;
    }
    builder.begin_region(false)?;
    builder.expect_extents(buffer.own_partitions());
    // A dense region begins at the rotation; a sparse region is in ascending order.
    let is_sparse = shape.is_sparse(buffer.own_partitions());
    let first = if is_sparse { 0 } else { shape.rotation };
    let mut order = (first..shape.partition_count).chain(0..first);
    let mut slots = buffer.take_slots();
    let mut block_builders = builder.take_block_builders();
    if let Some(slots) = &mut slots
        && !block_builders.is_empty()
        && !buffer.holds_packed_own()
    {
        (0..shape.partition_count).for_each(|at| slots.end_block(at));
        let mut plan = SlotsPlan::new(slots, order.by_ref());
        let next = |builder: &RegionBuilder, unit: &mut Unit| plan.next(builder, unit);
        write_own(builder, &mut block_builders, Source::Slots(slots), next)?;
    }
    let mut begin = 0;
    let mut last = None;
    loop {
        let sorted = buffer.sort_from(begin, first);
        if sorted == 0 {
            break;
        }
        begin += sorted;
        let (places, by_partition) = buffer.window();
        // Threads get units of whole blocks, so all places of a partition must be sorted at once.
        if !block_builders.is_empty() && slots.is_none() {
            let from = buffer.packed_records();
            let mut plan = PackedPlan::new(from, places, by_partition);
            let next = |builder: &RegionBuilder, unit: &mut Unit| plan.next(builder, unit);
            write_own(builder, &mut block_builders, Source::Packed(from, places), next)?;
            continue;
        }
        for records in by_partition {
            // A partition may continue in the next window.
            if last.replace(records.at) != Some(records.at) {
                builder.end_extent()?;
                match &mut slots {
                    Some(slots) => continue_slots(builder, slots, &mut order, records.at)?,
                    None => builder.begin_extent(Owner::Own(records.at)),
                }
            }
            let all = &places[records.begin as usize..];
            builder.push_all(
                buffer.packed_records(),
                &all[..(records.end - records.begin) as usize],
                all,
            )?;
        }
    }
    builder.end_extent()?;
    if let Some(slots) = &mut slots {
        builder.extents_from_slots(slots, order)?;
    }
    buffer.put_back(slots);
    if let Some(buckets) = buffer.buckets() {
        builder.extents_from_buckets(buckets, first)?;
    }
    builder.keep_block_builders(block_builders);
    let mut places = Vec::new();
    for (group, pieces) in buffer.shared() {
        builder.begin_extent(Owner::Shared(group.members.clone()));
        builder.add_records(group.empty_records);
        for piece in pieces {
            places_of(piece, &mut places);
            builder.push_all(buffer.packed_records(), &places, &places)?;
        }
        builder.end_extent()?;
    }
    for (at, records) in buffer.empty_own() {
        builder.begin_extent(Owner::Own(at));
        builder.add_records(records);
    }
    builder.commit_region(false)
}

/// Writes the extents before that of a partition, and begins that one; it continues with packed records.
fn continue_slots(
    builder: &mut RegionBuilder,
    slots: &mut Slots,
    order: &mut impl Iterator<Item = u32>,
    at: u32,
) -> Result<()> {
    builder.extents_from_slots(slots, order.by_ref().take_while(|before| *before != at))?;
    match slots.holds(at) {
        true => builder.begin_from_slots(slots, at),
        false => {
            builder.begin_extent(Owner::Own(at));
            Ok(())
        }
    }
}

/// The records that a dictionary may be trained on: the region's own data records, as many as are sorted at a time.
fn preview<'a>(builder: &RegionBuilder, buffer: &'a mut SortBuffer<MemberBits>) -> Preview<'a> {
    let mut preview = builder.preview();
    if buffer.sort_from(0, 0) > 0 {
        let (places, by_partition) = buffer.window();
        let packed = buffer.packed_records().packed;
        for records in by_partition {
            for place in &places[records.begin as usize..records.end as usize] {
                if let Pushed::Data(bytes, _) = packed.record(*place) {
                    preview.push(bytes);
                }
            }
            preview.end_extent();
        }
    }
    preview
}

/// Writes a record that is larger than the sort buffer as a separate region (SRT-2).
pub(super) fn oversized(builder: &mut RegionBuilder, owner: Owner, record: &Pushed<'_>) -> Result<()> {
    builder.begin_region(false)?;
    builder.begin_extent(owner);
    builder.pushed(record)?;
    builder.end_extent()?;
    builder.commit_region(false)
}
