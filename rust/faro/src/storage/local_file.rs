//! A file of the local file system.

use super::publishing::ReadFile;
use super::stored_file::StoredFile;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A regular file of the local file system, open for reading. Its name is its path.
///
/// Reads continue to come from the file that was opened, even if its path gets another file. While a writer in this
/// process is at work on the same file, dropping this keeps the descriptor open, since closing it would release the
/// writer's lock.
#[derive(Debug)]
pub struct LocalFile {
    file: ReadFile,
    path: PathBuf,
}

/// The largest offset that the system takes. No file is larger.
const MOST: u64 = i64::MAX as u64;

impl LocalFile {
    /// Opens a file. It does not wait, not even for the writer of a pipe.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::InvalidInput`] for anything but a regular file (OPN-4).
    pub fn open(path: impl Into<PathBuf>) -> io::Result<LocalFile> {
        let path = path.into();
        let file = match ReadFile::waiting(&path) {
            Some(file) => file,
            None => ReadFile::new(open_regular(&path)?),
        };
        Ok(LocalFile { file, path })
    }

    /// A regular file that is open already.
    pub(crate) fn of_open(file: File, path: PathBuf) -> LocalFile {
        let file = ReadFile::new(file);
        LocalFile { file, path }
    }
}

impl StoredFile for LocalFile {
    fn name(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // The system refuses a read that ends after the largest offset, also an empty one.
        let room = MOST.saturating_sub(offset);
        if room == 0 {
            return Ok(0);
        }
        let length = usize::try_from(room).map_or(buffer.len(), |room| buffer.len().min(room));
        read_at(&self.file, &mut buffer[..length], offset)
    }

    /// Reads cost little; few bytes stay in the processor's cache.
    fn read_bytes(&self) -> u64 {
        256 << 10
    }
}

fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_without_waiting(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// With this flag, opening a pipe that has no writer does not block. It has no effect on regular files.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// WebAssembly has one thread, so nothing moves the file's position between the two calls.
#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read(buffer)
}
