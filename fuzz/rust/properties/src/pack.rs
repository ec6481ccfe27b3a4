//! The packs of the corpus, as `fuzz/README.md` describes them.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// The inputs in the pack of a target.
pub fn inputs(corpus: &Path, target: &str) -> Result<Vec<Vec<u8>>> {
    let pack = std::fs::read(corpus.join(target).with_extension("inputs"))?;
    let (mut rest, mut inputs) = (&pack[..], Vec::new());
    while !rest.is_empty() {
        let (input, after) =
            split(rest).ok_or_else(|| Error::new(ErrorKind::InvalidData, "the pack ends inside an input"))?;
        inputs.push(input.to_vec());
        rest = after;
    }
    Ok(inputs)
}

/// The first input, and what follows it.
fn split(pack: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, rest) = pack.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*size) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_has_lengths_and_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let written = |pack: &[u8]| {
            std::fs::write(folder.path().join("open.inputs"), pack).unwrap();
            inputs(folder.path(), "open")
        };
        assert_eq!(
            written(b"\0\0\0\0\x02\0\0\0ab").unwrap(),
            [b"".to_vec(), b"ab".to_vec()]
        );
        assert!(written(b"\x02\0\0\0a").is_err());
        assert!(written(b"\x02\0\0").is_err());
    }
}
