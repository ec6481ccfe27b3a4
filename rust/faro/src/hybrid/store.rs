//! Outputs that are read while they are written (spec, HYB).

use super::consumer::HybridConsumer;
use super::full_files::FullFiles;
use super::image::Image;
use super::image_state::{Available, HybridFigures, HybridPosition};
use super::memory::Spills;
use super::options::{HybridMode, HybridOptions};
use super::selective_files::SelectiveFiles;
use super::spiller::{SpillFiles, Spiller};
use super::sync::{Arc, Weak};
use crate::block::DATA;
use crate::bytes::FileHeader;
use crate::error::{Error, FileRole, Result};
use crate::storage::{Destination, Files, Layout, NewFile, StoredFile};
use crate::writer::{Durability, To, Writer, WriterOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A region of this many bytes ends at once for a consumer that waits.
const ENOUGH: u64 = 32 << 10;
/// A full store writes when it has this many bytes that were not written, even if memory is ample.
const WRITE: u64 = 4 << 20;

/// An output that consumers read while it is written (HYB): from memory as long as it lasts, else from files, which the
/// first spill makes.
///
/// The writing calls are those of [`Writer`], with its errors. After the failure of a spill, every call of the store and
/// of its consumers returns that error. Dropping a store does what [`HybridStore::close`] does.
///
/// ```
/// use faro::hybrid::{HybridMemory, HybridMode, HybridOptions, HybridStore};
/// use faro::WriterOptions;
///
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// let memory = HybridMemory::new(256 << 20);
/// let options = HybridOptions::new(memory, HybridMode::Selective);
/// let mut store = HybridStore::create(&name, WriterOptions::new(4), options)?;
/// let mut consumer = store.open(2, None)?;
/// store.write(2, b"a record")?;
/// store.flush()?;
/// while let Some(block) = consumer.next_block() {
///     println!("{} bytes", block?.payload.len());
/// }
/// store.finish()?;
/// assert!(consumer.next_block().is_none() && consumer.is_finished());
/// // Memory was enough: there are no files.
/// assert_eq!(store.figures().written, 0);
/// # Ok(()) }
/// ```
pub struct HybridStore {
    writer: Writer,
    header: FileHeader,
    image: Arc<Image>,
    pub(super) spiller: Arc<Spiller>,
    mode: HybridMode,
    delay: Duration,
    /// The bytes of records since the last region, at least.
    buffered: u64,
    /// The commits that were told to consumers and to the memory.
    told: u64,
    finished: bool,
    closed: bool,
}

impl HybridStore {
    /// Begins an output of files `NAME.data` and `NAME.index`, which do not exist yet. A selective store looks at the names
    /// when it makes the files.
    ///
    /// # Errors
    /// `invalid-argument` for an option out of range, and for those that a store cannot have (HYB-2); `io` when a file of
    /// the name exists and the option `overwrite` is not set.
    pub fn create(name: impl AsRef<Path>, writing: WriterOptions, options: HybridOptions) -> Result<Self> {
        check(&writing)?;
        let Files::Paired { data, index } = Files::to_write(&name, Some(Layout::Paired))? else {
            return Err(Error::argument(
                "the NAME of a pair",
                name.as_ref().display().to_string(),
            ));
        };
        let (stem, _) = Files::split(name.as_ref())?;
        let selective = options.mode == HybridMode::Selective;
        let mut own = writing.clone();
        own.file_id = Some(own.file_id_or_random());
        let image = Image::new(options.memory, selective, data.clone(), index.clone(), options.reader);
        let image = Arc::new(image);
        image.with(|state, _| state.begin(own.partition_count));
        let files = match options.mode {
            HybridMode::Full => SpillFiles::Full(Box::new(FullFiles::new(data.clone(), index.clone(), own.overwrite))),
            HybridMode::Selective => {
                let mut kept = own.clone().follow(true).statistics(false).layout(Layout::Paired);
                (kept.selective, kept.double_buffer, kept.executor) = (true, false, None);
                // The listener gets the image's regions.
                kept.listener = None;
                SpillFiles::Selective(Box::new(SelectiveFiles::new(stem, kept)))
            }
        };
        let spiller = Arc::new(Spiller::new(Arc::clone(&image), files, options.executor));
        let destination = ImageDestination {
            image: Arc::clone(&image),
            paths: (data, index),
            makes_files: !selective,
            spiller: Arc::downgrade(&spiller),
        };
        let kind = crate::bytes::FileKind::Index;
        let header = own.header(kind, own.file_id.unwrap_or_default());
        let writer = Writer::create_image(destination, own.layout(Layout::Paired).follow(true))?;
        let weak = Arc::downgrade(&spiller);
        image.memory.spills_with(image.number, weak);
        // Headers were written, which no consumer waits for.
        let told = image.commits();
        Ok(HybridStore {
            writer,
            header,
            image,
            spiller,
            mode: options.mode,
            delay: options.delay,
            buffered: 0,
            told,
            finished: false,
            closed: false,
        })
    }

    /// The header of the output's index file. That of the files of a selective store has a feature more.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Writes a record for one partition; see [`Writer::write`].
    ///
    /// # Errors
    /// As [`HybridStore::put`].
    #[inline]
    pub fn write(&mut self, partition: u32, record: &[u8]) -> Result<()> {
        self.image.check_usable()?;
        self.writer.write(partition, record)?;
        self.wrote(record)
    }

    /// Writes a record for every partition, stored once.
    ///
    /// # Errors
    /// As [`HybridStore::put`].
    pub fn broadcast(&mut self, record: &[u8]) -> Result<()> {
        self.put(To::All, DATA, record, 1)
    }

    /// Writes a record for a set of partitions, stored once.
    ///
    /// # Errors
    /// As [`HybridStore::put`].
    pub fn multicast(&mut self, partitions: &[u32], record: &[u8]) -> Result<()> {
        self.put(To::These(partitions), DATA, record, 1)
    }

    /// Writes a record, or an event when `kind` is not 0; see [`Writer::put`].
    ///
    /// # Errors
    /// As [`Writer::put`]; and the failure of a spill.
    pub fn put(&mut self, to: To<'_>, kind: u8, bytes: &[u8], rows: u64) -> Result<()> {
        self.image.check_usable()?;
        self.writer.put(to, kind, bytes, rows)?;
        self.wrote(bytes)
    }

    /// Sets a property of the footer; see [`Writer::property`].
    ///
    /// # Errors
    /// As [`Writer::property`]; and the failure of a spill.
    pub fn property(&mut self, key: impl Into<String>, value: impl Into<String>) -> Result<()> {
        self.image.check_usable()?;
        let (key, value) = (key.into(), value.into());
        self.writer.property(key.clone(), value.clone())?;
        if let SpillFiles::Selective(files) = &mut *self.spiller.files() {
            files.properties.insert(key, value);
        }
        Ok(())
    }

    /// Ends the current region, so that consumers see its records.
    ///
    /// # Errors
    /// As [`Writer::flush`]; and the failure of a spill.
    pub fn flush(&mut self) -> Result<()> {
        self.image.check_usable()?;
        self.writer.flush()?;
        self.after_commit()
    }

    #[inline]
    fn wrote(&mut self, record: &[u8]) -> Result<()> {
        self.buffered += record.len() as u64;
        match self.image.waited_for() {
            Some(waited) if self.buffered >= ENOUGH || waited >= self.delay => self.flush(),
            _ if self.image.commits() != self.told => self.after_commit(),
            _ => Ok(()),
        }
    }

    /// Does what regions that were committed lead to.
    fn after_commit(&mut self) -> Result<()> {
        let commits = self.image.commits();
        if commits == self.told {
            return Ok(());
        }
        (self.told, self.buffered) = (commits, 0);
        self.image.tell();
        if self.mode == HybridMode::Full && self.image.with(|state, _| state.wants_above(WRITE)) {
            Arc::clone(&self.spiller).spill();
        }
        self.image.memory.reclaim();
        self.image.check_usable()
    }

    /// Ends the output. The files of a full store are finished then. A selective store keeps in memory what was not
    /// delivered, and may spill it later.
    ///
    /// # Errors
    /// As [`Writer::finish`]; and the failure of a spill.
    pub fn finish(&mut self) -> Result<()> {
        self.image.check_usable()?;
        let ended = self.writer.finish();
        // Also consumers that wait for an output whose files could not be finished.
        self.image.tell();
        ended?;
        self.finished = true;
        self.after_commit()
    }

    /// Reads a partition from its beginning. `available` is called when a consumer that found no block should look again,
    /// in a thread of the producer or of the executor, which it must not hold up.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the store does not have, and for one of a selective store that was opened
    /// before; the failure of the store.
    pub fn open(&self, partition: u32, available: Option<Arc<dyn Fn() + Send + Sync>>) -> Result<HybridConsumer> {
        self.open_at(partition, HybridPosition::default(), available)
    }

    /// Reads a partition from the [position](HybridConsumer::position) of an earlier consumer on; a selective store has
    /// only the beginning.
    ///
    /// # Errors
    /// As [`HybridStore::open`].
    pub fn open_at(
        &self,
        partition: u32,
        from: HybridPosition,
        available: Option<Arc<dyn Fn() + Send + Sync>>,
    ) -> Result<HybridConsumer> {
        self.image.check_usable()?;
        if !self.header.partitions().contains(&partition) {
            return Err(Error::argument("a partition of the file", partition.to_string()));
        }
        if self.mode == HybridMode::Selective && from != HybridPosition::default() {
            return Err(Error::argument(
                "the beginning, in a selective store",
                format!("{from:?}"),
            ));
        }
        let at = partition - self.header.first_partition;
        let progress = self.image.with(|state, _| state.enter(at, partition))?;
        let available: Option<Available> = available;
        Ok(HybridConsumer::new(
            Arc::clone(&self.image),
            partition,
            from,
            progress,
            available,
        ))
    }

    /// What the store has done so far.
    pub fn figures(&self) -> HybridFigures {
        self.image.figures()
    }

    /// Gives everything up: the memory, and the files, also those that were finished (HYB-8). Consumers fail.
    pub fn release(mut self) {
        self.end(true);
    }

    /// Gives the memory up. Consumers fail. The finished files of a full store stay. Those of a selective store stay if
    /// each block was delivered or is in them: then their footer says which were delivered. Otherwise, and without
    /// [`HybridStore::finish`], files are removed.
    pub fn close(mut self) {
        self.end(false);
    }

    fn end(&mut self, removes: bool) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.image.memory.retire(self.image.number);
        self.spiller.stop();
        let keeps = !removes && self.finished && self.ends_files();
        if !self.finished {
            // Before the image ends: a thread of the writer may be in the middle of a region. It fails only in a process
            // that was forked.
            let _ = self.writer.abort();
        }
        self.image.end();
        self.image.tell();
        if !keeps {
            match &mut *self.spiller.files() {
                SpillFiles::Full(files) => files.remove(),
                SpillFiles::Selective(files) => files.remove(),
            }
        }
    }

    /// Whether the files are complete; those of a selective store are finished here.
    fn ends_files(&self) -> bool {
        let (failed, complete) = self
            .image
            .with(|state, _| (state.failure.is_some(), state.is_complete()));
        match &mut *self.spiller.files() {
            SpillFiles::Full(_) => !failed,
            // If it cannot be finished, nothing is lost: no consumer waits for it.
            SpillFiles::Selective(files) => !failed && complete && files.finish(&self.image).is_ok(),
        }
    }
}

impl Drop for HybridStore {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Refuses the options that a store cannot have (HYB-2).
fn check(options: &WriterOptions) -> Result<()> {
    let refused = [
        (options.layout == Some(Layout::Single), "layout: a pair"),
        (options.single_below != 0, "single_below: 0"),
        (options.durability != Durability::None, "durability: none"),
        (options.dictionaries, "dictionaries: no"),
        (options.selective, "selective: no, since the mode decides"),
    ];
    match refused.into_iter().find(|(refused, _)| *refused) {
        Some((_, expected)) => Err(Error::argument(
            format!("option {expected}, in a hybrid store"),
            "another value",
        )),
        None => Ok(()),
    }
}

/// Where the writer of a store writes: into the image.
#[derive(Debug)]
struct ImageDestination {
    image: Arc<Image>,
    paths: (PathBuf, PathBuf),
    /// Whether there will be files in any case, so that their names are looked at now.
    makes_files: bool,
    spiller: Weak<Spiller>,
}

impl std::fmt::Debug for Spiller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spiller")
            .field("image", &self.image)
            .finish_non_exhaustive()
    }
}

impl ImageDestination {
    fn path(&self, role: FileRole) -> &PathBuf {
        match role {
            FileRole::Data => &self.paths.0,
            _ => &self.paths.1,
        }
    }
}

impl Destination for ImageDestination {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(ImageNewFile {
            image: Arc::clone(&self.image),
            path: self.path(role).clone(),
            role,
            spiller: Weak::clone(&self.spiller),
        }))
    }

    fn taken(&self, role: FileRole) -> io::Result<Option<PathBuf>> {
        let path = self.path(role);
        Ok((self.makes_files && path.symlink_metadata().is_ok()).then(|| path.clone()))
    }
}

#[derive(Debug)]
struct ImageNewFile {
    image: Arc<Image>,
    path: PathBuf,
    role: FileRole,
    spiller: Weak<Spiller>,
}

impl NewFile for ImageNewFile {
    fn name(&self) -> &Path {
        &self.path
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.role {
            FileRole::Data => self.image.add_data(bytes),
            _ => self.image.add_index(bytes),
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Finishes the files of a full store, when the image has its footer.
    fn publish(&mut self, _: bool) -> io::Result<()> {
        let Some(spiller) = self.spiller.upgrade().filter(|_| self.role == FileRole::Index) else {
            return Ok(());
        };
        if !matches!(&*spiller.files(), SpillFiles::Full(_)) {
            return Ok(());
        }
        spiller.stop();
        let panics = spiller.panics();
        let written = spiller.write_all().and_then(|()| {
            self.image.check_usable()?;
            match &mut *spiller.files() {
                SpillFiles::Full(files) => files.finish(&self.image),
                SpillFiles::Selective(_) => Ok(()),
            }
        });
        panics.not();
        // Before spills begin again: they would go on after the region that was not written.
        let ended = written.map_err(|error| {
            self.image.fail(error.clone());
            io::Error::other(error)
        });
        spiller.resume();
        ended
    }

    /// The store removes its files.
    fn remove(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn open(&self) -> io::Result<Box<dyn StoredFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
