//! The partitions that read a shared extent.

use std::sync::Arc;

/// The partitions that read a shared extent (REG-7). Cloning it is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    first_partition: u32,
    partition_count: u32,
    /// One bit for each partition; absent for all partitions.
    bits: Option<Arc<[u8]>>,
}

impl Members {
    pub(crate) fn new(first_partition: u32, partition_count: u32, bits: Option<Arc<[u8]>>) -> Self {
        Members {
            first_partition,
            partition_count,
            bits,
        }
    }

    /// Whether the members are all partitions of the file, written as an absent field. A bit set with all bits is not.
    pub fn is_all(&self) -> bool {
        self.bits.is_none()
    }

    /// Whether a partition is a member.
    pub fn contains(&self, partition: u32) -> bool {
        match partition.checked_sub(self.first_partition) {
            Some(at) if at < self.partition_count => self.bits.as_ref().is_none_or(|bits| has_bit(bits, at)),
            _ => false,
        }
    }

    /// The partition numbers of the members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let all = if self.is_all() { self.partition_count } else { 0 };
        let named = self.bits.iter().flat_map(|bits| bits.iter().enumerate());
        let named = named.filter(|(_, byte)| **byte != 0);
        let named =
            named.flat_map(|(at, byte)| (0..8).filter(move |bit| byte >> bit & 1 != 0).map(move |bit| (at, bit)));
        // There are at most 2^28 bits, and none is set at or above the count of partitions (REG-7).
        let named = named.map(|(at, bit)| 8 * at as u32 + bit);
        (0..all).chain(named).map(|at| self.first_partition + at)
    }

    /// How many members there are.
    pub fn count(&self) -> u32 {
        match &self.bits {
            None => self.partition_count,
            // At most 2^28 bits.
            Some(bits) => bits.iter().map(|byte| byte.count_ones()).sum(),
        }
    }

    /// Whether a partition in `from..to` is a member. Both count from the file's first partition.
    pub(crate) fn any_in(&self, from: u32, to: u32) -> bool {
        from < to
            && self
                .bits
                .as_ref()
                .is_none_or(|bits| (from..to).any(|at| has_bit(bits, at)))
    }
}

/// Bit `at` of a bit set, counted from the lowest bit of the first byte.
fn has_bit(bits: &[u8], at: u32) -> bool {
    bits.get(at as usize / 8).is_some_and(|byte| byte >> (at % 8) & 1 != 0)
}
