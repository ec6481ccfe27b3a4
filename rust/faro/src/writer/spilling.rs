//! How a writer gets room for records, ends regions, and gives memory back.

use super::figures::WriterFigures;
use super::handed_over::{Full, HandedOver, lost, write_traced};
use super::memory::{Room, STEP};
use super::output_writer::{State, Writer, new_buffer};
use super::region_builder::RegionBuilder;
use super::trace::Span;
use crate::error::{Error, Result};
use crate::limits::out_of_memory;
use std::time::Instant;

impl Writer {
    /// The bytes that the writer holds now: what its budget ([`memory_budget`]) has granted and not got back. Without a
    /// budget it is counted in the same way: nothing before the first record, then the working memory
    /// ([`working_memory`]), and what the sort buffer has taken of [`buffer_size`]. After `finish`, `abort` and their
    /// like, and after a failure that is final, it is 0.
    ///
    /// [`memory_budget`]: crate::WriterOptions::memory_budget
    /// [`working_memory`]: crate::WriterOptions::working_memory
    /// [`buffer_size`]: crate::WriterOptions::buffer_size
    pub fn memory_used(&self) -> u64 {
        self.memory.grants().held()
    }

    /// Asks for the working memory before the first record or region.
    pub(crate) fn begin_memory(&mut self) -> Result<()> {
        self.memory.begin(&self.options)
    }

    /// Whether the sort buffer has room for a record, or gets it from the budget.
    pub(super) fn room_for(&mut self, charge: u64, surplus: u64) -> Room {
        if !self.buffer.has_room(charge) {
            self.buffer.look_at_records();
        }
        if !self.buffer.has_room(charge) {
            let missing = match self.buffer.missing(charge) {
                Some(missing) => missing,
                None => return Room::Full,
            };
            // Few steps, since each may move the records: the buffer doubles.
            let most = self.buffer.could_grow();
            let large = missing.max(STEP).max(self.buffer.granted()).min(most);
            let small = missing.max(STEP).min(most);
            let granted = [large, small].into_iter().find(|step| self.memory.try_grow(*step));
            let Some(granted) = granted else {
                return Room::Refused;
            };
            self.buffer.grant(granted);
            if !self.buffer.has_room(charge) {
                self.buffer.look_at_records();
            }
        }
        match surplus > 0 && !self.memory.take_surplus(surplus) {
            true => Room::Refused,
            false => Room::Enough,
        }
    }

    /// Ends the region, and frees the sort buffer.
    pub(super) fn spill(&mut self) -> Result<()> {
        let spilled = self.close_region();
        self.release_buffer();
        spilled
    }

    /// The error for a record that gets no memory in an empty buffer.
    pub(super) fn no_room(&self, charge: u64) -> Error {
        out_of_memory(charge.max(STEP).min(self.options.buffer_size))
    }

    /// Frees the sort buffer. When a full buffer ends a region, it keeps its memory for the next.
    pub(super) fn release_buffer(&mut self) {
        self.buffer.give_back();
        if let Some(mut other) = self.other_buffer.take() {
            other.give_back();
        }
        self.buffer = new_buffer(&self.options);
        self.memory.sort_buffer_is_free();
        self.other_refused = false;
        self.know_plain();
    }

    /// Frees all that is held.
    pub(super) fn release_memory(&mut self) {
        self.release_buffer();
        if let Some(builder) = &mut self.builder {
            builder.free();
        }
        self.memory.end();
    }

    /// Closes the region that the sort buffer holds.
    pub(super) fn close_region(&mut self) -> Result<()> {
        self.settle()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.decide_paired()?;
        let start = Instant::now();
        let closed = match &mut self.builder {
            Some(builder) => write_traced(builder, &mut self.buffer),
            None => Err(lost()),
        };
        self.region_time += start.elapsed();
        self.memory.sort_buffer_is_empty();
        self.know_plain();
        self.guarded(|_| closed)
    }

    /// Closes the region that a full sort buffer holds. With the option `double_buffer` another thread writes it, and an error
    /// comes with a later call.
    pub(super) fn close_full_region(&mut self) -> Result<()> {
        self.settle()?;
        if !self.options.double_buffer || !self.has_other_buffer() {
            return self.close_region();
        }
        self.decide_paired()?;
        if self.handed_over.is_none() {
            self.handed_over = HandedOver::new(self.options.executor.as_ref());
        }
        let Some(handed_over) = &mut self.handed_over else {
            // This one writes, if the system refuses another.
            return self.close_region();
        };
        let builder = self.builder.take().ok_or_else(lost)?;
        self.figures_before = builder.figures();
        let empty = self.other_buffer.take().unwrap_or_else(|| new_buffer(&self.options));
        let buffer = std::mem::replace(&mut self.buffer, empty);
        handed_over.begin(Full { builder, buffer });
        self.memory.sort_buffer_is_handed_over();
        self.know_plain();
        Ok(())
    }

    /// Whether there is a second sort buffer. It gets its memory at once, as much as the first one has: with less, regions
    /// would be shorter than with one buffer.
    fn has_other_buffer(&mut self) -> bool {
        if self.other_buffer.is_none() && !self.other_refused {
            let memory = self.buffer.granted();
            self.other_refused = !self.memory.try_grow(memory);
            if !self.other_refused {
                let mut other = new_buffer(&self.options);
                other.grant(memory);
                self.other_buffer = Some(other);
            }
        }
        self.other_buffer.is_some()
    }

    /// Runs the end of a region that is not in the sort buffer.
    pub(super) fn ending_region<T>(&mut self, end: impl FnOnce(&mut RegionBuilder) -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let result = self.guarded(|builder| {
            let (span, before) = (Span::write_region(builder.files()), builder.counts());
            let result = end(builder);
            let after = builder.counts();
            span.ends_with(after.0, after.1 - before.1);
            result
        });
        self.region_time += start.elapsed();
        result
    }

    /// What the writer has done so far, at any time, even after its end. It never waits.
    ///
    /// ```
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
    /// writer.write(2, b"a record")?;
    /// assert_eq!(writer.figures().records, 0);
    /// writer.finish()?;
    /// let figures = writer.figures();
    /// assert_eq!((figures.records, figures.regions, figures.blocks, figures.plain_bytes), (1, 1, 1, 4 + 8));
    /// # Ok(()) }
    /// ```
    pub fn figures(&self) -> WriterFigures {
        WriterFigures {
            spills: self.spills,
            double_buffered: self.double_buffered,
            region_time: self.region_time,
            memory_used: self.memory_used(),
            memory_refusals: self.memory.refusals(),
            ..match &self.builder {
                Some(builder) => builder.figures(),
                None => self.figures_before.clone(),
            }
        }
    }

    /// The state after the end: nothing is held.
    pub(super) fn end_with(&mut self, state: State) {
        self.set_state(state);
        self.release_memory();
        self.handed_over = None;
    }
}
