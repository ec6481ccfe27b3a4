//! The targets. `fuzz/TARGETS.md` says what each does and what must hold.

pub(crate) mod codec;
pub(crate) mod follow;
pub(crate) mod fragments;
mod header_block;
mod merge;
mod merge_model;
pub(crate) mod merge_program;
mod message;
mod open;
mod plain_model;
pub(crate) mod program;
mod read_all;
pub(crate) mod repair;
pub(crate) mod script;

pub use codec::{codec_lz4, codec_zstd};
pub use follow::follow;
pub use fragments::fragments;
pub use header_block::header_block;
pub use merge::merge;
pub use message::message;
pub use open::open;
pub use read_all::read_all;
pub use repair::repair;
pub use script::script;
