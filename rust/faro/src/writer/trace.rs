//! Spans and events of a writer, with the feature `tracing`; without it, nothing.

#[cfg(feature = "tracing")]
use crate::error::Error;
use crate::storage::Files;
#[cfg(feature = "tracing")]
use tracing::field::Empty;

/// A span that is open until this is dropped.
pub(super) struct Span {
    #[cfg(feature = "tracing")]
    span: tracing::span::EnteredSpan,
}

impl Span {
    /// `faro.write_region`: the end of a region, from sorting to writing.
    pub(super) fn write_region(files: &Files) -> Span {
        #[cfg(not(feature = "tracing"))]
        let _ = files;
        Span {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!(
                "faro.write_region",
                name = name_of(files),
                region = Empty,
                bytes = Empty
            )
            .entered(),
        }
    }

    /// `faro.finish`: footer, tail and publication.
    pub(super) fn finish(files: &Files) -> Span {
        #[cfg(not(feature = "tracing"))]
        let _ = files;
        Span {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("faro.finish", name = name_of(files), region = Empty, bytes = Empty).entered(),
        }
    }

    /// Adds what is known at the end: the number of regions so far, and the bytes of blocks (of the region, or of all).
    pub(super) fn ends_with(&self, region: u64, bytes: u64) {
        #[cfg(feature = "tracing")]
        self.span.record("region", region).record("bytes", bytes);
        #[cfg(not(feature = "tracing"))]
        let _ = (region, bytes);
    }
}

/// What decides where spans go: the subscriber and the span of a thread, for work that another thread does.
pub(super) struct Parent {
    #[cfg(feature = "tracing")]
    subscriber: tracing::Dispatch,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl Parent {
    /// That of this thread.
    pub(super) fn here() -> Parent {
        Parent {
            #[cfg(feature = "tracing")]
            subscriber: tracing::dispatcher::get_default(Clone::clone),
            #[cfg(feature = "tracing")]
            span: tracing::Span::current(),
        }
    }

    /// Runs work in it.
    pub(super) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "tracing")]
        return tracing::dispatcher::with_default(&self.subscriber, || self.span.in_scope(work));
        #[cfg(not(feature = "tracing"))]
        work()
    }
}

/// An event of a failure that is final for the writer.
#[cfg(feature = "tracing")]
pub(super) fn fault(error: &Error) {
    tracing::debug!(code = error.code.as_str(), "{error}");
}

/// The name of the data or single file, which stands for the output.
#[cfg(feature = "tracing")]
fn name_of(files: &Files) -> String {
    files.first().1.display().to_string()
}
