//! What is wanted of one file, and what comes of it.

use super::FeedOptions;
use super::ranges::Ranges;
use crate::error::{Error, FileRole, Result};
use crate::index::Extent;
use crate::plan;
use crate::storage::{BroughtFile, FileRange};
use bytes::Bytes;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Wanted {
    /// The file.
    pub role: FileRole,
    /// Which of its bytes.
    pub range: FileRange,
}

/// One file: what is wanted of it, and what came.
#[derive(Debug)]
pub(super) struct Incoming {
    pub role: FileRole,
    pub file: Arc<BroughtFile>,
    /// Wanted, and not returned to the caller yet.
    fresh: Ranges,
    /// Wanted, and not brought yet; with those that are fresh.
    open: Ranges,
    /// The last bytes that are wanted of a file whose size is not known, and whether they were returned to the caller.
    suffix: Option<(u64, bool)>,
}

impl Incoming {
    pub(super) fn new(role: FileRole, file: Arc<BroughtFile>) -> Self {
        Incoming {
            role,
            file,
            fresh: Ranges::default(),
            open: Ranges::default(),
            suffix: None,
        }
    }

    /// Wants bytes, except those that are there or wanted already.
    pub(super) fn want(&mut self, range: Range<u64>) {
        let end = self.file.known_size().map_or(range.end, |size| range.end.min(size));
        for gap in self.file.with_pieces(|pieces| pieces.gaps(range.start..end)) {
            let mut new = Ranges::default();
            new.add(gap.clone());
            for part in self.open.within(&gap) {
                new.remove(part);
            }
            for part in new.iter() {
                self.open.add(part.clone());
                self.fresh.add(part);
            }
        }
    }

    /// Wants the last bytes of a file whose size is not known.
    pub(super) fn want_suffix(&mut self, length: u64) {
        self.suffix = Some((length, false));
    }

    /// Whether all of these bytes are wanted already.
    pub(super) fn is_coming(&self, range: &Range<u64>) -> bool {
        self.open.within(range) == [range.clone()]
    }

    /// Whether the size is still to come with the last bytes.
    pub(super) fn waits_for_suffix(&self) -> bool {
        self.suffix.is_some()
    }

    /// Adds what is wanted and not told yet, joined to few ranges.
    pub(super) fn tell(&mut self, options: &FeedOptions, wanted: &mut Vec<Wanted>) {
        let role = self.role;
        if let Some((length, is_told @ false)) = &mut self.suffix {
            *is_told = true;
            let range = FileRange::Suffix(*length);
            wanted.push(Wanted { role, range });
        }
        let fresh = std::mem::take(&mut self.fresh);
        let extents: Vec<Extent> = fresh
            .iter()
            .flat_map(|range| split(range, options.read_bytes))
            .collect();
        let reads = plan::reads(&extents, options.gap_bytes, options.read_bytes);
        wanted.extend(reads.into_iter().map(|read| Wanted {
            role,
            range: FileRange::Bounded(read.extent.offset..read.extent.end()),
        }));
    }

    /// Adds what is wanted and not brought yet.
    pub(super) fn missing(&self, wanted: &mut Vec<Wanted>) {
        let role = self.role;
        let suffix = self.suffix.map(|(length, _)| FileRange::Suffix(length));
        let ranges = suffix.into_iter().chain(self.open.iter().map(FileRange::Bounded));
        wanted.extend(ranges.map(|range| Wanted { role, range }));
    }

    /// Notes that these bytes do not come.
    pub(super) fn fail(&mut self, range: &FileRange, error: &io::Error) {
        let range = match (range, self.file.known_size()) {
            (FileRange::Bounded(range), None) => range.clone(),
            (FileRange::Suffix(_), None) => 0..u64::MAX,
            (range, Some(size)) => range.within(size),
        };
        if range.end == u64::MAX {
            self.suffix = None;
        }
        self.fresh.remove(range.clone());
        self.open.remove(range.clone());
        self.file.fail(range, error);
    }

    /// Takes the wanted ones of these bytes.
    pub(super) fn bring(&mut self, offset: u64, bytes: &Bytes, size: u64) -> Result<()> {
        let end = offset.checked_add(bytes.len() as u64).filter(|end| *end <= size);
        let Some(end) = end else {
            return Err(Error::argument(
                format!("bytes inside the {} file of {size} bytes", self.role),
                format!("{} bytes at offset {offset}", bytes.len()),
            ));
        };
        self.file.set_size(size);
        let size = self.file.known_size().unwrap_or(size);
        if let Some((length, _)) = self.suffix.take() {
            // The caller fetches these bytes already.
            let range = FileRange::Suffix(length).within(size);
            for gap in self.file.with_pieces(|pieces| pieces.gaps(range)) {
                self.open.add(gap);
            }
        }
        for part in self.open.within(&(offset..end)) {
            let taken = bytes.slice((part.start - offset) as usize..(part.end - offset) as usize);
            // A small part would keep the memory of all that was fetched with it.
            let taken = match taken.len() < bytes.len() / 2 {
                true => Bytes::copy_from_slice(&taken),
                false => taken,
            };
            self.file.with_pieces(|pieces| pieces.insert(part.start, taken));
            self.fresh.remove(part.clone());
            self.open.remove(part);
        }
        // No caller can bring what is after the end.
        self.fresh.remove(size..u64::MAX);
        self.open.remove(size..u64::MAX);
        Ok(())
    }

    /// Wants nothing any more, and drops what came.
    pub(super) fn close(&mut self) {
        (self.fresh, self.open, self.suffix) = (Ranges::default(), Ranges::default(), None);
        self.file.remove(0..u64::MAX);
    }
}

/// A range as extents of at most `most` bytes.
fn split(range: Range<u64>, most: u64) -> impl Iterator<Item = Extent> {
    let end = range.end;
    let starts = std::iter::successors(Some(range.start), move |at| at.checked_add(most));
    starts.take_while(move |at| *at < end).map(move |offset| Extent {
        offset,
        length: most.min(end - offset),
    })
}
