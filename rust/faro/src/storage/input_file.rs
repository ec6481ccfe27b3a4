//! A file that is read by position. It knows its role, so errors can name it.

#[cfg(test)]
pub(crate) mod seam;

use super::publishing::ReadFile;
use crate::error::{Error, ErrorCode, FileRole, Result};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// An open file of an output. Reads are positioned, so any number of threads may share it.
#[derive(Debug)]
pub(crate) struct InputFile {
    file: ReadFile,
    path: PathBuf,
    role: FileRole,
    /// Counts the bytes that were read, for tests.
    #[cfg(test)]
    pub(crate) read: std::sync::atomic::AtomicU64,
    #[cfg(test)]
    pub(crate) seam: seam::Seam,
}

impl InputFile {
    /// Opens a file for reading. A failure, and anything but a regular file, is `io` (OPN-4).
    pub(crate) fn open(path: &Path, role: FileRole) -> Result<Self> {
        let open = || {
            let file = open_without_waiting(path)?;
            match file.metadata()?.is_file() {
                true => Ok(file),
                false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
            }
        };
        let file = match ReadFile::waiting(path) {
            Some(file) => file,
            None => ReadFile::new(open().map_err(|e| Error::io("open the file", path, Some(role), e))?),
        };
        Ok(InputFile {
            file,
            path: path.to_path_buf(),
            role,
            #[cfg(test)]
            read: std::sync::atomic::AtomicU64::new(0),
            #[cfg(test)]
            seam: seam::Seam::default(),
        })
    }

    pub(crate) fn role(&self) -> FileRole {
        self.role
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the file now, in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        let metadata = self
            .file
            .metadata()
            .map_err(|e| self.io("ask for the size of the file", e))?;
        Ok(metadata.len())
    }

    /// Adds this file to an error.
    pub(crate) fn blame(&self, error: Error) -> Error {
        error.in_file(self.role, &self.path)
    }

    fn io(&self, what: &str, error: io::Error) -> Error {
        Error::io(what, &self.path, Some(self.role), error)
    }

    /// Reads from `offset` on until `buffer` is full or the file ends, and returns how many bytes it read.
    pub(crate) fn read_up_to(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.io("read the file", e)),
            }
        }
        #[cfg(test)]
        self.read.fetch_add(filled as u64, std::sync::atomic::Ordering::Relaxed);
        Ok(filled)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(test)]
        let buffer = match self.seam.ask(seam::Call::Read(self.role, buffer.len())) {
            seam::Verdict::Go => buffer,
            seam::Verdict::Refused(error) => return Err(error),
            seam::Verdict::Short(most) => {
                let length = buffer.len().min(most);
                &mut buffer[..length]
            }
        };
        read_at(&self.file, buffer, offset)
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

/// With this flag, opening a pipe that has no writer does not block. It has no effect on regular files.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(windows)]
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
