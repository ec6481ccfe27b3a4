//! The position of a reading in its current extent.

use crate::block::{BlockHeader, Dictionaries};
use crate::index::{Extent, Members, SharedSlot, Slot};

/// The rest of an extent.
#[derive(Clone, Debug)]
pub(crate) struct OpenExtent {
    pub at: u64,
    pub end: u64,
    /// How far reading ahead is useful: the end of the contiguous bytes that are wanted.
    pub read_ahead: u64,
    pub partition: Option<u32>,
    pub members: Option<Members>,
    pub first_block: Option<u32>,
    pub is_first: bool,
    pub region: u32,
    /// How many dictionaries come before it.
    pub dictionaries: Dictionaries,
}

impl OpenExtent {
    /// An extent with nothing left.
    pub(crate) const NONE: OpenExtent = OpenExtent {
        at: 0,
        end: 0,
        read_ahead: 0,
        partition: None,
        members: None,
        first_block: None,
        is_first: true,
        region: 0,
        dictionaries: None,
    };

    /// Moves to the own extent of a slot.
    #[inline]
    pub(crate) fn open_own(&mut self, slot: &Slot, region: u32, dictionaries: Dictionaries) {
        self.open(slot.extent, region, dictionaries);
        self.partition = Some(slot.partition);
        self.members = None;
        self.first_block = slot.first_block;
    }

    /// Moves to a shared extent.
    pub(crate) fn open_shared(&mut self, shared: &SharedSlot, region: u32, dictionaries: Dictionaries) {
        self.open_shared_extent(shared.extent, shared.first_block, region, dictionaries);
        self.members = Some(shared.members.clone());
    }

    /// Moves to a shared extent with unknown members.
    pub(crate) fn open_shared_extent(
        &mut self,
        extent: Extent,
        first_block: u32,
        region: u32,
        dictionaries: Dictionaries,
    ) {
        self.open(extent, region, dictionaries);
        self.partition = None;
        self.members = None;
        self.first_block = Some(first_block);
    }

    #[inline]
    fn open(&mut self, extent: Extent, region: u32, dictionaries: Dictionaries) {
        self.at = extent.offset;
        self.end = extent.end();
        self.read_ahead = self.end;
        self.is_first = true;
        self.region = region;
        self.dictionaries = dictionaries;
    }
}

/// A block that passed checks 1 to 11.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    pub offset: u64,
    pub header: BlockHeader,
}
