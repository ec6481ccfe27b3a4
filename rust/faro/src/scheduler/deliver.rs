//! Hands out the results of a step.

use super::granted::Freed;
use super::job::{Done, Found, Outcome, ReadJob};
use super::state::State;
use super::waiting::{Listener, ReadyBytes};
use crate::index::Extent;
use std::collections::{BTreeSet, HashSet};

impl State {
    /// Hands out the results of a step. Returns the listeners, to be called without the lock, and what is free, to be
    /// dropped without the lock.
    pub(super) fn deliver(&mut self, done: Done) -> (Vec<Listener>, Freed) {
        match done {
            Done::Read(job, outcome) => self.deliver_read(job, outcome),
            Done::Find(found) => {
                let mut freed = Freed::default();
                freed.outputs.push(found.finder.output.opened.clone());
                (self.deliver_found(*found).into_iter().collect(), freed)
            }
        }
    }

    fn deliver_read(&mut self, job: ReadJob, outcome: Outcome) -> (Vec<Listener>, Freed) {
        let mut failed = HashSet::new();
        let mut is_left = false;
        let mut served = BTreeSet::new();
        for (part, bytes) in job.read.parts.iter().zip(outcome) {
            let length = part.extent.length;
            let Some(consumer) = self.consumers.get_mut(&part.consumer) else {
                is_left = true;
                self.figures.held_bytes = self.figures.held_bytes.saturating_sub(length);
                continue;
            };
            served.insert(part.consumer);
            match bytes {
                // After a fault nothing is wanted, even if the same step read it.
                Ok(bytes) if !failed.contains(&part.consumer) => consumer.ready.push_back(ReadyBytes {
                    offset: part.extent.offset,
                    bytes,
                }),
                other => {
                    consumer.held = consumer.held.saturating_sub(length);
                    self.figures.held_bytes = self.figures.held_bytes.saturating_sub(length);
                    if let Err(error) = other
                        && failed.insert(part.consumer)
                    {
                        // It replaces a fault that comes later.
                        consumer.fault = Some(error);
                    }
                }
            }
        }
        let mut listeners = Vec::new();
        for id in served {
            let Some(consumer) = self.consumers.get_mut(&id) else {
                continue;
            };
            consumer.reading = false;
            listeners.extend(consumer.tell());
            if failed.contains(&id) {
                let before = consumer.wanted.front().map(|first| first.offset);
                consumer.wanted.clear();
                self.ask_again(id, before);
            }
        }
        self.set_free(job.file);
        if job.read.parts.len() > 1 {
            self.buffers.push(job.buffer);
        }
        let mut freed = if is_left { self.free() } else { Freed::default() };
        freed.outputs.push(job.opened);
        (listeners, freed)
    }

    fn deliver_found(&mut self, mut found: Found) -> Option<Listener> {
        let id = found.consumer;
        let consumer = self.consumers.get_mut(&id)?;
        if let Some(growth) = &mut consumer.growth {
            growth.correct(&mut found);
        }
        let has_dictionary = found.dictionary.is_some();
        let is_end = found.end.is_some();
        consumer.finder = Some(found.finder);
        if has_dictionary {
            consumer.dictionary = found.dictionary;
        }
        if is_end {
            consumer.end = found.end;
            consumer.missing = 0;
        } else if consumer.missing == 0 {
            consumer.missing = found.left;
        }
        let extents: Vec<Extent> = found.extents.iter().map(extent_of).collect();
        consumer.found.extend(found.extents);
        self.ask(id, extents.into_iter());
        self.enqueue(id);
        // A consumer with extents is notified when they are read.
        let consumer = self.consumers.get_mut(&id)?;
        let is_worth = has_dictionary || (is_end && consumer.has_all());
        is_worth.then(|| consumer.tell()).flatten()
    }
}

fn extent_of(open: &crate::reader::OpenExtent) -> Extent {
    Extent {
        offset: open.at,
        length: open.end - open.at,
    }
}
