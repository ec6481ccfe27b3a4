//! Which sequence number the next block must have (spec, PRT-4 and CHK-1 step 7).

use crate::block::Sequence;
use std::collections::HashMap;

/// How many consecutive partitions share a page of last sequences. A reading visits them in order, so it seldom
/// searches for a page.
const PAGE: u32 = 16;

/// The last sequence of each stream so far. It grows with the partitions that have blocks, not with all partitions.
pub(crate) struct Sequences {
    selective: bool,
    /// Whether the first block of a stream must be its first in the file.
    from_start: bool,
    /// Whether the reading sees every shared block of the file.
    all_shared: bool,
    /// The last sequence of each own stream, by partition.
    own: Vec<[Option<u32>; PAGE as usize]>,
    /// Where the pages are in `own`.
    pages: HashMap<u32, usize>,
    /// The number of the page used last, and where it is.
    current: Option<(u32, usize)>,
    shared: Option<u32>,
}

impl Sequences {
    pub(crate) fn new(selective: bool, from_start: bool) -> Self {
        Sequences {
            selective,
            from_start,
            all_shared: false,
            own: Vec::new(),
            pages: HashMap::new(),
            current: None,
            shared: None,
        }
    }

    /// Forgets all sequences, for a new reading from the first region.
    pub(crate) fn restart(&mut self) {
        self.own.clear();
        self.pages.clear();
        self.current = None;
        self.shared = None;
    }

    /// Expects shared blocks without gaps from now on.
    pub(crate) fn count_all_shared(&mut self) {
        self.all_shared = true;
    }

    /// The sequence that the next block of an extent must have. `partition` is the partition of an own extent;
    /// `first_block` is the sequence of the extent's first block in the index.
    #[inline]
    pub(crate) fn expected(&mut self, partition: Option<u32>, is_first: bool, first_block: Option<u32>) -> Sequence {
        match partition {
            Some(partition) => {
                let last = *self.last_own(partition);
                match first_block.filter(|_| is_first) {
                    Some(number) => first(number, last, false),
                    None => self.after(last, self.from_start),
                }
            }
            None => match first_block.filter(|_| is_first) {
                Some(number) => first(number, self.shared, self.all_shared && !self.selective),
                None => self.after(self.shared, self.all_shared),
            },
        }
    }

    /// The number after the last one of a stream.
    #[inline]
    fn after(&self, last: Option<u32>, counts_from_zero: bool) -> Sequence {
        match last {
            Some(last) if self.selective => Sequence::Above(last),
            Some(last) => Sequence::Is(u64::from(last) + 1),
            None if counts_from_zero => Sequence::Is(0),
            None => Sequence::Unknown,
        }
    }

    #[inline]
    fn last_own(&mut self, partition: u32) -> &mut Option<u32> {
        let number = partition / PAGE;
        let at = match self.current {
            Some((current, at)) if current == number => at,
            _ => self.turn_to(number),
        };
        &mut self.own[at][(partition % PAGE) as usize]
    }

    #[cold]
    fn turn_to(&mut self, number: u32) -> usize {
        let at = *self.pages.entry(number).or_insert_with(|| {
            self.own.push([None; PAGE as usize]);
            self.own.len() - 1
        });
        self.current = Some((number, at));
        at
    }

    /// Notes the sequence of a block that passed its checks.
    #[inline]
    pub(crate) fn seen(&mut self, partition: Option<u32>, sequence: u32) {
        match partition {
            Some(partition) => *self.last_own(partition) = Some(sequence),
            None => self.shared = Some(sequence),
        }
    }
}

/// The first block of an extent has the number from the index, above the last one of its stream: exactly the next one
/// if the reading sees every block of the stream.
#[inline]
fn first(number: u32, last: Option<u32>, counted: bool) -> Sequence {
    let least = last.map_or(0, |last| u64::from(last) + 1);
    Sequence::First {
        number,
        least,
        most: if counted { least } else { u64::MAX },
    }
}
