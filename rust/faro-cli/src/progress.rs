//! Progress bars: on standard error, and only when that is a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::term::escape;

/// A bar for so many bytes, or a spinner when nobody knows how many.
pub fn bytes(total: Option<u64>, what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "{msg} {wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} left",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {msg} {binary_bytes}, {binary_bytes_per_sec}",
        ),
    };
    // The templates are constants of this file; a mistake in them shows as indicatif's own look.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    // A file name may hold anything.
    bar.set_message(escape(what));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
