//! Waiting for futures of a runtime of tokio.

use std::io;
use tokio::runtime::Handle;

/// Waits for a future, unless the calling thread belongs to a runtime: waiting would stop its other tasks.
pub(super) fn wait_for<T>(runtime: &Handle, future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    if Handle::try_current().is_ok() {
        return Err(io::Error::other(
            "a call that waits, from a task of tokio; call it from a thread that may block, as in spawn_blocking",
        ));
    }
    runtime.block_on(future)
}
