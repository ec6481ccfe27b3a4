//! The Rust implementation as a child process of the conformance runner.

use std::io::{self, BufRead};

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let request: serde_json::Value = serde_json::from_str(&line?)?;
        let id = &request["id"];
        println!("{}", serde_json::json!({ "id": id, "unsupported": true }));
    }
    Ok(())
}
