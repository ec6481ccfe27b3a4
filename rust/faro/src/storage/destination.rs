//! What a writer asks of the place where it puts its files (docs/storage.md).

use super::stored_file::StoredFile;
use crate::error::FileRole;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

/// Where a writer's files go: memory, an object store, a cache. One destination is for one output. The writer drops it
/// when it has its files, or with `single_below` when it has published them.
///
/// [`check_destination`](super::check_destination) tests an implementation and its files.
///
/// ```
/// use faro::storage::{Destination, NewFile, StoredFile};
/// use faro::{FileRole, Framing, Layout, Writer, WriterOptions};
/// use std::{io, path::Path};
///
/// /// Counts the bytes of an output, and keeps none.
/// #[derive(Debug)]
/// struct Count;
///
/// #[derive(Debug)]
/// struct Counted(u64);
///
/// impl Destination for Count {
///     fn create(&mut self, _: FileRole) -> io::Result<Box<dyn NewFile>> {
///         Ok(Box::new(Counted(0)))
///     }
/// }
///
/// impl NewFile for Counted {
///     fn name(&self) -> &Path {
///         Path::new("counted")
///     }
///     fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
///         self.0 += bytes.len() as u64;
///         Ok(())
///     }
///     fn sync(&mut self) -> io::Result<()> {
///         Ok(())
///     }
///     fn publish(&mut self, _: bool) -> io::Result<()> {
///         println!("{} bytes", self.0);
///         Ok(())
///     }
///     fn remove(&mut self) -> io::Result<()> {
///         Ok(())
///     }
///     fn open(&self) -> io::Result<Box<dyn StoredFile>> {
///         Err(io::ErrorKind::Unsupported.into())
///     }
/// }
///
/// let mut writer = Writer::create_in(Count, WriterOptions::new(2).layout(Layout::Single))?;
/// writer.write(1, b"a record")?;
/// let summary = writer.finish()?;
/// assert_eq!(summary.files.paths(), [(FileRole::Single, Path::new("counted"))]);
/// # Ok::<(), faro::Error>(())
/// ```
pub trait Destination: Debug + Send {
    /// Makes the file of a role: the data file and then the index file, or the single file. The writer calls it when it
    /// is made; with the option [`single_below`](crate::WriterOptions::single_below) when the layout is decided.
    ///
    /// # Errors
    /// Those of the storage. A name that exists may be refused with [`io::ErrorKind::AlreadyExists`] here, or only by
    /// [`NewFile::publish`].
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>>;

    /// The name, as people know it, of the published file of a role; `None` if there is none, or if the storage does not
    /// know. Without the option [`overwrite`](crate::WriterOptions::overwrite), the writer asks before it writes, so that
    /// it does not write in vain. This one leaves it to [`NewFile::publish`].
    ///
    /// # Errors
    /// Those of the storage, when it cannot be known.
    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        let _ = role;
        Ok(None)
    }
}

impl<D: Destination + ?Sized> Destination for Box<D> {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        (**self).create(role)
    }

    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        (**self).taken(role)
    }
}

/// A file that a writer makes. The numbers are those of the promises in docs/storage.md, which
/// [`check_destination`](super::check_destination) tests.
///
/// One thread at a time uses it, and not always the same one. Dropping a file that is not published gives it up, as
/// [`NewFile::remove`] does (7). An error of any call except `remove` fails the writer.
pub trait NewFile: Debug + Send {
    /// The name that errors and the [`Summary`](crate::Summary) show (1). It need not be the path of a file.
    fn name(&self) -> &Path;

    /// Adds all of the bytes at the end, in the order of the calls, or fails (2). It keeps no reference to `bytes`; they
    /// are 1 MiB or less in most calls, and can be more. After an error the writer appends no more.
    ///
    /// # Errors
    /// Those of the storage.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// What was appended survives a crash when this returns, as far as the storage can promise that (3). It is called
    /// only with [`Durability::Commit`](crate::Durability::Commit).
    ///
    /// # Errors
    /// Those of the storage.
    fn sync(&mut self) -> io::Result<()>;

    /// Gives the complete file its name in one step (4): before it, no one sees any part under the name, and after it
    /// readers find the whole. It is called once. With `replace`, a file that has the name is replaced.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the name exists, without `replace`: that file stays as it is. So of several
    /// that publish one name, one succeeds. Others are those of the storage.
    fn publish(&mut self, replace: bool) -> io::Result<()>;

    /// Gives the file up (5). Before `publish`, nothing stays under the name. After it, the file is removed if the name
    /// is still its own. It may be called more than once.
    ///
    /// # Errors
    /// Those of the storage. The writer ignores them: what cannot be removed stays (WRT-6).
    fn remove(&mut self) -> io::Result<()>;

    /// The published file for a reader, without reading anything (6). It stays valid when this value is dropped.
    ///
    /// # Errors
    /// Those of the storage.
    fn open(&self) -> io::Result<Box<dyn StoredFile>>;
}
