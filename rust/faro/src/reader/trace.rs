//! Spans and events of reading, with the feature `tracing`; without it, nothing.

use crate::error::Error;
use crate::plan::SweepRead;
use crate::storage::InputFile;
use std::path::Path;
#[cfg(feature = "tracing")]
use tracing::field::Empty;

/// A span that is open until this is dropped.
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    span: tracing::span::EnteredSpan,
}

impl Span {
    /// `faro.open`: headers, tail, footer and schema of an output. `file` is the data or single file.
    pub(crate) fn open(file: &Path) -> Span {
        #[cfg(not(feature = "tracing"))]
        let _ = file;
        Span {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("faro.open", name = file.display().to_string(), region = Empty).entered(),
        }
    }

    /// `faro.read_region`: a region message that is read and checked.
    pub(crate) fn read_region(file: &InputFile, region: u32, bytes: u32) -> Span {
        #[cfg(not(feature = "tracing"))]
        let _ = (file, region, bytes);
        Span {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("faro.read_region", name = name_of(file), region, bytes).entered(),
        }
    }

    /// `faro.read`: a read of a scheduler, and how many consumers it is for.
    pub(crate) fn read(file: &InputFile, read: &SweepRead) -> Span {
        #[cfg(not(feature = "tracing"))]
        let _ = (file, read);
        Span {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!(
                "faro.read",
                name = name_of(file),
                offset = read.extent.offset,
                bytes = read.extent.length,
                consumers = consumers_of(read)
            )
            .entered(),
        }
    }

    /// Adds what is known at the end: the number of regions.
    pub(crate) fn ends_with(&self, region: usize) {
        #[cfg(feature = "tracing")]
        self.span.record("region", region);
        #[cfg(not(feature = "tracing"))]
        let _ = region;
    }
}

/// An event of a fault that ends an opening or a reading.
#[cold]
pub(crate) fn fault(error: &Error) {
    #[cfg(feature = "tracing")]
    tracing::debug!(code = error.code.as_str(), "{error}");
    #[cfg(not(feature = "tracing"))]
    let _ = error;
}

#[cfg(feature = "tracing")]
fn name_of(file: &InputFile) -> String {
    file.name().display().to_string()
}

/// A consumer may have several parts of a read.
#[cfg(feature = "tracing")]
fn consumers_of(read: &SweepRead) -> usize {
    let consumers: std::collections::BTreeSet<_> = read.parts.iter().map(|part| part.consumer).collect();
    consumers.len()
}
