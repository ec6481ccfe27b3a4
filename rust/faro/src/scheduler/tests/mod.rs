//! What docs/scheduler.md promises.

mod common;
mod failures;
mod promises;
mod rules;
