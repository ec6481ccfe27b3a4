//! The rows of outputs: what is known of their columns, reading them, and printing them.

mod batch_writer;
mod format;
mod packed;
mod printer;
mod source;
mod together;

pub(crate) use format::As;
pub(crate) use packed::{Packed, property};
pub(crate) use printer::{Printer, Printing, raw};
pub(crate) use source::Source;
