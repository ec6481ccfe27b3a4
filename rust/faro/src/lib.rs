//! Faro: an open on-disk format for shuffle data.

#![deny(unsafe_code)]

// The FlatBuffers compiler's code, which has unsafe blocks of its own.
#[rustfmt::skip]
#[allow(unsafe_code)]
mod generated;
#[cfg(test)]
mod layout_tests;

#[cfg(feature = "arrow")]
mod arrow;
pub mod block;
mod check;
mod checksum;
mod codec;
mod error;
mod follow;
mod framing;
mod header;
mod index;
pub mod key_hash;
mod layout;
mod limits;
pub mod message;
mod metadata;
mod reader;
mod repair;
mod sort_buffer;
mod source;
mod tail;
mod walk;
mod writer;
mod zstd_frame;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowWriter, BatchDecoder, Batches};
pub use check::{CheckReport, Level, check, check_with};
pub use codec::Codec;
pub use error::{Code, Error, Result, Role};
pub use follow::{Follower, Progress};
pub use header::{FileHeader, FileKind, Framing};
pub use index::{Extent, Members, RegionIndex, SharedSlot, Slot};
pub use layout::{Piece, PieceKind, layout};
pub use limits::Limits;
pub use reader::{Block, Blocks, Files, Reader, ReaderOptions, Records};
pub use repair::{Action, RebuildOptions, RepairReport, SharedPolicy, rebuild, repair};
pub use writer::{Durability, Layout, RegionWriter, Summary, To, Writer, WriterOptions};

/// The major version of the format that this library reads and writes.
pub const VERSION_MAJOR: u8 = 1;
/// The minor version of the format that this library writes.
pub const VERSION_MINOR: u8 = 0;
