//! A file whose bytes the caller brings.

use super::pieces::Pieces;
use super::stored_file::{RangeRead, StoredFile};
use crate::error::Error;
use bytes::Bytes;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file whose bytes the caller brings. A read of bytes that are not there fails, and is noted: the caller repeats the
/// step when it has brought them.
pub(crate) struct BroughtFile {
    name: PathBuf,
    state: Mutex<State>,
}

#[derive(Clone, Default)]
struct State {
    /// The size in bytes, when it is known.
    size: Option<u64>,
    pieces: Pieces,
    /// What reads have missed.
    missed: Vec<Range<u64>>,
    /// Bytes that do not come, and why: the kind and text of an error.
    failures: Vec<(Range<u64>, io::ErrorKind, String)>,
}

/// The error of a read whose bytes are not there yet.
#[derive(Debug)]
struct Missing;

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes that were not brought yet")
    }
}

impl std::error::Error for Missing {}

/// Whether an error only says that bytes have to be brought first.
pub(crate) fn is_missing(error: &Error) -> bool {
    let source = error.source.as_ref().and_then(|source| source.get_ref());
    source.is_some_and(|source| source.is::<Missing>())
}

impl BroughtFile {
    pub(crate) fn new(name: PathBuf) -> Self {
        BroughtFile {
            name,
            state: Mutex::default(),
        }
    }

    /// A file that has the same bytes, and takes its own from now on.
    pub(crate) fn fork(&self) -> Self {
        let State { size, pieces, .. } = self.lock().clone();
        let state = State {
            size,
            pieces,
            ..State::default()
        };
        BroughtFile {
            name: self.name.clone(),
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete in itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size in bytes, when it is known.
    pub(crate) fn known_size(&self) -> Option<u64> {
        self.lock().size
    }

    /// Notes the size. A file that shrank has its least size (BLK-8).
    pub(crate) fn set_size(&self, size: u64) {
        let mut state = self.lock();
        state.size = Some(state.size.map_or(size, |before| before.min(size)));
    }

    /// Notes that some bytes do not come. The first failure of a byte stays.
    pub(crate) fn fail(&self, range: Range<u64>, error: &io::Error) {
        let kind = match error.kind() {
            // It would be read again for ever.
            io::ErrorKind::Interrupted => io::ErrorKind::Other,
            kind => kind,
        };
        self.lock().failures.push((range, kind, error.to_string()));
    }

    /// Calls `act` with the bytes that are there.
    pub(crate) fn with_pieces<T>(&self, act: impl FnOnce(&mut Pieces) -> T) -> T {
        act(&mut self.lock().pieces)
    }

    /// Takes the list of what reads have missed since the last call.
    pub(crate) fn take_missed(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.lock().missed)
    }

    /// Removes bytes that are needed no more.
    pub(crate) fn remove(&self, range: Range<u64>) {
        self.lock().pieces.remove(range);
    }
}

impl State {
    /// The error of a read of bytes that are not there.
    fn miss(&mut self, range: Range<u64>) -> io::Error {
        let failure = self.failures.iter().find(|(failed, ..)| failed.contains(&range.start));
        if let Some((_, kind, text)) = failure {
            return io::Error::new(*kind, text.clone());
        }
        self.missed.push(range);
        io::Error::new(io::ErrorKind::WouldBlock, Missing)
    }

    /// The bytes from `offset` on, at most `length` of them; none at the end of the file.
    fn read(&mut self, offset: u64, length: usize) -> io::Result<Option<Bytes>> {
        if length == 0 || self.size.is_some_and(|size| offset >= size) {
            return Ok(None);
        }
        match self.pieces.from(offset) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(self.miss(offset..offset.saturating_add(length as u64))),
        }
    }
}

impl StoredFile for BroughtFile {
    fn name(&self) -> &Path {
        &self.name
    }

    fn size(&self) -> io::Result<u64> {
        let mut state = self.lock();
        match state.size {
            Some(size) => Ok(size),
            // Any byte comes with the size.
            None => Err(state.miss(0..1)),
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.lock().read(offset, buffer.len())?;
        let count = found.as_ref().map_or(0, Bytes::len).min(buffer.len());
        if let Some(bytes) = found {
            buffer[..count].copy_from_slice(&bytes[..count]);
        }
        Ok(count)
    }

    /// Notes all that is missing, so that it can be brought at once.
    fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> io::Result<()> {
        let mut result = Ok(());
        for range in ranges {
            result = result.and(range.fill_from(self));
        }
        result
    }
}

/// Shows how many bytes are there in place of the bytes.
impl fmt::Debug for BroughtFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("BroughtFile")
            .field("name", &self.name)
            .field("size", &state.size)
            .field("held", &state.pieces.held())
            .finish()
    }
}
