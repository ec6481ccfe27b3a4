//! Reading an output while it is written (spec, FOL).

mod follower;
mod next_block;
mod walk;
mod watch;

pub use follower::{Follower, Progress};
pub(crate) use next_block::{Purpose, next_block};
pub(crate) use walk::{Step, Walk};
pub use watch::Watch;
