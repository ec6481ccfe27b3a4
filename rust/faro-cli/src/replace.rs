//! Writing a picture or a page to a file that may exist.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::failure::{Failure, Outcome};

/// How many first bytes tell what a file is.
const TELLING: usize = 4;

/// Writes a file. One that exists is replaced only if it begins as the new one does: another file may be an output, or
/// the input of one.
pub(crate) fn replace(path: &Path, content: &str) -> Outcome {
    match begins(path) {
        Ok(there) if !there.is_empty() && !content.as_bytes().starts_with(&there) => {
            let source = io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it exists, and is of another kind: not replaced",
            );
            Err(Failure::file(path, source))
        }
        _ => std::fs::write(path, content).map_err(|source| Failure::file(path, source)),
    }
}

/// The first bytes of a file. A device or a pipe has none that could be lost.
fn begins(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.is_file() {
        File::open(path)?.take(TELLING as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
