//! Writes one region block by block, for engines that sort by themselves (spec, WRT-8 and WRT-9).

use super::options::check_kind;
use super::output_writer::Writer;
use super::owner::Owner;
use super::region_builder::RegionBuilder;
use super::stored_block::StoredBlock;
use super::streams::StreamName;
use crate::block::{CODEC_LAST, CODEC_NONE, DATA};
use crate::codec::Codec;
use crate::error::{Error, Result};

impl Writer {
    /// Closes the region that the sort buffer holds, and begins a region that the caller writes block by block (WRT-8).
    /// With the option `single_below`, the output becomes a pair.
    ///
    /// # Errors
    /// As [`Writer::flush`]. `io` with the source [`std::io::ErrorKind::OutOfMemory`] when the budget refuses the working
    /// memory; the call may be repeated.
    pub fn region(&mut self) -> Result<RegionWriter<'_>> {
        self.flush()?;
        self.telling(Writer::begin_region)?;
        Ok(RegionWriter::new(self))
    }

    /// As [`Writer::region`]; the caller tells the listener ([`Writer::tell`]).
    #[cfg(feature = "arrow")]
    pub(crate) fn region_untold(&mut self) -> Result<RegionWriter<'_>> {
        self.check_idle()?;
        self.spill()?;
        self.begin_region()?;
        Ok(RegionWriter::new(self))
    }

    fn begin_region(&mut self) -> Result<()> {
        self.begin_memory()?;
        self.decide_paired()?;
        self.guarded(|builder| {
            builder.output().hold_region(true);
            builder.begin_region(true)
        })?;
        self.region_open = true;
        self.know_plain();
        Ok(())
    }

    /// Called when the region writer ends.
    fn region_ended(&mut self) {
        self.region_open = false;
        self.know_plain();
    }
}

/// Takes the blocks of one region in slot order: own blocks by rotation, then shared extents.
///
/// Dropping it before [`RegionWriter::end`] gives the region up and leaves nothing in the files. A call that is refused
/// with `invalid-argument` changes nothing. Until the region is ended or given up, the writer accepts only
/// [`Writer::abort`]; that holds for ever if this value was leaked (WRT-10).
///
/// ```
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// use faro::{Framing, Writer, WriterOptions, block::DATA};
/// let mut writer = Writer::create(&name, WriterOptions::new(4).framing(Framing::Opaque))?;
/// let mut region = writer.region()?;
/// region.block(Some(0), DATA, b"for partition 0", 1)?;
/// region.block(Some(3), DATA, b"for partition 3", 1)?;
/// region.shared(Some(&[1, 2]))?;
/// region.block(None, DATA, b"for partitions 1 and 2", 1)?;
/// region.end()?;
/// writer.finish()?;
/// # Ok(()) }
/// ```
pub struct RegionWriter<'a> {
    writer: &'a mut Writer,
    extent: Extent,
    /// The sequence number that the caller wants the next block to have.
    sequence: Option<u32>,
    /// Whether own blocks continued from the last partition to the first.
    wrapped: bool,
    ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    None,
    Own(u32),
    Shared,
}

impl<'a> RegionWriter<'a> {
    fn new(writer: &'a mut Writer) -> Self {
        RegionWriter {
            writer,
            extent: Extent::None,
            sequence: None,
            wrapped: false,
            ended: false,
        }
    }

    /// Writes a block with a plain payload, compressed as the writer's options say. `partition` is absent in a shared
    /// extent. `records` is the number of records in a data block, for the statistics.
    ///
    /// # Errors
    /// `invalid-argument` out of slot order, for a kind other than data and events, an empty data block, or one larger
    /// than the option `max_plain_size`; `io`, which is final for the writer.
    pub fn block(&mut self, partition: Option<u32>, kind: u8, plain: &[u8], records: u64) -> Result<()> {
        self.writer.check_open()?;
        check_kind(kind)?;
        self.check_sizes(kind, CODEC_NONE, plain.len() as u64, plain.len())?;
        self.enter(partition)?;
        self.write_block(|builder| {
            if kind == DATA {
                builder.add_records(records);
                builder.plain_block(plain)
            } else {
                builder.push_event(kind, plain)
            }
        })
    }

    /// Writes a block with a stored payload, as it is.
    ///
    /// # Errors
    /// As [`RegionWriter::block`]; also `invalid-argument` for a codec, sizes or a dictionary that break checks 5, 7, 8
    /// and 10b of BLK-7.
    pub fn stored_block(&mut self, partition: Option<u32>, block: StoredBlock<'_>) -> Result<()> {
        let StoredBlock {
            kind,
            codec,
            plain_size,
            stored,
            records,
            dictionary,
        } = block;
        self.writer.check_open()?;
        check_kind(kind)?;
        self.check_sizes(kind, codec, plain_size.into(), stored.len())?;
        self.check_dictionary(codec, dictionary)?;
        self.enter(partition)?;
        self.write_block(|builder| {
            if kind == DATA {
                builder.add_records(records);
            }
            builder.stored_block(&block)
        })
    }

    /// Begins a shared extent for these partitions, or for all. The blocks after it have no partition.
    ///
    /// # Errors
    /// `invalid-argument` for an empty set or one with partitions that the file does not have.
    pub fn shared(&mut self, members: Option<&[u32]>) -> Result<()> {
        self.writer.check_open()?;
        let bits = match members {
            Some(partitions) => self.writer.shape.bits(partitions)?,
            None => None,
        };
        self.writer.builder()?.begin_extent(Owner::Shared(bits));
        self.extent = Extent::Shared;
        Ok(())
    }

    /// Lets the next block have this sequence number, instead of one more than the block before it in its stream: the own
    /// blocks of a partition, or all shared blocks. It leaves a gap, for blocks that were consumed elsewhere (BLK-3).
    ///
    /// ```
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// use faro::{Framing, Writer, WriterOptions, block::DATA};
    /// let mut writer = Writer::create(&name, WriterOptions::new(4).framing(Framing::Opaque).selective(true))?;
    /// let mut region = writer.region()?;
    /// // Blocks 0 to 6 of partition 2 were read from memory.
    /// region.sequence(7)?;
    /// region.block(Some(2), DATA, b"block 7", 1)?;
    /// region.end()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// `invalid-argument` without the option `selective`, and above 2^32 − 2. A block whose sequence number is not above
    /// that of the block before it is refused by the call that writes it.
    pub fn sequence(&mut self, number: u32) -> Result<()> {
        self.writer.check_open()?;
        if !self.writer.shape.selective {
            return Err(Error::argument("a writer with the option selective", "one without"));
        }
        if number == u32::MAX {
            return Err(Error::argument("a sequence of at most 2^32 - 2", number.to_string()));
        }
        self.sequence = Some(number);
        Ok(())
    }

    /// Commits the region. A region without blocks leaves nothing.
    ///
    /// # Errors
    /// `io`; `limit-exceeded` when the region's message would be too large. Both are final for the writer.
    pub fn end(mut self) -> Result<()> {
        let committed = self.commit();
        self.writer.tell();
        committed
    }

    /// As [`RegionWriter::end`]; the caller tells the listener ([`Writer::tell`]).
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.writer.check_open()?;
        self.ended = true;
        self.writer.region_ended();
        let wrapped = self.wrapped;
        self.writer.ending_region(|builder| {
            builder.output().hold_region(false);
            builder.commit_region(wrapped)
        })
    }

    /// WRT-9: checks 5, 7c and 10b of BLK-7, for the dictionary.
    fn check_dictionary(&mut self, codec: u8, dictionary: u16) -> Result<()> {
        let (there, found) = (self.writer.builder()?.dictionaries().count(), dictionary);
        let expected = if usize::from(dictionary) > there {
            format!("one of the {there} dictionaries of the file, or none")
        } else if dictionary != 0 && codec != Codec::Zstd as u8 {
            format!("no dictionary with codec {codec}")
        } else {
            return Ok(());
        };
        Err(Error::argument(expected, format!("dictionary {found}")))
    }

    /// WRT-9: checks 5, 7 and 8 of BLK-7, for codec and sizes.
    fn check_sizes(&self, kind: u8, codec: u8, plain: u64, stored: usize) -> Result<()> {
        let check = |holds: bool, expected: &str, found: u64| match holds {
            true => Ok(()),
            false => Err(Error::argument(expected, found.to_string())),
        };
        let stored = stored as u64;
        check(codec <= CODEC_LAST, "codec 0, 1 or 2", codec.into())?;
        check(kind == DATA || codec == CODEC_NONE, "codec 0 in an event", codec.into())?;
        if codec == CODEC_NONE {
            check(plain == stored, "a plain size equal to the stored size", plain)?;
        } else {
            check(stored < plain, "a stored size below the plain size", stored)?;
        }
        check(kind != DATA || plain > 0, "a data block with data", plain)?;
        let most = u64::from(self.writer.options.max_plain_size);
        check(
            plain <= most,
            &format!("a plain size of at most {most} bytes (max_plain_size)"),
            plain,
        )
    }

    /// Moves to the extent of a block, if slot order allows it.
    fn enter(&mut self, partition: Option<u32>) -> Result<()> {
        let Some(partition) = partition else {
            return match self.extent {
                Extent::Shared => self.check_sequence(StreamName::Shared),
                _ => Err(Error::argument("a partition before the first shared extent", "none")),
            };
        };
        let shape = self.writer.shape;
        let at = shape.place(partition).ok_or_else(|| shape.no_such(partition))?;
        match self.extent {
            Extent::Own(last) if last == at => return self.check_sequence(StreamName::Own(at)),
            Extent::Own(last) if shape.slot(last) > shape.slot(at) => {
                let expected = format!(
                    "own blocks in slot order, after partition {}",
                    shape.first_partition + last
                );
                return Err(Error::argument(expected, format!("partition {partition}")));
            }
            Extent::Shared => return Err(Error::argument("a block of the shared extent", "one of a partition")),
            Extent::Own(_) | Extent::None => {}
        }
        self.check_sequence(StreamName::Own(at))?;
        self.wrapped |= matches!(self.extent, Extent::Own(last) if at < last);
        self.writer.builder()?.begin_extent(Owner::Own(at));
        self.extent = Extent::Own(at);
        Ok(())
    }

    /// Refuses a sequence number that the caller wants, if it is not above that of the block before in the stream.
    fn check_sequence(&mut self, stream: StreamName) -> Result<()> {
        let Some(wanted) = self.sequence else { return Ok(()) };
        let next = self.writer.builder()?.next_sequence(stream);
        if wanted < next {
            return Err(Error::argument(
                format!("a sequence of {next} or more"),
                wanted.to_string(),
            ));
        }
        Ok(())
    }

    /// Runs a step that writes a block of the current extent, with the sequence number that the caller wants.
    fn write_block(&mut self, act: impl FnOnce(&mut RegionBuilder) -> Result<()>) -> Result<()> {
        let sequence = self.sequence.take();
        let written = self.writer.guarded(|builder| {
            if let Some(sequence) = sequence {
                builder.skip_to(sequence);
            }
            act(builder)
        });
        if written.is_err() {
            self.writer.tell();
        }
        written
    }
}

impl Drop for RegionWriter<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        self.writer.region_ended();
        if self.writer.check_open().is_ok() {
            // An error is final for the writer, and its next call returns it.
            let _ = self.writer.guarded(|builder| {
                let given_up = builder.give_up_region();
                builder.output().hold_region(false);
                given_up
            });
            self.writer.tell_in_drop();
        }
    }
}
