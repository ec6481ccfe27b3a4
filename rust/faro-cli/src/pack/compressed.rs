//! Inputs that are compressed with gzip or Zstandard, through the crates flate2 and zstd, which Parquet needs already.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// Recognises the compression by the first bytes of an input.
    pub(super) fn of_content(start: &[u8]) -> Option<Compression> {
        match start {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // A skippable frame, with which some files of several frames begin.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "Zstandard",
        }
    }

    /// The plain bytes of all members or frames.
    pub(super) fn decoded(self, input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        let inner: Box<dyn Read + Send> = match self {
            Compression::Gzip => Box::new(MultiGzDecoder::new(input)),
            Compression::Zstd => Box::new(zstd::Decoder::new(input)?),
        };
        Ok(Box::new(Decoded {
            inner,
            compression: self,
        }))
    }
}

/// A name without `.gz`, `.zst` or `.zstd`.
pub(super) fn plain_name(path: &Path) -> &Path {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_compressed = extension.is_some_and(|extension| {
        ["gz", "zst", "zstd"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    });
    match path.file_stem() {
        Some(stem) if is_compressed => Path::new(stem),
        _ => path,
    }
}

/// Marks the errors of a decoder as damage of the input. Errors of the system stay unchanged.
struct Decoded {
    inner: Box<dyn Read + Send>,
    compression: Compression,
}

impl Read for Decoded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.read(into).map_err(|error| {
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let what = format!("the {} stream is damaged or cut off: {error}", self.compression.name());
            io::Error::new(io::ErrorKind::InvalidData, Damage(what))
        })
    }
}

/// The fault of a compressed input.
#[derive(Debug)]
struct Damage(String);

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Damage {}

/// Whether an error of reading says that a compressed input is damaged.
pub(super) fn is_damage(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|source| source.is::<Damage>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_compression() {
        assert_eq!(plain_name(Path::new("a/b.csv.gz")), Path::new("b.csv"));
        assert_eq!(plain_name(Path::new("b.CSV.ZST")), Path::new("b.CSV"));
        assert_eq!(plain_name(Path::new("a/b.csv")), Path::new("a/b.csv"));
        assert_eq!(plain_name(Path::new("-")), Path::new("-"));
    }
}
