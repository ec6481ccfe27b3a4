//! Faro: an open on-disk format for shuffle data, the intermediate data that a distributed engine writes once,
//! partitioned by consumer, and reads back once.
//!
//! A [`Writer`] takes records in any order of partitions and stores those of each partition together. A [`Reader`]
//! delivers the blocks or records of one partition, of a range of partitions or of all, and checks every byte before it
//! delivers it. [`Writer::finish_and_open`] returns a reader of what was just written. A [`Follower`] reads while the
//! writer is still at work. [`check`] verifies a whole output. [`repair`] finishes an output at its last commit, and
//! [`rebuild`] makes a lost index again. [`recover`] finds and finishes the output of a dead writer, and [`clean`]
//! removes what else it left. [`Reader::byte_map`] tells what each byte of an output is. Finished outputs may be in any
//! storage: [`storage`].
//!
//! Any number of threads may read from one [`Reader`] at once. One thread at a time uses an iterator, a [`Writer`] or a
//! [`Follower`]; all of them, and the blocks they deliver, may be sent to another thread. Dropping an iterator, or an
//! error that it returns, does not change its reader. Many followers may follow one writer, in the same process or in
//! others.
//!
//! The specification of the format is in the folder `spec/` of the project; this documentation names its clauses. Every
//! fault is an [`Error`] with a [`ErrorCode`], the file and the absolute byte offset.
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

// Made by the FlatBuffers compiler; it has unsafe blocks.
#[rustfmt::skip]
#[allow(unsafe_code, unnameable_types, unreachable_pub)]
mod generated;
#[cfg(test)]
mod generated_tests;

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "async")]
mod async_reader;
pub mod block;
mod bytes;
mod check;
mod codec;
mod error;
pub mod feed;
mod follow;
pub mod hybrid;
mod index;
pub mod key;
mod limits;
pub mod merge;
pub mod message;
pub mod plan;
mod reader;
mod repair;
pub mod scheduler;
pub mod shuffle;
mod sort_buffer;
pub mod storage;
mod writer;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowWriter, BatchDecoder, Batches};
#[cfg(feature = "async")]
pub use async_reader::{AsyncBlocks, AsyncReader};
pub use bytes::{FileHeader, FileKind, Framing, VERSION_MAJOR, VERSION_MINOR};
pub use check::{CheckLevel, CheckOptions, CheckReport, check, check_stored, check_stored_with, check_with};
pub use codec::Codec;
pub use error::{Error, ErrorCode, ErrorFamily, FileRole, Result};
pub use follow::{Follower, Progress, Watch};
pub use index::{Extent, Members, RegionCache, RegionIndex, SharedSlot, Slot, StreamCounts};
pub use limits::{Limits, MemoryBudget};
pub use reader::{
    Block, BlockSums, Blocks, BorrowedBlock, ByPartition, ByteRange, ByteRangeKind, Lookup, Reader, ReaderFigures,
    ReaderOptions, Records,
};
pub use repair::{
    Action, CleanOptions, CleanReport, KeptFile, KeptReason, LeftFile, RebuildOptions, RecoverOptions, RecoverReport,
    RepairOptions, RepairReport, SharedPolicy, clean, rebuild, recover, repair,
};
pub use storage::files::{Files, Layout};
pub use writer::{
    Durability, Executor, Listener, RegionWriter, StoredBlock, Summary, To, Writer, WriterFigures, WriterOptions,
};
