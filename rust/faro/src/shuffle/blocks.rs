//! One partition from all outputs of a shuffle, block by block.

use super::outputs::Shuffle;
use crate::error::{Error, Result};
use crate::reader::{Block, Blocks, Reader};

/// A block of a partition, and the output that it comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShuffleBlock {
    /// The position of the output in [`Shuffle::outputs`].
    pub output: usize,
    /// The reader of the output; a clone, which is cheap.
    pub reader: Reader,
    /// The block.
    pub block: Block,
}

/// An iterator over the blocks of a partition from all outputs: [`Shuffle::partition`].
pub struct ShuffleBlocks<'a> {
    shuffle: &'a Shuffle,
    partition: u32,
    /// The output to be opened next.
    next: usize,
    open: Option<(Reader, Blocks)>,
    /// Whether an output has the partition, or may have it.
    is_known: bool,
}

impl Shuffle {
    /// The blocks of a partition from all outputs, one output after another. An output that does not have the partition is
    /// passed over.
    ///
    /// # Errors
    /// None. The iterator returns the first fault of each output, and goes on with the next output. A caller that wants all
    /// data stops at the first. It ends with `invalid-argument` if no output has the partition.
    pub fn partition(&self, partition: u32) -> ShuffleBlocks<'_> {
        ShuffleBlocks::new(self, partition)
    }
}

impl<'a> ShuffleBlocks<'a> {
    fn new(shuffle: &'a Shuffle, partition: u32) -> Self {
        ShuffleBlocks {
            shuffle,
            partition,
            next: 0,
            open: None,
            is_known: shuffle.outputs().is_empty(),
        }
    }

    /// Opens the next output; its blocks come next, if it has the partition.
    fn open_next(&mut self) -> Result<()> {
        let output = self.next;
        self.next += 1;
        let reader = self.shuffle.reader(output).inspect_err(|_| self.is_known = true)?;
        if reader.partitions().contains(&self.partition) {
            self.is_known = true;
            let blocks = reader.partition(self.partition)?;
            self.open = Some((reader, blocks));
        }
        Ok(())
    }

    /// The fault of a partition that no output has; none if one has it.
    fn unknown(&mut self) -> Option<Error> {
        let is_known = std::mem::replace(&mut self.is_known, true);
        let found = || format!("partition {}", self.partition);
        (!is_known).then(|| Error::argument("a partition of one of the outputs", found()))
    }

    /// Drops the rest of the output that is being read.
    pub(super) fn leave_output(&mut self) {
        self.open = None;
    }
}

impl Iterator for ShuffleBlocks<'_> {
    type Item = Result<ShuffleBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((reader, blocks)) = &mut self.open {
                match blocks.next() {
                    Some(Ok(block)) => {
                        return Some(Ok(ShuffleBlock {
                            output: self.next - 1,
                            reader: reader.clone(),
                            block,
                        }));
                    }
                    Some(Err(error)) => {
                        self.leave_output();
                        return Some(Err(error));
                    }
                    None => self.leave_output(),
                }
            }
            if self.next == self.shuffle.outputs().len() {
                return self.unknown().map(Err);
            }
            if let Err(error) = self.open_next() {
                return Some(Err(error));
            }
        }
    }
}
