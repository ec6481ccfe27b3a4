//! The Zstandard decoder: one context for all blocks, and the dictionary that it refers to (spec, COD and DIC).
#![allow(unsafe_code)]

use crate::error::{Error, ErrorCode, Result};
use std::sync::Arc;
use zstd_safe::{DCtx, DDict, DParameter, FrameFormat, InBuffer, OutBuffer, ResetDirective};

/// A digested dictionary. Any number of decoders may share it.
pub(crate) struct Digest(DDict<'static>);

impl Digest {
    /// Digests a dictionary; none when the decoder refuses it.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        DDict::try_create(bytes).map(Digest)
    }

    /// Its memory, in bytes.
    pub(crate) fn memory_size(&self) -> u64 {
        self.0.sizeof() as u64
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest of {} bytes", self.0.sizeof())
    }
}

/// Decodes frames without a magic number.
pub(crate) struct ZstdDecoder {
    // Fields are dropped in this order: the context before the dictionary that it refers to.
    context: DCtx<'static>,
    /// The number and digest that the context refers to.
    dictionary: Option<(u16, Arc<Digest>)>,
    /// The dictionary that was used last; a block without a dictionary does not clear it.
    last: Option<(u16, Arc<Digest>)>,
}

fn failed(code: usize) -> Error {
    Error::bare(
        ErrorCode::Io,
        "a Zstandard decompressor",
        zstd_safe::get_error_name(code),
    )
}

impl ZstdDecoder {
    /// A decoder that accepts windows of at least `max_window_size` bytes.
    pub(crate) fn new(max_window_size: u64) -> Result<Self> {
        let none = || Error::bare(ErrorCode::Io, "a Zstandard decompressor", "no memory for one");
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

    /// Sets the dictionary for the next frame, 0 for none. `find` finds a dictionary that is not the last one used.
    pub(crate) fn choose(&mut self, number: u16, find: impl FnOnce(u16) -> Result<Arc<Digest>>) -> Result<()> {
        if self.dictionary.as_ref().map_or(0, |(number, _)| *number) == number {
            return Ok(());
        }
        let wanted = match &self.last {
            _ if number == 0 => None,
            Some((last, digest)) if *last == number => Some(digest.clone()),
            _ => Some(find(number)?),
        };
        // After a fault the context is in the middle of a frame, where it takes no dictionary.
        self.reset()?;
        match wanted {
            None => {
                self.context.disable_dictionary().map_err(failed)?;
                self.dictionary = None;
            }
            Some(digest) => {
                let place: *const DDict<'static> = &digest.0;
                // SAFETY: the context refers to this address until it gets another dictionary, or none, or is dropped.
                // `self.dictionary` keeps the digest at least that long, and the digest does not move inside its Arc.
                // The field changes only here, after the call that made the context forget the previous one, and it is
                // dropped after the context.
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

    /// Decodes as a stream, because the one-shot decoder accepts blocks that a stream refuses (COD-4). Returns the
    /// count of plain bytes, or what is wrong with the frame.
    pub(crate) fn decode(&mut self, stored: &[u8], plain: &mut [u8]) -> Result<std::result::Result<usize, String>> {
        // The remains of a failed call must not reach the next block.
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
