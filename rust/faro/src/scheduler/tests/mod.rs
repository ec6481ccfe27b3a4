//! What docs/scheduler.md promises.

pub(super) mod common;
mod failures;
mod promises;
mod rules;
