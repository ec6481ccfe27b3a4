//! The Rust implementation as a child process of the conformance runner: one request a line on standard input, one
//! answer a line on standard output.

mod fed;
mod output;
mod payload;
mod protocol;
mod read;
mod session;
mod storage;
mod write;

use protocol::{Envelope, Failure};
use serde_json::json;
use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut session = session::Session::new(storage::Storage::chosen()?);
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
