//! Reading asynchronously: an opening and feeds whose bytes come from futures.

mod blocks;
mod in_flight;
mod reader;

pub use blocks::AsyncBlocks;
pub use reader::AsyncReader;
