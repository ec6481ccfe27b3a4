//! The index in memory: what a region holds and which partition reads what (spec, REG and FTR).

mod cache;
mod directory;
mod members;
mod region;
mod rules;
#[cfg(test)]
mod tests;

pub(crate) use cache::RegionCache;
pub(crate) use directory::check_footer;
pub use members::Members;
pub(crate) use region::DataPlace;
pub use region::{Extent, RegionIndex, SharedSlot, Slot};

/// Least bytes of a region's blocks (REG-3): one block without payload.
pub(crate) const LEAST_REGION: u64 = 24;
/// Most bytes of a region's blocks.
pub(crate) const LARGEST_REGION: u64 = 8 * (u32::MAX as u64);
