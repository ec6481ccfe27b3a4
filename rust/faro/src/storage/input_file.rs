//! A file that is read by position. It knows its role, so errors can name it.

mod calls;
#[cfg(test)]
pub(crate) mod seam;

use self::calls::ReadCalls;
use super::local_file::LocalFile;
use super::stored_file::{RangeRead, StoredFile, overfull, read_full};
use crate::error::{Error, ErrorCode, FileRole, Result};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// An open file of an output, in any storage. Reads are positioned, so any number of threads may share it.
#[derive(Debug)]
pub(crate) struct InputFile {
    file: Arc<dyn StoredFile>,
    role: FileRole,
    calls: ReadCalls,
    #[cfg(test)]
    pub(crate) seam: seam::Seam,
}

impl InputFile {
    pub(crate) fn new(file: Arc<dyn StoredFile>, role: FileRole) -> Self {
        InputFile {
            file,
            role,
            calls: ReadCalls::default(),
            #[cfg(test)]
            seam: seam::Seam::default(),
        }
    }

    /// Opens a local file for reading. A failure, and anything but a regular file, is `io` (OPN-4).
    pub(crate) fn open(path: &Path, role: FileRole) -> Result<Self> {
        let file = LocalFile::open(path).map_err(|e| Error::io("open the file", path, Some(role), e))?;
        Ok(InputFile::new(Arc::new(file), role))
    }

    pub(crate) fn role(&self) -> FileRole {
        self.role
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn name(&self) -> &Path {
        self.file.name()
    }

    /// The size of the file now, in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        self.file.size().map_err(|e| self.io("ask for the size of the file", e))
    }

    /// How many neighbouring bytes are read at once, 4 KiB to 64 MiB: a count of the caller's code bounds memory.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.file.read_bytes().clamp(4 << 10, 64 << 20)
    }

    /// What was read so far.
    pub(crate) fn calls(&self) -> &ReadCalls {
        &self.calls
    }

    /// Adds this file to an error.
    pub(crate) fn blame(&self, error: Error) -> Error {
        error.in_file(self.role, self.file.name())
    }

    fn io(&self, what: &str, error: io::Error) -> Error {
        Error::io(what, self.file.name(), Some(self.role), error)
    }

    /// Reads from `offset` on until `buffer` is full or the file ends, and returns how many bytes it read.
    pub(crate) fn read_up_to(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let filled = read_full(offset, buffer, |offset, rest| self.read_at(offset, rest));
        filled.map_err(|e| self.io("read the file", e))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(test)]
        let buffer = match self.seam.ask(seam::Call::Read(self.role, buffer.len())) {
            seam::Verdict::Go => buffer,
            seam::Verdict::Refused(error) => return Err(error),
            seam::Verdict::Short(most) => {
                let length = buffer.len().min(most);
                &mut buffer[..length]
            }
        };
        let start = Instant::now();
        let result = self.file.read_at(offset, buffer);
        self.calls
            .add(start, result.as_ref().map_or(0, |count| (*count).min(buffer.len())));
        result
    }

    /// Fills several ranges at once, each until its buffer is full or the file ends. After an error, nothing is known
    /// of any range.
    pub(crate) fn read_ranges(&self, ranges: &mut [RangeRead<'_>]) -> Result<()> {
        #[cfg(test)]
        for range in ranges.iter() {
            // Ranges are never short: that is a matter of the reads that fill them.
            if let seam::Verdict::Refused(error) = self.seam.ask(seam::Call::Read(self.role, range.length())) {
                return Err(self.io("read the file", error));
            }
        }
        let start = Instant::now();
        let result = self.file.read_ranges(ranges);
        let filled = match result {
            Ok(()) => ranges.iter().map(|range| range.filled().min(range.length())).sum(),
            Err(_) => 0,
        };
        self.calls.add(start, filled);
        let done = result.and_then(|()| match ranges.iter().any(RangeRead::is_overfull) {
            true => Err(overfull()),
            false => Ok(()),
        });
        done.map_err(|e| self.io("read the file", e))
    }

    /// Fills `buffer` from `offset` on. A file that ends too early has shrunk since it was opened: `truncated` at its
    /// size (BLK-8).
    pub(crate) fn read_exact(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let filled = self.read_up_to(offset, buffer)?;
        if filled < buffer.len() {
            let size = self.size()?;
            return Err(self.blame(Error::at(
                ErrorCode::Truncated,
                size,
                format!("{} bytes at offset {offset}", buffer.len()),
                format!("a file of {size} bytes, smaller than when it was opened"),
            )));
        }
        Ok(())
    }

    /// An empty vector with room for `length` bytes; `io` when the system has no memory.
    pub(crate) fn room(&self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let refused = |error| self.io(&format!("take {length} bytes of memory"), error);
        #[cfg(test)]
        if let seam::Verdict::Refused(error) = self.seam.ask(seam::Call::Memory(length)) {
            return Err(refused(error));
        }
        bytes
            .try_reserve_exact(length)
            .map_err(|_| refused(io::ErrorKind::OutOfMemory.into()))?;
        Ok(bytes)
    }

    /// Reads `length` bytes from `offset` on. The caller has compared `length` with a limit and with the size of the
    /// file.
    pub(crate) fn read_vec(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = self.room(length)?;
        bytes.resize(length, 0);
        self.read_exact(offset, &mut bytes)?;
        Ok(bytes)
    }
}
