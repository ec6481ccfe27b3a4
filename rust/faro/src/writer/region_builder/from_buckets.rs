//! Own extents of partitions whose records are in buckets: their blocks are made bucket by bucket, in a scratch.

use super::RegionBuilder;
use crate::block::DATA;
use crate::error::Result;
use crate::sort_buffer::{Buckets, Pushed};
use crate::storage::GATHERED;
use crate::writer::blocks::Sink;
use crate::writer::owner::Owner;
use std::ops::Range;

impl RegionBuilder {
    /// Writes the own extents of a region, beginning with partition `first`.
    pub(in crate::writer) fn extents_from_buckets(&mut self, buckets: &mut Buckets, first: u32) -> Result<()> {
        for mut rest in [first..self.shape.partition_count, 0..first] {
            while !rest.is_empty() {
                let bucket = buckets.in_bucket(&rest);
                rest.start = bucket.end;
                buckets.measure(bucket.start);
                self.extents_from_bucket(buckets, bucket)?;
            }
        }
        self.write_scratch(buckets)
    }

    /// Writes the extents of partitions of a bucket that was measured.
    fn extents_from_bucket(&mut self, buckets: &mut Buckets, mut rest: Range<u32>) -> Result<()> {
        while !rest.is_empty() {
            let fitting = buckets.fitting(rest.clone());
            if fitting > 0 {
                let now = rest.start..rest.start + fitting;
                buckets.scatter(now.clone());
                for at in now {
                    self.extent_from_scratch(buckets, at)?;
                }
                rest.start += fitting;
                if self.block_builder.compresses() {
                    // Its blocks are in the file's buffer now.
                    buckets.empty_scratch();
                }
                if buckets.scratch().len() as u64 >= GATHERED {
                    self.write_scratch(buckets)?;
                }
            } else if buckets.scratch().is_empty() {
                self.extent_from_records(buckets, rest.start)?;
                rest.start += 1;
            } else {
                self.write_scratch(buckets)?;
            }
        }
        Ok(())
    }

    /// Seals the blocks of a partition in the scratch.
    fn extent_from_scratch(&mut self, buckets: &mut Buckets, at: u32) -> Result<()> {
        if !buckets.holds(at) {
            return Ok(());
        }
        self.begin_extent(Owner::Own(at));
        self.add_records(buckets.records_of(at));
        let mut made = buckets.made(at);
        if self.block_builder.compresses() {
            return self.compressed_from_scratch(buckets, made);
        }
        let written = self.output.blocks().offset();
        while let (Some((kind, size)), Some(stream)) = (buckets.next_block(&made), &mut self.stream) {
            let header = stream.plain_block(kind, size)?;
            self.block_builder
                .timed_checksum(|seal| buckets.seal(&mut made, &header, seal));
            self.region.check_length(written + made.start as u64)?;
        }
        Ok(())
    }

    /// Compresses the blocks of a partition in the scratch.
    fn compressed_from_scratch(&mut self, buckets: &Buckets, mut made: Range<usize>) -> Result<()> {
        while let Some((kind, payload)) = buckets.take_block(&mut made) {
            match kind {
                DATA => self.plain_block(payload)?,
                _ => self.push_event(kind, payload)?,
            }
        }
        Ok(())
    }

    /// Writes the extent of a partition that does not fit into the scratch.
    fn extent_from_records(&mut self, buckets: &Buckets, at: u32) -> Result<()> {
        self.begin_extent(Owner::Own(at));
        let mut pushed = Ok(());
        buckets.for_each(at, |kind, bytes| {
            let record = match kind {
                DATA => Pushed::Data(bytes, 1),
                _ => Pushed::Event(kind, bytes),
            };
            if pushed.is_ok() {
                pushed = self.pushed(&record);
            }
        });
        pushed?;
        self.end_extent()
    }

    /// Writes or buffers the blocks in the scratch, and empties it.
    fn write_scratch(&mut self, buckets: &mut Buckets) -> Result<()> {
        let mut blocks = buckets.scratch();
        let file = self.output.blocks();
        if file.gathers() {
            let taken = file.gather(blocks.len(), std::iter::once(blocks))?;
            blocks = &blocks[taken..];
        }
        file.buffer().extend_from_slice(blocks);
        file.block_ended()?;
        buckets.empty_scratch();
        Ok(())
    }
}
