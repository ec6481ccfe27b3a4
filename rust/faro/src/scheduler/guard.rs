//! What other people's code does in a step, a panic of it too, without an end of the step.

use crate::error::{Code, Error, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a panic leaves.
pub(super) type Payload = Box<dyn Any + Send>;

/// Does what may panic. The panic hook was told; whoever waits for the result gets `io`.
pub(super) fn caught<T>(what: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|payload| Err(cause(payload)))
}

/// Does what may panic, and gives the panic as it is.
pub(super) fn caught_alone(what: impl FnOnce()) -> std::result::Result<(), Payload> {
    catch_unwind(AssertUnwindSafe(what))
}

/// Calls all of these, whatever one of them does, and drops them; the first panic.
pub(super) fn call_all<F: FnOnce()>(calls: Vec<F>) -> Option<Payload> {
    let mut first = None;
    for call in calls {
        // What a closure owns may panic, too, when it is dropped.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
            match first {
                None => first = Some(payload),
                Some(_) => drop_payload(payload),
            }
        }
    }
    first
}

/// Drops what a panic left, which may panic again.
pub(super) fn drop_payload(payload: Payload) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        // It would go on for ever.
        std::mem::forget(again);
    }
}

/// The fault of those who waited for what panicked.
fn cause(payload: Payload) -> Error {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_string(),
        (_, Some(text)) => text.clone(),
        _ => "a panic".to_string(),
    };
    drop_payload(payload);
    Error::bare(Code::Io, "reading and decoding without a panic", text)
}

/// The fault of all, when a panic left the scheduler's own books as they may not be.
pub(super) fn broken() -> Error {
    Error::bare(
        Code::Io,
        "a scheduler whose state is whole",
        "one that a panic left in the middle of a change or of a step",
    )
}
