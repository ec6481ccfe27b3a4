//! Runs other code in a step, and catches its panics so that the step completes.

use crate::error::{Error, ErrorCode, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// Runs code that may panic. The panic hook has reported the panic; a consumer that waits for the result gets `io`.
pub(super) fn caught<T>(what: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|payload| Err(cause(payload)))
}

/// Runs code that may panic, and returns the panic as it is.
pub(super) fn caught_alone(what: impl FnOnce()) -> std::result::Result<(), Payload> {
    catch_unwind(AssertUnwindSafe(what))
}

/// Calls and drops all of these, even if some panic. Returns the first panic.
pub(super) fn call_all<F: FnOnce()>(calls: Vec<F>) -> Option<Payload> {
    let mut first = None;
    for call in calls {
        // A value that a closure owns may also panic when it is dropped.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
            match first {
                None => first = Some(payload),
                Some(_) => drop_payload(payload),
            }
        }
    }
    first
}

/// The first of two panics.
pub(super) fn first(one: Option<Payload>, other: Option<Payload>) -> Option<Payload> {
    match (one, other) {
        (Some(one), Some(other)) => {
            drop_payload(other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

/// Drops the payload of a panic, which may panic again.
pub(super) fn drop_payload(payload: Payload) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        // This could continue for ever.
        std::mem::forget(again);
    }
}

/// The error for consumers that waited for code that panicked.
fn cause(payload: Payload) -> Error {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_string(),
        (_, Some(text)) => text.clone(),
        _ => "a panic".to_string(),
    };
    drop_payload(payload);
    Error::bare(ErrorCode::Io, "reading and decoding without a panic", text)
}

/// The error for all consumers after a panic left the scheduler's state inconsistent.
pub(super) fn broken() -> Error {
    Error::bare(
        ErrorCode::Io,
        "a scheduler whose state is whole",
        "one that a panic left in the middle of a change or of a step",
    )
}
