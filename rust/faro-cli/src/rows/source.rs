//! The data blocks of partitions, of one output or of all in a folder.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use faro::shuffle::{Shuffle, ShuffleSums, SummedOutput, in_order};
use faro::{Block, FileHeader, Files, Reader, ReaderOptions};

use crate::failure::{Failure, Outcome};
use crate::folder;
use crate::partitions::{Selection, select};
use crate::target::AnyTarget;
use crate::units::plural;

/// One output, or all of a folder.
pub(crate) struct Source {
    shuffle: Shuffle,
    is_folder: bool,
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
        })
    }

    /// Opens what rows are taken from. Copies of an output are refused before a row is printed.
    pub(crate) fn of_rows(target: &AnyTarget) -> Outcome<Source> {
        let source = Source::open(target)?;
        if source.is_folder {
            source.check_together()?;
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
            // Which partitions the outputs of a folder have is known when all were opened.
            let known = if self.is_folder {
                0..u32::MAX
            } else {
                self.first()?.partitions()
            };
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

    /// Refuses copies of an output, whose rows would count twice, and tells of outputs that are of another shuffle. A fault
    /// of an output is left to those that read it.
    fn check_together(&self) -> Outcome {
        let outputs = self.shuffle.outputs();
        let progress = crate::progress::outputs(outputs.len(), "opening");
        let open = |files: &Files| Ok(Reader::open(files, ReaderOptions::default())?.header().clone());
        let mut seen = Seen::default();
        let mut checked = Ok(());
        in_order(outputs, open, |output, header: faro::Result<FileHeader>| {
            progress.inc(1);
            if let Ok(header) = header {
                checked = progress.suspend(|| seen.check(output, &header, outputs));
            }
            match checked {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        progress.finish_and_clear();
        checked
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

/// Outputs that are to be read together.
#[derive(Default)]
struct Seen {
    /// By `file_id` and first partition. Files of a merge have one `file_id`, and partitions of their own.
    outputs: BTreeMap<([u8; 16], u32), usize>,
    /// The number of partitions of the first output that is not merged, and that output.
    partitions: Option<(u32, usize)>,
    has_warned: bool,
}

impl Seen {
    fn check(&mut self, output: usize, header: &FileHeader, outputs: &[Files]) -> Outcome {
        if let Some(first) = self.outputs.insert((header.file_id, header.first_partition), output) {
            return Err(Failure::usage(format!(
                "{} is a copy of {}: rows would count twice, so move one of them out of the folder",
                folder::shown(&outputs[output]),
                folder::shown(&outputs[first])
            )));
        }
        if header.is_merged() || self.has_warned {
            return Ok(());
        }
        let (count, first) = *self.partitions.get_or_insert((header.partition_count, output));
        if count != header.partition_count {
            self.has_warned = true;
            eprintln!(
                "faro: {} has {}, but {} has {count}: are they of one shuffle?",
                folder::shown(&outputs[output]),
                plural(header.partition_count.into(), "partition"),
                folder::shown(&outputs[first]),
            );
        }
        Ok(())
    }
}

fn is_data(block: &Block, events: &mut u64) -> bool {
    let is_data = block.kind() == faro::block::DATA;
    *events += u64::from(!is_data);
    is_data
}

fn explain(error: faro::Error, partition: u32) -> Failure {
    match error.code {
        faro::ErrorCode::InvalidArgument if error.file.is_none() => {
            Failure::usage(format!("no output has a partition {partition}"))
        }
        _ => error.into(),
    }
}
