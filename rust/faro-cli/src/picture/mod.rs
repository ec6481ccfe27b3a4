//! A picture of an output: regions by partitions, as SVG, in which skew shows at a glance.

mod draw;
mod grid;
mod scale;

pub(crate) use draw::{Part, svg};
pub(crate) use grid::{Grid, RegionShare, SharedShare};
