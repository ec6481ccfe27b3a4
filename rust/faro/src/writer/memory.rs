//! The memory of a writer: what it asks of an engine's budget, and when it gives that back (WRT-14).

use super::options::WriterOptions;
use crate::codec::Codec;
use crate::error::Result;
use crate::limits::{CountedBudget, Grants, out_of_memory};
use crate::sort_buffer::sorting_memory;
use crate::storage::publishing::Birth;
use std::sync::Arc;

/// The least that is asked for at a time for the sort buffer, in bytes, if so much is missing.
pub(super) const STEP: u64 = 1 << 20;

/// What an event, and a record with a count, may take beyond its charge (SRT-1): its kind, its count, a longer length,
/// and what aligns it.
pub(super) const EVENT_SURPLUS: u64 = 12;
pub(super) const COUNTED_SURPLUS: u64 = 20;

/// What a writer holds.
pub(super) struct Memory {
    budget: Option<Arc<CountedBudget>>,
    grants: Grants,
    /// What is held until the end: files, blocks, sorting.
    working: u64,
    /// What is granted for surplus, and the part of it that is not used yet.
    surplus_granted: u64,
    surplus: u64,
    /// The part that the sort buffer uses which a thread writes.
    surplus_of_other: u64,
    born: Birth,
}

/// Whether a record fits into the sort buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Enough,
    /// The buffer is full (SRT-1).
    Full,
    /// The budget refused more.
    Refused,
}

impl WriterOptions {
    /// The bytes that a writer takes beside its sort buffer: its working memory. It is an upper estimate, with M = 1 MiB,
    /// P partitions, B = the smaller of `block_size` and `max_plain_size`, and T = `compress_threads`:
    ///
    /// - buffers of the files, and recent region messages: 5 M
    /// - sorting: the smaller of 8 M and half of `buffer_size`; with T > 1, a third of `buffer_size` and 2 T M; twice with
    ///   `double_buffer`
    /// - partitions: 128 P
    /// - blocks: 4 B, with T > 1 4 B (T + 1); with Zstandard 4 M each
    ///
    /// With `double_buffer`, the sort buffers take up to twice `buffer_size`. An event takes up to 12 bytes of the sort buffer
    /// beyond its charge (SRT-1), and a record with framing arrow up to 20; they are asked for. A record or block that is
    /// larger than B takes its size three times more while it is written. So do dictionaries, and the blocks of a region
    /// writer in a storage until the region ends.
    ///
    /// ```
    /// let options = faro::WriterOptions::new(100).buffer_size(30 << 20);
    /// assert_eq!(options.working_memory(), (13 << 20) + 100 * 128 + 4 * 65_536);
    /// ```
    pub fn working_memory(&self) -> u64 {
        let (threads, sorting) = match self.compress_threads {
            0 | 1 => (0, sorting_memory(self.buffer_size)),
            threads => (threads as u64, self.buffer_size / 3 + 2 * threads as u64 * STEP),
        };
        let sorting = if self.double_buffer { 2 * sorting } else { sorting };
        let codec = if self.codec == Codec::Zstd { 4 * STEP } else { 0 };
        let blocks = (threads + 1) * (4 * self.block_target() as u64 + codec);
        5 * STEP + sorting + 128 * u64::from(self.partition_count) + blocks
    }
}

impl Memory {
    pub(super) fn new(options: &WriterOptions) -> Memory {
        let mut budget = options.memory_budget.clone();
        Memory {
            budget: CountedBudget::wrap(&mut budget),
            grants: Grants::new(budget),
            working: 0,
            surplus_granted: 0,
            surplus: 0,
            surplus_of_other: 0,
            born: Birth::here(),
        }
    }

    pub(super) fn grants(&self) -> &Grants {
        &self.grants
    }

    /// How often memory was refused.
    pub(super) fn refusals(&self) -> u64 {
        CountedBudget::refusals(self.budget.as_ref())
    }

    /// Asks for memory of the sort buffer.
    pub(super) fn try_grow(&mut self, bytes: u64) -> bool {
        self.grants.try_grow(bytes)
    }

    /// Gives everything back, at the end.
    pub(super) fn end(&mut self) {
        self.working = 0;
        self.sort_buffer_is_free();
    }

    /// Asks for the working memory, once.
    pub(super) fn begin(&mut self, options: &WriterOptions) -> Result<()> {
        if self.working == 0 {
            let working = options.working_memory();
            if !self.grants.try_grow(working) {
                return Err(out_of_memory(working));
            }
            self.working = working;
        }
        Ok(())
    }

    /// Asks for surplus, in large steps.
    pub(super) fn take_surplus(&mut self, bytes: u64) -> bool {
        if self.surplus < bytes {
            let more = bytes.max(STEP / 16);
            if !self.grants.try_grow(more) {
                return false;
            }
            self.surplus += more;
            self.surplus_granted += more;
        }
        self.surplus -= bytes;
        true
    }

    /// The sort buffer is empty, and keeps its memory.
    pub(super) fn sort_buffer_is_empty(&mut self) {
        self.surplus = self.surplus_granted - self.surplus_of_other;
    }

    /// A thread writes the sort buffer, and another one is filled.
    pub(super) fn sort_buffer_is_handed_over(&mut self) {
        self.surplus_of_other = self.surplus_granted - self.surplus;
    }

    /// That one is empty, and keeps its memory.
    pub(super) fn other_buffer_is_empty(&mut self) {
        self.surplus += std::mem::take(&mut self.surplus_of_other);
    }

    /// Gives the sort buffer's memory back, which is free already.
    pub(super) fn sort_buffer_is_free(&mut self) {
        (self.surplus, self.surplus_granted, self.surplus_of_other) = (0, 0, 0);
        self.grants.shrink_to(self.working);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.born.is_here() {
            self.grants.forget();
        }
    }
}
