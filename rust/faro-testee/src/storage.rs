//! Where reading and checking find files: at their paths, or in memory, copied from there before each request. Where
//! writing makes them: at their paths, or in memory, copied to there when the output is finished. Reading in memory is
//! by a reader, or by feeds.

use crate::protocol::Failure;
use faro::storage::{
    Destination, LocalFile, MemoryDestination, MemoryFile, NewFile, RangeRead, StoredFile, StoredOutput,
};
use faro::{CheckOptions, CheckReport, FileRole, Files, Layout, Reader, ReaderOptions, Writer, WriterOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The variable of the environment that chooses the storage.
const VARIABLE: &str = "FARO_TESTEE_STORAGE";

/// Where files are, for writing, reading and checking.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Storage {
    /// At their paths.
    #[default]
    Local,
    /// In memory.
    Memory,
    /// In memory; outputs are opened, and partitions and ranges read, by feeds.
    Feed,
}

impl Storage {
    /// The storage that the environment chooses.
    pub(crate) fn chosen() -> io::Result<Storage> {
        match std::env::var_os(VARIABLE) {
            None => Ok(Storage::Local),
            Some(value) if value == "memory" => Ok(Storage::Memory),
            Some(value) if value == "feed" => Ok(Storage::Feed),
            Some(value) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{VARIABLE} is memory, feed or not set, not {}", value.display()),
            )),
        }
    }

    /// Creates a writer. What may be followed is always local.
    pub(crate) fn create(self, path: &Path, options: WriterOptions) -> Result<Output, Failure> {
        if matches!(self, Storage::Local) || options.follow {
            let writer = Writer::create(path, options)?;
            return Ok(Output { writer, memory: None });
        }
        let mut options = options;
        if options.single_below > 0 {
            // A NAME with an ending has only one layout, which this refuses.
            Files::to_write(path, Some(Layout::Single))?;
            Files::to_write(path, Some(Layout::Paired))?;
        } else {
            options.layout = Some(match Files::to_write(path, options.layout)? {
                Files::Single(_) => Layout::Single,
                Files::Paired { .. } => Layout::Paired,
            });
        }
        // Paths without the ending.
        let name = match Files::to_write(path, None)? {
            Files::Single(file) | Files::Paired { data: file, .. } => file.with_extension(""),
        };
        let memory = MemoryDestination::new(&name);
        let folder = InFolder {
            memory: memory.clone(),
            name,
        };
        let writer = Writer::create_in(folder, options)?;
        let memory = Some(memory);
        Ok(Output { writer, memory })
    }

    /// Opens a reader.
    pub(crate) fn open(self, files: &Files, options: ReaderOptions) -> faro::Result<Reader> {
        match self {
            Storage::Local => Reader::open(files, options),
            Storage::Memory | Storage::Feed => Reader::open_stored(in_memory(files), options),
        }
    }

    /// Checks an output.
    pub(crate) fn check(self, files: &Files, options: &CheckOptions) -> faro::Result<CheckReport> {
        match self {
            Storage::Local => faro::check(files, options),
            Storage::Memory | Storage::Feed => faro::check_stored(&in_memory(files), options),
        }
    }
}

/// A writer, and the memory that it writes to.
pub(crate) struct Output {
    pub writer: Writer,
    memory: Option<MemoryDestination>,
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
        for files in [Files::paired(&self.name), Files::single(&self.name)] {
            for (of, path) in files.paths() {
                if of == role && path.try_exists()? {
                    return Ok(Some(path.to_path_buf()));
                }
            }
        }
        Ok(None)
    }
}

impl Output {
    /// Finishes the output, and copies files in memory to their paths.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let summary = self.writer.finish()?;
        let Some(memory) = &self.memory else { return Ok(()) };
        for (role, path) in summary.files.paths() {
            let file = memory.find(role).ok_or(io::ErrorKind::NotFound);
            let copied = file
                .map_err(io::Error::from)
                .and_then(|file| std::fs::write(path, file.bytes()));
            copied.map_err(|error| Failure::Unsupported(format!("a copy to {}: {error}", path.display())))?;
        }
        Ok(())
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
