//! The results of one repetition of a subject.

use std::error::Error;
use std::time::Instant;

/// Anything that stops a benchmark.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// What one repetition took, and what it left.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// Seconds of the part that is measured.
    pub seconds: f64,
    /// Size of the files without their index, in bytes.
    pub stored_bytes: Option<u64>,
    /// Size of the index, in bytes.
    pub index_bytes: Option<u64>,
    /// The number of files.
    pub files: Option<u64>,
    /// Other figures.
    pub figures: serde_json::Map<String, serde_json::Value>,
}

impl Run {
    /// A run with a time and nothing else.
    pub(crate) fn timed(seconds: f64) -> Self {
        Run {
            seconds,
            ..Run::default()
        }
    }
}

/// Runs code and measures how many seconds it takes.
pub(crate) fn timed<T>(act: impl FnOnce() -> Outcome<T>) -> Outcome<(f64, T)> {
    let begin = Instant::now();
    let result = act()?;
    Ok((begin.elapsed().as_secs_f64(), result))
}
