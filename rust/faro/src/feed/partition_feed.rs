//! A reading of a partition or a range, whose bytes the caller brings.

use super::FeedOptions;
use super::ahead::Ahead;
use super::files::Files;
use super::incoming::Wanted;
use super::supply::Supply;
use crate::error::{FileRole, Result};
use crate::index::dictionaries;
use crate::reader::trace::fault;
use crate::reader::{Block, BlockCheck, CheckOutcome, ExtentPlan, OpenExtent, Reader};
use crate::storage::is_missing;
use bytes::Bytes;
use std::io;
use std::task::Poll;

/// The blocks of a partition or range, in the order of PRT-1 or PRT-5. Their bytes come from the caller:
/// [`Feed::wanted`] says which, [`Feed::bring`] takes them, and [`Feed::poll`] checks, decodes and returns the blocks
/// that are complete. The blocks and the faults are those of [`Reader::partition`] and [`Reader::range`].
///
/// None of its calls reads or waits. It holds what [`FeedOptions::ahead_bytes`] says, and drops what was delivered. The
/// payload of an uncompressed block shares the memory of the bytes that were brought with it.
pub struct Feed {
    files: Files,
    options: FeedOptions,
    ahead: Ahead,
    checker: BlockCheck,
    supply: Supply,
    extent: OpenExtent,
    /// How many bytes of extents come before the open one.
    before: u64,
    /// Where the open extent begins.
    begin: u64,
    /// The end of the bytes that the next block needs, as a position.
    needed: u64,
    /// Whether the last checked block was not delivered yet, because its dictionary is not there.
    is_checked: bool,
    ended: bool,
}

impl Feed {
    pub(super) fn new(reader: &Reader, mut files: Files, plan: ExtentPlan, options: FeedOptions) -> Self {
        let output = reader.output().with_files(files.stored());
        let supply = Supply::new(files.data().file.clone());
        Feed {
            files,
            ahead: Ahead::new(plan, &options),
            options,
            checker: BlockCheck::new(output, true),
            supply,
            extent: OpenExtent::NONE,
            before: 0,
            begin: 0,
            needed: 0,
            is_checked: false,
            ended: false,
        }
    }

    /// The bytes that are wanted and were not returned before, in few, long ranges. They can all be fetched at the same
    /// time. It is empty while enough is on its way, and after the end.
    pub fn wanted(&mut self) -> Vec<Wanted> {
        if self.ended {
            return Vec::new();
        }
        self.plan();
        self.files.tell(&self.options)
    }

    /// All bytes that are wanted and were not brought, for a caller that gave up some requests.
    pub fn missing(&self) -> Vec<Wanted> {
        self.files.missing()
    }

    /// Brings bytes of a file from `offset` on, in any order and in any pieces; `size` is the size of the file. Bytes
    /// that are not wanted are dropped: those of a gap, and those that were brought before.
    ///
    /// # Errors
    /// `invalid-argument` for bytes outside of the file, and for a file that the output does not have. Nothing is taken
    /// then.
    pub fn bring(&mut self, role: FileRole, offset: u64, bytes: impl Into<Bytes>, size: u64) -> Result<()> {
        self.files.bring(role, offset, &bytes.into(), size)
    }

    /// Says that wanted bytes do not come. The blocks before them are delivered; then [`Feed::poll`] returns `io` with
    /// this error.
    ///
    /// # Errors
    /// `invalid-argument` for a file that the output does not have.
    pub fn fail(&mut self, wanted: &Wanted, error: &io::Error) -> Result<()> {
        self.files.fail(wanted, error)
    }

    /// The memory, in bytes, of what was brought and is still needed. Regions and dictionaries are in the reader.
    pub fn memory_used(&self) -> u64 {
        self.files.held() + self.supply.held()
    }

    /// The next block if its bytes are there; `Ready(None)` when there are no more, `Pending` when bytes have to be
    /// brought first. It does not read and does not wait; it checks and decodes the block. Nothing follows a fault: the
    /// feed has ended then, and drops what it holds.
    ///
    /// # Errors
    /// The first fault of PRT-3; with direct lookup, those of LKP-2 and LKP-3 come before any block.
    pub fn poll(&mut self) -> Poll<Option<Result<Block>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        match self.advance() {
            Ok(Poll::Ready(Some(block))) => Poll::Ready(Some(Ok(block))),
            Ok(Poll::Ready(None)) => {
                self.end();
                Poll::Ready(None)
            }
            Err(error) => {
                fault(&error);
                self.end();
                Poll::Ready(Some(Err(error)))
            }
            Ok(Poll::Pending) => Poll::Pending,
        }
    }

    fn advance(&mut self) -> Result<Poll<Option<Block>>> {
        loop {
            if self.is_checked {
                return self.give();
            }
            if self.extent.at < self.extent.end {
                match self.checker.check(&mut self.extent, &mut self.supply)? {
                    CheckOutcome::Block => self.is_checked = true,
                    CheckOutcome::Needs(bytes) => {
                        self.needed = self.position() + bytes;
                        self.plan();
                        return Ok(Poll::Pending);
                    }
                }
                continue;
            }
            let mut next = self.ahead.pop();
            if next.is_none() {
                self.plan();
                next = self.ahead.pop();
            }
            match next {
                Some(next) => {
                    self.before = self.position();
                    self.begin = next.at;
                    self.extent = next;
                    self.needed = self.before + 1;
                }
                None => {
                    return self
                        .ahead
                        .end()
                        .map_or(Ok(Poll::Pending), |end| end.map(|()| Poll::Ready(None)));
                }
            }
        }
    }

    /// How many bytes of extents were read.
    fn position(&self) -> u64 {
        self.before + (self.extent.at - self.begin)
    }

    fn plan(&mut self) {
        self.ahead.delivered(self.position());
        // The first extents are planned whatever the options are.
        let needed = self.needed.max(1);
        self.ahead
            .plan(&self.checker.output, &mut self.files, &self.options, needed);
    }

    /// Delivers the checked block when its dictionary is there.
    fn give(&mut self) -> Result<Poll<Option<Block>>> {
        if let Some(number) = self.checker.missing_dictionary() {
            let entry = &self.checker.output.footer.dictionaries[usize::from(number) - 1];
            let block = entry.offset..dictionaries::end_of(entry);
            match self.checker.output.dictionary(number) {
                Ok(_) => self.files.data().file.remove(block),
                Err(error) if is_missing(&error) => {
                    let data = self.files.data();
                    let missed = data.file.take_missed();
                    match u64::from(entry.size) > self.options.reader.limits.max_dictionary_size {
                        // Its header is read, and the size refused.
                        true => missed.into_iter().for_each(|missed| data.want(missed)),
                        false => data.want(block),
                    }
                    return Ok(Poll::Pending);
                }
                Err(error) => return Err(error),
            }
        }
        self.is_checked = false;
        self.checker.own(&self.extent, &self.supply).map(Some).map(Poll::Ready)
    }

    /// Drops what is held, even if blocks live on.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        self.checker.ends();
        self.ahead.stop();
        self.extent = OpenExtent::NONE;
        self.supply = Supply::new(self.files.data().file.clone());
        self.files.close();
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.end();
    }
}
