//! Reading a partition of a hybrid store (spec, HYB-3).

use super::image::Image;
use super::image_state::{Available, HybridPosition};
use super::progress::Progress;
use super::sync::Arc;
use crate::error::{Error, Result};
use crate::reader::{Block, Blocks};
use std::fmt;

/// Reads a partition of a hybrid store while it is written: [`HybridStore::open`](super::HybridStore::open).
pub struct HybridConsumer {
    image: Arc<Image>,
    partition: u32,
    start: HybridPosition,
    position: HybridPosition,
    progress: Option<Arc<Progress>>,
    available: Option<Available>,
    blocks: Option<Blocks>,
    failure: Option<Error>,
    finished: bool,
}

impl fmt::Debug for HybridConsumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridConsumer")
            .field("partition", &self.partition)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl HybridConsumer {
    pub(super) fn new(
        image: Arc<Image>,
        partition: u32,
        start: HybridPosition,
        progress: Option<Arc<Progress>>,
        available: Option<Available>,
    ) -> Self {
        HybridConsumer {
            image,
            partition,
            start,
            position: start,
            progress,
            available,
            blocks: None,
            failure: None,
            finished: false,
        }
    }

    /// The next block, if there is one now. If there is none, and [`HybridConsumer::is_finished`], there will be none any
    /// more. Otherwise the function that was given to `open` is called, once, when this should be called again.
    ///
    /// # Errors
    /// The fault of a block, or the failure of the store; again at each further call.
    pub fn next_block(&mut self) -> Option<Result<Block>> {
        if let Some(failure) = &self.failure {
            return Some(Err(failure.clone()));
        }
        match self.try_next() {
            Ok(block) => block.map(Ok),
            Err(missed) => {
                // The bytes may be gone because the store has failed, or was closed, meanwhile.
                let error = self.image.check_usable().err().unwrap_or(missed);
                self.failure = Some(error.clone());
                Some(Err(error))
            }
        }
    }

    fn try_next(&mut self) -> Result<Option<Block>> {
        while !self.finished {
            self.image.check_usable()?;
            if let Some(block) = self.take()? {
                return Ok(Some(block));
            }
            // Before looking: what comes after it is not overlooked.
            let seen = self.image.with(|state, _| state.changes);
            let (regions, ended) = self.look()?;
            if let Some(block) = self.take()? {
                return Ok(Some(block));
            }
            self.move_to(regions);
            self.finished = ended;
            if !ended && self.image.wait(seen, self.available.as_ref()) {
                break;
            }
        }
        Ok(None)
    }

    /// Looks for regions that were committed; returns how many there are, and whether there will be no more.
    fn look(&mut self) -> Result<(usize, bool)> {
        let mut reader = self.image.reader()?;
        let Some(reader) = reader.as_mut() else {
            return Ok((0, false));
        };
        let progress = reader.poll()?;
        match &mut self.blocks {
            Some(blocks) => blocks.go_on(reader.output()),
            None if self.start.region > progress.regions => {
                let found = self.start.region.to_string();
                return Err(Error::argument("a region of the store", found));
            }
            empty => *empty = Some(reader.partition_in(self.partition, self.start.region..progress.regions)?),
        }
        Ok((progress.regions, progress.finished))
    }

    /// The next block of the regions that are known, after the position at which the reading began.
    fn take(&mut self) -> Result<Option<Block>> {
        while let Some(block) = self.blocks.as_mut().and_then(Iterator::next) {
            let block = block?;
            self.move_to(block.region as usize);
            let (is_shared, sequence) = (block.partition.is_none(), block.header.sequence);
            let (from, position) = match is_shared {
                true => (self.start.shared, &mut self.position.shared),
                false => (self.start.own, &mut self.position.own),
            };
            if u64::from(sequence) >= from {
                *position = u64::from(sequence) + 1;
                if let Some(progress) = &self.progress {
                    progress.delivered(is_shared, sequence);
                }
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    fn move_to(&mut self, region: usize) {
        if self.position.region < region {
            self.position.region = region;
            if let Some(progress) = &self.progress {
                self.image.with(|state, counts| state.move_to(progress, region, counts));
            }
        }
    }

    /// Whether the store is finished, and all of the partition was delivered.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Where a later consumer of a full store can go on after the last block.
    pub fn position(&self) -> HybridPosition {
        self.position
    }

    /// The partition that is read.
    pub fn partition(&self) -> u32 {
        self.partition
    }
}

impl Drop for HybridConsumer {
    fn drop(&mut self) {
        self.image.with(|state, _| state.leave());
    }
}
