//! Compression (spec, COD-1 to COD-7: LZ4 is COD-2, Zstandard COD-3 and COD-4). Contexts are made once and reused,
//! because making one takes longer than a small block.

#[cfg(feature = "lz4")]
mod lz4;
#[cfg(not(feature = "lz4"))]
#[path = "no_lz4.rs"]
mod lz4;
mod trained;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(not(feature = "zstd"))]
#[path = "no_zstd.rs"]
mod zstd;

pub(crate) use trained::Trained;
pub(crate) use zstd::{Digest, train_dictionary};

use crate::error::{Error, ErrorCode, Result};
use std::sync::Arc;
use zstd::{ZstdDecoder, ZstdEncoder};

/// How a writer compresses data blocks (COD-1). Later versions may register more codecs (VER-5).
///
/// A library that was built without the feature `lz4` or `zstd` knows the codec, and can neither write nor read its
/// blocks: see [`Codec::is_available`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Codec {
    /// No compression.
    #[default]
    None = 0,
    /// One LZ4 block.
    Lz4 = 1,
    /// One Zstandard frame without its magic number.
    Zstd = 2,
}

impl Codec {
    /// The codec with this number in a block header; none if this library does not know the number.
    pub const fn from_number(number: u8) -> Option<Codec> {
        match number {
            0 => Some(Codec::None),
            1 => Some(Codec::Lz4),
            2 => Some(Codec::Zstd),
            _ => None,
        }
    }

    /// Whether this library was built with the codec. Without it a writer refuses the codec with `invalid-argument`, and
    /// a reader its blocks with `unsupported-codec` (COD-7).
    pub const fn is_available(self) -> bool {
        match self {
            Codec::None => true,
            Codec::Lz4 => cfg!(feature = "lz4"),
            Codec::Zstd => cfg!(feature = "zstd"),
        }
    }

    /// The codec as the conformance protocol spells it, for example `zstd`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }
}

/// Whether this library decodes the codec with this number in a block header: check 7a of BLK-7.
#[inline]
pub(crate) const fn is_known(number: u8) -> bool {
    match Codec::from_number(number) {
        Some(codec) => codec.is_available(),
        None => false,
    }
}

/// The numbers of the codecs that this library decodes, for errors.
pub(crate) const KNOWN: &str = match (cfg!(feature = "lz4"), cfg!(feature = "zstd")) {
    (true, true) => "codec 0, 1 or 2",
    (true, false) => "codec 0 or 1, in a library without zstd",
    (false, true) => "codec 0 or 2, in a library without lz4",
    (false, false) => "codec 0, in a library without lz4 and zstd",
};

/// A payload that compression made smaller.
pub(crate) struct Compressed<'a> {
    /// The codec number in the block header.
    pub codec: u8,
    /// The number of the dictionary that it was compressed with; 0 without one.
    pub dictionary: u16,
    pub stored: &'a [u8],
}

/// Blocks of at least this many plain bytes compress well without a dictionary (DIC-7).
pub(crate) const SMALL_BLOCK: usize = 16 << 10;

/// Compresses blocks one after another.
pub(crate) struct Compressor {
    codec: Codec,
    level: i32,
    zstd: Option<ZstdEncoder>,
    /// The number of the dictionary for small blocks, and a context that has digested it.
    dictionary: Option<(u16, ZstdEncoder)>,
    /// Holds the compressed block. It never shrinks.
    scratch: Vec<u8>,
}

impl Compressor {
    /// A compressor for a codec. Only Zstandard uses `level`.
    pub(crate) fn new(codec: Codec, level: i32) -> Result<Self> {
        let zstd = match codec {
            Codec::Zstd => Some(ZstdEncoder::new(level, None)?),
            Codec::None | Codec::Lz4 => None,
        };
        Ok(Compressor {
            codec,
            level,
            zstd,
            dictionary: None,
            scratch: Vec::new(),
        })
    }

    /// Frees the memory. Nothing is compressed after that.
    pub(crate) fn free(&mut self) {
        (self.zstd, self.dictionary) = (None, None);
        self.scratch = Vec::new();
    }

    /// Makes the compressor use a dictionary for small blocks from now on; `number` is the dictionary's number in the
    /// file. It has no effect unless the codec is Zstandard.
    pub(crate) fn use_dictionary(&mut self, number: u16, trained: &Trained) -> Result<()> {
        if self.codec == Codec::Zstd {
            self.dictionary = Some((number, ZstdEncoder::new(self.level, Some(trained))?));
        }
        Ok(())
    }

    /// Appends the compressed `plain` to `to`, and returns the codec and the dictionary for the block's header. None
    /// when the result is not smaller (BLK-6): then `to` stays as it was.
    pub(crate) fn compress_onto(&mut self, plain: &[u8], to: &mut Vec<u8>) -> Option<(u8, u16)> {
        if self.codec == Codec::Lz4 {
            // Straight to its place. It may take a few bytes more than `plain` meanwhile.
            return (plain.len() > 1 && lz4::compress_onto(plain, to)).then_some((self.codec as u8, 0));
        }
        let compressed = self.compress(plain)?;
        to.extend_from_slice(compressed.stored);
        Some((compressed.codec, compressed.dictionary))
    }

    /// Compresses `plain`; none when the result is not smaller (BLK-6).
    pub(crate) fn compress(&mut self, plain: &[u8]) -> Option<Compressed<'_>> {
        // One byte less than the plain size: output that does not fit is not smaller.
        let room = plain.len().checked_sub(1).filter(|room| *room > 0)?;
        if self.codec == Codec::None {
            return None;
        }
        if self.codec == Codec::Lz4 {
            self.scratch.clear();
            return lz4::compress_onto(plain, &mut self.scratch).then_some(Compressed {
                codec: self.codec as u8,
                dictionary: 0,
                stored: &self.scratch,
            });
        }
        if self.scratch.len() < room {
            self.scratch.resize(room, 0);
        }
        let target = &mut self.scratch[..room];
        let mut dictionary = 0;
        let size = match (&mut self.zstd, &mut self.dictionary) {
            (_, Some((number, encoder))) if plain.len() < SMALL_BLOCK => {
                dictionary = *number;
                encoder.compress(target, plain)?
            }
            (Some(encoder), _) => encoder.compress(target, plain)?,
            (None, _) => return None,
        };
        Some(Compressed {
            codec: self.codec as u8,
            dictionary,
            stored: &self.scratch[..size],
        })
    }
}

/// A stored payload, and what its block header says about it.
pub(crate) struct Stored<'a> {
    pub bytes: &'a [u8],
    /// Where it begins in its file, in bytes.
    pub offset: u64,
    /// The codec number.
    pub codec: u8,
    /// The dictionary number; 0 without one.
    pub dictionary: u16,
    /// How many bytes it decodes to.
    pub plain_size: u32,
}

/// Decompresses blocks one after another.
#[derive(Default)]
pub(crate) struct Decompressor {
    zstd: Option<ZstdDecoder>,
}

impl Decompressor {
    /// Check 12 of BLK-7: decodes a compressed payload into `plain`. The payload has passed the other checks.
    /// `dictionary` finds a dictionary by its number when it is not the one that was used last (DIC-6).
    pub(crate) fn decode_into(
        &mut self,
        payload: &Stored<'_>,
        max_window_size: u64,
        dictionary: impl FnOnce(u16) -> Result<Arc<Digest>>,
        plain: &mut Vec<u8>,
    ) -> Result<()> {
        let stored = payload.bytes;
        let is_zstd = payload.codec == Codec::Zstd as u8;
        let size = payload.plain_size as usize;
        let decoded = if is_zstd {
            let decoder = match &mut self.zstd {
                Some(decoder) => decoder,
                empty => empty.insert(ZstdDecoder::new(max_window_size)?),
            };
            decoder.choose(payload.dictionary, dictionary)?;
            zstd::check_frame(stored, payload.plain_size, max_window_size, payload.offset)?;
            plain.resize(size, 0);
            decoder.decode(stored, plain)?
        } else {
            plain.resize(size, 0);
            lz4::decompress(stored, plain)
        };
        match decoded {
            Ok(decoded) if decoded == size => Ok(()),
            result => Err(Error::at(
                ErrorCode::MalformedBlock,
                payload.offset,
                format!("a payload that decodes to {size} bytes"),
                match result {
                    Ok(size) => format!("{size} bytes"),
                    Err(text) => format!("one that does not decode: {text}"),
                },
            )),
        }
    }
}

#[cfg(all(test, feature = "lz4", feature = "zstd"))]
mod tests {
    use super::*;

    fn none(number: u16) -> Result<Arc<Digest>> {
        panic!("dictionary {number} is asked for")
    }

    fn decode_with(decoder: &mut Decompressor, codec: u8, stored: &[u8], plain: usize, offset: u64) -> Result<Vec<u8>> {
        let payload = Stored {
            bytes: stored,
            offset,
            codec,
            dictionary: 0,
            plain_size: plain as u32,
        };
        let mut found = Vec::new();
        decoder.decode_into(&payload, 8 << 20, none, &mut found)?;
        Ok(found)
    }

    fn decode(codec: u8, stored: &[u8], plain: usize) -> Result<Vec<u8>> {
        decode_with(&mut Decompressor::default(), codec, stored, plain, 1000)
    }

    #[test]
    fn compressed_payloads_are_decoded() {
        let plain: Vec<u8> = (0..100_000u32).map(|i| (i / 100) as u8).collect();
        for codec in [Codec::Lz4, Codec::Zstd] {
            let mut compressor = Compressor::new(codec, 1).unwrap();
            for size in [100_000, 1000, 77] {
                let compressed = compressor.compress(&plain[..size]).unwrap();
                let number = compressed.codec;
                assert_eq!((number, compressed.dictionary), (codec as u8, 0));
                let stored = compressed.stored.to_vec();
                assert_eq!(decode(number, &stored, size).unwrap(), plain[..size]);
                for wrong in [size - 1, size + 1] {
                    let error = decode(number, &stored, wrong).unwrap_err();
                    assert_eq!((error.code, error.offset), (ErrorCode::MalformedBlock, Some(1000)));
                }
                assert_eq!(
                    decode(number, &stored[..stored.len() - 1], size).unwrap_err().code,
                    ErrorCode::MalformedBlock
                );
            }
        }
    }

    #[test]
    fn a_decoder_that_failed_decodes_the_next_block() {
        let plain = vec![7; 5000];
        let mut compressor = Compressor::new(Codec::Zstd, 19).unwrap();
        let stored = compressor.compress(&plain).unwrap().stored.to_vec();
        let mut bad = stored.clone();
        bad[6] ^= 0xFF;
        let mut decoder = Decompressor::default();
        for _ in 0..3 {
            let _ = decode_with(&mut decoder, 2, &bad, plain.len(), 0);
            assert_eq!(decode_with(&mut decoder, 2, &stored, plain.len(), 0).unwrap(), plain);
        }
    }

    #[test]
    fn what_does_not_shrink_is_not_compressed() {
        for codec in [Codec::None, Codec::Lz4, Codec::Zstd] {
            let mut compressor = Compressor::new(codec, 3).unwrap();
            for plain in [&b""[..], b"a", b"ab", b"0123456789abcdef"] {
                assert!(compressor.compress(plain).is_none());
            }
        }
    }
}
