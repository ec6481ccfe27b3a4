//! Where every byte of an output belongs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use faro::block::{self, BlockHeader};
use faro::{Files, RegionIndex, Role};
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::view::{self, View};

/// What a stretch of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    FileHeader,
    OwnExtent,
    SharedExtent,
    RegionMessage,
    SchemaMessage,
    OtherMetadata,
    FooterMessage,
    Tail,
    /// Behind the last commit of an unfinished output.
    Uncommitted,
}

impl What {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            What::FileHeader => "file header",
            What::OwnExtent => "own extent",
            What::SharedExtent => "shared extent",
            What::RegionMessage => "region message",
            What::SchemaMessage => "schema message",
            What::OtherMetadata => "other metadata",
            What::FooterMessage => "footer message",
            What::Tail => "tail",
            What::Uncommitted => "uncommitted",
        }
    }
}

/// A stretch of a file. Pieces tile each file of an output.
#[derive(Clone, Debug, Serialize)]
pub struct Piece {
    pub file: &'static str,
    pub offset: u64,
    pub length: u64,
    pub what: What,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<u32>,
    /// How many partitions read a shared extent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<u32>,
    #[serde(flatten)]
    pub blocks: Blocks,
}

/// What the blocks of a piece consist of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Blocks {
    pub blocks: u64,
    pub block_headers: u64,
    pub payload: u64,
    pub padding: u64,
}

impl Blocks {
    fn add(&mut self, header: &BlockHeader) {
        let payload = u64::from(header.stored_size);
        self.blocks += 1;
        self.block_headers += BlockHeader::SIZE as u64;
        self.payload += payload;
        self.padding += header.size_in_file() - BlockHeader::SIZE as u64 - payload;
    }
}

/// All pieces of an output, file by file.
pub fn pieces(files: &Files, view: &View) -> Outcome<Vec<Piece>> {
    let mut all = Vec::new();
    for (role, path) in view::paths(files) {
        let (file, size) = view::open(path)?;
        let mut walk = Walk {
            role,
            path,
            file,
            size,
            pieces: &mut all,
        };
        walk.piece(What::FileHeader, 0, size.min(64));
        match role {
            Role::Data => walk.data(view)?,
            Role::Index | Role::Single => walk.metadata(view)?,
        }
    }
    Ok(all)
}

struct Walk<'a> {
    role: Role,
    path: &'a Path,
    file: File,
    size: u64,
    pieces: &'a mut Vec<Piece>,
}

impl Walk<'_> {
    /// Adds a piece; the last one is given back to be told more about.
    fn piece(&mut self, what: What, offset: u64, length: u64) -> &mut Piece {
        let piece = Piece {
            file: self.role.as_str(),
            offset,
            length,
            what,
            region: None,
            partition: None,
            members: None,
            blocks: Blocks::default(),
        };
        let at = self.pieces.len();
        self.pieces.push(piece);
        &mut self.pieces[at]
    }

    fn header(&self, at: u64) -> Outcome<BlockHeader> {
        let mut bytes = [0; BlockHeader::SIZE];
        let read = self.file.read_exact_at(&mut bytes, at);
        read.map_err(|source| Failure::file(self.path, source))?;
        Ok(BlockHeader::parse(&bytes))
    }

    /// The blocks of an extent, whose headers need not be right: opening did not look at them.
    fn blocks(&self, offset: u64, length: u64) -> Outcome<Blocks> {
        let mut blocks = Blocks::default();
        let (mut at, end) = (offset, offset + length);
        while at < end {
            let header = if end - at >= BlockHeader::SIZE as u64 {
                Some(self.header(at)?)
            } else {
                None
            };
            let Some(header) = header.filter(|header| header.size_in_file() <= end - at) else {
                let what = format!("the block at offset {at} does not fit into its extent: see `faro check`");
                return Err(Failure::input(self.path, None, what));
            };
            blocks.add(&header);
            at += header.size_in_file();
        }
        Ok(blocks)
    }

    fn region(&mut self, region: &RegionIndex) -> Outcome {
        for slot in region.slots().filter(|slot| slot.extent.length > 0) {
            let blocks = self.blocks(slot.extent.offset, slot.extent.length)?;
            let piece = self.piece(What::OwnExtent, slot.extent.offset, slot.extent.length);
            (piece.region, piece.partition, piece.blocks) = (Some(region.sequence()), Some(slot.partition), blocks);
        }
        for shared in region.shared() {
            let blocks = self.blocks(shared.extent.offset, shared.extent.length)?;
            let piece = self.piece(What::SharedExtent, shared.extent.offset, shared.extent.length);
            (piece.region, piece.blocks) = (Some(region.sequence()), blocks);
            piece.members = Some(shared.members.count());
        }
        Ok(())
    }

    /// The rest of a data file: regions, then what is not committed.
    fn data(&mut self, view: &View) -> Outcome {
        let mut end = self.size.min(64);
        for region in view.regions() {
            let region = region?;
            self.region(&region)?;
            end = region.extent().end();
        }
        self.rest(end);
        Ok(())
    }

    /// The rest of an index or single file: metadata blocks, between them regions, then footer and tail.
    fn metadata(&mut self, view: &View) -> Outcome {
        let mut at = self.size.min(64);
        let mut regions = 0;
        let end = if view.is_finished() {
            self.size.saturating_sub(24)
        } else {
            self.size
        };
        while end - at >= BlockHeader::SIZE as u64 {
            if self.role == Role::Single && regions < view.region_count() {
                let region = view.region(regions)?;
                if region.extent().offset == at {
                    self.region(&region)?;
                    at = region.extent().end();
                }
            }
            let header = self.header(at)?;
            let what = match header.kind {
                block::REGION if regions < view.region_count() => What::RegionMessage,
                block::FOOTER => What::FooterMessage,
                block::SCHEMA => What::SchemaMessage,
                192.. => What::OtherMetadata,
                _ => break,
            };
            let length = header.size_in_file();
            if length > end - at {
                break;
            }
            let piece = self.piece(what, at, length);
            piece.blocks.add(&header);
            if what == What::RegionMessage {
                piece.region = Some(regions as u32);
                regions += 1;
            }
            at += length;
        }
        if view.is_finished() {
            self.piece(What::Tail, end, self.size - end);
        } else {
            self.rest(at);
        }
        Ok(())
    }

    fn rest(&mut self, at: u64) {
        if at < self.size {
            self.piece(What::Uncommitted, at, self.size - at);
        }
    }
}

/// An error for figures that do not add up, which would be a mistake of ours.
pub fn accounted(pieces: &[Piece], files: &Files) -> Outcome<u64> {
    let mut total = 0;
    for (role, path) in view::paths(files) {
        let mut at = 0;
        for piece in pieces.iter().filter(|piece| piece.file == role.as_str()) {
            if piece.offset != at {
                let source = io::Error::other(format!(
                    "{at} bytes are accounted for, the next piece is at {}",
                    piece.offset
                ));
                return Err(Failure::file(path, source));
            }
            at += piece.length;
        }
        total += at;
    }
    Ok(total)
}
