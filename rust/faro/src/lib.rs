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
#[allow(unsafe_code, unnameable_types, unreachable_pub)]
mod generated;
#[cfg(test)]
mod generated_tests;

#[cfg(feature = "arrow")]
mod arrow;
pub mod block;
mod bytes;
mod check;
mod codec;
mod error;
mod follow;
mod index;
pub mod key;
mod limits;
pub mod message;
pub mod plan;
mod reader;
mod repair;
pub mod scheduler;
mod sort_buffer;
mod storage;
mod writer;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowWriter, BatchDecoder, Batches};
pub use bytes::{FileHeader, FileKind, Framing, VERSION_MAJOR, VERSION_MINOR};
pub use check::{CheckReport, Level, check, check_with};
pub use codec::Codec;
pub use error::{Code, Error, Family, Result, Role};
pub use follow::{Follower, Progress};
pub use index::{Extent, Lookup, Members, RegionIndex, SharedSlot, Slot};
pub use limits::Limits;
pub use reader::{
    Block, BlockSums, Blocks, BorrowedBlock, ByPartition, Piece, PieceKind, Reader, ReaderOptions, Records,
};
pub use repair::{
    Action, CleanOptions, CleanReport, KeptReason, Leftover, RebuildOptions, RecoverOptions, RecoverReport,
    RepairReport, SharedPolicy, clean, rebuild, recover, repair,
};
pub use storage::{Files, Layout};
pub use writer::{Durability, RegionWriter, StoredBlock, Summary, To, Writer, WriterOptions};
