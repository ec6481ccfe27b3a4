//! The dictionaries of a file that is being written: those in the file, and those that wait for a region (spec, DIC-8).

use crate::block::dictionary::{self, MOST};
use crate::error::{Error, Result};
use crate::message::DictionaryEntry;
use std::collections::HashMap;
use std::sync::Arc;

/// The most bytes in a dictionary that a writer accepts (DIC-8): the default limit of readers.
const LARGEST: usize = 1 << 20;

/// The dictionaries that the caller gave or that were trained, numbered from 1.
#[derive(Debug, Default)]
pub(crate) struct Dictionaries {
    numbers: HashMap<Arc<[u8]>, u16>,
    /// The dictionaries without a region after them yet. Their numbers follow those of the written ones.
    waiting: Vec<Arc<[u8]>>,
    written: Vec<DictionaryEntry>,
    /// If the waiting dictionaries were written before the current region: where their blocks begin, and their entries.
    in_hand: Option<(u64, Vec<DictionaryEntry>)>,
}

impl Dictionaries {
    /// The number of dictionaries, with those that wait.
    pub(crate) fn count(&self) -> usize {
        self.written.len() + self.waiting.len()
    }

    /// Refuses bytes that cannot become another dictionary (DIC-8).
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<()> {
        if let Some(found) = dictionary::fault_of(bytes) {
            let expected = "a Zstandard dictionary of 8 bytes or more that begins with 37 A4 30 EC";
            return Err(Error::argument(expected, found));
        }
        if bytes.len() > LARGEST {
            let found = format!("{} bytes", bytes.len());
            return Err(Error::argument("a dictionary of at most 1,048,576 bytes", found));
        }
        if self.count() >= MOST && !self.numbers.contains_key(bytes) {
            return Err(Error::argument("at most 65,535 dictionaries", "one more"));
        }
        Ok(())
    }

    /// Adds a dictionary that passed the check, unless the file has it already, and returns its number.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> u16 {
        if let Some(number) = self.numbers.get(bytes) {
            return *number;
        }
        // At most 65,535, by the check.
        let number = (self.count() + 1) as u16;
        let bytes: Arc<[u8]> = Arc::from(bytes);
        self.waiting.push(bytes.clone());
        self.numbers.insert(bytes, number);
        number
    }

    /// Writes the waiting dictionaries before a region that would begin at `offset`. `append` writes the block of one
    /// and returns its offset.
    pub(crate) fn begin_region(
        &mut self,
        offset: u64,
        mut append: impl FnMut(u16, &[u8]) -> Result<u64>,
    ) -> Result<()> {
        let mut entries = Vec::with_capacity(self.waiting.len());
        for (at, bytes) in self.waiting.iter().enumerate() {
            let number = (self.written.len() + at + 1) as u16;
            entries.push(DictionaryEntry {
                offset: append(number, bytes)?,
                size: bytes.len() as u32,
                reserved: 0,
            });
        }
        self.in_hand = Some((offset, entries)).filter(|(_, entries)| !entries.is_empty());
        Ok(())
    }

    /// Commits the dictionaries together with the current region, which has blocks.
    pub(crate) fn commit(&mut self) {
        if let Some((_, entries)) = self.in_hand.take() {
            self.written.extend(entries);
            self.waiting.clear();
        }
    }

    /// Makes the dictionaries before the current region, which leaves nothing, wait for the next. Returns where their
    /// blocks began, and how many there are.
    pub(crate) fn give_up(&mut self) -> Option<(u64, usize)> {
        self.in_hand.take().map(|(offset, entries)| (offset, entries.len()))
    }

    /// The entries of the written dictionaries.
    pub(crate) fn entries(&self) -> Vec<DictionaryEntry> {
        self.written.clone()
    }
}
