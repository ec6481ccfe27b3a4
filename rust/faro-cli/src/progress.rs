//! Progress bars: on standard error, and only when that is a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::escape::escape;

/// A bar for `total` bytes that take about the same time each, or a spinner when their number is not known.
pub(crate) fn bytes(total: Option<u64>, what: &str) -> ProgressBar {
    bar(
        total,
        what,
        "{msg} {wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} left",
    )
}

/// A bar for an input when most of the time is spent elsewhere, so that the remaining time is not known.
pub(crate) fn reading(total: Option<u64>, what: &str) -> ProgressBar {
    let bar = bar(total, what, "{msg} {wide_bar} {binary_bytes} of {binary_total_bytes}");
    bar.set_message(format!("reading {}", escape(what)));
    bar
}

/// A bar for this many outputs, each of which may take another time.
pub(crate) fn outputs(total: usize, what: &str) -> ProgressBar {
    bar(Some(total as u64), what, "{msg} {wide_bar} {pos} of {len} outputs")
}

/// Continues a bar after all input was read, while the rest is compressed and written.
pub(crate) fn writing(bar: &ProgressBar, what: &str) {
    if !bar.is_hidden() {
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        bar.set_message(format!("writing {}", escape(what)));
    }
}

fn bar(total: Option<u64>, what: &str, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = match total {
        Some(total) => ProgressBar::new(total).with_style(style(template)),
        None => ProgressBar::new_spinner().with_style(style("{spinner} {msg} {binary_bytes}, {binary_bytes_per_sec}")),
    };
    // A file name may contain any characters.
    bar.set_message(escape(what));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The templates are constants of this file. A wrong one falls back to the default style.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
