//! The promises of docs/scheduler.md.

mod budget;
pub(super) mod common;
mod failures;
mod figures;
mod promises;
mod rules;
