//! The commands that are one module each.

pub(crate) mod cat;
pub(crate) mod check;
pub(crate) mod clean;
mod fault;
mod fragments;
pub(crate) mod head;
pub(crate) mod help;
pub(crate) mod info;
pub(crate) mod layout;
pub(crate) mod locate_key;
pub(crate) mod merge;
mod originals;
pub(crate) mod repair;
pub(crate) mod schema;
pub(crate) mod top;
