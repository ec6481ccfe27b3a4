//! Runs the flatc that was built with this crate.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let status = Command::new(flatc_fork::flatc())
        .args(std::env::args_os().skip(1))
        .status()
        .expect("flatc was built with this program");
    ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))
}
