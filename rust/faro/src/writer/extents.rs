//! The records of a sort buffer to the extents of a region (spec, SRT-2 and SRT-6 to SRT-8).

use super::core::Core;
use super::region::{MemberBits, Owner};
use super::training::Preview;
use crate::error::Result;
use crate::sort_buffer::{Pushed, SortBuffer};

/// Writes the region that a sort buffer holds (SRT-6 to SRT-8).
pub(super) fn write_region(core: &mut Core, buffer: &mut SortBuffer<MemberBits>) -> Result<()> {
    let shape = core.shape;
    buffer.sort(shape.partition_count);
    if core.may_train() {
        let preview = preview(core, buffer);
        core.train(&preview)?;
    }
    core.begin_region()?;
    // A dense region begins at the rotation; a sparse one ascends.
    let first = if shape.rotation == 0 || shape.is_sparse(buffer.own().count()) {
        0
    } else {
        shape.rotation
    };
    let ahead = buffer.own().filter(|(at, _)| *at >= first);
    for (at, entries) in ahead.chain(buffer.own().filter(|(at, _)| *at < first)) {
        core.begin_extent(Owner::Own(at));
        write_extent(core, buffer, entries)?;
    }
    for (group, entries) in buffer.shared() {
        core.begin_extent(Owner::Shared(group.members.clone()));
        core.add_records(group.empty_records);
        write_extent(core, buffer, entries)?;
    }
    for (at, records) in buffer.empty_own() {
        core.begin_extent(Owner::Own(at));
        core.add_records(records);
    }
    core.commit_region(false)
}

/// What a dictionary may be trained on: the region's own data records.
fn preview<'a>(core: &Core, buffer: &'a SortBuffer<MemberBits>) -> Preview<'a> {
    let mut preview = core.preview();
    for (_, entries) in buffer.own() {
        for entry in entries {
            if let Pushed::Data(bytes, _) = buffer.record(*entry) {
                preview.push(bytes);
            }
        }
        preview.end_extent();
    }
    preview
}

fn write_extent(core: &mut Core, buffer: &SortBuffer<MemberBits>, entries: &[u64]) -> Result<()> {
    for entry in entries {
        push(core, &buffer.record(*entry))?;
    }
    core.end_extent()
}

/// A record that is larger than the sort buffer: a region of its own (SRT-2).
pub(super) fn oversized(core: &mut Core, owner: Owner, record: &Pushed<'_>) -> Result<()> {
    core.begin_region()?;
    core.begin_extent(owner);
    push(core, record)?;
    core.end_extent()?;
    core.commit_region(false)
}

fn push(core: &mut Core, record: &Pushed<'_>) -> Result<()> {
    match record {
        Pushed::Data(bytes, records) => {
            core.add_records(*records);
            core.push_record(bytes)
        }
        Pushed::Event(kind, bytes) => core.push_event(*kind, bytes),
        Pushed::Nothing(records) => {
            core.add_records(*records);
            Ok(())
        }
    }
}
