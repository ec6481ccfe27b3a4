//! Faro: an open on-disk format for shuffle data.

#[rustfmt::skip]
mod generated;
#[cfg(test)]
mod layout_tests;

/// The major version of the format that this library reads and writes.
pub const VERSION_MAJOR: u8 = 1;
/// The minor version of the format that this library writes.
pub const VERSION_MINOR: u8 = 0;
