//! Reading a partition of a followed output as its regions come (spec, FOL-7).

use super::follower::Follower;
use crate::error::{Error, Result};
use crate::reader::{Block, Blocks};
use std::sync::Arc;

/// The blocks of one partition of a followed output, as its regions come: [`Follower::watch`].
///
/// It is one reading, whose sequences are checked over all regions. So it finds blocks that are missing between two
/// regions, which readings of each region by itself do not.
///
/// ```
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let name = folder.path().join("shuffle");
/// let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4).follow(true))?;
/// let mut follower = faro::Follower::open(&faro::Files::paired(&name), faro::ReaderOptions::default())?;
/// writer.write(2, b"a record")?;
/// writer.flush()?;
/// let mut watch = follower.watch(2)?;
/// # let mut blocks = 0;
/// loop {
///     let finished = follower.poll()?.finished;
///     while let Some(block) = watch.next(&follower) {
///         println!("{} bytes", block?.payload.len());
/// #       blocks += 1;
///     }
///     if finished {
///         break;
///     }
///     // Wait a moment here: the writer is still at work.
/// #   if blocks == 1 {
/// #       writer.write(2, b"another")?;
/// #       writer.finish()?;
/// #   }
/// }
/// # assert_eq!(blocks, 2);
/// # Ok(()) }
/// ```
pub struct Watch {
    blocks: Blocks,
    failure: Option<Error>,
}

impl Follower {
    /// A watch of a partition: its blocks from the first region on, also those of regions that later polls find (FOL-7).
    ///
    /// # Errors
    /// `invalid-argument` for a partition that the file does not have.
    pub fn watch(&self, partition: u32) -> Result<Watch> {
        Ok(Watch {
            blocks: self.partition(partition)?,
            failure: None,
        })
    }
}

impl Watch {
    /// The next block of the regions that this follower has seen, or none: there is no block now. A later
    /// [`Follower::poll`] may find more, unless it says that the file is finished.
    ///
    /// # Errors
    /// `invalid-argument` for another follower than that of the watch; the faults of PRT-3. After a fault, each call
    /// returns it again.
    pub fn next(&mut self, follower: &Follower) -> Option<Result<Block>> {
        let (output, known) = (follower.output(), self.blocks.output());
        if !Arc::ptr_eq(&output.opened, &known.opened) {
            return Some(Err(Error::argument("the follower of the watch", "another")));
        }
        if let Some(failure) = &self.failure {
            return Some(Err(failure.clone()));
        }
        if output.region_count() > known.region_count() {
            self.blocks.go_on(output);
        }
        let block = self.blocks.next();
        if let Some(Err(error)) = &block {
            self.failure = Some(error.clone());
        }
        block
    }
}
