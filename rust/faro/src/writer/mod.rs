//! Writing outputs (spec, WRT and SRT).

mod blocks;
mod compress_threads;
mod dictionaries;
mod extents;
mod finish;
mod options;
mod output;
mod output_writer;
mod owner;
mod recent_regions;
mod region;
mod region_builder;
mod region_writer;
mod statistics;
mod stored_block;
mod summary;
mod training;

pub use options::{Durability, WriterOptions};
pub(crate) use output::sync_folder;
pub use output_writer::Writer;
pub(crate) use owner::Owner;
pub(crate) use region::{OpenRegion, Shape};
pub(crate) use region_builder::append_metadata;
pub use region_writer::RegionWriter;
pub use stored_block::StoredBlock;
pub use summary::{Summary, To};
