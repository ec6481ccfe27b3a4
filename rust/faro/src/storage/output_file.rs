//! A file that is appended to in large pieces.

use super::input_file::InputFile;
use super::local_file::LocalFile;
use super::publishing::{Birth, Living, NewFile, new_file, unlock_file};
use super::reserve::reserve_space;
use crate::error::{Error, FileRole, Result};
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size of a write in bytes. Writes are aligned to it as far as commits allow.
const PIECE: u64 = 1 << 20;
/// How many bytes are reserved ahead of a long file. Growing the file with each write would halve the speed of the file
/// system.
const AHEAD: u64 = 16 << 20;

/// A new file with a buffer before it. Dropping it removes the file, unless [`OutputFile::keep`] was called.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// Present while the file is written (PUB-6). It is declared, and so dropped, before the file.
    living: Option<Living>,
    born: Birth,
    /// Open for reading and writing; none once it was closed or handed over.
    file: Option<File>,
    path: PathBuf,
    role: FileRole,
    buffer: Vec<u8>,
    /// The offset of the buffer's first byte.
    written: u64,
    /// Whether writes are held back: others could see a region that may still be given up (WRT-8).
    held: bool,
    keep: bool,
    discarded: bool,
    /// Whether space is reserved ahead.
    reserves: bool,
    /// The end of the reserved space.
    reserved_end: u64,
}

impl OutputFile {
    /// Creates a file that did not exist. With `replacing`, it first removes the file that has the name.
    pub(crate) fn create(path: PathBuf, role: FileRole, replacing: bool) -> Result<Self> {
        let NewFile { living, file } =
            new_file(&path, replacing).map_err(|(step, error)| Error::io(step, &path, Some(role), error))?;
        Ok(OutputFile {
            living,
            born: Birth::here(),
            file: Some(file),
            path,
            role,
            buffer: Vec::new(),
            written: 0,
            held: false,
            keep: false,
            discarded: false,
            reserves: false,
            reserved_end: 0,
        })
    }

    /// Ends the writing of the file, finished or given up: it is no longer a living writer's file.
    fn release(&mut self) {
        let was_living = self.living.take().is_some();
        if let Some(file) = self.file.as_ref().filter(|_| was_living) {
            unlock_file(file);
        }
    }

    /// Reserves space on the device ahead of writes from now on. It is a hint: if it fails, writing goes on, and it
    /// does not change the file's size.
    pub(crate) fn reserve_ahead(&mut self) {
        self.reserves = true;
    }

    /// Reserves space if `length` more bytes need it. A file smaller than a piece gets none.
    fn reserve(&mut self, length: u64) {
        let end = self.written + length;
        if self.reserves && end > self.reserved_end && length >= PIECE {
            let from = self.reserved_end.max(self.written);
            let until = end + AHEAD;
            let refused = self
                .file()
                .and_then(|file| reserve_space(file, from, until - from))
                .err();
            self.reserves = refused.is_none();
            // Another failure may leave a part reserved, to be given back.
            if refused.is_none_or(|error| error.kind() != ErrorKind::Unsupported) {
                self.reserved_end = until;
            }
        }
    }

    /// Gives back the space that was not needed. If that fails, the file only takes more of the device than it should.
    pub(crate) fn release_reserved(&mut self) {
        if self.reserved_end > self.written {
            let _ = self.file().and_then(|file| file.set_len(self.written));
        }
        self.reserved_end = 0;
    }

    /// The file, which is open until it is finished.
    fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(closed)
    }

    fn io(&self, what: &str, error: io::Error) -> Error {
        Error::io(what, &self.path, Some(self.role), error)
    }

    /// The offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// The buffered bytes. A caller may append to it; the next write takes them.
    #[inline(always)]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Whether the buffer has enough for a write.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.buffer.len() as u64 >= PIECE
    }

    /// Writes whole pieces, and keeps the rest in the buffer.
    pub(crate) fn write_pieces(&mut self) -> Result<()> {
        let end = self.offset() / PIECE * PIECE;
        match end.checked_sub(self.written) {
            Some(length) if length > 0 && !self.held => self.write(length as usize),
            _ => Ok(()),
        }
    }

    /// Writes the whole buffer.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.write(self.buffer.len())
    }

    fn write(&mut self, length: usize) -> Result<()> {
        self.reserve(length as u64);
        self.file()
            .and_then(|mut file| file.write_all(&self.buffer[..length]))
            .map_err(|error| self.io("write the file", error))?;
        self.buffer.drain(..length);
        self.written += length as u64;
        Ok(())
    }

    /// Keeps everything in memory while `held`.
    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Syncs the written bytes to the device.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.file()
            .and_then(File::sync_data)
            .map_err(|error| self.io("sync the file", error))
    }

    /// Drops everything from `offset` on.
    pub(crate) fn cut(&mut self, offset: u64) -> Result<()> {
        match offset.checked_sub(self.written) {
            Some(kept) => self.buffer.truncate(kept as usize),
            None => {
                self.buffer.clear();
                self.file()
                    .and_then(|file| file.set_len(offset))
                    .map_err(|error| self.io("cut the file", error))?;
                self.file()
                    .and_then(|mut file| file.seek(SeekFrom::Start(offset)))
                    .map_err(|error| self.io("seek in the file", error))?;
                self.written = offset;
                self.reserved_end = 0;
            }
        }
        Ok(())
    }

    /// Sets whether the file stays when this is dropped.
    pub(crate) fn keep(&mut self, keep: bool) {
        self.keep = keep;
    }

    /// Whether the file stays when this is dropped.
    pub(crate) fn is_kept(&self) -> bool {
        self.keep
    }

    /// Finishes the file: it stays, and is no longer a living writer's file.
    pub(crate) fn finish(&mut self) {
        self.keep = true;
        self.buffer = Vec::new();
        self.release();
    }

    /// Closes the file, which is finished.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }

    /// Hands the file over to a reader, once it is finished. The reader keeps the descriptor, so it reads this file
    /// whatever happens to its name.
    pub(crate) fn hand_over(&mut self) -> Result<InputFile> {
        match self.file.take() {
            Some(file) => {
                let file = LocalFile::of_open(file, self.path.clone());
                Ok(InputFile::new(Arc::new(file), self.role))
            }
            None => Err(self.io("hand the file over", closed())),
        }
    }

    /// The current name of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that the file has another name now.
    pub(crate) fn is_now(&mut self, path: &Path) {
        self.path = path.to_path_buf();
    }

    /// Removes the file if possible. Nothing more is written.
    pub(crate) fn discard(&mut self) {
        self.buffer = Vec::new();
        if !self.discarded && self.born.is_here() {
            // Not if the name belongs to another file by now, or this file was renamed.
            if self.has_its_name() {
                // If that fails, it stays as it is (WRT-6).
                let _ = std::fs::remove_file(&self.path);
            }
            self.discarded = true;
            self.release();
        }
    }

    /// Whether the file still has its name.
    #[cfg(unix)]
    fn has_its_name(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        match (self.file().and_then(File::metadata), self.path.symlink_metadata()) {
            (Ok(own), Ok(named)) => (own.dev(), own.ino()) == (named.dev(), named.ino()),
            _ => false,
        }
    }

    /// Windows keeps the names of open files.
    #[cfg(windows)]
    fn has_its_name(&self) -> bool {
        true
    }

    /// Cuts a followed file at `offset`, and removes the file if that fails (WRT-6). Nothing more is written.
    pub(crate) fn take_back(&mut self, offset: u64) {
        self.buffer = Vec::new();
        let cut = self.file().and_then(|file| match file.metadata()?.len() > offset {
            true => file.set_len(offset),
            false => Ok(()),
        });
        if cut.is_err() {
            self.discard();
        }
    }

    /// Renames the file.
    pub(crate) fn rename(&mut self, path: &Path) -> Result<()> {
        if self.path != path {
            std::fs::rename(&self.path, path).map_err(|error| self.io("rename the file", error))?;
            self.path = path.to_path_buf();
        }
        Ok(())
    }
}

fn closed() -> io::Error {
    io::Error::other("the file is closed")
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if !self.keep {
            self.discard();
        }
    }
}
