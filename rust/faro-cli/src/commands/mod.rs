//! The commands that need one module each.

pub mod cat;
pub mod check;
pub mod clean;
pub mod help;
pub mod info;
pub mod layout;
pub mod repair;
