//! The Zstandard decoder: one context for block after block, and the dictionary that it refers to (spec, COD and DIC).
#![allow(unsafe_code)]

use crate::error::{Code, Error, Result};
use std::sync::Arc;
use zstd_safe::{DCtx, DDict, DParameter, FrameFormat, InBuffer, OutBuffer, ResetDirective};

/// A dictionary as decoders use it. Any number of them may share one.
pub(crate) struct Digest(DDict<'static>);

impl Digest {
    /// Digests a dictionary; nothing when the decoder refuses it.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        DDict::try_create(bytes).map(Digest)
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest of {} bytes", self.0.sizeof())
    }
}

/// Decodes frames without magic.
pub(crate) struct ZstdDecoder {
    // Fields are dropped in this order: the context goes before the dictionary that it refers to.
    context: DCtx<'static>,
    /// The number and digest that the context refers to.
    dictionary: Option<(u16, Arc<Digest>)>,
    /// The dictionary that was used last, for the blocks behind one without.
    last: Option<(u16, Arc<Digest>)>,
}

fn failed(code: usize) -> Error {
    Error::bare(Code::Io, "a Zstandard decompressor", zstd_safe::get_error_name(code))
}

impl ZstdDecoder {
    /// A decoder whose window is at least `max_window_size` bytes.
    pub(crate) fn new(max_window_size: u64) -> Result<Self> {
        let none = || Error::bare(Code::Io, "a Zstandard decompressor", "no memory for one");
        let mut context = DCtx::try_create().ok_or_else(none)?;
        let window_log = max_window_size.clamp(1 << 10, 1 << 30).next_power_of_two().ilog2();
        for parameter in [
            DParameter::Format(FrameFormat::Magicless),
            DParameter::WindowLogMax(window_log),
        ] {
            context.set_parameter(parameter).map_err(failed)?;
        }
        Ok(ZstdDecoder {
            context,
            dictionary: None,
            last: None,
        })
    }

    /// The dictionary for the next frame, 0 for none; `find` gives one that was not the last.
    pub(crate) fn choose(&mut self, number: u16, find: impl FnOnce(u16) -> Result<Arc<Digest>>) -> Result<()> {
        if self.dictionary.as_ref().map_or(0, |(number, _)| *number) == number {
            return Ok(());
        }
        let wanted = match &self.last {
            _ if number == 0 => None,
            Some((last, digest)) if *last == number => Some(digest.clone()),
            _ => Some(find(number)?),
        };
        // In the middle of a frame, as a fault leaves it, a context takes no dictionary.
        self.reset()?;
        match wanted {
            None => {
                self.context.disable_dictionary().map_err(failed)?;
                self.dictionary = None;
            }
            Some(digest) => {
                let place: *const DDict<'static> = &digest.0;
                // SAFETY: the context refers to this place until it is told another dictionary, or none, or is dropped.
                // `self.dictionary` keeps the digest, which never moves inside its Arc, at least that long: it is
                // changed only here, behind the call that made the context forget the one before, and it is dropped
                // behind the context.
                self.context.ref_ddict(unsafe { &*place }).map_err(failed)?;
                self.dictionary = Some((number, digest));
                self.last = self.dictionary.clone();
            }
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<()> {
        self.context
            .reset(ResetDirective::SessionOnly)
            .map(|_| ())
            .map_err(failed)
    }

    /// Decodes as a stream: a decoder that is given everything at once takes blocks that a stream refuses (COD-4). The
    /// count of plain bytes, or what is wrong with the frame.
    pub(crate) fn decode(&mut self, stored: &[u8], plain: &mut [u8]) -> Result<std::result::Result<usize, String>> {
        // What a failed call left behind must not meet the next block.
        self.reset()?;
        let (mut from, mut to) = (InBuffer::around(stored), OutBuffer::around(plain));
        loop {
            let before = (from.pos(), to.pos());
            match self.context.decompress_stream(&mut to, &mut from) {
                Err(code) => return Ok(Err(zstd_safe::get_error_name(code).to_string())),
                Ok(0) if from.pos() == stored.len() => return Ok(Ok(to.pos())),
                Ok(_) if (from.pos(), to.pos()) == before => {
                    return Ok(Err(format!(
                        "it stops at byte {} after {} plain bytes",
                        from.pos(),
                        to.pos()
                    )));
                }
                Ok(_) => {}
            }
        }
    }
}
