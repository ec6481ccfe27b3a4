//! Waiting for futures of a runtime of tokio.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Waits for a future in a runtime with threads of its own: another may never run. A task of a runtime must not
/// wait, since that would stop its other tasks. What panics is an error.
pub(super) fn wait_for<T>(runtime: &Handle, future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
        return Err(io::Error::other(
            "a runtime of one thread; take one with threads of its own",
        ));
    }
    let has_begun = Cell::new(false);
    let future = async {
        has_begun.set(true);
        future.await
    };
    // It panics at once in a task. Nothing else tells a task from code in spawn_blocking, which may wait.
    let done = catch_unwind(AssertUnwindSafe(|| runtime.block_on(future)));
    done.unwrap_or_else(|_| {
        Err(io::Error::other(match has_begun.get() {
            true => "a panic of the storage, or of a runtime that has ended",
            false => {
                "a call that waits, from a task of tokio; call it from a thread that may block, as in spawn_blocking"
            }
        }))
    })
}
