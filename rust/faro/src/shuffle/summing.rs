//! Sums up all outputs of a shuffle.

use super::in_order::in_order;
use super::output_sums::OutputSums;
use super::outputs::Shuffle;
use super::sums::{Fault, ShuffleSums};
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::storage::Files;
use std::ops::ControlFlow;

/// An output that [`Shuffle::sum_up`] has just finished with.
#[derive(Debug)]
#[non_exhaustive]
pub struct SummedOutput<'a> {
    /// Its position in the list of outputs.
    pub output: usize,
    /// Its files.
    pub files: &'a Files,
    /// Its sums, or its fault.
    pub sums: std::result::Result<&'a OutputSums, &'a Error>,
}

impl Shuffle {
    /// Sums up all outputs, in a few threads. Outputs with statistics are not read further than their footers.
    /// `progress` is called for each output, in order.
    ///
    /// An output with a fault is not in the sums, but in [`ShuffleSums::faults`].
    pub fn sum_up(&self, progress: impl FnMut(SummedOutput<'_>)) -> ShuffleSums {
        self.sum_up_by(OutputSums::of_reader, progress)
    }

    /// As [`Shuffle::sum_up`], from the region messages and not from the statistics, which are a hint: what partitions read
    /// is exact. Records are not counted.
    pub fn sum_up_regions(&self, progress: impl FnMut(SummedOutput<'_>)) -> ShuffleSums {
        self.sum_up_by(OutputSums::of_regions, progress)
    }

    fn sum_up_by(
        &self,
        sum: impl Fn(&Reader) -> Result<OutputSums> + Sync,
        mut progress: impl FnMut(SummedOutput<'_>),
    ) -> ShuffleSums {
        let mut all = ShuffleSums::new();
        let options = self.options_once();
        let open_and_sum = |files: &Files| sum(&Reader::open(files, options.clone())?);
        in_order(self.outputs(), open_and_sum, |output, sums| {
            let files = &self.outputs()[output];
            let sums = sums.and_then(|sums| all.add(&sums).map(|()| sums));
            progress(SummedOutput {
                output,
                files,
                sums: sums.as_ref(),
            });
            if let Err(error) = sums {
                all.faults.push(Fault {
                    output,
                    files: files.clone(),
                    error,
                });
            }
            ControlFlow::Continue(())
        });
        all
    }
}
