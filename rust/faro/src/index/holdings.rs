//! Which blocks of which producers a merged file has (spec, MRG-2).

use super::region::RegionIndex;
use crate::message::Run;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How much of a partition a file has of one producer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// It has the blocks with the numbers below this.
    pub blocks: u64,
    /// Whether the producer has no further block for the partition.
    pub is_complete: bool,
}

/// What there is of one producer.
#[derive(Clone, Copy, Debug)]
struct OfProducer {
    attempt: u64,
    /// The first partition that it has a run of. A merged file of one partition needs no other.
    partition: u32,
    held: Held,
}

/// The blocks of all producers and partitions, from the runs of regions in order.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    producers: HashMap<u64, OfProducer>,
    /// By producer and partition, except for the first partition of each producer.
    further: HashMap<(u64, u32), Held>,
    /// Whether a region was refused: what it had is not known.
    is_patchy: bool,
}

impl Holdings {
    /// The attempt of a producer that has a run.
    pub(crate) fn attempt(&self, producer: u64) -> Option<u64> {
        self.producers.get(&producer).map(|of| of.attempt)
    }

    /// What there is of a producer and a partition.
    pub(crate) fn held(&self, producer: u64, partition: u32) -> Held {
        match self.producers.get(&producer) {
            None => Held::default(),
            Some(of) if of.partition == partition => of.held,
            Some(_) => self.further.get(&(producer, partition)).copied().unwrap_or_default(),
        }
    }

    /// Adds a run, or says which rule of MRG-2 it breaks.
    pub(crate) fn add(&mut self, partition: u32, run: &Run) -> Result<(), String> {
        let producer = run.producer;
        let of = match self.producers.entry(producer) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(OfProducer {
                attempt: run.attempt,
                partition,
                held: Held::default(),
            }),
        };
        if of.attempt != run.attempt {
            return Err(format!(
                "a run of attempt {} of producer {producer}, after one of attempt {}",
                run.attempt, of.attempt
            ));
        }
        let held = match of.partition == partition {
            true => &mut of.held,
            false => self.further.entry((producer, partition)).or_default(),
        };
        let first = u64::from(run.first_block);
        if held.is_complete {
            return Err(format!(
                "a run of producer {producer} after its last in partition {partition}"
            ));
        }
        if first != held.blocks && !(self.is_patchy && first > held.blocks) {
            return Err(format!(
                "a run of producer {producer} from block {first} on in partition {partition}, after {} blocks",
                held.blocks
            ));
        }
        *held = Held {
            blocks: first + u64::from(run.blocks),
            is_complete: run.is_last(),
        };
        Ok(())
    }

    /// Adds the runs of a region, in slot order. If one breaks a rule, nothing of the region stays.
    pub(crate) fn add_region(&mut self, region: &RegionIndex) -> Result<(), String> {
        let mut before = Vec::with_capacity(region.runs().len());
        for (partition, run) in region.runs_by_partition() {
            let key = (run.producer, partition);
            before.push((
                key,
                self.producers.get(&run.producer).copied(),
                self.further.get(&key).copied(),
            ));
            if let Err(found) = self.add(partition, run) {
                for (key, of, held) in before.into_iter().rev() {
                    restore(&mut self.producers, key.0, of);
                    restore(&mut self.further, key, held);
                }
                return Err(found);
            }
        }
        Ok(())
    }

    /// Notes that a region was refused, so that runs may begin later than is known (MRG-13).
    pub(crate) fn skip_region(&mut self) {
        self.is_patchy = true;
    }
}

fn restore<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
}
