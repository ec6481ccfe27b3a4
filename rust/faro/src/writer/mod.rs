//! Writing outputs (spec, WRT and SRT).

mod blocks;
mod compress_threads;
mod compress_units;
mod dictionaries;
mod extents;
mod figures;
mod finish;
mod memory;
mod names;
mod options;
mod output;
mod output_writer;
mod owner;
mod recent_regions;
mod region;
mod region_builder;
mod region_thread;
mod region_writer;
mod single_below;
mod spilling;
mod statistics;
mod stored;
mod stored_block;
mod summary;
mod trace;
mod training;

pub use figures::WriterFigures;
pub(crate) use names::sync_folder;
pub use options::{Durability, WriterOptions};
pub use output_writer::Writer;
pub(crate) use owner::Owner;
pub(crate) use region::{OpenRegion, Shape};
pub(crate) use region_builder::append_metadata;
pub use region_writer::RegionWriter;
pub use stored_block::StoredBlock;
pub use summary::{Summary, To};
