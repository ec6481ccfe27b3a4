//! The figures of the picture of one output.

use faro::{ByteRange, ByteRangeKind};

use crate::failure::Outcome;
use crate::picture::{Grid, Part, RegionShare, SharedShare};
use crate::view::View;

/// The figures of the picture.
pub(crate) fn grid(view: &View) -> Outcome<Grid> {
    let header = view.header();
    let first = header.first_partition;
    let grid = Grid::collect(first, header.partition_count, view.region_count(), |i| {
        let region = view.region(i)?;
        let own = region.slots().filter(|slot| slot.extent.length > 0);
        let own = own.map(|slot| (slot.partition - first, slot.extent.length)).collect();
        let shared = region.shared().iter().map(|shared| SharedShare {
            bytes: shared.extent.length,
            members: (!shared.members.is_all()).then(|| shared.members.iter().map(|p| p - first).collect()),
        });
        Ok::<_, faro::Error>(RegionShare {
            own,
            shared: shared.collect(),
        })
    });
    Ok(grid?)
}

/// The shares of all bytes, for the bar at the bottom of the picture.
pub(crate) fn parts(ranges: &[ByteRange]) -> Vec<Part> {
    let sum = |pick: &dyn Fn(&ByteRange) -> u64| ranges.iter().map(pick).sum();
    let of = |what: ByteRangeKind| move |range: &ByteRange| if range.what == what { range.blocks.payload } else { 0 };
    let framing = |range: &ByteRange| match range.what {
        ByteRangeKind::OwnExtent | ByteRangeKind::SharedExtent => range.blocks.headers + range.blocks.padding,
        _ => 0,
    };
    let messages = |range: &ByteRange| match range.what {
        ByteRangeKind::RegionMessage
        | ByteRangeKind::SchemaMessage
        | ByteRangeKind::Dictionary
        | ByteRangeKind::OtherMetadata
        | ByteRangeKind::FooterMessage => range.length,
        _ => 0,
    };
    let ends = |range: &ByteRange| match range.what {
        ByteRangeKind::FileHeader | ByteRangeKind::Tail => range.length,
        _ => 0,
    };
    let uncommitted = |range: &ByteRange| {
        if range.what == ByteRangeKind::Uncommitted {
            range.length
        } else {
            0
        }
    };
    vec![
        Part {
            name: "own payload",
            bytes: sum(&of(ByteRangeKind::OwnExtent)),
        },
        Part {
            name: "shared payload",
            bytes: sum(&of(ByteRangeKind::SharedExtent)),
        },
        Part {
            name: "block headers, padding",
            bytes: sum(&framing),
        },
        Part {
            name: "messages",
            bytes: sum(&messages),
        },
        Part {
            name: "headers, tail",
            bytes: sum(&ends),
        },
        Part {
            name: "uncommitted",
            bytes: sum(&uncommitted),
        },
    ]
}
