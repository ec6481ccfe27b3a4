//! The promises of docs/scheduler.md.

mod budget;
pub(super) mod common;
mod failures;
mod figures;
mod growth;
mod promises;
mod rules;
