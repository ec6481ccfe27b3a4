//! What every file has: a header, checksums and, once finished, a tail (spec, INT, HDR and TAIL).

mod checksum;
mod copy;
mod header;
mod memory;
mod tail;

pub(crate) use checksum::PayloadSum;
pub use checksum::Seal;
pub(crate) use copy::{append, append_framed, write_framed};
pub(crate) use header::{FEATURE_DICTIONARIES, FEATURE_SELECTIVE, MAX_PARTITIONS, field};
pub use header::{FileHeader, FileKind, Framing, VERSION_MAJOR, VERSION_MINOR};
pub(crate) use memory::{CACHE_LINE, advise_large_pages, give_back, prefetch, prefetch_to_write};
pub(crate) use tail::Tail;

/// `n` rounded up to a multiple of 8 (INT-3). `n` is a size of at most 32 bits.
pub(crate) const fn pad8(n: u32) -> u64 {
    (n as u64 + 7) & !7
}
