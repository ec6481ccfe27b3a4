//! The options of a writer (spec, the table of WRT).

use super::executor::Executor;
use super::listener::Listener;
use crate::block;
use crate::block::framing;
use crate::bytes::VERSION_MINOR;
use crate::bytes::{FEATURE_DICTIONARIES, FEATURE_SELECTIVE, FileHeader, FileKind, Framing, MAX_PARTITIONS};
use crate::codec::Codec;
use crate::error::{Error, Result};
use crate::limits::MemoryBudget;
use crate::storage::Layout;
use std::ops::Range;
use std::sync::Arc;
use uuid::Uuid;

/// What a writer syncs, to survive a crash of the machine (WRT-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Nothing: a crash of the machine may lose committed regions, and published files.
    #[default]
    None,
    /// Each committed region, and the published files.
    Commit,
}

/// How a [`crate::Writer`] writes. [`WriterOptions::new`] returns the defaults of the specification.
///
/// ```
/// use faro::{Codec, Layout, WriterOptions};
/// let options = WriterOptions::new(100).layout(Layout::Single).codec(Codec::Zstd).level(3);
/// assert_eq!(options.block_size, 65_536);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriterOptions {
    /// A pair or a single file. When absent, the NAME decides: single if it ends with `.faro`, else a pair (PUB-1).
    pub layout: Option<Layout>,
    /// With more than 0, in bytes, at most 2^33: a small output becomes a single file, and any other a pair (WRT-13). The
    /// layout is decided when the first region ends, or [`crate::Writer::finish`] is called. It is single if that is
    /// `finish`, and the records in the sort buffer have charges (SRT-1) of at most this. Until then, the writer makes no
    /// file. The options `layout`, `overwrite` and `follow`, and a NAME with an ending, are refused beside it. 0 by
    /// default: never.
    pub single_below: u64,
    /// The number of partitions, 1 to 2^28; P in the specification.
    pub partition_count: u32,
    /// The number of the first partition; 0 by default.
    pub first_partition: u32,
    /// What the plain payloads are; records by default.
    pub framing: Framing,
    /// The producer's number; 0 by default.
    pub producer: u64,
    /// The producer's attempt; 0 by default.
    pub attempt: u64,
    /// The identity of the output; a random UUID when absent.
    pub file_id: Option<[u8; 16]>,
    /// The target for the plain bytes of a data block, 1 to 2^26; 64 KiB by default. Blocks never become larger than
    /// `max_plain_size`.
    pub block_size: u32,
    /// How many bytes the sort buffer holds before it closes a region, 1 to 2^33; 64 MiB by default (SRT-1).
    pub buffer_size: u64,
    /// The engine's memory, if it has a budget. With the first record, the writer asks for its working memory
    /// ([`WriterOptions::working_memory`]), and holds that until its end. The sort buffer asks as it grows, up to
    /// `buffer_size`, or twice that with `double_buffer`. If it is refused, the writer ends the region, gives the sort buffer back, and tries again; if it is
    /// refused then too, the call fails with `io`, the record is not taken, and the call may be repeated. None by default.
    pub memory_budget: Option<Arc<dyn MemoryBudget>>,
    /// How data blocks are compressed; not at all by default.
    pub codec: Codec,
    /// The compression level of Zstandard, 1 to 19; 1 by default.
    pub level: i32,
    /// How many threads compress, 1 to 64. The caller's thread is one of them: it starts the others for each region, and
    /// builds blocks too while it has none to write. The files are the same byte for byte. Each thread takes memory: see
    /// [`WriterOptions::working_memory`]. More than 1 is useful only with a codec.
    pub compress_threads: usize,
    /// Whether another thread writes a full sort buffer while the caller fills a second one; false by default. The thread is
    /// one of `executor`, or the writer's own. The files are the same byte for byte. The writer takes up to `buffer_size`
    /// and the memory for sorting once more; with a budget that grants one buffer, it waits instead. An error comes with a
    /// later call, at the latest with [`crate::Writer::finish`]. It does not apply to Arrow's batches.
    pub double_buffer: bool,
    /// The engine's threads, one of which writes a full sort buffer with `double_buffer`; a thread of the writer's own by
    /// default. Without `double_buffer` it is not used.
    pub executor: Option<Arc<dyn Executor>>,
    /// Gets regions, the end and faults; none by default.
    pub listener: Option<Arc<dyn Listener>>,
    /// Whether blocks may be compressed with dictionaries (DIC-7). With the codec Zstandard, the writer trains one when
    /// blocks are small. With any codec, it accepts those of [`crate::Writer::dictionary`].
    pub dictionaries: bool,
    /// Whether each partition keeps the order of the calls (SRT-4); true by default.
    pub ordered: bool,
    /// The partition with the first extent in dense regions, counted from the first partition; 0 by default.
    pub rotation: u32,
    /// Whether the file has the reader feature `selective`: [`crate::RegionWriter::sequence`] may leave gaps, for blocks
    /// that were consumed and need not be stored (BLK-3); false by default.
    pub selective: bool,
    /// Whether the footer has statistics (FTR-4); true by default.
    pub statistics: bool,
    /// The name of the writing program, for the footer.
    pub created_by: Option<String>,
    /// What is synced; nothing by default.
    pub durability: Durability,
    /// Whether readers may follow the files while they are written. The files then have their final names from the
    /// start.
    pub follow: bool,
    /// Whether existing files with the final names may be replaced; false by default.
    pub overwrite: bool,
    /// Whether [`crate::WriterFigures`] has the times of compression and of checksums; false by default, since the clock
    /// is read twice for each.
    pub timed: bool,
    /// The largest plain size of a block, in bytes, 1 to 2^32 − 1; 64 MiB by default. A reader refuses blocks above its
    /// own limit `max_plain_size` ([`crate::Limits`]), which is also 64 MiB by default: raise both together.
    pub max_plain_size: u32,
    /// The encapsulated Arrow IPC schema message; required with framing arrow.
    pub schema: Option<Vec<u8>>,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        $($(#[$doc])* #[must_use] pub fn $name(mut self, $name: $type) -> Self { self.$name = $name; self })*
    };
}

impl WriterOptions {
    /// The default options, for this many partitions.
    pub fn new(partition_count: u32) -> Self {
        WriterOptions {
            layout: None,
            single_below: 0,
            partition_count,
            first_partition: 0,
            framing: Framing::Records,
            producer: 0,
            attempt: 0,
            file_id: None,
            block_size: 65_536,
            buffer_size: 64 << 20,
            memory_budget: None,
            codec: Codec::None,
            level: 1,
            compress_threads: 1,
            double_buffer: false,
            executor: None,
            listener: None,
            dictionaries: false,
            ordered: true,
            rotation: 0,
            selective: false,
            statistics: true,
            created_by: None,
            durability: Durability::None,
            follow: false,
            overwrite: false,
            timed: false,
            max_plain_size: 64 << 20,
            schema: None,
        }
    }

    /// Sets `layout`.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Sets `memory_budget`.
    #[must_use]
    pub fn memory_budget(mut self, memory_budget: Arc<dyn MemoryBudget>) -> Self {
        self.memory_budget = Some(memory_budget);
        self
    }

    /// Sets `executor`.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Sets `listener`.
    #[must_use]
    pub fn listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    setters! {
        /// Sets `single_below`.
        single_below: u64;
        /// Sets `first_partition`.
        first_partition: u32;
        /// Sets `framing`.
        framing: Framing;
        /// Sets `producer`.
        producer: u64;
        /// Sets `attempt`.
        attempt: u64;
        /// Sets `file_id`.
        file_id: Option<[u8; 16]>;
        /// Sets `block_size`.
        block_size: u32;
        /// Sets `buffer_size`.
        buffer_size: u64;
        /// Sets `codec`.
        codec: Codec;
        /// Sets `level`.
        level: i32;
        /// Sets `compress_threads`.
        compress_threads: usize;
        /// Sets `double_buffer`.
        double_buffer: bool;
        /// Sets `dictionaries`.
        dictionaries: bool;
        /// Sets `ordered`.
        ordered: bool;
        /// Sets `rotation`.
        rotation: u32;
        /// Sets `selective`.
        selective: bool;
        /// Sets `statistics`.
        statistics: bool;
        /// Sets `created_by`.
        created_by: Option<String>;
        /// Sets `durability`.
        durability: Durability;
        /// Sets `follow`.
        follow: bool;
        /// Sets `overwrite`.
        overwrite: bool;
        /// Sets `timed`.
        timed: bool;
        /// Sets `max_plain_size`.
        max_plain_size: u32;
        /// Sets `schema`.
        schema: Option<Vec<u8>>;
    }

    /// WRT-1: an option out of range is `invalid-argument`.
    pub(crate) fn check(&self) -> Result<()> {
        let check = |holds: bool, expected: &str, found: u64| match holds {
            true => Ok(()),
            false => Err(Error::argument(expected, found.to_string())),
        };
        let count = u64::from(self.partition_count);
        let most = u64::from(MAX_PARTITIONS);
        check((1..=most).contains(&count), "a partition_count of 1 to 2^28", count)?;
        let end = u64::from(self.first_partition) + count;
        check(end <= most, "partition numbers below 2^28", end - 1)?;
        check(
            (1..=1 << 26).contains(&self.block_size),
            "a block_size of 1 to 2^26",
            self.block_size.into(),
        )?;
        check(
            (1..=1 << 33).contains(&self.buffer_size),
            "a buffer_size of 1 to 2^33",
            self.buffer_size,
        )?;
        self.check_single_below()?;
        if !self.codec.is_available() {
            return Err(Error::argument(
                "a codec that the library was built with (COD-7)",
                self.codec.as_str(),
            ));
        }
        if !(1..=19).contains(&self.level) {
            return Err(Error::argument("a level of 1 to 19", self.level.to_string()));
        }
        let threads = self.compress_threads;
        check(
            (1..=64).contains(&threads),
            "compress_threads of 1 to 64",
            threads as u64,
        )?;
        check(
            self.rotation < self.partition_count,
            "a rotation below partition_count",
            self.rotation.into(),
        )?;
        check(
            self.max_plain_size >= 1,
            "a max_plain_size of 1 or more",
            self.max_plain_size.into(),
        )?;
        match (&self.schema, self.framing) {
            (None, Framing::Arrow) => Err(Error::argument("a schema message with framing arrow", "none")),
            (Some(_), Framing::Opaque | Framing::Records) => {
                let found = format!("one with framing {}", self.framing.as_str());
                Err(Error::argument("a schema message with framing arrow only", found))
            }
            (Some(message), Framing::Arrow) => match framing::encapsulated_fault(message) {
                Some(found) => Err(Error::argument("a schema message that is encapsulated", found)),
                None => Ok(()),
            },
            (None, _) => Ok(()),
        }
    }

    /// WRT-1: what leaves no choice of the layout, or needs files before the choice.
    fn check_single_below(&self) -> Result<()> {
        let found = match self.single_below {
            0 => return Ok(()),
            bytes if bytes > 1 << 33 => {
                return Err(Error::argument("a single_below of at most 2^33", bytes.to_string()));
            }
            _ if self.layout.is_some() => "layout",
            _ if self.overwrite => "overwrite",
            _ if self.follow => "follow",
            _ => return Ok(()),
        };
        let expected = "the option single_below without layout, overwrite and follow";
        Err(Error::argument(expected, format!("one with {found}")))
    }

    /// The header of a file of this kind (HDR-3).
    pub(crate) fn header(&self, kind: FileKind, file_id: [u8; 16]) -> FileHeader {
        FileHeader {
            kind,
            version_minor: VERSION_MINOR,
            framing: self.framing,
            partition_count: self.partition_count,
            reader_features: self.reader_features(),
            writer_features: 0,
            producer: self.producer,
            attempt: self.attempt,
            first_partition: self.first_partition,
            file_id,
        }
    }

    fn reader_features(&self) -> u32 {
        let selective = if self.selective { FEATURE_SELECTIVE } else { 0 };
        let dictionaries = if self.dictionaries { FEATURE_DICTIONARIES } else { 0 };
        selective | dictionaries
    }

    /// The file id that was given, or a random one (HDR-3).
    pub(crate) fn file_id_or_random(&self) -> [u8; 16] {
        self.file_id.unwrap_or_else(|| *Uuid::new_v4().as_bytes())
    }

    /// The lengths of data records that need no check by WRT-2 and WRT-3.
    pub(crate) fn plain_lengths(&self) -> Range<usize> {
        // The sort buffer keeps lengths in 32 bits, and the largest number has another meaning.
        let most = u32::MAX as usize - 1;
        match self.framing {
            Framing::Records => 0..(self.max_plain_size as usize + 1).saturating_sub(4).min(most),
            Framing::Opaque => 1..most,
            Framing::Arrow => 0..0,
        }
    }

    /// Whether the writer trains a dictionary itself (DIC-7).
    pub(crate) fn trains(&self) -> bool {
        self.dictionaries && self.codec == Codec::Zstd
    }

    /// The size in bytes at which data blocks end.
    pub(crate) fn block_target(&self) -> usize {
        self.block_size.min(self.max_plain_size) as usize
    }
}

/// Refuses kinds other than data and events.
pub(crate) fn check_kind(kind: u8) -> Result<()> {
    match block::is_partition_kind(kind) {
        true => Ok(()),
        false => Err(Error::argument("kind 0, 1 or 64 to 127", kind.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reader, ReaderOptions, Writer};
    use std::collections::BTreeSet;

    #[test]
    fn a_file_id_that_was_not_given_is_a_new_random_uuid() {
        let folder = tempfile::tempdir().unwrap();
        let drawn = |n: usize| {
            let mut writer = Writer::create(folder.path().join(n.to_string()), WriterOptions::new(1)).unwrap();
            let reader = Reader::open(&writer.finish().unwrap().files, ReaderOptions::default()).unwrap();
            reader.header().file_id
        };
        let ids: BTreeSet<_> = (0..64).map(drawn).collect();
        assert_eq!(ids.len(), 64);
        for id in &ids {
            assert_eq!((id[6] >> 4, id[8] >> 6), (4, 0b10), "{id:?}");
        }
        // Every other bit is random, so it is sometimes 0 and sometimes 1.
        let same = |at: usize| {
            ids.iter()
                .fold((!0, !0), |(ones, zeros), id| (ones & id[at], zeros & !id[at]))
        };
        for at in 0..16 {
            let expected = match at {
                6 => (0x40, 0xB0),
                8 => (0x80, 0x40),
                _ => (0, 0),
            };
            assert_eq!(same(at), expected, "byte {at}");
        }
    }
}
