//! The calls of a writer, and where regions end (spec, WRT-1 to WRT-7).

use super::extents::{oversized, write_region};
use super::options::WriterOptions;
use super::region_builder::RegionBuilder;
use super::summary::{Summary, To};

use super::options::check_kind;
use super::owner::{MemberBits, Owner};
use crate::block::framing;
use crate::block::{DATA, EVENT};
use crate::bytes::Framing;
use crate::error::{Code, Error, Result};
use crate::message::Property;
use crate::sort_buffer::{Pushed, RECORD_CHARGE, SortBuffer};
use crate::storage::publishing::Birth;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Writes one output.
///
/// Records may come in any order of partitions. They are gathered in a sort buffer of bounded size, and each time that
/// it is full they go to the file as one region. Nothing is visible under the final names before
/// [`Writer::finish`] (unless the option `follow` says so). An error other than `invalid-argument` and a refused record
/// (WRT-3) is final: every later call but [`Writer::abort`] gives it again.
pub struct Writer {
    pub(super) options: WriterOptions,
    pub(super) core: RegionBuilder,
    buffer: SortBuffer<MemberBits>,
    state: State,
    /// A region writer was made and neither ended nor dropped (WRT-10).
    pub(super) region_open: bool,
    /// The process that made it (WRT-11).
    born: Birth,
    /// Lengths of data records for one partition of which [`Writer::put`] checks no more than their room: none unless
    /// the writer is open, and none while such a record would close the region for order's sake.
    plain: Range<usize>,
    /// The same for data records for several partitions: none unless the writer is open.
    plain_shared: Range<usize>,
    properties: BTreeMap<String, String>,
    /// The set of the last multicast, and its bits: sets repeat.
    last_set: Option<(Vec<u32>, MemberBits)>,
    /// Whether the last record for several partitions was for all of them.
    last_is_for_all: bool,
}

enum State {
    Open,
    Failed(Error),
    Finished,
    Aborted,
}

impl Writer {
    /// Creates the files of an output called `base`: `base.data` and `base.index`, or `base.faro`.
    ///
    /// # Errors
    /// `invalid-argument` for an option out of range; `io` when a file cannot be created, or exists and `overwrite` was
    /// not asked for.
    pub fn create(base: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        let core = RegionBuilder::create(base.as_ref(), &options)?;
        Ok(Writer {
            core,
            buffer: new_buffer(&options),
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

    /// A record for one partition.
    ///
    /// # Errors
    /// As [`Writer::put`].
    #[inline]
    pub fn write(&mut self, partition: u32, record: &[u8]) -> Result<()> {
        let charge = record.len() as u64 + RECORD_CHARGE;
        if self.plain.contains(&record.len())
            && self.born.is_here()
            && let Some(at) = self.core.shape.place(partition)
            && self.buffer.has_room(charge)
        {
            self.buffer.push_plain(at, record, charge);
            return Ok(());
        }
        self.put(To::One(partition), DATA, record, 1)
    }

    /// An event of kind 1, or 64 to 127, for one partition.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn write_event(&mut self, partition: u32, kind: u8, bytes: &[u8]) -> Result<()> {
        self.event(To::One(partition), kind, bytes)
    }

    /// A record for every partition, stored once.
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

    /// An event for every partition, stored once.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn broadcast_event(&mut self, kind: u8, bytes: &[u8]) -> Result<()> {
        self.event(To::All, kind, bytes)
    }

    /// A record for the partitions of a set, stored once.
    ///
    /// # Errors
    /// As [`Writer::put`].
    pub fn multicast(&mut self, partitions: &[u32], record: &[u8]) -> Result<()> {
        self.put(To::These(partitions), DATA, record, 1)
    }

    /// An event for the partitions of a set, stored once.
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

    /// A record, or an event when `kind` is not 0. With framing arrow `rows` says how many rows a record holds, for the
    /// statistics; in other framings a record counts as one, whatever `rows` says.
    ///
    /// # Errors
    /// `invalid-argument` for partitions that the file does not have, an empty set, a kind that is neither data nor an
    /// event's, with framing arrow a record that is no encapsulated message, and after `finish` or `abort` (WRT-1,
    /// WRT-2); `limit-exceeded` for a record of which a block larger than `max_plain_size` would have to be made
    /// (WRT-3): after these the writer is as it was. `io` and the rest are final (WRT-6).
    pub fn put(&mut self, to: To<'_>, kind: u8, bytes: &[u8], rows: u64) -> Result<()> {
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
        self.make_room(&owner, bytes.len())?;
        let charge = self.charge(&owner, bytes.len());
        if !self.buffer.has_room(charge) {
            return self.guarded(|core| oversized(core, owner, &record));
        }
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

    /// Closes the region before a record, for order's sake (SRT-4) or for its room (SRT-1).
    fn make_room(&mut self, owner: &Owner, length: usize) -> Result<()> {
        let out_of_order = self.options.ordered && matches!(owner, Owner::Own(_)) && self.buffer.holds_shared();
        if out_of_order || !self.buffer.has_room(self.charge(owner, length)) {
            self.close_region()?;
        }
        Ok(())
    }

    /// SRT-1.
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
        let shape = self.core.shape;
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

    /// WRT-2 and WRT-3.
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
                Code::LimitExceeded,
                format!("a block of at most {most} plain bytes (max_plain_size)"),
                format!("a record that needs {plain}"),
            ));
        }
        Ok(())
    }

    /// Closes the region now, and gives the sort buffer's memory back. Without records nothing is closed (SRT-3).
    ///
    /// # Errors
    /// `invalid-argument` after `finish` or `abort`; `io`, which is final.
    pub fn flush(&mut self) -> Result<()> {
        self.check_idle()?;
        let closed = self.close_region();
        self.release_buffer();
        closed
    }

    /// A region that is closed because the buffer is full keeps its memory for the next.
    fn release_buffer(&mut self) {
        self.buffer = new_buffer(&self.options);
        self.know_plain();
    }

    pub(super) fn close_region(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let closed = write_region(&mut self.core, &mut self.buffer);
        self.buffer.clear();
        self.know_plain();
        self.guarded(|_| closed)
    }

    /// A dictionary for stored blocks: closes the region that the sort buffer holds, and gives the dictionary's number. It
    /// is written before the next region that leaves any blocks; bytes that the file has already are not written again
    /// (DIC-8).
    ///
    /// # Errors
    /// `invalid-argument` without the option `dictionaries`, for bytes that are no Zstandard dictionary or more than
    /// 1,048,576, beyond 65,535 dictionaries, and after `finish` or `abort`; `io`, which is final.
    pub fn dictionary(&mut self, bytes: &[u8]) -> Result<u16> {
        self.check_idle()?;
        if !self.options.dictionaries {
            return Err(Error::argument(
                "the option dictionaries",
                "a file without dictionaries",
            ));
        }
        self.core.dictionaries().check(bytes)?;
        self.close_region()?;
        // The region may have brought a dictionary of its own.
        self.core.dictionaries().check(bytes)?;
        Ok(self.core.dictionaries().add(bytes))
    }

    /// A property for the footer.
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

    /// Closes the region, writes footer and tail, and publishes the files under their final names.
    ///
    /// # Errors
    /// `invalid-argument` after `finish` or `abort`; `io`, which is final, and leaves nothing that looks finished.
    pub fn finish(&mut self) -> Result<Summary> {
        self.check_idle()?;
        self.close_region()?;
        self.buffer.forget_order();
        let properties = std::mem::take(&mut self.properties);
        let properties = properties
            .into_iter()
            .map(|(key, value)| Property { key, value })
            .collect();
        let created_by = self.options.created_by.take();
        self.guarded(|core| core.finish(properties, created_by))?;
        self.set_state(State::Finished);
        self.release_buffer();
        let (data_bytes, index_bytes) = match self.core.output().sizes() {
            (0, all) => (self.core.data_length(), all - self.core.data_length()),
            sizes => sizes,
        };
        let files = self.core.output().files().clone();
        Ok(Summary {
            regions: self.core.region_count(),
            data_bytes,
            index_bytes,
            files,
        })
    }

    /// Gives up: removes the files, also those that were followed. After `finish`, or a second time, it does nothing.
    ///
    /// # Errors
    /// `invalid-argument` in a process that was forked from the writer's (WRT-11). Files that cannot be removed stay,
    /// under temporary names or empty (WRT-6), without an error.
    pub fn abort(&mut self) -> Result<()> {
        self.check_process()?;
        self.region_open = false;
        if !matches!(self.state, State::Finished) {
            self.set_state(State::Aborted);
            self.core.output().discard();
            self.release_buffer();
        }
        Ok(())
    }

    /// WRT-1 and WRT-6: whether calls are taken.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.check_process()?;
        match &self.state {
            State::Open => Ok(()),
            State::Failed(error) => Err(error.clone()),
            State::Finished => Err(Error::argument("a writer that is not finished", "one that is")),
            State::Aborted => Err(Error::argument("a writer that was not aborted", "one that was")),
        }
    }

    /// As [`Writer::check_open`]; and WRT-10: no region writer is at work, or was lost.
    pub(super) fn check_idle(&self) -> Result<()> {
        self.check_open()?;
        match self.region_open {
            false => Ok(()),
            true => Err(Error::argument(
                "no other call until the region writer has ended its region",
                "a region that is open; abort the writer if its region writer was lost",
            )),
        }
    }

    /// WRT-11.
    fn check_process(&self) -> Result<()> {
        match self.born.is_here() {
            true => Ok(()),
            false => Err(Error::argument(
                "a call in the process that made the writer",
                "one in a process that was forked from it",
            )),
        }
    }

    fn set_state(&mut self, state: State) {
        self.state = state;
        self.know_plain();
    }

    /// Finds out which records [`Writer::write`] and [`Writer::broadcast`] take without further checks.
    pub(super) fn know_plain(&mut self) {
        let out_of_order = self.options.ordered && self.buffer.holds_shared();
        self.plain_shared = match self.state {
            State::Open if !self.region_open => self.options.plain_lengths(),
            _ => 0..0,
        };
        self.plain = if out_of_order { 0..0 } else { self.plain_shared.clone() };
    }

    /// Does what may fail for good.
    pub(super) fn guarded<T>(&mut self, act: impl FnOnce(&mut RegionBuilder) -> Result<T>) -> Result<T> {
        act(&mut self.core).inspect_err(|error| {
            // The first cause counts.
            if matches!(self.state, State::Open) {
                self.set_state(State::Failed(error.clone()));
            }
        })
    }
}

/// An empty buffer, which has no memory yet.
fn new_buffer(options: &WriterOptions) -> SortBuffer<MemberBits> {
    let counted = options.framing == Framing::Arrow;
    let mut buffer = SortBuffer::new(options.partition_count, options.buffer_size, counted);
    if options.compress_threads > 1 {
        buffer.sort_whole_partitions();
    }
    buffer
}
