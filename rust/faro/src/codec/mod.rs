//! Compression (spec, COD-1 to COD-6: LZ4 is COD-2, Zstandard COD-3 and COD-4). Contexts are made once and reused,
//! because making one takes longer than a small block.

mod zstd_decoder;
mod zstd_frame;

pub(crate) use zstd_decoder::Digest;

use crate::error::{Error, ErrorCode, Result};
use std::sync::Arc;
use zstd_decoder::ZstdDecoder;
use zstd_safe::{CCtx, CParameter, FrameFormat};

/// How a writer compresses data blocks (COD-1). Later versions may register more codecs (VER-5).
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

    /// The codec as the conformance protocol spells it, for example `zstd`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }
}

/// A dictionary for small blocks, and how to use it.
#[derive(Clone, Debug)]
pub(crate) struct Trained {
    pub bytes: Vec<u8>,
    /// The least length in bytes of a match, where the default of the compression level is not the best.
    pub least_match: Option<u32>,
}

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
    zstd: Option<CCtx<'static>>,
    /// The number of the dictionary for small blocks, and a context that has digested it.
    dictionary: Option<(u16, CCtx<'static>)>,
    /// Holds the compressed block. It never shrinks.
    scratch: Vec<u8>,
}

impl Compressor {
    /// A compressor for a codec. Only Zstandard uses `level`.
    pub(crate) fn new(codec: Codec, level: i32) -> Result<Self> {
        let zstd = match codec {
            Codec::Zstd => Some(zstd_compressor(level, None)?),
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

    /// Makes the compressor use a dictionary for small blocks from now on; `number` is the dictionary's number in the
    /// file. It has no effect unless the codec is Zstandard.
    pub(crate) fn use_dictionary(&mut self, number: u16, trained: &Trained) -> Result<()> {
        if self.codec == Codec::Zstd {
            self.dictionary = Some((number, zstd_compressor(self.level, Some(trained))?));
        }
        Ok(())
    }

    /// Compresses `plain`; none when the result is not smaller (BLK-6).
    pub(crate) fn compress(&mut self, plain: &[u8]) -> Option<Compressed<'_>> {
        // One byte less than the plain size: output that does not fit is not smaller.
        let room = plain.len().checked_sub(1).filter(|room| *room > 0)?;
        if self.codec == Codec::None {
            return None;
        }
        if self.scratch.len() < room {
            self.scratch.resize(room, 0);
        }
        let target = &mut self.scratch[..room];
        let mut dictionary = 0;
        let size = match (&mut self.zstd, &mut self.dictionary) {
            (_, Some((number, context))) if plain.len() < SMALL_BLOCK => {
                dictionary = *number;
                context.compress2(target, plain).ok()?
            }
            (Some(context), _) => context.compress2(target, plain).ok()?,
            (None, _) => lzzzz::lz4::compress(plain, target, lzzzz::lz4::ACC_LEVEL_DEFAULT).ok()?,
        };
        Some(Compressed {
            codec: self.codec as u8,
            dictionary,
            stored: &self.scratch[..size],
        })
    }
}

fn zstd_compressor(level: i32, trained: Option<&Trained>) -> Result<CCtx<'static>> {
    let failed = |what: &str| Error::bare(ErrorCode::Io, "a Zstandard compressor", what.to_string());
    let mut context = CCtx::try_create().ok_or_else(|| failed("no memory for one"))?;
    for parameter in [
        CParameter::Format(FrameFormat::Magicless),
        CParameter::CompressionLevel(level),
        // The block header has the plain size already; the frame is shorter without it (COD-5).
        CParameter::ContentSizeFlag(false),
        CParameter::ChecksumFlag(false),
        CParameter::DictIdFlag(false),
    ] {
        context
            .set_parameter(parameter)
            .map_err(|code| failed(zstd_safe::get_error_name(code)))?;
    }
    if let Some(trained) = trained {
        let mut parameters: Vec<_> = trained.least_match.map(CParameter::MinMatch).into_iter().collect();
        if level == 1 {
            // Level 1 uses this value for its smallest inputs. With a dictionary it would choose less, and find fewer
            // matches.
            parameters.push(CParameter::HashLog(15));
        }
        // The context digests the dictionary at the first block and keeps the digest. It is small, and each thread has
        // one.
        parameters
            .into_iter()
            .try_fold(0, |_, parameter| context.set_parameter(parameter))
            .and_then(|_| context.load_dictionary(&trained.bytes))
            .map_err(|code| failed(zstd_safe::get_error_name(code)))?;
    }
    Ok(context)
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
            zstd_frame::check(stored, payload.plain_size, max_window_size, payload.offset)?;
            plain.resize(size, 0);
            decoder.decode(stored, plain)?
        } else {
            plain.resize(size, 0);
            unfold_lz4(stored, plain)
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

fn unfold_lz4(stored: &[u8], plain: &mut [u8]) -> std::result::Result<usize, String> {
    // The C library counts in ints, so it cannot have made a block of this size.
    if plain.len() > i32::MAX as usize {
        return Err("larger than an LZ4 block can be".into());
    }
    lzzzz::lz4::decompress(stored, plain).map_err(|error| error.to_string())
}

#[cfg(test)]
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
