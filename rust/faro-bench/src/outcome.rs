//! What one repetition of a subject found out.

use std::error::Error;
use std::time::Instant;

/// Anything that stops a benchmark.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// What one repetition took and left.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// Seconds of the part that is measured.
    pub seconds: f64,
    /// Bytes of the files without their index.
    pub stored_bytes: Option<u64>,
    /// Bytes of the index.
    pub index_bytes: Option<u64>,
    /// Count of files.
    pub files: Option<u64>,
    /// What else was measured.
    pub figures: serde_json::Map<String, serde_json::Value>,
}

impl Run {
    /// A run of which nothing but the time is known.
    pub(crate) fn timed(seconds: f64) -> Self {
        Run {
            seconds,
            ..Run::default()
        }
    }
}

/// Does something and says how many seconds that took.
pub(crate) fn timed<T>(act: impl FnOnce() -> Outcome<T>) -> Outcome<(f64, T)> {
    let begin = Instant::now();
    let result = act()?;
    Ok((begin.elapsed().as_secs_f64(), result))
}
