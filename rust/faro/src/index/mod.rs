//! The index in memory: what a region holds and which partition reads what (spec, REG and FTR).

mod cache;
pub(crate) mod dictionaries;
mod footer;
mod holdings;
mod lookup;
mod members;
mod region;
mod rules;
mod streams;
#[cfg(test)]
mod tests;

pub(crate) use cache::OutputRegions;
pub use cache::RegionCache;
pub(crate) use footer::{check_footer, stored_in_statistics};
pub(crate) use holdings::Holdings;
pub(crate) use lookup::{LookUp, LookedUp, sum_of};
pub use members::Members;
pub use region::{Extent, RegionIndex, SharedSlot, Slot};
pub(crate) use rules::{DataBounds, LARGEST_REGION};
pub use streams::StreamCounts;
