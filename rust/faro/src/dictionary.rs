//! Dictionaries of a file: how their blocks are checked, and what is kept of those that were needed (spec,
//! DIC-1 to DIC-6).

use crate::block::{BlockHeader, Context, Kinds, Seal, Sequence, pad8};
use crate::codec::Digest;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::message::DictionaryEntry;
use crate::metadata::read_metadata;
use crate::source::Source;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The first bytes of every dictionary.
pub(crate) const MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];
/// Least bytes of a dictionary.
pub(crate) const LEAST: u32 = 8;
/// Most dictionaries of a file: blocks name them by a number of 16 bits.
pub(crate) const MOST: usize = 65_535;

/// Where dictionaries may stand between the regions of a data file.
pub(crate) const KINDS: Kinds = Kinds {
    partition: false,
    region: false,
    footer: false,
    schema: false,
    dictionary: true,
    skippable: false,
};

/// What of a payload is no dictionary, as far as it is checked before a decoder sees it (DIC-4).
pub(crate) fn fault_of(payload: &[u8]) -> Option<String> {
    match payload {
        _ if payload.len() < LEAST as usize => Some(format!("{} bytes", payload.len())),
        _ if payload[..4] != MAGIC => Some(format!("bytes that begin with {:02X?}", &payload[..4])),
        _ => None,
    }
}

/// The last check of DIC-4: the payload of a dictionary block at `offset`.
pub(crate) fn check(payload: &[u8], offset: u64) -> Result<()> {
    match fault_of(payload) {
        None => Ok(()),
        Some(found) => Err(Error::at(
            Code::MalformedBlock,
            offset + BlockHeader::SIZE as u64,
            "a Zstandard dictionary of 8 bytes or more that begins with 37 A4 30 EC",
            found,
        )),
    }
}

/// The fault of a dictionary at `offset` that is one too many (DIC-5).
pub(crate) fn too_many(limits: &Limits, offset: u64) -> Error {
    let expected = format!("at most {} dictionaries (max_dictionaries)", limits.max_dictionaries);
    Error::at(Code::LimitExceeded, offset, expected, "one more")
}

/// Checks dictionary `number` of the data file of a pair, which must end at or before `end`.
pub(crate) fn find(
    source: &Source,
    limits: &Limits,
    seal: Seal,
    number: u32,
    offset: u64,
    end: u64,
) -> Result<DictionaryEntry> {
    let place = Context::metadata(
        limits,
        seal,
        KINDS,
        Sequence::Is(u64::from(number) - 1),
        Some(number - 1),
    );
    let (header, payload) = read_metadata(source, offset, end, &place)?;
    check(&payload, offset).map_err(|error| source.blame(error))?;
    Ok(DictionaryEntry {
        offset,
        size: header.stored_size,
        reserved: 0,
    })
}

/// Reads and checks dictionary `number`, found through its entry in the footer, from the data (or single) file.
pub(crate) fn read(
    source: &Source,
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
    let place = Context::metadata(limits, seal, KINDS, sequence, Some(number - 1));
    let (header, payload) = read_metadata(source, entry.offset, end_of(entry), &place)?;
    if header.stored_size != entry.size {
        let expected = format!("a dictionary of {} bytes, as the footer says", entry.size);
        let found = header.stored_size.to_string();
        return Err(source.blame(Error::at(Code::InconsistentIndex, entry.offset, expected, found)));
    }
    check(&payload, entry.offset).map_err(|error| source.blame(error))?;
    Ok(payload)
}

/// Where the block of an entry ends.
pub(crate) fn end_of(entry: &DictionaryEntry) -> u64 {
    // Footers in which it would wrap were refused (FTR-7); a reader's own entries lie inside a file.
    entry.offset + BlockHeader::SIZE as u64 + pad8(entry.size)
}

/// The dictionaries of an open output that were needed so far, each digested once for all who read from it.
#[derive(Debug, Default)]
pub(crate) struct Digests(Mutex<HashMap<u16, Arc<Digest>>>);

impl Digests {
    /// A dictionary, which `make` reads and digests when it is needed for the first time. Others wait for no read:
    /// threads that need it at the same time each make it, and the first one stays.
    pub(crate) fn get_or(&self, number: u16, make: impl FnOnce() -> Result<Digest>) -> Result<Arc<Digest>> {
        if let Some(digest) = self.lock().get(&number) {
            return Ok(digest.clone());
        }
        let digest = Arc::new(make()?);
        Ok(self.lock().entry(number).or_insert(digest).clone())
    }

    /// Whether a dictionary is there, so that nothing has to be read for it.
    pub(crate) fn has(&self, number: u16) -> bool {
        self.lock().contains_key(&number)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u16, Arc<Digest>>> {
        // Digests are put in whole, so a panic elsewhere leaves none of them half made.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
