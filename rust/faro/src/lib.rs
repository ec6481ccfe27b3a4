//! Faro: an open on-disk format for shuffle data, the intermediate data that a distributed engine writes once,
//! partitioned by consumer, and reads back once.
//!
//! A [`Writer`] takes records in any order of partitions and gives each partition its contiguous extents; a [`Reader`]
//! delivers what a partition, a range of partitions or everything holds, and checks every byte on the way. A
//! [`Follower`] reads while the writer is still at work. [`check`] looks at a whole output, [`repair`] and [`rebuild`]
//! mend one whose writer died or whose index was lost, [`recover`] finds what a dead writer left and [`clean`] sweeps it, and [`Reader::layout`] tells what each byte is.
//!
//! Any number of threads may read from one [`Reader`] at once; each iterator belongs to one of them, but may go to another
//! with what it gave. An iterator that is dropped, or that ended with an error, leaves its reader as it was. A [`Writer`]
//! and a [`Follower`] are one thread's at a time; many followers may follow one writer, also in other processes.
//!
//! The normative text of the format is the folder `spec/` of the project; the documentation here names its clauses.
//! Every fault is an [`Error`] with one of the codes of [`Code`], the file and the absolute offset.
//!
//! ```
//! use faro::{Codec, Files, Reader, ReaderOptions, Writer, WriterOptions};
//! # fn main() -> faro::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let name = folder.path().join("map-7");
//! let mut writer = Writer::create(&name, WriterOptions::new(3).codec(Codec::Lz4))?;
//! writer.write(2, b"for partition 2")?;
//! writer.write(0, b"for partition 0")?;
//! writer.broadcast(b"for all, stored once")?;
//! writer.finish()?;
//!
//! let reader = Reader::open(&Files::paired(&name), ReaderOptions::default())?;
//! for block in reader.partition(2)? {
//!     for record in block?.record_slices()? {
//!         println!("{} bytes", record.len());
//!     }
//! }
//! # Ok(()) }
//! ```

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
mod dictionary;
mod error;
mod fast;
mod follow;
mod framing;
mod header;
mod index;
pub mod key;
mod layout;
mod limits;
pub mod message;
mod metadata;
pub mod plan;
#[cfg(test)]
mod plan_tests;
mod presence;
mod publishing;
mod reader;
mod repair;
pub mod scheduler;
mod sort_buffer;
mod source;
mod tail;
mod walk;
mod writer;
mod zstd_decoder;
mod zstd_frame;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowWriter, BatchDecoder, Batches};
pub use check::{CheckReport, Level, check, check_with};
pub use codec::Codec;
pub use error::{Code, Error, Family, Result, Role};
pub use follow::{Follower, Progress};
pub use header::{FileHeader, FileKind, Framing};
pub use index::{Extent, Members, RegionIndex, SharedSlot, Slot};
pub use layout::{BlockSums, Piece, PieceKind};
pub use limits::Limits;
pub use reader::{Block, Blocks, BorrowedBlock, ByPartition, Files, Lookup, Reader, ReaderOptions, Records};
pub use repair::{
    Action, CleanOptions, CleanReport, KeptReason, Leftover, RebuildOptions, RecoverOptions, RecoverReport,
    RepairReport, SharedPolicy, clean, rebuild, recover, repair,
};
pub use writer::{Durability, Layout, RegionWriter, StoredBlock, Summary, To, Writer, WriterOptions};

/// The major version of the format that this library reads and writes.
pub const VERSION_MAJOR: u8 = 1;
/// The minor version of the format that this library writes.
pub const VERSION_MINOR: u8 = 0;
