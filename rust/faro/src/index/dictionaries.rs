//! Reads the dictionaries of a file, and keeps those that were needed (spec, DIC-1 to DIC-6).

use crate::block::dictionary::check;
use crate::block::{BlockHeader, Context, Kinds, Seal, Sequence, read_metadata};
use crate::bytes::pad8;
use crate::codec::Digest;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{Grants, Limits, MemoryBudget, out_of_memory};
use crate::message::DictionaryEntry;
use crate::storage::InputFile;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{ThreadId, current};

/// Checks dictionary `number` in the data file of a pair. Its block must end at or before `end`.
pub(crate) fn find(
    source: &InputFile,
    limits: &Limits,
    seal: Seal,
    number: u32,
    offset: u64,
    end: u64,
) -> Result<DictionaryEntry> {
    let context = Context::metadata(
        limits,
        seal,
        Kinds::DICTIONARY,
        Sequence::Is(u64::from(number) - 1),
        Some(number - 1),
    );
    let (header, payload) = read_metadata(source, offset, end, &context)?;
    check(&payload, offset).map_err(|error| source.blame(error))?;
    Ok(DictionaryEntry {
        offset,
        size: header.stored_size,
        reserved: 0,
    })
}

/// Reads dictionary `number` from the data (or single) file, by its entry in the footer, and checks it.
pub(crate) fn read(
    source: &InputFile,
    limits: &Limits,
    seal: Seal,
    number: u32,
    entry: &DictionaryEntry,
    paired: bool,
) -> Result<Vec<u8>> {
    let sequence = match paired {
        true => Sequence::Is(u64::from(number) - 1),
        false => Sequence::Unknown,
    };
    let context = Context::metadata(limits, seal, Kinds::DICTIONARY, sequence, Some(number - 1));
    let (header, payload) = read_metadata(source, entry.offset, end_of(entry), &context)?;
    if header.stored_size != entry.size {
        let expected = format!("a dictionary of {} bytes, as the footer says", entry.size);
        let found = header.stored_size.to_string();
        return Err(source.blame(Error::at(ErrorCode::InconsistentIndex, entry.offset, expected, found)));
    }
    check(&payload, entry.offset).map_err(|error| source.blame(error))?;
    Ok(payload)
}

/// The end of the block of an entry.
pub(crate) fn end_of(entry: &DictionaryEntry) -> u64 {
    // The sum cannot wrap: FTR-7 was checked for the entries of footers, and a follower's entries are inside a file.
    entry.offset + BlockHeader::SIZE as u64 + pad8(entry.size)
}

/// The bytes that are asked for to read and digest a dictionary: the bytes that are read and their copy in the digest,
/// with its tables. What the digest does not take is given back.
pub(crate) fn room_of(entry: &DictionaryEntry) -> u64 {
    2 * u64::from(entry.size) + (32 << 10)
}

/// The dictionaries of an open output that were needed so far. Each is digested once for all who read from it.
#[derive(Debug)]
pub(crate) struct Digests {
    budget: Option<Arc<dyn MemoryBudget>>,
    table: Mutex<Table>,
    /// Told when a thread has made a dictionary, or has failed to.
    made: Condvar,
}

#[derive(Debug, Default)]
struct Table {
    kept: HashMap<u16, (Arc<Digest>, Grants)>,
    /// The dictionaries that threads are making.
    making: Vec<(u16, ThreadId)>,
}

/// Notes that a thread is making a dictionary, until this is dropped.
struct Making<'a> {
    digests: &'a Digests,
    what: (u16, ThreadId),
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let mut table = self.digests.lock();
        if let Some(at) = table.making.iter().position(|what| *what == self.what) {
            table.making.swap_remove(at);
        }
        drop(table);
        self.digests.made.notify_all();
    }
}

impl Digests {
    pub(crate) fn new(budget: Option<Arc<dyn MemoryBudget>>) -> Self {
        Digests {
            budget,
            table: Mutex::default(),
            made: Condvar::new(),
        }
    }

    /// A dictionary. `make` reads and digests it when it is needed for the first time, after the budget granted `room`
    /// bytes for it. Threads that need a dictionary at the same time each make it, and the first result is kept. Only
    /// after a refusal a thread waits for another that makes it: what that gets needs no memory of its own. A panic of the
    /// budget is a fault: the block that needs the dictionary must not be skipped.
    pub(crate) fn get_or(&self, number: u16, room: u64, make: impl FnOnce() -> Result<Digest>) -> Result<Arc<Digest>> {
        let making = match self.find_or_begin(number) {
            Ok(kept) => return Ok(kept),
            Err(making) => making,
        };
        let mut grants = Grants::new(self.budget.clone());
        let mut is_granted = true;
        unpanicked(|| is_granted = room == 0 || grants.try_grow(room))?;
        if !is_granted {
            return self.wait_for_others(making).ok_or_else(|| out_of_memory(room));
        }
        let digest = match make() {
            Ok(digest) => Arc::new(digest),
            Err(error) => {
                // The first fault counts.
                let _ = unpanicked(|| grants.shrink_to(0));
                return Err(error);
            }
        };
        unpanicked(|| grants.shrink_to(digest.memory_size()))?;
        let mut table = self.lock();
        if let Some((first, _)) = table.kept.get(&number) {
            let first = first.clone();
            // The grants are given back without the lock, after the digest is dropped.
            drop(table);
            drop(digest);
            unpanicked(|| grants.shrink_to(0))?;
            return Ok(first);
        }
        table.kept.insert(number, (digest.clone(), grants));
        Ok(digest)
    }

    /// A dictionary that is kept, or the note that this thread makes it.
    fn find_or_begin(&self, number: u16) -> std::result::Result<Arc<Digest>, Making<'_>> {
        let mut table = self.lock();
        if let Some((digest, _)) = table.kept.get(&number) {
            return Ok(digest.clone());
        }
        let what = (number, current().id());
        table.making.push(what);
        Err(Making { digests: self, what })
    }

    /// The dictionary, if another thread gets it. A budget may have called this thread, which does not wait for itself.
    fn wait_for_others(&self, making: Making<'_>) -> Option<Arc<Digest>> {
        let (number, me) = making.what;
        drop(making);
        let is_coming = |table: &mut Table| {
            let by_others = |(what, by): &(u16, ThreadId)| *what == number && *by != me;
            !table.kept.contains_key(&number) && table.making.iter().any(by_others)
        };
        let table = self.made.wait_while(self.lock(), is_coming);
        let table = table.unwrap_or_else(PoisonError::into_inner);
        table.kept.get(&number).map(|(digest, _)| digest.clone())
    }

    /// The memory of the dictionaries that are kept, in bytes.
    pub(crate) fn memory_used(&self) -> u64 {
        self.lock().kept.values().map(|(digest, _)| digest.memory_size()).sum()
    }

    /// Whether a dictionary is kept already and needs no read.
    pub(crate) fn has(&self, number: u16) -> bool {
        self.lock().kept.contains_key(&number)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Digests are added whole, so the table is sound even after a panic elsewhere.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls the budget. Its panic is `io`.
fn unpanicked(call: impl FnOnce()) -> Result<()> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|_| Error::bare(ErrorCode::Io, "memory for a dictionary", "a budget that panicked"))
}
