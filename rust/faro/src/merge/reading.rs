//! A partition of a merged file, with the originals of what is missing: each block once (spec, MRG-12 and MRG-13).

use super::provenance::{Expected, PartitionRun, ordered, runs_of};
use crate::error::{Error, ErrorCode, Result};
use crate::index::Holdings;
use crate::reader::{Block, BlockCheck, Blocks, CheckOutcome, OpenExtent, Reader, Sequences, Window};
use std::collections::{BTreeMap, VecDeque};

/// A block of a producer, from a merged file or from the producer's own output.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MergedBlock {
    /// The producer.
    pub producer: u64,
    /// The number of the block among those that the partition reads from the producer's output (FRG-1).
    pub number: u64,
    /// Whether it came from the producer's own output.
    pub is_original: bool,
    /// The block.
    pub block: Block,
}

/// Opens the output of a producer that a merged file does not have completely.
type Open<'a> = Box<dyn FnMut(Expected) -> Result<Reader> + Send + 'a>;

/// An iterator over the blocks of a partition of each expected producer, in the order of their numbers, each exactly once
/// (MRG-12). It ends after the first error.
pub struct MergedReading<'a> {
    merged: Reader,
    partition: u32,
    expected: Vec<Expected>,
    open: Open<'a>,
    holdings: Holdings,
    /// The next region, and the runs of the region before it that were not read.
    next_region: usize,
    runs: VecDeque<PartitionRun>,
    /// The sequence of the next run's first block, if it is known.
    sequence: Option<u64>,
    /// How much was delivered of each producer.
    delivered: BTreeMap<u64, Delivered>,
    faults: Vec<Error>,
    checker: BlockCheck,
    window: Window,
    run: Option<OpenRun>,
    /// The producers that are not complete in the merged file, and the original that is read.
    originals: Option<VecDeque<Expected>>,
    original: Option<Original>,
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Delivered {
    blocks: u64,
    is_complete: bool,
    /// Whether a run of the producer had a fault.
    is_broken: bool,
}

/// A run that is read.
struct OpenRun {
    of: PartitionRun,
    extent: OpenExtent,
    end: u64,
    read: u32,
}

struct Original {
    of: Expected,
    blocks: Blocks,
    number: u64,
    from: u64,
}

impl Reader {
    /// Reads a partition of this merged file together with the originals of what it lacks: the blocks of each expected
    /// producer, exactly once each (MRG-12). `open` opens the output of a producer when it is needed.
    ///
    /// Damage of the merged file costs reads of the originals, and is reported by [`MergedReading::faults`]; it is no
    /// error of the reading.
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have, and for a producer that is named twice.
    ///
    /// ```no_run
    /// use faro::merge::Expected;
    /// use faro::{Files, Reader, ReaderOptions};
    /// # fn main() -> faro::Result<()> {
    /// let merged = Reader::open(&Files::paired("merged"), ReaderOptions::default())?;
    /// let expected = [Expected { producer: 0, attempt: 0 }, Expected { producer: 1, attempt: 0 }];
    /// let original = |of: Expected| Reader::open(&Files::paired(format!("map-{}", of.producer)), ReaderOptions::default());
    /// for block in merged.with_originals(2, &expected, original)? {
    ///     println!("{} bytes", block?.block.payload.len());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn with_originals<'a>(
        &self,
        partition: u32,
        expected: &[Expected],
        open: impl FnMut(Expected) -> Result<Reader> + Send + 'a,
    ) -> Result<MergedReading<'a>> {
        self.output().check_partition(partition)?;
        Ok(MergedReading {
            expected: ordered(expected)?,
            partition,
            open: Box::new(open),
            holdings: Holdings::default(),
            next_region: 0,
            runs: VecDeque::new(),
            sequence: Some(0),
            delivered: BTreeMap::new(),
            faults: Vec::new(),
            checker: BlockCheck::new(self.output().clone(), true),
            window: Window::new(self.output().budget()),
            run: None,
            originals: None,
            original: None,
            is_over: false,
            merged: self.clone(),
        })
    }
}

impl MergedReading<'_> {
    /// The faults of the merged file that were met so far (MRG-13).
    pub fn faults(&self) -> &[Error] {
        &self.faults
    }

    fn next_block(&mut self) -> Result<Option<MergedBlock>> {
        loop {
            if let Some(original) = &mut self.original {
                match original.blocks.next().transpose()? {
                    None => self.original = None,
                    Some(block) => {
                        let number = original.number;
                        original.number += 1;
                        if number >= original.from {
                            return Ok(Some(MergedBlock {
                                producer: original.of.producer,
                                number,
                                is_original: true,
                                block,
                            }));
                        }
                    }
                }
            } else if self.run.is_some() {
                if let Some(block) = self.next_of_run()? {
                    return Ok(Some(block));
                }
            } else if let Some(run) = self.runs.pop_front() {
                self.begin_run(run)?;
            } else if self.next_region < self.merged.region_count() {
                self.begin_region()?;
            } else if !self.begin_original()? {
                return Ok(None);
            }
        }
    }

    /// A fault of the merged file is kept. What the system refuses is the reading's.
    fn keep(&mut self, fault: Error) -> Result<()> {
        match fault.code {
            ErrorCode::Io => Err(fault),
            _ => {
                self.faults.push(fault);
                Ok(())
            }
        }
    }

    fn begin_region(&mut self) -> Result<()> {
        let number = self.next_region;
        self.next_region += 1;
        let output = self.merged.output();
        let region = output.region(number).and_then(|region| {
            output.hold(&region, &mut self.holdings)?;
            Ok(region)
        });
        match region {
            Ok(region) => self.runs.extend(runs_of(&region, self.partition)),
            Err(fault) => {
                self.keep(fault)?;
                self.holdings.skip_region();
                self.sequence = None;
            }
        }
        Ok(())
    }

    /// Reads a run, if its blocks are the next of an expected producer and attempt.
    fn begin_run(&mut self, of: PartitionRun) -> Result<()> {
        let (run, sequence) = (of.run, self.sequence);
        self.sequence = sequence.map(|sequence| sequence + u64::from(run.blocks));
        let wanted = Expected {
            producer: run.producer,
            attempt: run.attempt,
        };
        let delivered = self.delivered.entry(run.producer).or_default();
        let fits = u64::from(run.first_block) == delivered.blocks && !delivered.is_broken;
        if !fits || self.expected.binary_search(&wanted).is_err() {
            return Ok(());
        }
        let output = self.merged.output();
        let region = output.region(of.region as usize)?;
        let extent_end = region
            .own_extent(self.partition)
            .map_or(of.offset, |extent| extent.end());
        let end = of.offset + 8 * u64::from(run.length);
        self.checker.sequences = Sequences::new(false, sequence.is_some());
        if let Some(before) = sequence.and_then(|sequence| sequence.checked_sub(1)) {
            // A sequence beyond 32 bits fits no block.
            self.checker
                .sequences
                .seen(Some(self.partition), before.min(u64::from(u32::MAX)) as u32);
        }
        self.run = Some(OpenRun {
            of,
            extent: OpenExtent {
                at: of.offset,
                end: extent_end,
                read_ahead: end,
                partition: Some(self.partition),
                region: of.region,
                dictionaries: output.dictionaries_before(region.extent().offset),
                ..OpenExtent::NONE
            },
            end,
            read: 0,
        });
        Ok(())
    }

    /// The next block of the run; none at its end, or after a fault.
    fn next_of_run(&mut self) -> Result<Option<MergedBlock>> {
        let Some(mut open) = self.run.take() else {
            return Ok(None);
        };
        let run = open.of.run;
        match self.read_of_run(&mut open) {
            Ok(Some(block)) => {
                let delivered = self.delivered.entry(run.producer).or_default();
                let number = delivered.blocks;
                delivered.blocks += 1;
                self.run = Some(open);
                Ok(Some(MergedBlock {
                    producer: run.producer,
                    number,
                    is_original: false,
                    block,
                }))
            }
            Ok(None) => {
                let is_complete = run.flags & 1 != 0;
                self.delivered.entry(run.producer).or_default().is_complete = is_complete;
                Ok(None)
            }
            Err(fault) => {
                self.keep(fault)?;
                self.sequence = None;
                self.delivered.entry(run.producer).or_default().is_broken = true;
                Ok(None)
            }
        }
    }

    fn read_of_run(&mut self, open: &mut OpenRun) -> Result<Option<Block>> {
        let (at, run) = (open.extent.at, open.of.run);
        let is_at_end = at == open.end;
        if is_at_end && open.read == run.blocks {
            return Ok(None);
        }
        let broken = |found: String| {
            let expected = format!("a run that holds {} whole blocks", run.blocks);
            self.merged.output().fault_of_runs(open.of.region, &expected, found)
        };
        if is_at_end || open.read == run.blocks {
            return Err(broken(format!("{} blocks before offset {at}", open.read)));
        }
        if self.checker.check(&mut open.extent, &mut self.window)? != CheckOutcome::Block {
            // A window supplies every byte of the file.
            return Err(broken("a block without its bytes".into()));
        }
        if open.extent.at > open.end {
            return Err(broken(format!("a block that ends at {}", open.extent.at)));
        }
        open.read += 1;
        self.checker.own(&open.extent, &self.window).map(Some)
    }

    /// Opens the original of the next producer that is not complete. False if there is none.
    fn begin_original(&mut self) -> Result<bool> {
        self.window.end();
        let delivered = &self.delivered;
        let of = |producer: u64| delivered.get(&producer).copied().unwrap_or_default();
        let originals = self.originals.get_or_insert_with(|| {
            let lacking = self.expected.iter().filter(|wanted| !of(wanted.producer).is_complete);
            lacking.copied().collect()
        });
        let Some(wanted) = originals.pop_front() else {
            return Ok(false);
        };
        let original = (self.open)(wanted)?;
        self.original = Some(Original {
            of: wanted,
            blocks: original.partition(self.partition)?,
            number: 0,
            from: of(wanted.producer).blocks,
        });
        Ok(true)
    }
}

impl Iterator for MergedReading<'_> {
    type Item = Result<MergedBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let item = self.next_block().transpose();
        self.is_over = !matches!(item, Some(Ok(_)));
        item
    }
}
