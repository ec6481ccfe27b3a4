//! The files of an output, their names, and how they are published (spec, FIL and PUB).

mod files;
mod input_file;
mod output_file;
pub(crate) mod publishing;
mod reserve;

pub(crate) use files::with_extension;
pub use files::{Files, Layout};
pub(crate) use input_file::InputFile;
#[cfg(test)]
pub(crate) use input_file::seam;
pub(crate) use output_file::OutputFile;
