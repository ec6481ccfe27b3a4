//! Where the files of outputs are. A reader reads from any [`StoredFile`]; docs/storage.md of the project says what it
//! must promise. The files, names and locks of writers are local (spec, FIL and PUB).

pub(crate) mod files;
mod input_file;
mod local_file;
mod memory_file;
mod output_file;
pub(crate) mod publishing;
mod reserve;
mod stored_file;
mod stored_file_check;
mod stored_output;

pub(crate) use files::{Files, Layout, with_extension};
pub(crate) use input_file::InputFile;
#[cfg(test)]
pub(crate) use input_file::seam;
pub use local_file::LocalFile;
pub use memory_file::MemoryFile;
pub(crate) use output_file::OutputFile;
pub use stored_file::{RangeRead, StoredFile};
pub use stored_file_check::{BrokenPromise, check_stored_file};
pub use stored_output::StoredOutput;
