//! Where reading and checking find files: at their paths, or in memory, copied from there before each request.

use faro::storage::{LocalFile, MemoryFile, RangeRead, StoredFile, StoredOutput};
use faro::{CheckOptions, CheckReport, Files, Reader, ReaderOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The variable of the environment that chooses the storage.
const VARIABLE: &str = "FARO_TESTEE_STORAGE";

/// Where reading and checking find files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Storage {
    /// At their paths.
    #[default]
    Local,
    /// In memory.
    Memory,
}

impl Storage {
    /// The storage that the environment chooses.
    pub(crate) fn chosen() -> io::Result<Storage> {
        match std::env::var_os(VARIABLE) {
            None => Ok(Storage::Local),
            Some(value) if value == "memory" => Ok(Storage::Memory),
            Some(value) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{VARIABLE} is memory or not set, not {}", value.display()),
            )),
        }
    }

    /// Opens a reader.
    pub(crate) fn open(self, files: &Files, options: ReaderOptions) -> faro::Result<Reader> {
        match self {
            Storage::Local => Reader::open(files, options),
            Storage::Memory => Reader::open_stored(in_memory(files), options),
        }
    }

    /// Checks an output.
    pub(crate) fn check(self, files: &Files, options: &CheckOptions) -> faro::Result<CheckReport> {
        match self {
            Storage::Local => faro::check(files, options),
            Storage::Memory => faro::check_stored(&in_memory(files), options),
        }
    }
}

fn in_memory(files: &Files) -> StoredOutput {
    match files {
        Files::Single(path) => StoredOutput::single(copy(path)),
        Files::Paired { data, index } => StoredOutput::paired(copy(data), copy(index)),
    }
}

/// A file in memory with the bytes of a local file.
fn copy(path: &Path) -> Box<dyn StoredFile> {
    let read = || {
        let file = LocalFile::open(path)?;
        let mut bytes = vec![0; file.size()? as usize];
        file.read_ranges(&mut [RangeRead::new(0, &mut bytes)])?;
        Ok(MemoryFile::new(path, bytes))
    };
    match read() {
        Ok(file) => Box::new(file),
        Err(error) => Box::new(Refused {
            name: path.to_path_buf(),
            error,
        }),
    }
}

/// A file that the system refused to open. The reader gets the error when it comes to the file: before that, it checks
/// the header of the index file, and may find a fault there (OPN-1).
#[derive(Debug)]
struct Refused {
    name: PathBuf,
    error: io::Error,
}

impl Refused {
    fn refuse<T>(&self) -> io::Result<T> {
        Err(io::Error::new(self.error.kind(), self.error.to_string()))
    }
}

impl StoredFile for Refused {
    fn name(&self) -> &Path {
        &self.name
    }

    fn size(&self) -> io::Result<u64> {
        self.refuse()
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        self.refuse()
    }
}
