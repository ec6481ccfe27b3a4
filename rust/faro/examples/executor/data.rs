//! What the maps write, and the result that the reduces must have, computed without Faro.

use std::ops::AddAssign;

pub(crate) const MAPS: u32 = 8;
pub(crate) const PARTITIONS: u32 = 16;
const RECORDS: u64 = 40_000;
const RECORD_BYTES: usize = 100;

/// The result of a reduce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) sum: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// The rows of a map: the partition and the value of each. Each attempt of a map makes the same rows.
pub(crate) fn rows(map: u32) -> impl Iterator<Item = (u32, u64)> {
    (0..RECORDS).map(move |row| {
        let value = (u64::from(map) * RECORDS + row + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((value >> 32) as u32 % PARTITIONS, value)
    })
}

/// A row as a record: the value, then padding.
pub(crate) fn encode(value: u64) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    record[..8].copy_from_slice(&value.to_le_bytes());
    record
}

/// What a record adds to the totals of its partition; none for bytes that [`encode`] does not make.
pub(crate) fn decode(record: &[u8]) -> Option<Totals> {
    let value = record.first_chunk().filter(|_| record.len() == RECORD_BYTES)?;
    Some(Totals {
        count: 1,
        sum: u64::from_le_bytes(*value),
    })
}

/// The totals of each partition.
pub(crate) fn model() -> Vec<Totals> {
    let mut totals = vec![Totals::default(); PARTITIONS as usize];
    for (partition, sum) in (0..MAPS).flat_map(rows) {
        totals[partition as usize] += Totals { count: 1, sum };
    }
    totals
}
