//! Trains a dictionary on the first region with small blocks (spec, DIC-7 and its note).

use crate::block::dictionary;
use crate::bytes::Framing;
use crate::codec::{Codec, Compressor, SMALL_BLOCK, Trained, train_dictionary};
use crate::error::Result;

/// The least plain bytes of a region for training.
const LEAST_PLAIN: u64 = 64 << 10;
/// The size of a dictionary in bytes. A larger one gains nothing at level 1.
const SIZE: usize = 16 << 10;
/// How many bytes of blocks are used for training, which takes some 20 ms.
const SAMPLED: u64 = 256 << 10;
/// How many bytes of other blocks are used to decide whether the dictionary is worth it.
const HELD_OUT: u64 = 64 << 10;
/// The size of a sample in bytes. The trainer needs several, and does not cut them itself.
const SAMPLE: usize = 2 << 10;

/// An estimate of the data blocks of a region, without events and shared extents.
pub(super) struct Preview<'a> {
    framing: Framing,
    target: usize,
    /// The records in order, and which of them begin blocks.
    records: Vec<&'a [u8]>,
    firsts: Vec<usize>,
    plain: u64,
    /// The size of the open block in bytes; none when the next record begins a block.
    open: Option<usize>,
}

impl<'a> Preview<'a> {
    pub(super) fn new(framing: Framing, target: usize) -> Self {
        Preview {
            framing,
            target,
            records: Vec::new(),
            firsts: Vec::new(),
            plain: 0,
            open: None,
        }
    }

    /// Adds the next data record of the extent.
    pub(super) fn push(&mut self, record: &'a [u8]) {
        let length = record.len() + if self.framing == Framing::Records { 4 } else { 0 };
        let open = match self.open {
            Some(open) if self.framing != Framing::Arrow && open + length <= self.target => open,
            _ => {
                self.firsts.push(self.records.len());
                0
            }
        };
        self.open = Some(open + length);
        self.records.push(record);
        self.plain += length as u64;
    }

    pub(super) fn end_extent(&mut self) {
        self.open = None;
    }

    /// Whether there is enough data in small blocks.
    fn promises(&self) -> bool {
        self.plain >= LEAST_PLAIN && self.plain < SMALL_BLOCK as u64 * self.firsts.len() as u64
    }

    /// The plain payload of a block.
    fn block(&self, number: usize) -> Vec<u8> {
        let end = self.firsts.get(number + 1).copied().unwrap_or(self.records.len());
        let mut plain = Vec::new();
        for record in &self.records[self.firsts[number]..end] {
            if self.framing == Framing::Records {
                plain.extend_from_slice(&(record.len() as u32).to_le_bytes());
            }
            plain.extend_from_slice(record);
        }
        plain
    }

    /// Blocks taken evenly from the region: about `SAMPLED` bytes to train on, and about `HELD_OUT` bytes of others.
    fn samples(&self) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let blocks = self.firsts.len() as u64;
        let wanted = ((SAMPLED + HELD_OUT) * blocks / self.plain).clamp(1, blocks);
        let (mut sampled, mut held_out) = (Vec::new(), Vec::new());
        let every = (SAMPLED + HELD_OUT) / HELD_OUT;
        for at in 0..wanted {
            let block = self.block((at * blocks / wanted) as usize);
            match at % every {
                0 => held_out.push(block),
                _ => sampled.push(block),
            }
        }
        (sampled, held_out)
    }
}

/// Returns none if the region is not suitable; otherwise the dictionary trained on it, if that is worth it.
pub(super) fn train(preview: &Preview<'_>, level: i32) -> Result<Option<Option<Trained>>> {
    if !preview.promises() {
        return Ok(None);
    }
    let (sampled, held_out) = preview.samples();
    let Some(bytes) = from_samples(&sampled) else {
        return Ok(Some(None));
    };
    let size = |trained: Option<&Trained>| -> Result<u64> {
        let mut compressor = Compressor::new(Codec::Zstd, level)?;
        if let Some(trained) = trained {
            compressor.use_dictionary(1, trained)?;
        }
        let stored = |plain: &Vec<u8>| {
            compressor
                .compress(plain)
                .map_or(plain.len(), |block| block.stored.len()) as u64
        };
        Ok(held_out.iter().map(stored).sum())
    };
    let without = size(None)?;
    let mut best = None;
    // Level 1 searches for matches of at least 6 bytes, which suits large blocks. For its smallest inputs it uses 5.
    let lengths: &[Option<u32>] = if level == 1 { &[None, Some(5)] } else { &[None] };
    for least_match in lengths {
        let trained = Trained {
            bytes: bytes.clone(),
            least_match: *least_match,
        };
        let with = size(Some(&trained))?;
        let worth_it = with * 100 <= without * 95;
        if worth_it && best.as_ref().is_none_or(|(least, _)| with < *least) {
            best = Some((with, trained));
        }
    }
    Ok(Some(best.map(|(_, trained)| trained)))
}

/// The dictionary that the trainer makes from blocks; none when it finds nothing.
fn from_samples(blocks: &[Vec<u8>]) -> Option<Vec<u8>> {
    let samples = blocks.concat();
    let pieces = blocks.iter().flat_map(|block| block.chunks(SAMPLE)).map(<[u8]>::len);
    let sizes: Vec<usize> = pieces.collect();
    let bytes = train_dictionary(SIZE, &samples, &sizes)?;
    dictionary::fault_of(&bytes).is_none().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> Vec<String> {
        let word = |n: usize| ["harbour", "lantern", "keeper", "northern", "signal", "weather"][n % 6];
        let line = |n: usize| format!("{:09}|{} {} {}", n * 7919, word(n * 31), word(n / 5), word(n * n));
        (0..count).map(line).collect()
    }

    fn preview(lines: &[String], target: usize) -> Preview<'_> {
        let mut preview = Preview::new(Framing::Records, target);
        for (at, line) in lines.iter().enumerate() {
            preview.push(line.as_bytes());
            if at % 25 == 24 {
                preview.end_extent();
            }
        }
        preview
    }

    #[test]
    fn what_repeats_from_block_to_block_is_worth_a_dictionary() {
        let lines = lines(20_000);
        let preview = preview(&lines, 64 << 10);
        assert_eq!(preview.firsts.len(), 800);
        let trained = train(&preview, 1).unwrap().unwrap().unwrap();
        assert!(trained.bytes.len() <= SIZE && dictionary::fault_of(&trained.bytes).is_none());
    }

    #[test]
    fn a_region_promises_something_when_it_is_large_and_its_blocks_are_small() {
        let some = lines(20_000);
        assert!(!preview(&some[..1000], 64 << 10).promises());
        assert!(preview(&some, 64 << 10).promises());
        let mut one = Preview::new(Framing::Records, 64 << 10);
        some.iter().for_each(|line| one.push(line.as_bytes()));
        assert!(!one.promises());
        assert!(train(&one, 1).unwrap().is_none());
    }

    #[test]
    fn noise_gives_no_dictionary() {
        let mut state = 1u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let records: Vec<Vec<u8>> = (0..5000).map(|_| (0..40).map(|_| noise()).collect()).collect();
        let mut preview = Preview::new(Framing::Opaque, 1000);
        records.iter().for_each(|record| preview.push(record));
        assert!(preview.promises());
        assert!(train(&preview, 1).unwrap().unwrap().is_none());
    }

    #[test]
    fn blocks_are_taken_from_all_over_the_region() {
        let lines = lines(100_000);
        let preview = preview(&lines, 64 << 10);
        let (sampled, held_out) = preview.samples();
        let bytes = |blocks: &[Vec<u8>]| blocks.iter().map(|block| block.len() as u64).sum::<u64>();
        assert!((SAMPLED * 9 / 10..SAMPLED * 11 / 10).contains(&bytes(&sampled)));
        assert!((HELD_OUT * 8 / 10..HELD_OUT * 12 / 10).contains(&bytes(&held_out)));
        // Lines have ascending numbers, after the 4 bytes of their length.
        let number = |block: &[u8]| std::str::from_utf8(&block[4..13]).unwrap().parse::<usize>().unwrap() / 7919;
        assert!(number(&held_out[0]) == 0 && number(&sampled[sampled.len() - 1]) > 98_000);
    }
}
