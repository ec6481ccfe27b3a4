//! A picture of an output as SVG: regions by partitions, so that skew is visible at a glance.

mod draw;
mod grid;
mod scale;

pub(crate) use draw::{Part, svg};
pub(crate) use grid::{Grid, RegionShare, SharedShare};
