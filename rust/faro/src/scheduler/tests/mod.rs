//! The promises of docs/scheduler.md.

pub(super) mod common;
mod failures;
mod figures;
mod promises;
mod rules;
