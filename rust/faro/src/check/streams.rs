//! Counts the blocks of each stream again (spec, FTR-8; CHK-1 step 8).

use crate::message::Streams;
use crate::reader::Block;

/// The blocks that were found of each stream, and its last sequence number. It takes memory only for partitions to which
/// the footer gives blocks.
pub(super) struct StreamCounter<'a> {
    expected: &'a Streams,
    first_partition: u32,
    own: Vec<u32>,
    shared: u32,
    /// The first block whose sequence number is not below the stream's next.
    beyond: Option<String>,
}

impl<'a> StreamCounter<'a> {
    pub(super) fn new(expected: &'a Streams, first_partition: u32) -> Self {
        StreamCounter {
            expected,
            first_partition,
            own: vec![0; expected.next.as_ref().map_or(0, Vec::len)],
            shared: 0,
            beyond: None,
        }
    }

    pub(super) fn add(&mut self, block: &Block) {
        let sequence = block.header.sequence;
        let (next, found) = match block.partition {
            None => (self.expected.shared_next, &mut self.shared),
            Some(partition) => {
                let at = (partition - self.first_partition) as usize;
                let next = self.expected.next.as_ref().map_or(0, |next| next[at]);
                match self.own.get_mut(at) {
                    Some(found) => (next, found),
                    None => return self.note(block, next),
                }
            }
        };
        // Sequences ascend, so there are fewer blocks than 2^32 below `next`.
        match sequence < next {
            true => *found += 1,
            false => self.note(block, next),
        }
    }

    fn note(&mut self, block: &Block, next: u32) {
        self.beyond.get_or_insert_with(|| {
            let stream = name(block.partition);
            format!(
                "streams that end {stream} at {next}, and its block {}",
                block.header.sequence
            )
        });
    }

    /// What was expected and found, if they differ.
    pub(super) fn fault(self) -> Option<(String, String)> {
        let expected = "streams that agree with the blocks".to_string();
        if let Some(beyond) = self.beyond {
            return Some((expected, beyond));
        }
        let differ = |partition: Option<u32>, next: u32, missing: u32, found: u32| {
            // The footer was checked: missing is at most next.
            (found != next - missing).then(|| {
                let stream = name(partition);
                (
                    expected.clone(),
                    format!("streams with {missing} missing of {next} blocks in {stream}, which has {found}"),
                )
            })
        };
        let missing = |at: usize| self.expected.missing.as_ref().map_or(0, |missing| missing[at]);
        let next = self.expected.next.iter().flatten().enumerate();
        next.zip(&self.own)
            .find_map(|((at, next), found)| {
                let partition = self.first_partition + at as u32;
                differ(Some(partition), *next, missing(at), *found)
            })
            .or_else(|| {
                let Streams {
                    shared_next,
                    shared_missing,
                    ..
                } = *self.expected;
                differ(None, shared_next, shared_missing, self.shared)
            })
    }
}

fn name(partition: Option<u32>) -> String {
    partition.map_or("the shared stream".into(), |partition| {
        format!("the stream of partition {partition}")
    })
}
