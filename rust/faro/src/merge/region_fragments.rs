//! The runs of a region of a merged file as fragments (spec, FRG-7).

use super::fragment::Sink;
use super::names::Names;
use crate::bytes::{FileHeader, FileKind};
use crate::error::{Error, Result};
use crate::index::{Holdings, RegionIndex};
use crate::message::Run;
use crate::reader::{Block, BlockCheck, CheckOutcome, Depth, OpenExtent, Reader, Sequences, Window};
use std::collections::BTreeSet;
use std::io::Write;

impl Reader {
    /// Writes a stream of fragments (FRG-7), which a shuffle service sends to a consumer: of each run of a region of this
    /// merged file a fragment, as its producer pushed it. `names` are those of NAM-1, from which the file_id of each
    /// producer's output follows. Every block is checked, and none is decoded. Returns the number of bytes.
    ///
    /// After an error `to` has no such stream, whatever it got.
    ///
    /// # Errors
    /// `invalid-argument` for a region that the file does not have, and for an output that is not merged; the faults of
    /// REG-10, MRG-2 and MRG-3, and of the blocks; `io` for what `to` refuses.
    pub fn region_fragments(&self, region: usize, names: &Names, to: &mut dyn Write) -> Result<u64> {
        if !self.header().is_merged() {
            return Err(Error::argument("a merged file", "the output of one producer"));
        }
        if region >= self.region_count() {
            let expected = format!("a region below {}", self.region_count());
            return Err(Error::argument(&expected, region.to_string()));
        }
        let output = self.output();
        let mut holdings = Holdings::default();
        for number in 0..=region {
            output.hold(&*output.region(number)?, &mut holdings)?;
        }
        let wanted = output.region(region)?;
        let mut reading = RunReading::new(self, &wanted);
        let mut length = 0;
        let mut at = wanted.extent().offset;
        for (partition, run) in wanted.runs_by_partition() {
            length += reading.fragment(&PlacedRun { partition, at, run }, names, to)?;
            at += 8 * u64::from(run.length);
        }
        Ok(length)
    }
}

/// A run, and where it begins.
struct PlacedRun<'a> {
    partition: u32,
    at: u64,
    run: &'a Run,
}

/// Reads the blocks of the runs of a region.
struct RunReading<'a> {
    reader: &'a Reader,
    region: &'a RegionIndex,
    checker: BlockCheck,
    window: Window,
    /// The partition that was read last, and the sequence of its last block.
    last: Option<(u32, u32)>,
}

impl<'a> RunReading<'a> {
    fn new(reader: &'a Reader, region: &'a RegionIndex) -> Self {
        let output = reader.output();
        let mut checker = BlockCheck::new(output.clone(), true);
        checker.depth = Depth::Stored;
        RunReading {
            reader,
            region,
            checker,
            window: Window::new(output.budget()),
            last: None,
        }
    }

    /// Writes the fragment of a run.
    fn fragment(&mut self, of: &PlacedRun, names: &Names, to: &mut dyn Write) -> Result<u64> {
        let (run, reader) = (of.run, self.reader);
        let mut named = BTreeSet::new();
        if reader.header().has_dictionaries() {
            // The dictionaries come first, so the blocks are read twice.
            let before = self.last;
            self.each(of, &mut |_, block| {
                named.extend(Some(block.header.dictionary).filter(|number| *number != 0));
                Ok(())
            })?;
            self.last = before;
        }
        let header = FileHeader {
            kind: FileKind::Fragment,
            partition_count: 1,
            first_partition: of.partition,
            writer_features: 0,
            producer: run.producer,
            attempt: run.attempt,
            file_id: names.output_file_id(run.producer, run.attempt),
            ..reader.header().clone()
        };
        let mut sink = Sink::new(to, header, &named);
        sink.begin(reader, &named)?;
        self.each(of, &mut |read, block| {
            sink.block(reader, of.partition, run.first_block + read, block)
        })?;
        sink.end(run.blocks.into(), run.is_last())?;
        Ok(sink.length())
    }

    /// Passes each block of a run, with how many came before it (MRG-3).
    fn each(&mut self, of: &PlacedRun, take: &mut dyn FnMut(u32, &Block) -> Result<()>) -> Result<()> {
        let output = self.reader.output();
        let end = of.at + 8 * u64::from(of.run.length);
        let extent_end = self.region.own_extent(of.partition).map_or(end, |extent| extent.end());
        let mut extent = OpenExtent {
            at: of.at,
            end: extent_end,
            read_ahead: end,
            partition: Some(of.partition),
            region: self.region.sequence(),
            dictionaries: output.dictionaries_before(self.region.extent().offset),
            ..OpenExtent::NONE
        };
        let broken = |found: String| {
            let expected = format!("a run that holds {} whole blocks", of.run.blocks);
            output.fault_of_runs(self.region.sequence(), &expected, found)
        };
        self.checker.sequences = Sequences::new(false, false);
        if let Some((_, sequence)) = self.last.filter(|(partition, _)| *partition == of.partition) {
            self.checker.sequences.seen(Some(of.partition), sequence);
        }
        for read in 0..of.run.blocks {
            if extent.at >= end {
                return Err(broken(format!("{read} blocks")));
            }
            if self.checker.check(&mut extent, &mut self.window)? != CheckOutcome::Block {
                // A window supplies every byte of the file.
                return Err(broken("a block without its bytes".into()));
            }
            if extent.at > end {
                return Err(broken(format!("a block that ends at {}", extent.at)));
            }
            let block = self.checker.own(&extent, &self.window)?;
            self.last = Some((of.partition, block.header.sequence));
            take(read, &block)?;
        }
        match extent.at == end {
            true => Ok(()),
            false => Err(broken(format!("more of them before offset {end}"))),
        }
    }
}
