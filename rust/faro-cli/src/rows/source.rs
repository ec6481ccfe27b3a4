//! The data blocks of partitions, of one output or of all in a folder.

use std::ops::{ControlFlow, Range};

use faro::shuffle::{Shuffle, ShuffleSums, SummedOutput, in_order};
use faro::{Block, FileHeader, Files, Reader, ReaderOptions};

use super::together::{Division, Gaps, Seen};
use crate::failure::{Failure, Outcome};
use crate::partitions::{Selection, no_partition, outside, select};
use crate::target::AnyTarget;

/// One output, or all of a folder.
pub(crate) struct Source {
    shuffle: Shuffle,
    is_folder: bool,
    /// The partitions of all outputs together, if these were opened.
    known: Option<Range<u32>>,
}

/// A data block, the position of its output, and the reader of that.
pub(crate) struct Found<'a> {
    pub output: usize,
    pub reader: &'a Reader,
    pub block: &'a Block,
}

type Take<'t> = dyn FnMut(&Found<'_>) -> Outcome<ControlFlow<()>> + 't;

impl Source {
    pub(crate) fn open(target: &AnyTarget) -> Outcome<Source> {
        Ok(Source {
            shuffle: Shuffle::new(target.outputs()?, ReaderOptions::default()),
            is_folder: target.is_folder(),
            known: None,
        })
    }

    /// Opens what rows are taken from. Copies of an output, and partitions that no output has, are refused before a row is
    /// printed. Standard error says which rows were consumed before they were stored.
    pub(crate) fn of_rows(target: &AnyTarget, selections: &[Selection]) -> Outcome<Source> {
        let mut source = Source::open(target)?;
        if source.is_folder {
            source.known = source.check_together()?;
        } else {
            let first = source.first()?;
            let mut gaps = Gaps::default();
            gaps.add(&first);
            gaps.tell(None);
            source.known = Some(first.partitions());
        }
        if let Some(known) = &source.known
            && let Some(partition) = outside(selections, known)
        {
            return Err(match source.is_folder {
                true => no_output_has(partition),
                false => no_partition(partition, known),
            });
        }
        Ok(source)
    }

    pub(crate) fn shuffle(&self) -> &Shuffle {
        &self.shuffle
    }

    /// What a fault of an output means: in a folder it is left out and kept here, one output alone is an error.
    ///
    /// # Errors
    ///
    /// The fault, unless the source is a folder.
    pub(crate) fn leave_out(&self, error: faro::Error, faults: &mut Vec<faro::Error>) -> Outcome {
        if !self.is_folder {
            return Err(error.into());
        }
        faults.push(error);
        Ok(())
    }

    /// The first output. The others have rows of the same kind.
    pub(crate) fn first(&self) -> Outcome<Reader> {
        Ok(self.shuffle.reader(0)?)
    }

    /// The sums over all outputs. A fault of one is an error: what it has would be missing.
    pub(crate) fn sums(&self) -> Outcome<ShuffleSums> {
        self.summed(|progress| self.shuffle.sum_up(progress))
    }

    fn summed(&self, sum: impl FnOnce(&mut dyn FnMut(SummedOutput<'_>)) -> ShuffleSums) -> Outcome<ShuffleSums> {
        let progress = crate::progress::outputs(self.shuffle.outputs().len(), "adding up");
        let mut sums = sum(&mut |_| progress.inc(1));
        progress.finish_and_clear();
        if sums.faults.is_empty() {
            return Ok(sums);
        }
        Err(sums.faults.swap_remove(0).error.into())
    }

    /// Passes the data blocks of partitions to `take`, until that breaks: of the selected ones in their order, else of all.
    /// Returns the number of events, which are only counted.
    pub(crate) fn each(&self, selections: &[Selection], take: &mut Take<'_>) -> Outcome<u64> {
        if !selections.is_empty() {
            let known = self.known.clone().unwrap_or(0..u32::MAX);
            return self.partitions(select(selections, known)?, take);
        }
        if self.is_folder {
            let sums = self.summed(|progress| self.shuffle.sum_up_regions(progress))?;
            return self.partitions(sums.each_partition().map(|(partition, _)| partition), take);
        }
        let reader = &self.first()?;
        let mut events = 0;
        for found in reader.by_partition(reader.partitions())? {
            let block = &found?.1;
            let output = 0;
            if !is_data(block, &mut events) {
                continue;
            }
            if take(&Found { output, reader, block })?.is_break() {
                break;
            }
        }
        Ok(events)
    }

    /// Refuses copies of an output, whose rows would count twice, and tells of outputs that are of another shuffle, and of
    /// those with gaps. A fault of an output is left to those that read it: then it is not known which partitions there are.
    fn check_together(&self) -> Outcome<Option<Range<u32>>> {
        let outputs = self.shuffle.outputs();
        let progress = crate::progress::outputs(outputs.len(), "opening");
        let open = |files: &Files| {
            let reader = Reader::open(files, ReaderOptions::default())?;
            let mut gaps = Gaps::default();
            gaps.add(&reader);
            Ok((reader.header().clone(), gaps, Division::of(&reader)))
        };
        let mut seen = Seen::default();
        let (mut all, mut known, mut has_fault) = (Gaps::default(), None::<Range<u32>>, false);
        let mut checked = Ok(());
        in_order(
            outputs,
            open,
            |output, opened: faro::Result<(FileHeader, Gaps, Option<Division>)>| {
                progress.inc(1);
                match opened {
                    Ok((header, gaps, division)) => {
                        all.join(&gaps);
                        let own = header.partitions();
                        known = Some(match known.take() {
                            Some(others) => others.start.min(own.start)..others.end.max(own.end),
                            None => own,
                        });
                        checked = progress.suspend(|| seen.check(output, &header, division, outputs));
                    }
                    Err(_) => has_fault = true,
                }
                match checked {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            },
        );
        progress.finish_and_clear();
        checked?;
        all.tell(Some(outputs.len()));
        Ok(known.filter(|_| !has_fault))
    }

    fn partitions(&self, partitions: impl Iterator<Item = u32>, take: &mut Take<'_>) -> Outcome<u64> {
        let mut events = 0;
        for partition in partitions {
            for found in self.shuffle.partition(partition) {
                let found = found.map_err(|error| explain(error, partition))?;
                if !is_data(&found.block, &mut events) {
                    continue;
                }
                let (output, reader, block) = (found.output, &found.reader, &found.block);
                if take(&Found { output, reader, block })?.is_break() {
                    return Ok(events);
                }
            }
        }
        Ok(events)
    }
}

fn is_data(block: &Block, events: &mut u64) -> bool {
    let is_data = block.kind() == faro::block::DATA;
    *events += u64::from(!is_data);
    is_data
}

fn explain(error: faro::Error, partition: u32) -> Failure {
    match error.code {
        faro::ErrorCode::InvalidArgument if error.file.is_none() => no_output_has(partition),
        _ => error.into(),
    }
}

fn no_output_has(partition: u32) -> Failure {
    Failure::usage(format!("no output has a partition {partition}"))
}
