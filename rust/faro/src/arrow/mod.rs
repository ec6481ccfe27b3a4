//! Arrow record batches in and out (spec, FRM-3 to FRM-5, SRT-10): the feature `arrow`.

mod ipc;
mod plain;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{BatchDecoder, Batches};
pub use writer::ArrowWriter;
