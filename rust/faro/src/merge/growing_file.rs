//! A file of a merge: bytes are appended, and may be taken back.

use crate::error::{Error, FileRole, Result};
use crate::storage::publishing::{ClaimedFile, Living, Locked, is_living, lock_file, new_file, unlock_file};
use crate::storage::reserve::reserve_space;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Appended bytes are written up to multiples of this. Systems allocate the page cache in pieces as large as the writes,
/// at multiples of their size.
const PIECE: u64 = 512 << 10;

/// How many bytes are reserved ahead of a long file, at most. Growing the file with each write makes the file system slow.
const MOST_AHEAD: u64 = 16 << 20;

/// A file with a buffer before it. Other processes see that it has a living writer (PUB-6).
#[derive(Debug)]
pub(super) struct GrowingFile {
    /// Declared, and so dropped, before the file.
    living: Option<Living>,
    file: File,
    path: PathBuf,
    role: FileRole,
    buffer: Vec<u8>,
    /// The offset of the buffer's first byte.
    written: u64,
    /// The end of the space that is reserved on the device; the largest number once the system has refused.
    reserved_end: u64,
}

impl GrowingFile {
    /// Creates a file that did not exist.
    pub(super) fn create(path: &Path, role: FileRole) -> Result<Self> {
        let ClaimedFile { living, file } =
            new_file(path, false).map_err(|(step, error)| Error::io(step, path, Some(role), error))?;
        Ok(GrowingFile::new(living, file, path, role))
    }

    /// Opens a file whose writer has ended. Its end is that of the file.
    pub(super) fn open(path: &Path, role: FileRole) -> Result<Self> {
        let refused = |step: &str, error| Error::io(step, path, Some(role), error);
        let living = || io::Error::new(io::ErrorKind::ResourceBusy, "a living writer has it");
        let metadata = path.metadata().map_err(|error| refused("open the file", error))?;
        // Opening and closing it would give up the lock of a writer in this process.
        if is_living(&metadata) {
            return Err(refused("resume the file", living()));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| refused("open the file", error))?;
        match lock_file(&file).map_err(|error| refused("lock the file", error))? {
            Locked::Elsewhere => Err(refused("resume the file", living())),
            Locked::Here | Locked::Unsupported => {
                let metadata = file.metadata().map_err(|error| refused("open the file", error))?;
                let mut opened = GrowingFile::new(Living::new(&metadata), file, path, role);
                opened.written = metadata.len();
                Ok(opened)
            }
        }
    }

    fn new(living: Option<Living>, file: File, path: &Path, role: FileRole) -> Self {
        GrowingFile {
            living,
            file,
            path: path.to_path_buf(),
            role,
            buffer: Vec::new(),
            written: 0,
            reserved_end: 0,
        }
    }

    /// The offset after the last byte, written or not.
    pub(super) fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Appends bytes. If the system refuses to write, they are appended all the same, and may be taken back.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        match (self.end() / PIECE * PIECE).checked_sub(self.written) {
            Some(count) if count > 0 => self.write(count as usize),
            _ => Ok(()),
        }
    }

    /// Takes back the bytes from `end` on.
    pub(super) fn take_back(&mut self, end: u64) {
        if end >= self.written {
            self.buffer.truncate((end - self.written) as usize);
        } else {
            // The bytes after it stay in the file until others take their place, or the file is cut.
            self.buffer.clear();
            self.written = end;
        }
    }

    /// Writes what was appended.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.write(self.buffer.len())
    }

    /// Gives the buffer's memory back, if it is empty.
    pub(super) fn release_buffer(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = Vec::new();
        }
    }

    /// Writes the first bytes of the buffer.
    fn write(&mut self, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.reserve(self.written + count as u64);
        let mut file = &self.file;
        let written = file
            .seek(SeekFrom::Start(self.written))
            .and_then(|_| file.write_all(&self.buffer[..count]));
        written.map_err(|error| self.refused("write to the file", error))?;
        self.written += count as u64;
        self.buffer.drain(..count);
        Ok(())
    }

    /// Reserves space on the device for the bytes up to `end`, and for as many again. It is a hint.
    fn reserve(&mut self, end: u64) {
        if end >= PIECE && end > self.reserved_end {
            let until = end + end.min(MOST_AHEAD);
            let from = self.reserved_end.max(self.written);
            // If the system cannot, the file only grows with each write.
            let refused = reserve_space(&self.file, from, until - from).is_err();
            self.reserved_end = if refused { u64::MAX } else { until };
        }
    }

    /// Cuts the file at its end.
    pub(super) fn cut(&mut self) -> Result<()> {
        let end = self.end();
        self.reserved_end = 0;
        self.file
            .set_len(end)
            .map_err(|error| self.refused("cut the file", error))
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.file
            .sync_data()
            .map_err(|error| self.refused("sync the file", error))
    }

    /// Removes the file, if it can be.
    pub(super) fn remove(&self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|error| self.refused("remove the file", error))
    }

    fn refused(&self, step: &str, error: io::Error) -> Error {
        Error::io(step, &self.path, Some(self.role), error)
    }
}

impl Drop for GrowingFile {
    fn drop(&mut self) {
        if self.living.take().is_some() {
            if self.reserved_end > 0 {
                // Its size stays; what was reserved after it is given back. If that fails, it only takes more of the
                // device than it should.
                let _ = self.file.metadata().and_then(|now| self.file.set_len(now.len()));
            }
            unlock_file(&self.file);
        }
    }
}
