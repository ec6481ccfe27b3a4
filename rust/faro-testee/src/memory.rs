//! Outputs in memory.

use crate::protocol::Failure;
use crate::storage::{Local, NewOutput, Storage, name_and_layout, path_of};
use faro::storage::{
    Destination, LocalFile, MemoryDestination, MemoryFile, NewFile, RangeRead, StoredFile, StoredOutput,
};
use faro::{CheckOptions, CheckReport, FileRole, Files, Reader, ReaderOptions, Writer, WriterOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Files in memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory;

impl Storage for Memory {
    fn create(&self, path: &Path, mut options: WriterOptions) -> Result<NewOutput, Failure> {
        if options.follow {
            return Local.create(path, options);
        }
        let name = name_and_layout(path, &mut options)?;
        let memory = MemoryDestination::new(&name);
        let folder = InFolder {
            memory: memory.clone(),
            name: name.clone(),
        };
        let writer = Writer::create_in(folder, options)?;
        Ok(NewOutput::new(writer, move |role| {
            let file = memory.find(role).ok_or(io::ErrorKind::NotFound)?;
            std::fs::write(path_of(&name, role), file.bytes())
        }))
    }

    fn open(&self, files: &Files, options: ReaderOptions) -> faro::Result<Reader> {
        Reader::open_stored(in_memory(files), options)
    }

    fn check(&self, files: &Files, options: &CheckOptions) -> faro::Result<CheckReport> {
        faro::check_stored(&in_memory(files), options)
    }
}

/// Makes files in memory that will be copied to a folder, whose files have the names.
#[derive(Debug)]
struct InFolder {
    memory: MemoryDestination,
    /// The paths without their endings.
    name: PathBuf,
}

impl Destination for InFolder {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        self.memory.create(role)
    }

    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        let path = path_of(&self.name, role);
        Ok(path.try_exists()?.then_some(path))
    }
}

fn in_memory(files: &Files) -> StoredOutput {
    match files {
        Files::Single(path) => StoredOutput::single(copy(path)),
        Files::Paired { data, index } => StoredOutput::paired(copy(data), copy(index)),
    }
}

/// A file in memory with the bytes of a local file.
pub(crate) fn copy(path: &Path) -> Box<dyn StoredFile> {
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
