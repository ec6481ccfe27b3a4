//! Which consumer may have how much of the memory that is set aside for what was read.

use super::figures::Figures;
use super::waiting::Waiting;
use crate::index::Extent;
use crate::plan::Admitted;
use std::collections::BTreeMap;

/// The budget during the planning of one read.
pub(super) struct Budget<'a> {
    pub consumers: &'a mut BTreeMap<u64, Waiting>,
    pub figures: &'a mut Figures,
    /// Consumers whose first request changed, since bytes were taken from them, and where it was.
    pub reclaimed: Vec<(u64, Option<u64>)>,
    /// Bytes of each consumer.
    pub share: u64,
    /// Bytes of all of them.
    pub total: u64,
}

impl Budget<'_> {
    /// What of a consumer's first request may be read now.
    pub(super) fn admit(&mut self, id: u64, extent: Extent) -> Option<Admitted> {
        let consumer = self.consumers.get(&id)?;
        // A consumer from which bytes were taken asks for these first.
        if consumer
            .wanted
            .front()
            .is_none_or(|first| first.offset != extent.offset)
        {
            return None;
        }
        if !consumer.filling && consumer.held > self.share / 2 {
            return None;
        }
        let room = self.share.saturating_sub(consumer.held);
        let length = extent.length.min(room);
        // Whole, or a good part of the share: a trickle would be many reads.
        let is_full = length == 0 || (length < extent.length && length < self.share / 4);
        self.consumers.get_mut(&id)?.filling = !is_full;
        if is_full || !self.make_room(id, length) {
            return None;
        }
        self.figures.held_bytes += length;
        self.figures.most_held_bytes = self.figures.most_held_bytes.max(self.figures.held_bytes);
        let consumer = self.consumers.get_mut(&id)?;
        consumer.held += length;
        consumer.reading = true;
        let first = consumer.wanted.front_mut()?;
        first.offset += length;
        first.length -= length;
        if first.length == 0 {
            consumer.wanted.pop_front();
        }
        Some(Admitted {
            length,
            next: consumer.wanted.front().copied(),
        })
    }

    /// Whether there is room for so many bytes, if need be that of consumers that hold more than their share, as it was
    /// larger when there were fewer: they get the same bytes again, when they have taken what comes before.
    fn make_room(&mut self, id: u64, length: u64) -> bool {
        if self.figures.held_bytes + length <= self.total {
            return true;
        }
        let share = self.share;
        for (other, consumer) in self.consumers.iter_mut() {
            if *other == id || consumer.reading {
                continue;
            }
            let before = consumer.wanted.front().map(|first| first.offset);
            let mut changed = false;
            while consumer.held > share {
                let Some(piece) = consumer.ready.pop_back() else {
                    break;
                };
                let bytes = piece.bytes.len() as u64;
                consumer.held -= bytes;
                self.figures.held_bytes -= bytes;
                self.figures.reclaimed_bytes += bytes;
                consumer.wanted.push_front(Extent {
                    offset: piece.offset,
                    length: bytes,
                });
                changed = true;
            }
            if changed {
                self.reclaimed.push((*other, before));
            }
            if self.figures.held_bytes + length <= self.total {
                return true;
            }
        }
        false
    }
}
