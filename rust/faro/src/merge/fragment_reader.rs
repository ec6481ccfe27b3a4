//! Reads fragments from a stream (spec, FRG-4 and FRG-5).

use super::intake::{Intake, Kind};
use crate::block::BlockHeader;
use crate::bytes::FileHeader;
use crate::codec::{Decompressor, Digest, Stored};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::Limits;
use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

/// How many bytes are read at once.
const PIECE: usize = 256 << 10;

/// A partition block of a fragment, which has passed all checks that need no decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FragmentBlock {
    /// Where the block begins in the fragment.
    pub offset: u64,
    /// Its header: the sequence is the number of the block in its partition (FRG-1).
    pub header: BlockHeader,
    /// The payload as it is stored. [`FragmentReader::decode`] gives the plain payload.
    pub stored: Vec<u8>,
}

/// Reads a stream of any number of fragments.
///
/// ```
/// # fn main() -> faro::Result<()> {
/// # let stream: &[u8] = b"";
/// let mut fragments = faro::merge::FragmentReader::new(stream, faro::Limits::default());
/// while let Some(header) = fragments.next_fragment()? {
///     let producer = header.producer;
///     while let Some(block) = fragments.next_block()? {
///         println!("{producer}: block {} of {}", block.header.sequence, block.header.partition);
///     }
/// }
/// # Ok(()) }
/// ```
pub struct FragmentReader<R> {
    from: R,
    limits: Limits,
    intake: Intake,
    buffer: Vec<u8>,
    /// The bytes of the buffer that were not looked at.
    left: std::ops::Range<usize>,
    has_begun: bool,
    decoder: Decompressor,
    dictionaries: HashMap<u16, Dictionary>,
}

/// A dictionary of the fragment.
struct Dictionary {
    /// Where its block begins.
    at: u64,
    content: Vec<u8>,
    digest: Option<Arc<Digest>>,
}

impl<R: Read> FragmentReader<R> {
    /// Reads from `from`, in pieces of its own.
    pub fn new(from: R, limits: Limits) -> Self {
        FragmentReader {
            from,
            intake: Intake::new(limits.clone()),
            limits,
            buffer: Vec::new(),
            left: 0..0,
            has_begun: false,
            decoder: Decompressor::default(),
            dictionaries: HashMap::new(),
        }
    }

    /// Passes over the rest of the fragment, and reads the header of the next one. None at the end of the stream.
    ///
    /// # Errors
    /// The faults of FRG-4, in the role `fragment`; `io`.
    pub fn next_fragment(&mut self) -> Result<Option<FileHeader>> {
        while self.next_block()?.is_some() {}
        if self.left.is_empty() && !self.fill()? {
            return Ok(None);
        }
        self.intake = Intake::new(self.limits.clone());
        if !self.dictionaries.is_empty() {
            // The decoder knows dictionaries by their numbers, which have another meaning in the next fragment.
            self.dictionaries.clear();
            self.decoder = Decompressor::default();
        }
        self.has_begun = true;
        self.next_part(|kind| kind == Kind::Header)?;
        Ok(self.intake.header().cloned())
    }

    /// The next block of the fragment; none after its end block was checked.
    ///
    /// # Errors
    /// The faults of FRG-4, in the role `fragment`; `io`.
    pub fn next_block(&mut self) -> Result<Option<FragmentBlock>> {
        if !self.has_begun || self.intake.end().is_some() {
            return Ok(None);
        }
        self.next_part(|kind| matches!(kind, Kind::Block | Kind::End))
    }

    /// Whether each partition that has a block in the fragment has no further block in the output. None before the end
    /// of the fragment.
    pub fn is_last(&self) -> Option<bool> {
        self.intake.end().map(|end| end.last)
    }

    /// The encapsulated Arrow schema message of the fragment, with framing arrow.
    pub fn schema_message(&self) -> Option<&[u8]> {
        self.intake.schema()
    }

    /// The plain payload of a block of this fragment (check 12 of BLK-7).
    ///
    /// # Errors
    /// `malformed-block`, `limit-exceeded`.
    pub fn decode(&mut self, block: &FragmentBlock) -> Result<Vec<u8>> {
        let header = &block.header;
        if header.codec == 0 {
            return Ok(block.stored.clone());
        }
        let dictionaries = &mut self.dictionaries;
        let payload = Stored {
            bytes: &block.stored,
            offset: block.offset + BlockHeader::SIZE as u64,
            codec: header.codec,
            dictionary: header.dictionary,
            plain_size: header.plain_size,
        };
        let mut plain = Vec::new();
        let digest = |number| digested(dictionaries, number);
        self.decoder
            .decode_into(&payload, self.limits.max_window_size, digest, &mut plain)
            .map_err(Error::in_fragment)?;
        Ok(plain)
    }

    /// Goes on to the next part of a wanted kind. A block is returned.
    fn next_part(&mut self, wanted: impl Fn(Kind) -> bool) -> Result<Option<FragmentBlock>> {
        loop {
            let mut input = &self.buffer[self.left.clone()];
            let part = self.intake.next(&mut input)?;
            self.left.start = self.left.end - input.len();
            let Some(part) = part else {
                if !self.fill()? {
                    self.intake.check_ended()?;
                    return Ok(None);
                }
                continue;
            };
            if part.kind == Kind::Dictionary {
                let content = self.intake.stored(&part).to_vec();
                let (at, digest) = (part.at, None);
                self.dictionaries
                    .insert(part.block.dictionary, Dictionary { at, content, digest });
            }
            if wanted(part.kind) {
                return Ok((part.kind == Kind::Block).then(|| FragmentBlock {
                    offset: part.at,
                    header: part.block,
                    stored: self.intake.stored(&part).to_vec(),
                }));
            }
        }
    }

    /// Reads the next piece, after all of the last was looked at. False at the end of the stream.
    fn fill(&mut self) -> Result<bool> {
        self.buffer.resize(PIECE, 0);
        loop {
            match self.from.read(&mut self.buffer) {
                Ok(count) => {
                    self.left = 0..count.min(PIECE);
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error {
                        found: error.to_string(),
                        source: Some(Arc::new(error)),
                        ..Error::bare(ErrorCode::Io, "a stream of fragments that can be read", "")
                    });
                }
            }
        }
    }
}

/// A dictionary of the fragment, digested when it is needed first (DIC-6).
fn digested(dictionaries: &mut HashMap<u16, Dictionary>, number: u16) -> Result<Arc<Digest>> {
    let refused = |at: u64| {
        let expected = "a dictionary that the decoder accepts";
        Error::at(
            ErrorCode::MalformedBlock,
            at + BlockHeader::SIZE as u64,
            expected,
            "one that it refuses",
        )
    };
    // The intake has seen the dictionaries that blocks name.
    let found = dictionaries.get_mut(&number).ok_or_else(|| refused(0))?;
    if let Some(digest) = &found.digest {
        return Ok(digest.clone());
    }
    let made = Arc::new(Digest::new(&found.content).ok_or_else(|| refused(found.at))?);
    found.digest = Some(made.clone());
    Ok(made)
}
