//! A file that is appended to, in large pieces.

use super::blocks::Sink;
use crate::error::{Error, Result, Role};
use crate::storage::publishing::{Birth, Living, NewFile, new_file, unlock_file};
use crate::storage::reserve_room;
use std::fs::File;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of a write, and what writes are aligned to as far as commits allow.
const PIECE: u64 = 1 << 20;
/// Bytes that are asked for ahead of a long file: a file system that finds out with each write that it has to grow is
/// half as fast.
const AHEAD: u64 = 16 << 20;

/// A new file with a buffer before it. Unless it was told to keep the file, dropping it removes the file.
#[derive(Debug)]
pub(crate) struct AppendFile {
    /// While it is written (PUB-6). Before the file, which is closed after it.
    living: Option<Living>,
    born: Birth,
    file: File,
    path: PathBuf,
    role: Role,
    buffer: Vec<u8>,
    /// Where the buffer's first byte goes.
    written: u64,
    /// Nothing is written while a region is open that may be given up and that others would see (WRT-8).
    held: bool,
    keep: bool,
    discarded: bool,
    /// Whether room is asked for ahead.
    asks: bool,
    /// Up to where room was asked for.
    room: u64,
}

impl AppendFile {
    /// Creates a file that did not exist before, or with `replacing` removes what has its name.
    pub(crate) fn create(path: PathBuf, role: Role, replacing: bool) -> Result<Self> {
        let NewFile { living, file } =
            new_file(&path, replacing).map_err(|(step, error)| Error::io(step, &path, Some(role), error))?;
        Ok(AppendFile {
            living,
            born: Birth::here(),
            file,
            path,
            role,
            buffer: Vec::new(),
            written: 0,
            held: false,
            keep: false,
            discarded: false,
            asks: false,
            room: 0,
        })
    }

    /// The file is whole, or given up: it is no living writer's any more.
    fn release(&mut self) {
        if self.living.take().is_some() {
            unlock_file(&self.file);
        }
    }

    /// From now on room on the device is asked for ahead of what is written. That is a hint: where it is refused,
    /// writing goes on without, and nobody sees it in the file's size.
    pub(crate) fn ask_for_room(&mut self) {
        self.asks = true;
    }

    /// Asks for room if `length` bytes more need it. Whoever writes less than a piece writes a small file.
    fn make_room(&mut self, length: u64) {
        let end = self.written + length;
        if self.asks && end > self.room && length >= PIECE {
            let from = self.room.max(self.written);
            let until = end + AHEAD;
            let refused = reserve_room(&self.file, from, until - from).err();
            self.asks = refused.is_none();
            // Another refusal may leave a part of it, which is to be given back.
            if refused.is_none_or(|error| error.kind() != ErrorKind::Unsupported) {
                self.room = until;
            }
        }
    }

    /// Gives back the room that was not needed. When that fails, the file only takes more of the device than it should.
    pub(crate) fn give_room_back(&mut self) {
        if self.room > self.written {
            let _ = self.file.set_len(self.written);
        }
        self.room = 0;
    }

    fn io(&self, what: &str, error: std::io::Error) -> Error {
        Error::io(what, &self.path, Some(self.role), error)
    }

    /// Where the next byte goes.
    pub(crate) fn offset(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// What is not written yet; bytes appended here are written by the next call that writes.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Whether so much waits that it should be written.
    pub(crate) fn is_full(&self) -> bool {
        self.buffer.len() as u64 >= PIECE
    }

    /// Writes whole pieces, and keeps the rest.
    pub(crate) fn write_pieces(&mut self) -> Result<()> {
        let end = self.offset() / PIECE * PIECE;
        match end.checked_sub(self.written) {
            Some(length) if length > 0 && !self.held => self.write(length as usize),
            _ => Ok(()),
        }
    }

    /// Writes all that waits.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.write(self.buffer.len())
    }

    fn write(&mut self, length: usize) -> Result<()> {
        self.make_room(length as u64);
        self.file
            .write_all(&self.buffer[..length])
            .map_err(|error| self.io("write the file", error))?;
        self.buffer.drain(..length);
        self.written += length as u64;
        Ok(())
    }

    /// Keeps everything in memory until told otherwise.
    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Syncs to the device what was written.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.io("sync the file", error))
    }

    /// Forgets everything from `offset` on.
    pub(crate) fn cut(&mut self, offset: u64) -> Result<()> {
        match offset.checked_sub(self.written) {
            Some(kept) => self.buffer.truncate(kept as usize),
            None => {
                self.buffer.clear();
                self.file
                    .set_len(offset)
                    .map_err(|error| self.io("cut the file", error))?;
                self.file
                    .seek(SeekFrom::Start(offset))
                    .map_err(|error| self.io("seek in the file", error))?;
                self.written = offset;
                self.room = 0;
            }
        }
        Ok(())
    }

    /// Whether the file outlives this.
    pub(crate) fn keep(&mut self, keep: bool) {
        self.keep = keep;
    }

    /// Whether the file outlives this.
    pub(crate) fn is_kept(&self) -> bool {
        self.keep
    }

    /// The file is finished: it stays, and is no living writer's any more.
    pub(crate) fn finish(&mut self) {
        self.keep = true;
        self.buffer = Vec::new();
        self.release();
    }

    /// The name that the file has now.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file was given another name.
    pub(crate) fn is_now(&mut self, path: &Path) {
        self.path = path.to_path_buf();
    }

    /// Removes the file, if that is possible; nothing more is written.
    pub(crate) fn discard(&mut self) {
        self.buffer = Vec::new();
        if !self.discarded && self.born.is_here() {
            // Not when somebody gave the name to another file, or this file another name.
            if self.has_its_name() {
                // Where that is refused, it stays as it is (WRT-6).
                let _ = std::fs::remove_file(&self.path);
            }
            self.discarded = true;
            self.release();
        }
    }

    /// Whether what has the file's name is the file.
    #[cfg(unix)]
    fn has_its_name(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        match (self.file.metadata(), self.path.symlink_metadata()) {
            (Ok(own), Ok(named)) => (own.dev(), own.ino()) == (named.dev(), named.ino()),
            _ => false,
        }
    }

    /// An open file keeps its name here.
    #[cfg(windows)]
    fn has_its_name(&self) -> bool {
        true
    }

    /// Takes back what a file that others follow has from `offset` on; removes it when that is refused (WRT-6). Nothing
    /// more is written.
    pub(crate) fn take_back(&mut self, offset: u64) {
        self.buffer = Vec::new();
        let cut = self.file.metadata().and_then(|now| match now.len() > offset {
            true => self.file.set_len(offset),
            false => Ok(()),
        });
        if cut.is_err() {
            self.discard();
        }
    }

    /// Gives the file its final name, and goes on with it under that name.
    pub(crate) fn rename(&mut self, path: &Path) -> Result<()> {
        if self.path != path {
            std::fs::rename(&self.path, path).map_err(|error| self.io("rename the file", error))?;
            self.path = path.to_path_buf();
        }
        Ok(())
    }
}

impl Sink for AppendFile {
    #[inline(always)]
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    #[inline(always)]
    fn block_ended(&mut self) -> Result<()> {
        if self.is_full() { self.write_pieces() } else { Ok(()) }
    }
}

impl Drop for AppendFile {
    fn drop(&mut self) {
        if !self.keep {
            self.discard();
        }
    }
}
