//! The dictionaries of a file that is written: those that stand in it, and those that wait for a region (spec, DIC-8).

use crate::block::dictionary::{self, MOST};
use crate::error::{Error, Result};
use crate::message::DictionaryEntry;
use std::collections::HashMap;
use std::sync::Arc;

/// Most bytes of a dictionary that a writer takes (DIC-8), as many as readers take by default.
const LARGEST: usize = 1 << 20;

/// The dictionaries that were given or trained, numbered from 1.
#[derive(Debug, Default)]
pub(crate) struct Dictionaries {
    numbers: HashMap<Arc<[u8]>, u16>,
    /// Those that no region stands behind yet. They come after all that were written.
    waiting: Vec<Arc<[u8]>>,
    written: Vec<DictionaryEntry>,
    /// Where the blocks of those that wait begin, when they were written before the region in hand, and their entries.
    in_hand: Option<(u64, Vec<DictionaryEntry>)>,
}

impl Dictionaries {
    /// How many there are, those that wait too.
    pub(crate) fn count(&self) -> usize {
        self.written.len() + self.waiting.len()
    }

    /// Refuses what cannot be one more (DIC-8).
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

    /// The number of a dictionary that passed its check, which waits from now on unless it is here already.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> u16 {
        if let Some(number) = self.numbers.get(bytes) {
            return *number;
        }
        // At most 65,535, as the check saw to.
        let number = (self.count() + 1) as u16;
        let bytes: Arc<[u8]> = Arc::from(bytes);
        self.waiting.push(bytes.clone());
        self.numbers.insert(bytes, number);
        number
    }

    /// Writes those that wait before a region whose blocks would begin at `offset`; `append` writes one by its number, and
    /// says where its block begins.
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

    /// The region in hand is committed with blocks, and the dictionaries before it.
    pub(crate) fn commit(&mut self) {
        if let Some((_, entries)) = self.in_hand.take() {
            self.written.extend(entries);
            self.waiting.clear();
        }
    }

    /// The region in hand leaves nothing: those before it wait for the next one. Where the first of their blocks began,
    /// and how many they are.
    pub(crate) fn give_up(&mut self) -> Option<(u64, usize)> {
        self.in_hand.take().map(|(offset, entries)| (offset, entries.len()))
    }

    /// The entries of those that were written.
    pub(crate) fn entries(&self) -> Vec<DictionaryEntry> {
        self.written.clone()
    }
}
