//! A picture of an output or of a shuffle, as SVG or text: regions or outputs by partitions, so that skew is visible at a
//! glance.

mod draw;
mod grid;
mod scale;
mod text;

pub(crate) use draw::{Part, svg};
pub(crate) use grid::{Grid, RegionShare, Room, RowNames, SharedShare};
pub(crate) use text::lines;
