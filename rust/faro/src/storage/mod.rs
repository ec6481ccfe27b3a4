//! Where the files of outputs are. A reader reads from any [`StoredFile`]; docs/storage.md of the project says what it
//! must promise. A writer writes to local files, with their names and locks (spec, FIL and PUB), or to any
//! [`Destination`].

#[cfg(feature = "async")]
mod async_file;
#[cfg(feature = "tokio")]
mod blocking_file;
mod brought_file;
mod destination;
mod destination_check;
mod file_range;
pub(crate) mod files;
mod input_file;
mod local_file;
mod memory_destination;
mod memory_file;
#[cfg(all(feature = "object_store", feature = "tokio"))]
mod object_destination;
#[cfg(feature = "object_store")]
mod object_file;
mod output_file;
mod pieces;
pub(crate) mod publishing;
pub(crate) mod reserve;
#[cfg(feature = "tokio")]
mod runtime;
mod stored_file;
mod stored_file_check;
mod stored_output;
#[cfg(feature = "tokio")]
mod tokio_file;

#[cfg(feature = "async")]
pub use async_file::{AsyncRead, AsyncStoredFile, AsyncStoredOutput};
#[cfg(feature = "tokio")]
pub use blocking_file::BlockingFile;
pub(crate) use brought_file::{BroughtFile, is_missing};
pub use destination::{Destination, NewFile};
pub use destination_check::check_destination;
pub use file_range::FileRange;
pub(crate) use files::{Files, Layout, with_extension};
pub(crate) use input_file::InputFile;
#[cfg(test)]
pub(crate) use input_file::seam;
pub use local_file::LocalFile;
pub use memory_destination::MemoryDestination;
pub use memory_file::MemoryFile;
#[cfg(all(feature = "object_store", feature = "tokio"))]
pub use object_destination::ObjectDestination;
#[cfg(feature = "object_store")]
pub use object_file::ObjectFile;
pub(crate) use output_file::{GATHERED, OutputFile};
pub use stored_file::{RangeRead, StoredFile};
pub use stored_file_check::{BrokenPromise, check_stored_file};
pub use stored_output::StoredOutput;
#[cfg(feature = "tokio")]
pub use tokio_file::TokioFile;
