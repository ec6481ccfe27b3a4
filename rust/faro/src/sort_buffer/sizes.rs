//! What a sort buffer takes beside the charges of its records.

/// The charge of a record beyond its bytes, for its length and its entry (SRT-1).
pub(crate) const RECORD_CHARGE: u64 = 12;

/// The memory for sorting beside a buffer, in bytes.
pub(crate) fn sorting_memory(capacity: u64) -> u64 {
    (capacity / 2).min(8 << 20)
}
