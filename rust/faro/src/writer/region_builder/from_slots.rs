//! Own extents whose blocks are in slots already: they are sealed there, and written from there.

use super::RegionBuilder;
use crate::block::DATA;
use crate::error::Result;
use crate::sort_buffer::{Pieces, Slots};
use crate::storage::GATHERED;
use crate::writer::blocks::Sink;
use crate::writer::owner::Owner;

impl RegionBuilder {
    /// Writes the extents of partitions that have all their records in slots. `order` has partitions in the order of the
    /// region.
    pub(in crate::writer) fn extents_from_slots(
        &mut self,
        slots: &mut Slots,
        order: impl Iterator<Item = u32>,
    ) -> Result<()> {
        let mut pieces = Pieces::default();
        for at in order {
            if slots.holds(at) {
                slots.end_block(at);
                self.begin_extent(Owner::Own(at));
                self.add_records(slots.records_of(at));
                self.blocks_from_slots(slots, at, &mut pieces)?;
            }
        }
        self.write_rest(slots, &mut pieces)
    }

    /// Begins the extent of a partition that has records in slots and continues with others.
    pub(in crate::writer) fn begin_from_slots(&mut self, slots: &mut Slots, at: u32) -> Result<()> {
        let mut pieces = Pieces::default();
        self.begin_extent(Owner::Own(at));
        self.add_records(slots.records_of(at));
        self.blocks_from_slots(slots, at, &mut pieces)?;
        self.write_rest(slots, &mut pieces)?;
        let file = self.output.blocks();
        for piece in slots.open_block(at) {
            self.block_builder.continue_block(file, piece);
        }
        Ok(())
    }

    /// Seals the blocks of a partition that have ended.
    fn blocks_from_slots(&mut self, slots: &mut Slots, at: u32, pieces: &mut Pieces) -> Result<()> {
        let mut walk = slots.walk(at);
        while let Some(plain_size) = slots.next_block(&mut walk) {
            if self.block_builder.compresses() {
                self.in_extent(|block_builder, file, stream| {
                    block_builder.block_of_slots(file, stream, slots, &mut walk, plain_size)
                })?;
                continue;
            }
            let Some(stream) = &mut self.stream else { break };
            let header = stream.plain_block(DATA, plain_size)?;
            self.block_builder
                .timed_checksum(|seal| slots.seal(&mut walk, &header, seal, pieces));
            let end = self.output.blocks().offset() + pieces.bytes() as u64;
            self.region.check_length(end)?;
            if pieces.bytes() as u64 >= GATHERED {
                self.write_pieces(slots, pieces)?;
            }
        }
        Ok(())
    }

    /// Writes pieces of slots, as far as a write ends well.
    fn write_pieces(&mut self, slots: &Slots, pieces: &mut Pieces) -> Result<()> {
        let file = self.output.blocks();
        if file.gathers() {
            let taken = file.gather(pieces.bytes(), slots.slices(pieces))?;
            pieces.drop_front(taken);
            return Ok(());
        }
        self.write_rest(slots, pieces)
    }

    /// Writes or buffers all pieces.
    fn write_rest(&mut self, slots: &Slots, pieces: &mut Pieces) -> Result<()> {
        let file = self.output.blocks();
        for slice in slots.slices(pieces) {
            file.buffer().extend_from_slice(slice);
            file.block_ended()?;
        }
        pieces.drop_front(pieces.bytes());
        Ok(())
    }
}
