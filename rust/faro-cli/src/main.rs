//! The command `faro`.

use clap::Command;

fn main() {
    Command::new("faro")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Look at, check, convert and repair Faro files")
        .arg_required_else_help(true)
        .get_matches();
}
