//! The regions of a store, wherever their bytes are, and which of them may leave the memory next (spec, HYB-6). It is
//! deterministic: it makes no file, starts no work, and is in the lock of the memory.

use super::index_blocks::{IndexBlocks, Piece};
use super::part::{Location, Parts};
use super::progress::Progress;
use super::sync::Arc;
use crate::bytes::FileHeader;
use crate::error::{Error, Result};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::fmt;

/// Where a reading of a partition goes on (HYB-3): what [`HybridConsumer::position`](super::HybridConsumer::position)
/// returns, and [`HybridStore::open_at`](super::HybridStore::open_at) takes. The default is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HybridPosition {
    /// The number of the region from which the next block may come.
    pub region: usize,
    /// The sequence from which the partition's own blocks are wanted.
    pub own: u64,
    /// The sequence from which shared blocks are wanted.
    pub shared: u64,
}

/// What a hybrid store has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HybridFigures {
    /// The regions that were committed.
    pub regions: usize,
    /// The size of their blocks in bytes.
    pub bytes: u64,
    /// The bytes of these that are in memory now.
    pub in_memory: u64,
    /// The bytes of blocks that were written to the files.
    pub written: u64,
    /// The bytes that consumers and spills took from memory.
    pub from_memory: u64,
    /// The bytes that consumers read from the files.
    pub from_files: u64,
}

/// What the memory counts, of all stores together.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The bytes of blocks and of region messages that are in memory.
    pub used: u64,
    /// The part of these that is about to leave.
    pub leaving: u64,
    /// How many stores write.
    pub spills: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In memory, and it may stay there.
    Staying,
    /// In memory until it is written.
    Leaving,
    /// Not in memory any more.
    Gone,
}

/// A committed region.
#[derive(Debug)]
pub(super) struct Region {
    /// The offsets of its parts in the data and the index file.
    pub data: u64,
    pub index: u64,
    /// The size of its blocks.
    pub bytes: u64,
    /// The bytes that leave the memory with it: its blocks, and its message unless consumers need that (HYB-6).
    leaving_bytes: u64,
    /// The partitions that have not read it to its end, in a selective store.
    unread: u32,
    place: Place,
    /// Whether it is being written; it is not dropped meanwhile.
    writing: bool,
    written: bool,
}

/// Called when a consumer that found no block should look again.
pub(super) type Available = Arc<dyn Fn() + Send + Sync>;

/// The state of a store.
pub(super) struct ImageState {
    pub selective: bool,
    pub data: Parts,
    pub index: Parts,
    pub regions: Vec<Region>,
    /// The numbers of the regions that are in memory and not about to leave, and of those about to leave.
    staying: BTreeSet<usize>,
    leaving: BTreeSet<usize>,
    staying_bytes: u64,
    /// The number of the next region to write: all before it were written or, if selective, never will be.
    next: usize,
    /// Regions before this one are to be written soon, although they may stay.
    wanted: usize,
    written: u64,
    consumers: usize,
    /// By partition, in a selective store.
    progress: Vec<Option<Arc<Progress>>>,
    waiting: Vec<Available>,
    header: Option<Bytes>,
    blocks: IndexBlocks,
    /// The pieces of the index file that are not regions, and how many of them come before the regions.
    others: Vec<Bytes>,
    regions_end: usize,
    /// The offset of the part of the region that is not committed yet.
    open: Option<u64>,
    /// Counts what a consumer can notice.
    pub changes: u64,
    pub failure: Option<Error>,
    pub ended: bool,
    pub work: Work,
}

/// What writes the regions that are about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    None,
    /// The executor has it, and has not begun. It can be taken back: the executor may have no free thread. The number
    /// tells it from earlier work.
    Queued(u64),
    Running,
    /// No work is begun any more.
    Stopped,
}

impl fmt::Debug for ImageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageState")
            .field("regions", &self.regions.len())
            .finish_non_exhaustive()
    }
}

impl ImageState {
    pub(super) fn new(selective: bool) -> Self {
        ImageState {
            selective,
            data: Parts::default(),
            index: Parts::default(),
            regions: Vec::new(),
            staying: BTreeSet::new(),
            leaving: BTreeSet::new(),
            staying_bytes: 0,
            next: 0,
            wanted: 0,
            written: 0,
            consumers: 0,
            progress: Vec::new(),
            waiting: Vec::new(),
            header: None,
            blocks: IndexBlocks::default(),
            others: Vec::new(),
            regions_end: 0,
            open: None,
            changes: 0,
            failure: None,
            ended: false,
            work: Work::None,
        }
    }

    /// Says how many partitions there are, before the first region.
    pub(super) fn begin(&mut self, partitions: u32) {
        if self.selective {
            self.progress = vec![None; partitions as usize];
        }
    }

    /// Adds bytes of blocks. The first 64 are the file's header.
    pub(super) fn add_data(&mut self, bytes: &[u8]) {
        let mut bytes = Bytes::copy_from_slice(bytes);
        if self.header.is_none() {
            let header = bytes.split_to(FileHeader::SIZE.min(bytes.len()));
            self.data.begin();
            self.data.append(header.clone());
            self.header = Some(header);
        }
        if !bytes.is_empty() {
            if self.open.is_none() {
                self.open = Some(self.data.begin());
            }
            self.data.append(bytes);
        }
    }

    /// Adds bytes of the index. A region is committed by its message.
    pub(super) fn add_index(&mut self, bytes: &[u8], counts: &mut Counts) {
        self.blocks.add(bytes);
        while let Some((piece, bytes)) = self.blocks.next() {
            let index = self.index.begin();
            self.index.append(bytes.clone());
            match (piece, self.open.take()) {
                (Piece::Region, Some(data)) => self.commit(data, index, bytes.len() as u64, counts),
                (_, open) => {
                    self.open = open;
                    self.others.push(bytes);
                }
            }
        }
        self.changes += 1;
    }

    fn commit(&mut self, data: u64, index: u64, message: u64, counts: &mut Counts) {
        let bytes = self.data.size - data;
        self.staying.insert(self.regions.len());
        self.staying_bytes += bytes;
        counts.used += bytes + message;
        self.regions.push(Region {
            data,
            index,
            bytes,
            leaving_bytes: if self.selective { bytes } else { bytes + message },
            unread: self.progress.len() as u32,
            place: Place::Staying,
            writing: false,
            written: false,
        });
        self.regions_end = self.others.len();
        if !self.is_usable() {
            // It failed while the producer was in a call, after what had been in memory was dropped.
            self.drop_region(self.regions.len() - 1, counts);
        }
    }

    /// The header of the data file.
    pub(super) fn header(&self) -> Bytes {
        self.header.clone().unwrap_or_default()
    }

    /// What is in the index file before the first region.
    pub(super) fn beginning(&self) -> Vec<Bytes> {
        self.others[..self.regions_end].to_vec()
    }

    /// What is in the index file after the last region; everything if there is none.
    pub(super) fn footer(&self) -> Vec<Bytes> {
        self.others[self.regions_end..].to_vec()
    }

    /// The listeners of consumers that wait.
    pub(super) fn take_waiting(&mut self) -> Vec<Available> {
        std::mem::take(&mut self.waiting)
    }

    /// Waits for the next change; returns false if there was one after those that the consumer has seen. It does not
    /// wait for a store that has failed or was closed: the consumer may have counted that as seen.
    pub(super) fn wait(&mut self, seen: u64, available: Option<&Available>) -> bool {
        if self.changes != seen || !self.is_usable() {
            return false;
        }
        self.waiting.extend(available.cloned());
        true
    }

    fn is_usable(&self) -> bool {
        self.failure.is_none() && !self.ended
    }

    /// Refuses the use of a store that has failed or was closed.
    pub(super) fn check_usable(&self) -> Result<()> {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None if self.ended => Err(Error::argument("an open store", "one that was closed")),
            None => Ok(()),
        }
    }

    /// Makes the store fail, and drops its regions, so that others have the memory.
    pub(super) fn fail(&mut self, cause: Error, counts: &mut Counts) {
        if self.is_usable() {
            self.failure = Some(cause);
            self.drop_all(counts);
        }
    }

    /// Gives up everything.
    pub(super) fn end(&mut self, counts: &mut Counts) {
        if !self.ended {
            self.ended = true;
            self.drop_all(counts);
            self.data.clear();
            self.index.clear();
            self.open = None;
        }
    }

    fn drop_all(&mut self, counts: &mut Counts) {
        for number in 0..self.regions.len() {
            match self.regions[number].place {
                Place::Gone => counts.used -= self.index.drop_chunks(self.regions[number].index),
                Place::Staying | Place::Leaving => self.drop_region(number, counts),
            }
        }
        self.changes += 1;
    }

    fn drop_region(&mut self, number: usize, counts: &mut Counts) {
        let region = &mut self.regions[number];
        if self.staying.remove(&number) {
            self.staying_bytes -= region.bytes;
        }
        if self.leaving.remove(&number) || region.place == Place::Leaving {
            counts.leaving -= region.leaving_bytes;
        }
        region.place = Place::Gone;
        counts.used -= region.bytes;
        self.data.drop_chunks(region.data);
        let needs_message = self.selective && region.unread > 0 && self.failure.is_none() && !self.ended;
        if !needs_message {
            counts.used -= self.index.drop_chunks(region.index);
        }
    }

    /// The bytes in memory that are not about to leave.
    pub(super) fn staying(&self) -> u64 {
        self.staying_bytes
    }

    /// Whether a consumer is open.
    pub(super) fn is_read(&self) -> bool {
        self.consumers > 0
    }

    /// Decides that the newest or the oldest region that may leave leaves; false if none may.
    pub(super) fn give_up(&mut self, newest: bool, counts: &mut Counts) -> bool {
        let from = if self.selective { self.next } else { 0 };
        let mut may_leave = self.staying.range(from..);
        let number = match newest {
            true => may_leave.next_back(),
            false => may_leave.next(),
        };
        let Some(&number) = number else {
            return false;
        };
        if self.regions[number].written {
            self.drop_region(number, counts);
            return true;
        }
        self.staying.remove(&number);
        self.leaving.insert(number);
        let region = &mut self.regions[number];
        self.staying_bytes -= region.bytes;
        region.place = Place::Leaving;
        counts.leaving += region.leaving_bytes;
        if !self.selective {
            self.wanted = self.wanted.max(number + 1);
        }
        true
    }

    /// Wants all regions to be written.
    pub(super) fn want_all(&mut self) {
        self.wanted = self.regions.len();
    }

    /// Wants all regions to be written if those that are not wanted yet have this many bytes; returns whether so.
    pub(super) fn wants_above(&mut self, bytes: u64) -> bool {
        match self.regions.get(self.wanted) {
            Some(first) if self.data.size - first.data >= bytes => {
                self.want_all();
                true
            }
            _ => false,
        }
    }

    /// Whether there is a region to write.
    pub(super) fn has_to_write(&self) -> bool {
        match self.selective {
            true => !self.leaving.is_empty(),
            false => self.next < self.wanted,
        }
    }

    /// The next region to write, which begins.
    pub(super) fn take(&mut self) -> Option<usize> {
        if !self.is_usable() {
            return None;
        }
        let number = match self.selective {
            true => self.leaving.pop_first()?,
            false => Some(self.next).filter(|next| *next < self.wanted)?,
        };
        self.next = number + 1;
        self.regions[number].writing = true;
        Some(number)
    }

    /// Takes note of where a region was written.
    pub(super) fn wrote(
        &mut self,
        number: usize,
        data: Location,
        index: Option<Location>,
        bytes: u64,
        counts: &mut Counts,
    ) {
        self.written += bytes;
        let region = &mut self.regions[number];
        (region.writing, region.written) = (false, true);
        self.data.locate(region.data, Some(data));
        self.index.locate(region.index, index);
        if region.place == Place::Leaving {
            self.drop_region(number, counts);
        }
    }

    /// Counts a consumer that opens a partition, and returns its progress in a selective store.
    pub(super) fn enter(&mut self, at: u32, partition: u32) -> Result<Option<Arc<Progress>>> {
        let mut begun = None;
        if self.selective {
            let slot = &mut self.progress[at as usize];
            if slot.is_some() {
                let found = format!("partition {partition}, which was");
                return Err(Error::argument("a partition that was not opened before", found));
            }
            begun = Some(Arc::clone(slot.insert(Arc::default())));
        }
        self.consumers += 1;
        Ok(begun)
    }

    pub(super) fn leave(&mut self) {
        self.consumers -= 1;
    }

    /// Takes note that a partition of a selective store was read up to a region.
    pub(super) fn move_to(&mut self, progress: &Progress, number: usize, counts: &mut Counts) {
        for passed in progress.region()..number {
            let region = &mut self.regions[passed];
            region.unread = region.unread.saturating_sub(1);
            if region.unread > 0 || region.writing || self.ended {
                continue;
            }
            match region.place {
                Place::Gone => counts.used -= self.index.drop_chunks(region.index),
                _ => self.drop_region(passed, counts),
            }
        }
        progress.move_to(number);
    }

    /// How far a partition was read; none if it was not opened.
    pub(super) fn progress(&self, at: usize) -> Option<Arc<Progress>> {
        self.progress[at].clone()
    }

    /// Whether each block was delivered or is in the files.
    pub(super) fn is_complete(&self) -> bool {
        self.staying.is_empty() && self.leaving.is_empty()
    }

    /// What was done, without what was read.
    pub(super) fn figures(&self) -> HybridFigures {
        let in_memory = |region: &&Region| region.place != Place::Gone;
        HybridFigures {
            regions: self.regions.len(),
            bytes: self.regions.iter().map(|region| region.bytes).sum(),
            in_memory: self.regions.iter().filter(in_memory).map(|region| region.bytes).sum(),
            written: self.written,
            ..HybridFigures::default()
        }
    }
}
