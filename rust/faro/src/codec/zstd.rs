//! Zstandard: the encoder, and the trainer of dictionaries (spec, COD-3 to COD-5, DIC-7).

mod decoder;
mod frame;

pub(crate) use decoder::Digest;
pub(super) use decoder::ZstdDecoder;
pub(super) use frame::check as check_frame;

use super::trained::Trained;
use crate::error::{Error, ErrorCode, Result};
use zstd_safe::{CCtx, CParameter, FrameFormat};

/// Compresses frames without a magic number.
pub(super) struct ZstdEncoder(CCtx<'static>);

impl ZstdEncoder {
    /// An encoder for a compression level, and a dictionary if there is one.
    pub(super) fn new(level: i32, trained: Option<&Trained>) -> Result<Self> {
        encoder(level, trained).map(ZstdEncoder)
    }

    /// Compresses `plain` into `target`; none when the result does not fit.
    pub(super) fn compress(&mut self, target: &mut [u8], plain: &[u8]) -> Option<usize> {
        self.0.compress2(target, plain).ok()
    }
}

fn encoder(level: i32, trained: Option<&Trained>) -> Result<CCtx<'static>> {
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

/// The dictionary of at most `capacity` bytes that the trainer makes from samples, which follow one another in
/// `samples`; none when it finds nothing.
pub(crate) fn train_dictionary(capacity: usize, samples: &[u8], sizes: &[usize]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(capacity);
    zstd_safe::train_from_buffer(&mut bytes, samples, sizes).ok()?;
    Some(bytes)
}
