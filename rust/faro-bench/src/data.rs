//! The data of bench/README.md, made before the measurement.

use crate::outcome::Outcome;
use std::str::FromStr;

const WORDS: &str = include_str!("../../../bench/words.txt");
/// How many records are made; they are used in a cycle.
pub(crate) const RECORDS: usize = 1 << 16;

/// The generator SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next number.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Numbers in a random order, the same each time.
pub(crate) fn shuffled(count: usize) -> Vec<usize> {
    let mut numbers = SplitMix64::new(5);
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, (numbers.next() % (at as u64 + 1)) as usize);
    }
    order
}

/// The kind of records, and how they spread over partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lines that look like text, spread evenly.
    Text,
    /// The same, most of them for few partitions.
    Skewed,
    /// Rows of TPC-H's lineitem table, spread evenly.
    Lineitem,
}

impl Kind {
    /// The name in results.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Skewed => "skewed",
            Kind::Lineitem => "lineitem",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Kind::Text, Kind::Skewed, Kind::Lineitem]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("no data is called {text}: text, skewed or lineitem"))
    }
}

/// Records one after another in memory.
pub(crate) struct Records {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Records {
    /// Makes records of a kind. Only text uses `length`.
    pub(crate) fn make(kind: Kind, length: usize) -> Outcome<Self> {
        match kind {
            Kind::Text | Kind::Skewed => Ok(Self::text(length)),
            Kind::Lineitem => Ok(Self::lineitem()),
        }
    }

    fn from_lines(lines: impl Iterator<Item = String>, length: Option<usize>) -> Self {
        let mut records = Records {
            bytes: Vec::new(),
            ends: Vec::with_capacity(RECORDS),
        };
        for line in lines {
            records
                .bytes
                .extend_from_slice(&line.as_bytes()[..length.unwrap_or(line.len())]);
            records.ends.push(records.bytes.len());
        }
        records
    }

    fn text(length: usize) -> Self {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let mut numbers = SplitMix64::new(1);
        let line = |_| {
            let mut line = format!("{:012x}|{}|", numbers.next() >> 16, numbers.next() % 100_000);
            while line.len() < length {
                line.push_str(words[(numbers.next() % words.len() as u64) as usize]);
                line.push(' ');
            }
            line
        };
        // Fewer if they are large, so that they fit into memory (bench/README.md).
        let count = RECORDS.min((1 << 26) / length.max(1)).max(1);
        Self::from_lines((0..count).map(line), Some(length))
    }

    fn lineitem() -> Self {
        // Part 1 of 80: it is made quickly, and has more rows than are used.
        let rows = tpchgen::generators::LineItemGenerator::new(1.0, 1, 80);
        let line = |row: tpchgen::generators::LineItem<'_>| row.to_string().trim_end_matches('|').to_string();
        Self::from_lines(rows.iter().map(line).take(RECORDS), None)
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A record by its number; after the last, the first comes again.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        self.get_in_round(at % self.ends.len())
    }

    /// A record by its position.
    #[inline]
    pub(crate) fn get_in_round(&self, at: usize) -> &[u8] {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[begin..self.ends[at]]
    }

    /// The size of a record in bytes: the common length, or the mean.
    pub(crate) fn mean_length(&self) -> usize {
        self.bytes.len() / self.len()
    }

    /// How many records, used in a cycle, have at least `plain_bytes`, and how many bytes they have.
    pub(crate) fn enough_for(&self, plain_bytes: u64) -> (usize, u64) {
        let size = |at: usize| self.get(at).len() as u64 + 4;
        let round: u64 = (0..self.len()).map(size).sum();
        let rounds = plain_bytes / round;
        let (mut count, mut sum) = (rounds as usize * self.len(), rounds * round);
        while sum < plain_bytes {
            sum += size(count);
            count += 1;
        }
        (count, sum)
    }
}

/// The partition of each record, drawn during the measurement.
#[derive(Clone, Debug)]
pub(crate) struct Partitions {
    numbers: SplitMix64,
    count: u32,
    skewed: bool,
}

impl Partitions {
    /// The partitions for records of a kind, out of `count`.
    pub(crate) fn new(kind: Kind, count: u32) -> Self {
        Partitions {
            numbers: SplitMix64::new(2),
            count,
            skewed: kind == Kind::Skewed,
        }
    }

    /// The next record's partition.
    #[inline]
    pub(crate) fn next(&mut self) -> u32 {
        let number = self.numbers.next();
        if self.skewed {
            let u = (number >> 11) as f64 / (1u64 << 53) as f64;
            (f64::from(self.count) * (u * u) * (u * u)) as u32
        } else {
            ((u128::from(number) * u128::from(self.count)) >> 64) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut numbers = SplitMix64::new(1234567);
        assert_eq!(
            [numbers.next(), numbers.next()],
            [6457827717110365317, 3203168211198807973]
        );
    }

    #[test]
    fn records_have_their_length_and_begin_alike() {
        for length in [16, 100, 1024] {
            let records = Records::make(Kind::Text, length).unwrap();
            assert_eq!(records.len(), RECORDS);
            assert!((0..RECORDS).all(|at| records.get(at).len() == length));
            assert_eq!(&records.get(0)[..13], b"910a2dec8902|");
        }
        let records = Records::make(Kind::Text, 100).unwrap();
        assert_eq!(records.get(RECORDS), records.get(0));
        assert_eq!(records.enough_for(105), (2, 208));
        assert_eq!(records.enough_for(104 * (1 << 17)), (1 << 17, 104 << 17));
    }

    #[test]
    fn lineitem_has_its_sixteen_fields() {
        let records = Records::make(Kind::Lineitem, 0).unwrap();
        assert_eq!(records.len(), RECORDS);
        assert!((0..RECORDS).all(|at| records.get(at).iter().filter(|byte| **byte == b'|').count() == 15));
    }

    #[test]
    fn partitions_are_in_range_and_as_skewed_as_said() {
        for kind in [Kind::Text, Kind::Skewed] {
            let mut partitions = Partitions::new(kind, 1000);
            let drawn: Vec<u32> = (0..100_000).map(|_| partitions.next()).collect();
            assert!(drawn.iter().all(|partition| *partition < 1000));
            let first = drawn.iter().filter(|partition| **partition < 100).count();
            let expected = if kind == Kind::Skewed { 56_234 } else { 10_000 };
            assert!(first.abs_diff(expected) < 1000, "{kind:?}: {first}");
        }
    }
}
