//! The budget: how much memory each consumer may have for bytes that were read.

use super::figures::SchedulerFigures;
use super::waiting::Waiting;
use crate::index::Extent;
use crate::plan::Admitted;
use std::collections::BTreeMap;

/// The budget during the planning of one read.
pub(super) struct Budget<'a> {
    pub consumers: &'a mut BTreeMap<u64, Waiting>,
    pub figures: &'a mut SchedulerFigures,
    /// Consumers with a new first request, since bytes were taken back from them, and the offset of the old one.
    pub reclaimed: Vec<(u64, Option<u64>)>,
    /// The share of each consumer, in bytes.
    pub share: u64,
    /// The budget of all consumers, in bytes.
    pub total: u64,
    /// Whether more memory would have made the read longer.
    pub is_short: bool,
}

impl Budget<'_> {
    /// How much of a consumer's first request may be read now.
    pub(super) fn admit(&mut self, id: u64, extent: Extent) -> Option<Admitted> {
        let consumer = self.consumers.get(&id)?;
        // A consumer that lost bytes requests these first.
        if consumer
            .wanted
            .front()
            .is_none_or(|first| first.offset != extent.offset)
        {
            return None;
        }
        if !consumer.filling && consumer.held > self.share / 2 {
            self.is_short = true;
            return None;
        }
        let room = self.share.saturating_sub(consumer.held);
        let length = extent.length.min(room);
        // Read the whole request, or a good part of the share: small parts would be many reads.
        let is_full = length == 0 || (length < extent.length && length < self.share / 4);
        self.is_short |= length < extent.length;
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

    /// Whether there is room for `length` bytes. If necessary, it takes bytes back from consumers that hold more than
    /// their share, since the share was larger when there were fewer consumers. They get the same bytes again after
    /// they have taken those before.
    fn make_room(&mut self, id: u64, length: u64) -> bool {
        if self.figures.held_bytes + length <= self.total {
            return true;
        }
        self.is_short = true;
        let share = self.share;
        for (other, consumer) in self.consumers.iter_mut() {
            if *other == id || consumer.reading {
                continue;
            }
            let before = consumer.wanted.front().map(|first| first.offset);
            let mut changed = false;
            while consumer.held > share {
                let Some(ready) = consumer.ready.pop_back() else {
                    break;
                };
                let bytes = ready.bytes.len() as u64;
                consumer.held -= bytes;
                self.figures.held_bytes -= bytes;
                self.figures.reclaimed_bytes += bytes;
                consumer.wanted.push_front(Extent {
                    offset: ready.offset,
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
