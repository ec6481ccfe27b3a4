//! Bytes of an image's file that come and go together.

use bytes::Bytes;
use std::collections::BTreeMap;

/// Where the bytes of a part are in a file.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// Where they are in the image.
    Same,
    /// By their offset in the image: the end, and the offset in the file.
    Stretches(BTreeMap<u64, (u64, u64)>),
}

impl Location {
    /// The offset in the file of a byte of the image, and how many bytes from there on are together, if it is there.
    pub(super) fn find(&self, offset: u64) -> Option<(u64, u64)> {
        match self {
            Location::Same => Some((offset, u64::MAX)),
            Location::Stretches(stretches) => {
                let (start, (end, in_file)) = stretches.range(..=offset).next_back()?;
                (offset < *end).then(|| (in_file + (offset - start), end - offset))
            }
        }
    }
}

/// Some bytes of a file, in memory or not.
#[derive(Debug)]
pub(super) struct Part {
    pub start: u64,
    pub end: u64,
    /// None once they have left the memory.
    pub chunks: Option<Vec<Bytes>>,
    /// None if they are not in the files.
    pub location: Option<Location>,
}

/// The parts of a file of an image, by their offset.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: BTreeMap<u64, Part>,
    pub size: u64,
}

/// What to do to read the bytes at an offset.
#[derive(Debug)]
pub(super) enum Found {
    /// There are none.
    End,
    /// Copy from these chunks, beginning at this offset in them.
    Memory(Vec<Bytes>, u64),
    /// Read this many bytes at most at this offset of the file.
    File(u64, u64),
    /// The bytes were delivered, and are not kept; or the store was closed.
    Gone,
}

impl Parts {
    /// Begins a part at the end, and returns its offset.
    pub(super) fn begin(&mut self) -> u64 {
        let start = self.size;
        let part = Part {
            start,
            end: start,
            chunks: Some(Vec::new()),
            location: None,
        };
        self.parts.insert(start, part);
        start
    }

    /// Adds bytes to the last part.
    pub(super) fn append(&mut self, chunk: Bytes) {
        if let Some(mut last) = self.parts.last_entry() {
            let part = last.get_mut();
            part.end += chunk.len() as u64;
            self.size = part.end;
            if let Some(chunks) = &mut part.chunks {
                chunks.push(chunk);
            }
        }
    }

    pub(super) fn get(&self, start: u64) -> Option<&Part> {
        self.parts.get(&start)
    }

    /// Takes note of where a part is in the file.
    pub(super) fn locate(&mut self, start: u64, location: Option<Location>) {
        if let Some(part) = self.parts.get_mut(&start) {
            part.location = location;
        }
    }

    /// Drops the bytes of a part; returns how many were in memory.
    pub(super) fn drop_chunks(&mut self, start: u64) -> u64 {
        let dropped = |part: &mut Part| part.chunks.take().map(|_| part.end - part.start);
        self.parts.get_mut(&start).and_then(dropped).unwrap_or(0)
    }

    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    pub(super) fn find(&self, offset: u64) -> Found {
        if offset >= self.size {
            return Found::End;
        }
        let Some((_, part)) = self.parts.range(..=offset).next_back() else {
            return Found::Gone;
        };
        match (&part.chunks, &part.location) {
            (Some(chunks), _) => Found::Memory(chunks.clone(), offset - part.start),
            (None, Some(location)) => match location.find(offset) {
                Some((at, together)) => Found::File(at, together.min(part.end - offset)),
                None => Found::Gone,
            },
            (None, None) => Found::Gone,
        }
    }
}

/// Copies bytes of chunks, from an offset on, as many as there are and fit.
pub(super) fn copy(chunks: &[Bytes], from: u64, target: &mut [u8]) -> usize {
    let (mut skip, mut filled) = (usize::try_from(from).unwrap_or(usize::MAX), 0);
    for chunk in chunks {
        if skip >= chunk.len() {
            skip -= chunk.len();
            continue;
        }
        let bytes = &chunk[skip..];
        let count = bytes.len().min(target.len() - filled);
        target[filled..filled + count].copy_from_slice(&bytes[..count]);
        (skip, filled) = (0, filled + count);
        if filled == target.len() {
            break;
        }
    }
    filled
}
