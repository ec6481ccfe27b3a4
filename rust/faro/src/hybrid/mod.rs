//! Outputs that are read while they are written, from memory as long as it lasts (spec, HYB).

mod consumer;
mod full_files;
mod image;
mod image_file;
mod image_state;
mod index_blocks;
mod memory;
mod options;
mod part;
mod progress;
mod selective_files;
mod spiller;
mod store;
mod sync;

#[cfg(test)]
#[allow(unreachable_pub)]
mod interleavings;

pub use consumer::HybridConsumer;
pub use image_state::{HybridFigures, HybridPosition};
pub use memory::HybridMemory;
pub use options::{HybridMode, HybridOptions};
pub use store::HybridStore;
