//! The testee of Rust. The variable FARO_TESTEE_STORAGE chooses where outputs are: `memory`, `feed` (in memory, and read
//! by feeds), or at their paths if it is not set.

use faro_testee::{Feeds, Local, Memory, Storage, run};
use std::io;

const VARIABLE: &str = "FARO_TESTEE_STORAGE";

fn main() -> io::Result<()> {
    let storage: Box<dyn Storage> = match std::env::var_os(VARIABLE) {
        None => Box::new(Local),
        Some(value) if value == "memory" => Box::new(Memory),
        Some(value) if value == "feed" => Box::new(Feeds),
        Some(value) => {
            let message = format!("{VARIABLE} is memory, feed or not set, not {}", value.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
    };
    run(storage)
}
