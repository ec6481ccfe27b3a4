//! The commands that are one module each.

pub(crate) mod cat;
pub(crate) mod check;
pub(crate) mod clean;
mod fragments;
pub(crate) mod help;
pub(crate) mod info;
pub(crate) mod layout;
pub(crate) mod merge;
mod originals;
pub(crate) mod repair;
mod streams;
