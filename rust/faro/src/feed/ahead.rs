//! Plans the extents of a reading ahead, and wants their bytes.

use super::FeedOptions;
use super::files::Files;
use crate::block::BlockHeader;
use crate::bytes::pad8;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::message::RegionEntry;
use crate::reader::{ExtentPlan, OpenExtent, OpenOutput};
use crate::storage::is_missing;
use std::collections::VecDeque;
use std::ops::Range;

/// The most extents that are planned ahead.
const MOST: usize = 4096;
/// A read of a long part of the index is enlarged by at most this part of what a direct lookup keeps. The lookup in one
/// region takes fewer reads until it has found the own extent, and fewer to go on with the shared ones: all of them fit.
const ENLARGED: u64 = 64;

/// The extents that come next, and which of their bytes are wanted. Positions count the bytes of all extents, from 0 on.
pub(super) struct Ahead {
    plan: ExtentPlan,
    extents: VecDeque<OpenExtent>,
    /// Whether no extents follow those that are planned. A fault may follow.
    is_last: bool,
    fault: Option<Error>,
    /// The bytes of the last planned extent that are not wanted yet.
    rest: Range<u64>,
    /// The end of the bytes that were wanted last, in the file.
    wanted_to: u64,
    /// The position up to which bytes are wanted.
    admitted: u64,
    /// What was wanted and is not delivered: the end of each part, as a position, and its bytes with the gap before it.
    parts: VecDeque<(u64, u64)>,
    in_flight: u64,
    /// The regions whose messages were dropped.
    dropped: usize,
}

impl Ahead {
    pub(super) fn new(mut plan: ExtentPlan, options: &FeedOptions) -> Self {
        // A lookup usually takes up to four pieces of 256 bytes.
        plan.take_at_most(usize::try_from(options.index_bytes / 1024).unwrap_or(usize::MAX));
        Ahead {
            plan,
            extents: VecDeque::new(),
            is_last: false,
            fault: None,
            rest: 0..0,
            wanted_to: 0,
            admitted: 0,
            parts: VecDeque::new(),
            in_flight: 0,
            dropped: 0,
        }
    }

    /// The next extent, if it is planned.
    pub(super) fn pop(&mut self) -> Option<OpenExtent> {
        self.extents.pop_front()
    }

    /// What comes after the last extent: none when it is not known yet.
    pub(super) fn end(&mut self) -> Option<Result<()>> {
        self.is_last.then(|| self.fault.take().map_or(Ok(()), Err))
    }

    /// Drops everything.
    pub(super) fn stop(&mut self) {
        self.plan.stop();
        self.extents.clear();
        self.parts.clear();
        (self.is_last, self.rest, self.in_flight) = (true, 0..0, 0);
    }

    /// Notes that the bytes before a position were delivered.
    pub(super) fn delivered(&mut self, position: u64) {
        while let Some((end, bytes)) = self.parts.front()
            && *end <= position
        {
            self.in_flight -= bytes;
            self.parts.pop_front();
        }
    }

    /// Plans extents and wants their bytes, as many as the options allow, and at least those before the position
    /// `needed`.
    pub(super) fn plan(&mut self, output: &OpenOutput, files: &mut Files, options: &FeedOptions, needed: u64) {
        loop {
            let is_full = self.in_flight >= options.ahead_bytes || self.extents.len() >= MOST;
            if is_full && self.admitted >= needed {
                return;
            }
            if !self.rest.is_empty() {
                self.admit(files, options);
            } else if self.is_last || !self.find(output, files, options) {
                return;
            }
        }
    }

    /// Wants the next bytes of the last planned extent.
    fn admit(&mut self, files: &mut Files, options: &FeedOptions) {
        let start = self.rest.start;
        let end = self.rest.end.min(start.saturating_add(options.read_bytes));
        files.data().want(start..end);
        let gap = start
            .checked_sub(self.wanted_to)
            .filter(|gap| *gap <= options.gap_bytes);
        let bytes = end - start + gap.unwrap_or(0);
        self.admitted += end - start;
        self.parts.push_back((self.admitted, bytes));
        self.in_flight += bytes;
        (self.rest.start, self.wanted_to) = (end, end);
    }

    /// Plans the next extent. Returns false when there is none, or when bytes of the index have to be brought first.
    fn find(&mut self, output: &OpenOutput, files: &mut Files, options: &FeedOptions) -> bool {
        let mut extent = OpenExtent::NONE;
        let found = self.plan.next(output, &mut extent);
        self.drop_messages(output, files);
        match found {
            Ok(true) => {
                self.rest = extent.at..extent.end;
                self.extents.push_back(extent);
                true
            }
            Ok(false) => {
                self.is_last = true;
                false
            }
            Err(error) if is_missing(&error) => {
                self.want_index(output, files, options);
                false
            }
            Err(error) => {
                (self.is_last, self.fault) = (true, Some(error));
                false
            }
        }
    }

    /// Drops the messages that were read.
    fn drop_messages(&mut self, output: &OpenOutput, files: &mut Files) {
        let passed = self.plan.passed();
        for entry in output.footer.regions.get(self.dropped..passed).unwrap_or_default() {
            files.index.file.remove(message_of(entry));
        }
        self.dropped = self.dropped.max(passed);
    }

    /// Wants what the plan has missed, and the next region messages with it.
    fn want_index(&mut self, output: &OpenOutput, files: &mut Files, options: &FeedOptions) {
        let index = &mut files.index;
        for missed in index.file.take_missed() {
            // A message that is read from one end to the other is read in larger and larger pieces.
            let most = options.index_bytes / ENLARGED;
            let (before, after) = index.file.with_pieces(|pieces| {
                (
                    pieces.length_before(missed.start),
                    pieces.from(missed.end).map_or(0, |after| after.len() as u64),
                )
            });
            let start = missed.start.saturating_sub(after.min(most));
            index.want(start..missed.end.saturating_add(before.min(most)));
        }
        let regions = self.plan.regions();
        let mut bytes = 0;
        for (number, entry) in output
            .footer
            .regions
            .iter()
            .enumerate()
            .take(regions.end)
            .skip(regions.start)
        {
            if bytes >= options.index_bytes {
                break;
            }
            if !output.has_region(number as u32) {
                let range = needed_of(entry, output.limits());
                bytes += range.end - range.start;
                index.want(range);
            }
        }
        if regions.is_empty() && index.file.with_pieces(|pieces| pieces.held()) > options.index_bytes {
            // These lookups do not fit into memory: they begin again, for fewer regions.
            index.file.remove(0..u64::MAX);
            self.plan.take_fewer();
        }
    }
}

/// The block of a region message.
fn message_of(entry: &RegionEntry) -> Range<u64> {
    // The sum cannot wrap, since FTR-2 was checked.
    entry.message_offset..entry.message_offset + BlockHeader::SIZE as u64 + pad8(entry.message_size)
}

/// What is read of the block of a region message: only the header if the message is larger than the limit.
fn needed_of(entry: &RegionEntry, limits: &Limits) -> Range<u64> {
    match u64::from(entry.message_size) > limits.max_message_size {
        true => entry.message_offset..entry.message_offset + BlockHeader::SIZE as u64,
        false => message_of(entry),
    }
}
