//! Walks over a file from its first byte to its last, and explains every part, also of a damaged file.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::fields::{self, BLOCK, HEADER, TAIL};
use super::message;
use super::note::{Section, number};
use super::schema;
use crate::failure::Outcome;
use crate::positioned::FileExt;
use faro::block::{ANY_PARTITION, REGION};

/// The largest block that is read into memory: the default limit of the library.
const MAX_BLOCK: u64 = 64 << 20;
/// Bytes that are not explained are shown in sections of this size.
const PIECE: u64 = 1 << 20;

/// Explains files.
pub(super) struct Walk<'a> {
    pub file: &'a File,
    pub size: u64,
    /// How many elements of a vector are explained one by one.
    pub limit: usize,
}

/// What a walk knows about the file from its header.
#[derive(Clone, Copy)]
struct Shape {
    /// The start of the checksums of the file's blocks (BLK-9); zeros if the file is too short.
    file_id: [u8; 16],
    records: bool,
    arrow: bool,
}

impl Walk<'_> {
    /// Passes each section that `wanted` selects to `then`, in order. The sections tile the file.
    pub(super) fn run(
        &self,
        wanted: impl Fn(&Range<u64>) -> bool,
        failure: impl Fn(io::Error) -> crate::failure::Failure,
        mut each: impl FnMut(Section) -> Outcome,
    ) -> Outcome {
        let header = self.read(0..self.size.min(HEADER as u64)).map_err(&failure)?;
        let framing = header.get(11).copied();
        let shape = Shape {
            file_id: header.get(40..56).and_then(|id| id.try_into().ok()).unwrap_or_default(),
            records: framing == Some(1),
            arrow: framing == Some(2),
        };
        let mut at = header.len() as u64;
        if wanted(&(0..at)) {
            let mut section = Section::new(0, "file header", header);
            fields::file_header(&mut section);
            each(section)?;
        }
        let end = self.end_of_blocks().map_err(&failure)?;
        while at < self.size {
            let (range, is_block) = self.next_part(at, end).map_err(&failure)?;
            at = range.end;
            if !wanted(&range) {
                continue;
            }
            let bytes = self.read(range.clone()).map_err(&failure)?;
            each(if is_block {
                self.block(range.start, bytes, shape)
            } else if range.start == end {
                let mut section = Section::new(range.start, "tail", bytes);
                fields::tail(&mut section);
                section
            } else {
                let mut section = Section::new(range.start, "not a block", bytes);
                section.payload(0, section.bytes.len(), "bytes");
                section
            })?;
        }
        Ok(())
    }

    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        self.file.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    }

    /// Where the tail begins, or the end of a file without one.
    fn end_of_blocks(&self) -> io::Result<u64> {
        let Some(start) = self
            .size
            .checked_sub(TAIL as u64)
            .filter(|start| *start >= HEADER as u64)
        else {
            return Ok(self.size);
        };
        let bytes = self.read(start..self.size)?;
        Ok(if fields::is_tail(&bytes) { start } else { self.size })
    }

    /// The next part and whether it is a block.
    fn next_part(&self, at: u64, end: u64) -> io::Result<(Range<u64>, bool)> {
        if at >= end {
            return Ok((at..self.size, false));
        }
        if end - at >= BLOCK as u64 {
            let header = self.read(at..at + BLOCK as u64)?;
            let stored = number(&header, 0, 4);
            let length = BLOCK as u64 + stored.next_multiple_of(8);
            // Zeros look like empty blocks. They are not blocks, since a data block has data.
            if stored <= MAX_BLOCK && length <= end - at && header.iter().any(|byte| *byte != 0) {
                return Ok((at..at + length, true));
            }
        }
        Ok((at..end.min(at + PIECE), false))
    }

    fn block(&self, offset: u64, bytes: Vec<u8>, shape: Shape) -> Section {
        let stored = number(&bytes, 0, 4) as usize;
        let (kind, codec) = (bytes[16], bytes[17]);
        let partition = number(&bytes, 8, 4) as u32;
        let owner = match partition {
            ANY_PARTITION if kind < REGION => ", shared".to_owned(),
            ANY_PARTITION => String::new(),
            partition => format!(", partition {partition}"),
        };
        let name = fields::kind_name(kind);
        let name = name.split_once(": ").map_or(name.as_str(), |(_, name)| name);
        let title = format!("block: {name}{owner}, sequence {}", number(&bytes, 12, 4));
        let mut section = Section::new(offset, title, bytes);
        fields::block_header(&mut section, &shape.file_id, stored);
        match schema::root(kind) {
            Some(root) => self.message(&mut section, stored, root),
            None if codec != 0 => section.payload(BLOCK, stored, "compressed payload"),
            None if kind == 0 && shape.records => self.records(&mut section, stored),
            None if kind == 0 && shape.arrow => arrow_message(&mut section, stored),
            None => section.payload(BLOCK, stored, "payload"),
        }
        let padding = section.bytes.len() - BLOCK - stored;
        section.note(BLOCK + stored, padding, "padding", "");
        section
    }

    fn message(&self, section: &mut Section, stored: usize, root: &'static schema::Table) {
        let parts = message::annotate(
            &section.bytes[BLOCK..BLOCK + stored],
            section.offset + BLOCK as u64,
            root,
            self.limit,
        );
        for (at, part) in parts {
            if part.name == "Schema.arrow" {
                section.payload(BLOCK + at, part.length, "Schema.arrow: an encapsulated Arrow message");
            } else {
                section.note(BLOCK + at, part.length, part.name, part.value);
            }
        }
    }

    /// Explains records, if they end exactly at the end of the payload.
    fn records(&self, section: &mut Section, stored: usize) {
        let mut at = BLOCK;
        let end = BLOCK + stored;
        for i in 0..self.limit {
            if end - at < 4 {
                break;
            }
            let length = number(&section.bytes, at, 4) as usize;
            if length > end - at - 4 {
                break;
            }
            section.note(at, 4, format!("record {i}: length"), length.to_string());
            section.payload(at + 4, length, format!("record {i}"));
            at += 4 + length;
        }
        section.payload(at, end - at, "more records");
    }
}

/// Explains the frame of an encapsulated Arrow message (FRM-4).
fn arrow_message(section: &mut Section, stored: usize) {
    if stored < 8 {
        return section.payload(BLOCK, stored, "payload");
    }
    let metadata = number(&section.bytes, BLOCK + 4, 4) as usize;
    section.note(BLOCK, 4, "Arrow message: marker", "");
    section.note(BLOCK + 4, 4, "metadata length", metadata.to_string());
    let metadata = metadata.min(stored - 8);
    section.payload(BLOCK + 8, metadata, "Arrow metadata");
    section.payload(BLOCK + 8 + metadata, stored - 8 - metadata, "Arrow body");
}
