//! Blocks and their 24-byte header (spec, BLK-1), their kinds (BLK-2), sequences (BLK-3) and partitions (BLK-4).

mod check;
pub(crate) mod dictionary;
pub(crate) mod framing;
mod header;
mod metadata;
#[cfg(test)]
mod tests;

pub use crate::bytes::Seal;
pub(crate) use check::{
    Context, Dictionaries, Kinds, Partition, Sequence, check_checksum, check_count, check_fields, check_fits,
    check_header_space, check_kind, check_limit, check_message_size, check_padding, check_whole, is_usual,
};
pub use header::{ANY_PARTITION, BlockHeader, DATA, DICTIONARY, EVENT, FOOTER, REGION, SCHEMA, is_event_kind};
pub(crate) use header::{CODEC_LAST, CODEC_NONE, FRAGMENT_END, field, is_partition_kind};
pub(crate) use metadata::read_metadata;
