//! Some bytes of a file in memory, in pieces.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Range;

/// Pieces of a file that do not overlap, by their offsets. Cloning shares the bytes.
#[derive(Clone, Default)]
pub(crate) struct Pieces {
    pieces: BTreeMap<u64, Bytes>,
    held: u64,
}

impl Pieces {
    /// How many bytes there are.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// The bytes from `offset` on, to the end of their piece; none when that byte is not there.
    pub(crate) fn from(&self, offset: u64) -> Option<Bytes> {
        let (start, bytes) = self.pieces.range(..=offset).next_back()?;
        let skip = usize::try_from(offset - start).ok()?;
        (skip < bytes.len()).then(|| bytes.slice(skip..))
    }

    /// How many bytes there are from `offset` on without a gap, counted up to `most`.
    pub(crate) fn length_from(&self, offset: u64, most: u64) -> u64 {
        let mut length = 0;
        while length < most {
            match self.from(offset + length) {
                Some(bytes) => length += bytes.len() as u64,
                None => break,
            }
        }
        length.min(most)
    }

    /// How many bytes there are before `offset` without a gap, in one piece.
    pub(crate) fn length_before(&self, offset: u64) -> u64 {
        let before = self.pieces.range(..offset).next_back();
        before.map_or(0, |(start, bytes)| match start + bytes.len() as u64 == offset {
            true => offset - start,
            false => 0,
        })
    }

    /// Adds the bytes that are not there yet.
    pub(crate) fn insert(&mut self, offset: u64, bytes: Bytes) {
        for gap in self.gaps(offset..offset + bytes.len() as u64) {
            let part = bytes.slice((gap.start - offset) as usize..(gap.end - offset) as usize);
            self.held += part.len() as u64;
            self.pieces.insert(gap.start, part);
        }
    }

    /// The parts of a range that are not there.
    pub(crate) fn gaps(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let (mut at, mut gaps) = (range.start, Vec::new());
        while at < range.end {
            if let Some(bytes) = self.from(at) {
                at += bytes.len() as u64;
                continue;
            }
            let next = self.pieces.range(at..range.end).next();
            let end = next.map_or(range.end, |(start, _)| *start);
            gaps.push(at..end);
            at = end;
        }
        gaps
    }

    /// Removes a range.
    pub(crate) fn remove(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let first = self.pieces.range(..range.start).next_back().map(|(start, _)| *start);
        let starts: Vec<u64> = first
            .into_iter()
            .chain(self.pieces.range(range.clone()).map(|(start, _)| *start))
            .collect();
        for start in starts {
            let Some(bytes) = self.pieces.remove(&start) else {
                continue;
            };
            let end = start + bytes.len() as u64;
            self.held -= bytes.len() as u64;
            for kept in [start..end.min(range.start), range.end.max(start)..end] {
                if kept.start < kept.end {
                    let part = bytes.slice((kept.start - start) as usize..(kept.end - start) as usize);
                    self.held += part.len() as u64;
                    self.pieces.insert(kept.start, part);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The pieces have the bytes that a plain array has.
        #[test]
        fn pieces_are_an_array_with_holes(steps in prop::collection::vec((any::<bool>(), 0..60u64, 0..20u64), 0..40)) {
            let file: Vec<u8> = (0..80).collect();
            let mut pieces = Pieces::default();
            let mut there = vec![false; file.len()];
            for (is_insert, from, length) in steps {
                let range = from as usize..(from + length) as usize;
                if is_insert {
                    pieces.insert(from, Bytes::copy_from_slice(&file[range.clone()]));
                } else {
                    pieces.remove(from..from + length);
                }
                there[range].fill(is_insert);
                prop_assert_eq!(pieces.held(), there.iter().filter(|there| **there).count() as u64);
                for at in 0..file.len() {
                    let found = pieces.from(at as u64);
                    prop_assert_eq!(found.is_some(), there[at]);
                    if let Some(found) = found {
                        prop_assert_eq!(&found[..], &file[at..at + found.len()]);
                    }
                    let run = there[at..].iter().take_while(|there| **there).count() as u64;
                    prop_assert_eq!(pieces.length_from(at as u64, 30), run.min(30));
                }
                let gaps = pieces.gaps(0..80);
                let missing: Vec<u64> = gaps.into_iter().flatten().collect();
                let expected: Vec<u64> = (0..80).filter(|at| !there[*at as usize]).collect();
                prop_assert_eq!(missing, expected);
            }
        }
    }
}
