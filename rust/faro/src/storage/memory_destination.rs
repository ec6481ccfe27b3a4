//! Outputs that are written to memory.

use super::destination::{Destination, NewFile};
use super::files::with_extension;
use super::memory_file::MemoryFile;
use super::stored_file::StoredFile;
use super::stored_output::StoredOutput;
use crate::error::FileRole;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files of one NAME in memory. Clones share the files, so that one clone can be the destination of a writer, and
/// another finds what it published.
///
/// ```
/// use faro::storage::MemoryDestination;
/// use faro::{Reader, ReaderOptions, Writer, WriterOptions};
///
/// let memory = MemoryDestination::new("shuffle-7");
/// let mut writer = Writer::create_in(memory.clone(), WriterOptions::new(4))?;
/// writer.write(2, b"a record")?;
/// assert!(memory.output().is_none());
/// writer.finish()?;
/// let reader = Reader::open_stored(memory.output().unwrap(), ReaderOptions::default())?;
/// assert_eq!(reader.records(2)?.count(), 1);
/// # Ok::<(), faro::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryDestination {
    name: PathBuf,
    names: Names,
}

/// The published files, by role. A file's owner is the new file that published it.
type Names = Arc<Mutex<Vec<(FileRole, Arc<()>, MemoryFile)>>>;

fn lock(names: &Names) -> MutexGuard<'_, Vec<(FileRole, Arc<()>, MemoryFile)>> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryDestination {
    /// A place for the files `name.data` and `name.index`, or `name.faro`. None exists yet.
    pub fn new(name: impl Into<PathBuf>) -> MemoryDestination {
        MemoryDestination {
            name: name.into(),
            names: Names::default(),
        }
    }

    fn name_of(&self, role: FileRole) -> PathBuf {
        let ending = match role {
            FileRole::Data => "data",
            FileRole::Index => "index",
            FileRole::Single => "faro",
            FileRole::Fragment => "fragment",
        };
        with_extension(&self.name, ending)
    }

    /// The published file of a role, if there is one.
    pub fn find(&self, role: FileRole) -> Option<MemoryFile> {
        let names = lock(&self.names);
        let found = names.iter().find(|(of, ..)| *of == role);
        found.map(|(.., file)| file.clone())
    }

    /// The published output: the single file, or else the pair when both of its files are there.
    pub fn output(&self) -> Option<StoredOutput> {
        match self.find(FileRole::Single) {
            Some(single) => Some(StoredOutput::single(single)),
            None => Some(StoredOutput::paired(
                self.find(FileRole::Data)?,
                self.find(FileRole::Index)?,
            )),
        }
    }
}

impl Destination for MemoryDestination {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(MemoryNewFile {
            name: self.name_of(role),
            role,
            names: Arc::clone(&self.names),
            own: Arc::default(),
            content: Content::Growing(Vec::new()),
        }))
    }

    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        Ok(self.find(role).map(|_| self.name_of(role)))
    }
}

/// A file in memory that is being written.
#[derive(Debug)]
struct MemoryNewFile {
    name: PathBuf,
    role: FileRole,
    names: Names,
    own: Arc<()>,
    content: Content,
}

enum Content {
    Growing(Vec<u8>),
    Published(MemoryFile),
    Removed,
}

/// Shows the size in place of the bytes, which may be many.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Content::Growing(bytes) => write!(f, "Growing({})", bytes.len()),
            Content::Published(file) => write!(f, "Published({file:?})"),
            Content::Removed => f.write_str("Removed"),
        }
    }
}

impl MemoryNewFile {
    fn growing(&mut self) -> io::Result<&mut Vec<u8>> {
        match &mut self.content {
            Content::Growing(bytes) => Ok(bytes),
            _ => Err(io::Error::other("the file is published or removed")),
        }
    }
}

impl NewFile for MemoryNewFile {
    fn name(&self) -> &Path {
        &self.name
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let content = self.growing()?;
        content
            .try_reserve(bytes.len())
            .map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        content.extend_from_slice(bytes);
        Ok(())
    }

    /// Memory does not survive a crash.
    fn sync(&mut self) -> io::Result<()> {
        self.growing().map(|_| ())
    }

    fn publish(&mut self, replace: bool) -> io::Result<()> {
        let bytes = std::mem::take(self.growing()?);
        let mut names = lock(&self.names);
        let taken = names.iter().position(|(role, ..)| *role == self.role);
        if taken.is_some() && !replace {
            drop(names);
            self.content = Content::Growing(bytes);
            return Err(ErrorKind::AlreadyExists.into());
        }
        if let Some(at) = taken {
            names.swap_remove(at);
        }
        let file = MemoryFile::new(&self.name, bytes);
        names.push((self.role, Arc::clone(&self.own), file.clone()));
        drop(names);
        self.content = Content::Published(file);
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        self.content = Content::Removed;
        lock(&self.names).retain(|(_, owner, _)| !Arc::ptr_eq(owner, &self.own));
        Ok(())
    }

    fn open(&self) -> io::Result<Box<dyn StoredFile>> {
        match &self.content {
            Content::Published(file) => Ok(Box::new(file.clone())),
            _ => Err(io::Error::other("the file is not published")),
        }
    }
}
