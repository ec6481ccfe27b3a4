//! The Rust implementation as a child process of the conformance runner: one request a line on standard input, one
//! answer a line on standard output. Programs choose the storage of outputs.

mod fed;
mod hybrid;
mod memory;
mod merge;
mod output;
mod payload;
mod protocol;
mod read;
mod session;
mod storage;
mod write;

pub use fed::Feeds;
pub use memory::Memory;
pub use output::{Blocks, Output};
pub use protocol::{Failure, Fault};
pub use storage::{Local, NewOutput, Storage, name_and_layout, path_of};

use protocol::Envelope;
use serde_json::json;
use std::io::{self, BufRead, Write};

/// Answers the requests of standard input until it ends, or a request says so.
///
/// # Errors
/// Those of standard input and output, and a line that is not a request.
pub fn run(storage: Box<dyn Storage>) -> io::Result<()> {
    let mut session = session::Session::new(storage);
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Envelope { id, op, rest } = serde_json::from_str(&line?)?;
        let stop = op == "stop";
        let answer = match session.answer(&op, rest) {
            Ok(ok) => json!({ "id": id, "ok": ok }),
            Err(Failure::Refused(error)) => json!({ "id": id, "error": error }),
            Err(Failure::Unsupported(why)) => json!({ "id": id, "unsupported": why }),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
        if stop {
            break;
        }
    }
    Ok(())
}
