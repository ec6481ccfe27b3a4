//! A file that is appended to in large pieces.

mod gather;

pub(crate) use gather::GATHERED;

use super::destination::NewFile;
use super::input_file::InputFile;
use super::local_file::LocalFile;
use super::publishing::{Birth, ClaimedFile, Living, new_file, unlock_file};
use super::reserve::reserve_space;
use super::stored_file::StoredFile;
use crate::error::{Error, FileRole, Result};
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The size of a write in bytes. Writes are aligned to it as far as commits allow.
const PIECE: u64 = 1 << 20;
/// How many bytes are reserved ahead of a long file. Growing the file with each write would halve the speed of the file
/// system.
const AHEAD: u64 = 16 << 20;

/// Where the bytes of a file go.
#[derive(Debug)]
enum Place {
    /// A local file, open for reading and writing.
    Local(File),
    /// A file of a [`Destination`](super::Destination).
    Stored(Box<dyn NewFile>),
    /// None yet (WRT-13), or none any more: it was closed or handed over, or a call of the storage panicked.
    None,
}

/// A new file with a buffer before it. Dropping it removes the file, unless [`OutputFile::keep`] was called.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// Present while the file is written (PUB-6). It is declared, and so dropped, before the file.
    living: Option<Living>,
    born: Birth,
    place: Place,
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
    calls: Calls,
}

/// The calls that wrote to a file so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    /// The bytes that were appended.
    pub bytes: u64,
    pub write_time: Duration,
    pub sync_time: Duration,
}

impl OutputFile {
    /// Creates a file that did not exist. With `replacing`, it first removes the file that has the name.
    pub(crate) fn create(path: PathBuf, role: FileRole, replacing: bool) -> Result<Self> {
        let ClaimedFile { living, file } =
            new_file(&path, replacing).map_err(|(step, error)| Error::io(step, &path, Some(role), error))?;
        Ok(OutputFile::new(living, Place::Local(file), path, role))
    }

    /// A file of a storage.
    pub(crate) fn stored(file: Box<dyn NewFile>, role: FileRole) -> Self {
        let path = file.name().to_path_buf();
        OutputFile::new(None, Place::Stored(file), path, role)
    }

    /// Stands for the file of an output whose layout is not decided. There is nothing to write yet; a write would fail.
    pub(crate) fn none(path: PathBuf, role: FileRole) -> Self {
        OutputFile::new(None, Place::None, path, role)
    }

    fn new(living: Option<Living>, place: Place, path: PathBuf, role: FileRole) -> Self {
        OutputFile {
            living,
            born: Birth::here(),
            place,
            path,
            role,
            buffer: Vec::new(),
            written: 0,
            held: false,
            keep: false,
            discarded: false,
            reserves: false,
            reserved_end: 0,
            calls: Calls::default(),
        }
    }

    pub(crate) fn calls(&self) -> Calls {
        self.calls
    }

    /// Ends the writing of the file, finished or given up: it is no longer a living writer's file.
    fn release(&mut self) {
        let was_living = self.living.take().is_some();
        if let Place::Local(file) = &self.place
            && was_living
        {
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

    /// The local file, which is open until it is finished.
    fn file(&self) -> io::Result<&File> {
        match &self.place {
            Place::Local(file) => Ok(file),
            Place::Stored(_) => Err(io::Error::new(ErrorKind::Unsupported, "a storage only appends")),
            Place::None => Err(closed()),
        }
    }

    /// Calls the file of a storage. If that panics, the file is dropped, which gives it up: nothing is known of it then.
    fn in_storage<T>(&mut self, call: impl FnOnce(&mut dyn NewFile) -> io::Result<T>) -> io::Result<T> {
        match std::mem::replace(&mut self.place, Place::None) {
            Place::Stored(mut file) => {
                let result = call(&mut *file);
                self.place = Place::Stored(file);
                result
            }
            other => {
                self.place = other;
                Err(closed())
            }
        }
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
        let start = Instant::now();
        let written = match &mut self.place {
            Place::Stored(_) if length == 0 => return Ok(()),
            Place::Stored(_) => {
                // Taken out, since the call needs the file.
                let buffer = std::mem::take(&mut self.buffer);
                let appended = self.in_storage(|file| file.append(&buffer[..length]));
                self.buffer = buffer;
                appended
            }
            _ => {
                self.reserve(length as u64);
                self.file().and_then(|mut file| file.write_all(&self.buffer[..length]))
            }
        }
        .map_err(|error| self.io("write the file", error));
        self.calls.write_time += start.elapsed();
        written?;
        self.calls.bytes += length as u64;
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
        let start = Instant::now();
        let synced = match &self.place {
            Place::Stored(_) => self.in_storage(|file| file.sync()),
            _ => self.file().and_then(File::sync_data),
        }
        .map_err(|error| self.io("sync the file", error));
        self.calls.sync_time += start.elapsed();
        synced
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

    /// Gives a file of a storage its name.
    pub(crate) fn publish(&mut self, replace: bool) -> io::Result<()> {
        self.in_storage(|file| file.publish(replace))
    }

    /// Closes the file, which is finished.
    pub(crate) fn close(&mut self) {
        self.place = Place::None;
    }

    /// Hands the file over to a reader, once it is finished. The reader keeps the descriptor, so it reads this file
    /// whatever happens to its name.
    pub(crate) fn hand_over(&mut self) -> Result<InputFile> {
        let file: Arc<dyn StoredFile> = match std::mem::replace(&mut self.place, Place::None) {
            Place::Local(file) => Arc::new(LocalFile::of_open(file, self.path.clone())),
            Place::Stored(file) => match file.open() {
                Ok(file) => Arc::from(file),
                Err(error) => return Err(self.io("open the published file", error)),
            },
            Place::None => return Err(self.io("hand the file over", closed())),
        };
        Ok(InputFile::new(file, self.role))
    }

    /// The number of a local file's device, while it is a living writer's file.
    pub(crate) fn device(&self) -> Option<u64> {
        self.living.as_ref().map(Living::device)
    }

    pub(crate) fn role(&self) -> FileRole {
        self.role
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
        if self.discarded || !self.born.is_here() {
            return;
        }
        self.discarded = true;
        match self.place {
            Place::Stored(_) => {
                // If that fails, it stays as it is (WRT-6).
                let _ = self.in_storage(|file| file.remove());
            }
            Place::Local(_) => {
                // Not if the name belongs to another file by now, or this file was renamed.
                if self.has_its_name() {
                    // If that fails, it stays as it is (WRT-6).
                    let _ = std::fs::remove_file(&self.path);
                }
                self.release();
            }
            Place::None => {}
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

    /// Windows keeps the names of open files, and WebAssembly cannot compare files.
    #[cfg(not(unix))]
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
        if !self.born.is_here() {
            // Dropping it could give up what the writer's process is writing (WRT-11).
            if let Place::Stored(file) = std::mem::replace(&mut self.place, Place::None) {
                std::mem::forget(file);
            }
        }
    }
}
