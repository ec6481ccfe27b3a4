//! Reading finished files (spec, OPN and PRT).

mod block;
mod block_check;
mod blocks;
mod by_partition;
mod byte_map;
mod byte_source;
mod direct_extents;
mod extent_plan;
mod extents;
mod figures;
mod open;
mod open_extent;
mod open_output;
mod options;
mod output_reader;
mod own_extents;
mod partition_reader;
mod records;
mod sequences;
#[cfg(test)]
mod tests;
pub(crate) mod trace;
mod window;
mod windows;
mod written;

pub use block::{Block, BorrowedBlock};
pub(crate) use block_check::{BlockCheck, CheckOutcome, Depth};
pub use blocks::Blocks;
pub use by_partition::ByPartition;
pub use byte_map::{BlockSums, ByteRange, ByteRangeKind};
pub(crate) use byte_map::{Ending, byte_map};
pub(crate) use byte_source::ByteSource;
pub(crate) use extent_plan::ExtentPlan;
pub(crate) use extents::Extents;
pub use figures::ReaderFigures;
pub(crate) use open::{
    FoundFooter, OpenFiles, SCHEMA_OFFSET, check_data_size, check_kind, open_files, open_stored, parse_footer,
    parse_schema, read_header,
};
pub(crate) use open_extent::OpenExtent;
pub(crate) use open_output::{OpenOutput, Opened};
pub use options::{Lookup, ReaderOptions};
pub use output_reader::Reader;
pub(crate) use partition_reader::PartitionReader;
pub use records::Records;
pub(crate) use sequences::Sequences;
pub(crate) use window::Window;
pub(crate) use written::WrittenOutput;
