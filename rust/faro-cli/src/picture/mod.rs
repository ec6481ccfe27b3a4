//! A picture of an output: regions by partitions, as SVG, in which skew shows at a glance.

mod draw;
mod grid;
mod scale;

pub use draw::{Part, svg};
pub use grid::{Grid, RegionShare, SharedShare};
