//! The calls of a writer, and where regions end (spec, WRT-1 to WRT-7).

use super::extents::oversized;
use super::figures::WriterFigures;
use super::handed_over::HandedOver;
use super::memory::{COUNTED_SURPLUS, EVENT_SURPLUS, Memory, Room};
use super::options::WriterOptions;
use super::options::check_kind;
use super::output::Target;
use super::owner::{MemberBits, Owner};
use super::region::Shape;
use super::region_builder::RegionBuilder;
use super::streams::StreamName;
use super::summary::To;
use crate::block::framing;
use crate::block::{DATA, EVENT};
use crate::bytes::Framing;
use crate::codec::Codec;
use crate::error::{Error, ErrorCode, Result};
use crate::sort_buffer::{Pushed, RECORD_CHARGE, SortBuffer};
use crate::storage::Destination;
use crate::storage::publishing::Birth;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// Writes one output.
///
/// Records may come in any order of partitions. A sort buffer of bounded size collects them; whenever it is full, its
/// records become one region of the file. The files get their final names in [`Writer::finish`], or at once with the
/// option `follow`. Dropping a writer before that removes the files, except those that may be followed. Errors other
/// than `invalid-argument`, a refused record (WRT-3) and memory that a budget refused (WRT-14) are final: every later
/// call except [`Writer::abort`] returns the same error.
pub struct Writer {
    pub(super) options: WriterOptions,
    /// Absent while `handed_over` has it. [`Writer::builder`] waits for it.
    pub(super) builder: Option<RegionBuilder>,
    pub(super) buffer: SortBuffer<MemberBits>,
    /// With the option `double_buffer`, once a buffer was full: the threads that write regions, and the other sort buffer.
    pub(super) handed_over: Option<HandedOver>,
    pub(super) other_buffer: Option<SortBuffer<MemberBits>>,
    /// Whether the budget refused the memory of that one.
    pub(super) other_refused: bool,
    /// How many regions another thread wrote.
    pub(super) double_buffered: u64,
    /// The figures of the builder while it is absent.
    pub(super) figures_before: WriterFigures,
    pub(super) shape: Shape,
    /// Declared, and so dropped, after what takes the memory.
    pub(super) memory: Memory,
    /// The time in ending regions, and how many regions ended for want of room.
    pub(super) region_time: Duration,
    pub(super) spills: u64,
    pub(super) state: State,
    /// The regions and the size of the output that was published, until the listener has learnt of them.
    pub(super) finished_news: Option<(usize, u64)>,
    /// Whether the listener has learnt of the failure.
    pub(super) fault_told: bool,
    /// Whether a region writer exists that was neither ended nor dropped (WRT-10).
    pub(super) region_open: bool,
    /// The process that created the writer (WRT-11).
    pub(super) born: Birth,
    /// The lengths of data records for one partition that need no check except for room. It is empty unless the writer
    /// is open, and while such a record would close the region to keep the order.
    pub(super) plain: Range<usize>,
    /// The same for data records for several partitions; empty unless the writer is open.
    pub(super) plain_shared: Range<usize>,
    pub(super) properties: BTreeMap<String, String>,
    /// The set of the last multicast, and its bits, since sets often repeat.
    last_set: Option<(Vec<u32>, MemberBits)>,
    /// Whether the last record for several partitions was for all of them.
    last_is_for_all: bool,
}

pub(super) enum State {
    Open,
    Failed(Error),
    Finished,
    Aborted,
}

impl Writer {
    /// Creates the files of an output: `base.data` and `base.index`, or `base.faro`. With the option `single_below`, that
    /// happens later.
    ///
    /// # Errors
    /// `invalid-argument` for an option out of range; `io` when a file cannot be created, or exists and the option
    /// `overwrite` is not set.
    pub fn create(base: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        Writer::create_at(Target::Name(base.as_ref().to_path_buf()), options)
    }

    /// Creates an output in a storage. Its layout is that of the option, or a pair; the option
    /// [`WriterOptions::single_below`] can leave it open.
    ///
    /// The files are the same byte for byte as local ones. No one sees them before [`Writer::finish`], which publishes the
    /// data file and then the index; without the option `overwrite`, one of several writers of a name succeeds. With it,
    /// two writers of one pair can leave a data file and an index that do not belong together, which readers refuse
    /// (`mismatched-pair`): attempts need names of their own. A storage cannot take back what was appended, so the blocks
    /// of a region writer stay in memory until [`crate::RegionWriter::end`].
    ///
    /// ```
    /// use faro::storage::MemoryDestination;
    /// use faro::{Layout, ReaderOptions, Writer, WriterOptions};
    ///
    /// let memory = MemoryDestination::new("shuffle-7");
    /// let options = WriterOptions::new(4).layout(Layout::Single);
    /// let mut writer = Writer::create_in(memory, options)?;
    /// writer.write(2, b"a record")?;
    /// let (_, reader) = writer.finish_and_open(ReaderOptions::default())?;
    /// assert_eq!(reader.records(2)?.count(), 1);
    /// # Ok::<(), faro::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid-argument` for an option out of range, and for the option `follow`; `io` when the storage refuses a file.
    pub fn create_in(destination: impl Destination + 'static, options: WriterOptions) -> Result<Self> {
        if options.follow {
            return Err(Error::argument("a local file, with the option follow", "a storage"));
        }
        Writer::create_at(Target::Storage(Box::new(destination)), options)
    }

    /// Creates the image of a hybrid store (HYB-1): an output in a storage, which is followed.
    pub(crate) fn create_image(destination: impl Destination + 'static, options: WriterOptions) -> Result<Self> {
        Writer::create_at(Target::Storage(Box::new(destination)), options)
    }

    fn create_at(target: Target, options: WriterOptions) -> Result<Self> {
        let builder = RegionBuilder::create(target, &options)?;
        Ok(Writer {
            shape: builder.shape,
            builder: Some(builder),
            buffer: new_buffer(&options),
            handed_over: None,
            other_buffer: None,
            other_refused: false,
            double_buffered: 0,
            figures_before: WriterFigures::default(),
            memory: Memory::new(&options),
            region_time: Duration::ZERO,
            spills: 0,
            finished_news: None,
            fault_told: false,
            region_open: false,
            born: Birth::here(),
            plain: options.plain_lengths(),
            plain_shared: options.plain_lengths(),
            options,
            state: State::Open,
            properties: BTreeMap::new(),
            last_set: None,
            last_is_for_all: false,
        })
    }

    /// Writes a record for one partition.
    ///
    /// # Errors
    /// As [`Writer::put`].
    #[inline]
    pub fn write(&mut self, partition: u32, record: &[u8]) -> Result<()> {
        let charge = record.len() as u64 + RECORD_CHARGE;
        if self.plain.contains(&record.len())
            && self.born.is_here()
            && let Some(at) = self.shape.place(partition)
            && self.buffer.has_room(charge)
        {
            self.buffer.push_plain(at, record, charge);
            return Ok(());
        }
        self.write_slowly(partition, record)
    }

    /// Out of the way of [`Writer::write`], which most calls never leave.
    #[cold]
    #[inline(never)]
    fn write_slowly(&mut self, partition: u32, record: &[u8]) -> Result<()> {
        self.put(To::One(partition), DATA, record, 1)
    }

    /// Writes an event for one partition; `kind` is 1, or 64 to 127.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn write_event(&mut self, partition: u32, kind: u8, bytes: &[u8]) -> Result<()> {
        self.event(To::One(partition), kind, bytes)
    }

    /// Writes a record for every partition, stored once.
    ///
    /// # Errors
    /// As [`Writer::put`].
    #[inline]
    pub fn broadcast(&mut self, record: &[u8]) -> Result<()> {
        let charge = record.len() as u64 + RECORD_CHARGE;
        if self.plain_shared.contains(&record.len())
            && self.last_is_for_all
            && self.born.is_here()
            && let Some(group) = self.buffer.last_group()
            && self.buffer.has_room(charge)
        {
            self.buffer.push_plain_shared(group, record, charge);
            return Ok(());
        }
        self.put(To::All, DATA, record, 1)
    }

    /// Writes an event for every partition, stored once.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn broadcast_event(&mut self, kind: u8, bytes: &[u8]) -> Result<()> {
        self.event(To::All, kind, bytes)
    }

    /// Writes a record for a set of partitions, stored once.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn multicast(&mut self, partitions: &[u32], record: &[u8]) -> Result<()> {
        self.put(To::These(partitions), DATA, record, 1)
    }

    /// Writes an event for a set of partitions, stored once.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn multicast_event(&mut self, partitions: &[u32], kind: u8, bytes: &[u8]) -> Result<()> {
        self.event(To::These(partitions), kind, bytes)
    }

    fn event(&mut self, to: To<'_>, kind: u8, bytes: &[u8]) -> Result<()> {
        if kind == DATA {
            return Err(self.check_idle().err().unwrap_or_else(|| {
                Error::argument(format!("an event's kind, {EVENT} or 64 to 127"), kind.to_string())
            }));
        }
        self.put(to, kind, bytes, 1)
    }

    /// Writes a record, or an event when `kind` is not 0. With framing arrow, `rows` is the number of rows in the
    /// record, for the statistics. In other framings each record counts as one, whatever `rows` is.
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have, an empty set, a kind other than data and events,
    /// with framing arrow a record that is not an encapsulated message, and after `finish` or `abort` (WRT-1, WRT-2);
    /// `limit-exceeded` for a record that needs a block larger than `max_plain_size` (WRT-3); `io` with the source
    /// [`std::io::ErrorKind::OutOfMemory`] when the budget refuses memory. The writer has not taken the record then, and
    /// the call may be repeated. Any other `io`, and all others, are final (WRT-6).
    pub fn put(&mut self, to: To<'_>, kind: u8, bytes: &[u8], rows: u64) -> Result<()> {
        self.telling(|writer| writer.take(to, kind, bytes, rows))
    }

    fn take(&mut self, to: To<'_>, kind: u8, bytes: &[u8], rows: u64) -> Result<()> {
        self.check_idle()?;
        check_kind(kind)?;
        let owner = self.owner(to)?;
        self.check_record(kind, bytes)?;
        let framing = self.options.framing;
        let record = match (kind, framing) {
            (DATA, Framing::Opaque) if bytes.is_empty() => Pushed::Nothing(1),
            (DATA, Framing::Arrow) => Pushed::Data(bytes, rows),
            (DATA, _) => Pushed::Data(bytes, 1),
            _ => Pushed::Event(kind, bytes),
        };
        let surplus = match record {
            Pushed::Event(..) => EVENT_SURPLUS,
            _ if framing == Framing::Arrow => COUNTED_SURPLUS,
            _ => 0,
        };
        if !self.make_room(&owner, bytes.len(), surplus)? {
            self.decide_paired()?;
            return self.ending_region(|builder| oversized(builder, owner, &record));
        }
        let charge = self.charge(&owner, bytes.len());
        match &owner {
            Owner::Own(at) => self.buffer.push_own(*at, &record, charge),
            Owner::Shared(members) => {
                self.buffer.push_shared(members, self.options.ordered, &record, charge);
                self.last_is_for_all = members.is_none();
                self.know_plain();
            }
        }
        Ok(())
    }

    /// Closes the region before a record, to keep the order (SRT-4) or to make room (SRT-1), and gets memory for the
    /// record. Returns false if it is too large for the buffer (SRT-2). `surplus` is what it takes beyond its charge.
    fn make_room(&mut self, owner: &Owner, length: usize, surplus: u64) -> Result<bool> {
        self.begin_memory()?;
        let out_of_order = self.options.ordered && matches!(owner, Owner::Own(_)) && self.buffer.holds_shared();
        if out_of_order {
            self.close_region()?;
        }
        let mut room = self.room_for(self.charge(owner, length), surplus);
        if room == Room::Full && !self.buffer.is_empty() {
            self.spills += 1;
            self.close_full_region()?;
            room = self.room_for(self.charge(owner, length), surplus);
        }
        if room == Room::Refused {
            self.spills += u64::from(!self.buffer.is_empty());
            self.spill()?;
            room = self.room_for(self.charge(owner, length), surplus);
        }
        match room {
            Room::Enough => Ok(true),
            Room::Full => Ok(false),
            Room::Refused => Err(self.no_room(self.charge(owner, length))),
        }
    }

    /// What a record takes of the sort buffer, in bytes (SRT-1).
    fn charge(&self, owner: &Owner, length: usize) -> u64 {
        let begins_set = match owner {
            Owner::Shared(members) if members.is_some() => self.buffer.group(members, self.options.ordered).is_none(),
            _ => false,
        };
        let set = if begins_set {
            self.options.partition_count.div_ceil(8)
        } else {
            0
        };
        length as u64 + RECORD_CHARGE + u64::from(set)
    }

    fn owner(&mut self, to: To<'_>) -> Result<Owner> {
        let shape = self.shape;
        match to {
            To::One(partition) => shape
                .place(partition)
                .map(Owner::Own)
                .ok_or_else(|| shape.no_such(partition)),
            To::All => Ok(Owner::Shared(None)),
            To::These(partitions) => match &self.last_set {
                Some((last, bits)) if last == partitions => Ok(Owner::Shared(bits.clone())),
                _ => {
                    let bits = shape.bits(partitions)?;
                    self.last_set = Some((partitions.to_vec(), bits.clone()));
                    Ok(Owner::Shared(bits))
                }
            },
        }
    }

    /// Refuses a record by WRT-2 and WRT-3.
    fn check_record(&self, kind: u8, bytes: &[u8]) -> Result<()> {
        let length = bytes.len() as u64;
        let plain = match (kind, self.options.framing) {
            (DATA, Framing::Opaque) => return Ok(()),
            (DATA, Framing::Records) => 4 + length,
            (DATA, Framing::Arrow) => match framing::encapsulated_fault(bytes) {
                Some(found) => return Err(Error::argument("an encapsulated Arrow IPC message", found)),
                None => length,
            },
            _ => length,
        };
        let most = u64::from(self.options.max_plain_size);
        if plain > most {
            return Err(Error::bare(
                ErrorCode::LimitExceeded,
                format!("a block of at most {most} plain bytes (max_plain_size)"),
                format!("a record that needs {plain}"),
            ));
        }
        Ok(())
    }

    /// Closes the region now, and gives the sort buffer's memory back, to the system and to the budget
    /// ([`WriterOptions::memory_budget`]): an engine that needs memory calls this to spill. The working memory stays.
    /// Without records, no region is closed (SRT-3).
    ///
    /// # Errors
    /// `invalid-argument` after `finish` or `abort`; `io`, which is final.
    pub fn flush(&mut self) -> Result<()> {
        self.check_idle()?;
        self.telling(Writer::spill)
    }

    /// Adds a dictionary for stored blocks, and returns its number in the file. It closes the region that the sort
    /// buffer holds. The dictionary is written before the next region with blocks; one that the file has already is not
    /// written again (DIC-8).
    ///
    /// # Errors
    /// `invalid-argument` without the option `dictionaries`, for bytes that are not a Zstandard dictionary or are more
    /// than 1,048,576, for more than 65,535 dictionaries, and after `finish` or `abort`; `io`, which is final.
    pub fn dictionary(&mut self, bytes: &[u8]) -> Result<u16> {
        self.telling(|writer| writer.add_dictionary(bytes))
    }

    fn add_dictionary(&mut self, bytes: &[u8]) -> Result<u16> {
        self.check_idle()?;
        if !self.options.dictionaries {
            return Err(Error::argument(
                "the option dictionaries",
                "a file without dictionaries",
            ));
        }
        self.builder()?.dictionaries().check(bytes)?;
        self.decide_paired()?;
        self.close_region()?;
        // Closing the region may have trained a dictionary.
        let dictionaries = self.builder()?.dictionaries();
        dictionaries.check(bytes)?;
        Ok(dictionaries.add(bytes))
    }

    /// Says that the blocks of a partition's own stream below this sequence number that are not in the file were
    /// consumed. The stream's next block has the number. The footer then tells readers that nothing was lost
    /// ([`crate::Reader::stream`]).
    ///
    /// ```
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// use faro::{Reader, Writer, WriterOptions};
    /// let mut writer = Writer::create(&name, WriterOptions::new(4).selective(true))?;
    /// writer.write(2, b"a record")?;
    /// writer.flush()?;
    /// // Blocks 1 to 6 of partition 2 were read from memory.
    /// writer.skip_to(2, 7)?;
    /// writer.finish()?;
    /// let reader = Reader::open(&faro::Files::locate(&name)?, Default::default())?;
    /// assert_eq!(reader.stream(2)?.map(|stream| stream.missing), Some(6));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// `invalid-argument` without the option `selective`, for a partition that the file does not have, for a number below
    /// that of the stream's next block, while the sort buffer holds records (see [`Writer::flush`]), and after `finish`
    /// or `abort` (WRT-15).
    pub fn skip_to(&mut self, partition: u32, sequence: u32) -> Result<()> {
        self.check_skip()?;
        let shape = self.shape;
        let at = shape.place(partition).ok_or_else(|| shape.no_such(partition))?;
        self.telling(|writer| writer.skip_stream_to(StreamName::Own(at), sequence))
    }

    /// As [`Writer::skip_to`], for the stream of shared blocks.
    ///
    /// # Errors
    /// As [`Writer::skip_to`].
    pub fn skip_shared_to(&mut self, sequence: u32) -> Result<()> {
        self.check_skip()?;
        self.telling(|writer| writer.skip_stream_to(StreamName::Shared, sequence))
    }

    fn check_skip(&mut self) -> Result<()> {
        self.check_idle()?;
        if !self.shape.selective {
            return Err(Error::argument("a writer with the option selective", "one without"));
        }
        if !self.buffer.is_empty() {
            return Err(Error::argument(
                "a sort buffer without records, as after a flush",
                "records whose blocks have no sequence yet",
            ));
        }
        Ok(())
    }

    fn skip_stream_to(&mut self, stream: StreamName, sequence: u32) -> Result<()> {
        let builder = self.builder()?;
        let next = builder.next_sequence(stream);
        if sequence < next {
            return Err(Error::argument(
                format!("a sequence of {next} or more"),
                sequence.to_string(),
            ));
        }
        builder.skip_stream_to(stream, sequence);
        Ok(())
    }

    /// Adds a property to the footer.
    ///
    /// # Errors
    /// `invalid-argument` for a key that was used before, and after `finish` or `abort`.
    pub fn property(&mut self, key: impl Into<String>, value: impl Into<String>) -> Result<()> {
        self.check_idle()?;
        let key = key.into();
        if self.properties.contains_key(&key) {
            return Err(Error::argument(
                "a property key that was not used before",
                format!("{key:?}"),
            ));
        }
        self.properties.insert(key, value.into());
        Ok(())
    }

    /// Gives up the output: removes the files, also those that may be followed. After `finish`, or a second time, it
    /// does nothing.
    ///
    /// # Errors
    /// `invalid-argument` in a process that was forked from the writer's process (WRT-11). Files that cannot be removed
    /// stay, with temporary names or empty (WRT-6), without an error.
    pub fn abort(&mut self) -> Result<()> {
        self.check_process()?;
        self.region_open = false;
        if !matches!(self.state, State::Finished) {
            self.settle_to_discard();
            if let Some(builder) = &mut self.builder {
                builder.output().discard();
                builder.forget_regions();
            }
            self.end_with(State::Aborted);
        }
        Ok(())
    }
}

/// An empty buffer, without memory yet.
pub(super) fn new_buffer(options: &WriterOptions) -> SortBuffer<MemberBits> {
    let counted = options.framing == Framing::Arrow;
    let mut buffer = SortBuffer::new(options.partition_count, options.buffer_size, counted);
    if options.memory_budget.is_none() {
        buffer.reserve_all();
    }
    if options.compress_threads > 1 {
        buffer.sort_whole_partitions();
    }
    let (compressed, threads) = (options.codec != Codec::None, options.compress_threads > 1);
    if options.framing == Framing::Records && !options.trains() && (compressed || !threads) {
        // Larger blocks were refused. Threads get no buckets.
        buffer.allow_slots(options.block_target() as u32, compressed, !threads);
    }
    buffer
}
