//! Opening: headers, tail, footer, schema, in the order of OPN-1 and OPN-2.

use crate::block::framing;
use crate::block::read_metadata;
use crate::block::{BlockHeader, Context, Dictionaries, Kinds, Seal, Sequence};
use crate::bytes::Tail;
use crate::bytes::pad8;
use crate::bytes::{FileHeader, FileKind, Framing, field};
use crate::error::{Error, ErrorCode, FileRole, Result};
use crate::index;
use crate::limits::Limits;
use crate::message::{Footer, Schema};
use crate::storage::{Files, InputFile, StoredOutput};

/// The files of an output, with checked headers.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    /// The index file, or the single file.
    pub index: InputFile,
    /// The data file of a pair.
    pub data: Option<InputFile>,
    /// The header of the index or single file.
    pub header: FileHeader,
    /// The seal of the blocks of both files, which have the same file id (FIL-3).
    pub seal: Seal,
}

/// The footer of a finished file, and where it is.
#[derive(Debug)]
pub(crate) struct FoundFooter {
    pub footer: Footer,
    pub offset: u64,
    pub sequence: u32,
    /// The stored size of its block, in bytes.
    pub size: u32,
}

/// The offset of a schema message: after the file header and a block header (SCH-1).
pub(crate) const SCHEMA_OFFSET: u64 = (FileHeader::SIZE + BlockHeader::SIZE) as u64;

/// Reads and checks the header of a file (HDR-1).
pub(crate) fn read_header(source: &InputFile) -> Result<FileHeader> {
    let mut bytes = [0; FileHeader::SIZE];
    let filled = source.read_up_to(0, &mut bytes)?;
    FileHeader::parse(&bytes[..filled]).map_err(|error| source.blame(error))
}

/// Checks that the header of a file says the kind that the caller expects.
pub(crate) fn check_kind(source: &InputFile, header: &FileHeader, kind: FileKind) -> Result<()> {
    if header.kind == kind {
        return Ok(());
    }
    let text = |kind: FileKind| match kind {
        FileKind::Data => "1, a data file",
        FileKind::Index => "2, an index file",
        FileKind::Single => "3, a single file",
        FileKind::Fragment => "5, a fragment",
    };
    let expected = format!("file kind {}", text(kind));
    Err(source.blame(Error::at(
        ErrorCode::MismatchedPair,
        field::KIND as u64,
        expected,
        text(header.kind),
    )))
}

/// Checks 1 to 5 of OPN-1.
pub(crate) fn open_files(files: &Files) -> Result<OpenFiles> {
    match files {
        Files::Single(path) => open_single(InputFile::open(path, FileRole::Single)?),
        Files::Paired { data, index } => open_pair(InputFile::open(index, FileRole::Index)?, || {
            InputFile::open(data, FileRole::Data)
        }),
    }
}

/// Checks 1 to 5 of OPN-1 for files that are open already.
pub(crate) fn open_stored(output: StoredOutput) -> Result<OpenFiles> {
    let StoredOutput { index, data } = output;
    match data {
        None => open_single(InputFile::new(index, FileRole::Single)),
        Some(data) => open_pair(InputFile::new(index, FileRole::Index), || {
            Ok(InputFile::new(data, FileRole::Data))
        }),
    }
}

fn open_single(single: InputFile) -> Result<OpenFiles> {
    let header = read_header(&single)?;
    check_kind(&single, &header, FileKind::Single)?;
    Ok(OpenFiles {
        index: single,
        data: None,
        seal: Seal::new(&header.file_id),
        header,
    })
}

/// The data file is opened after the checks of the index file.
fn open_pair(index: InputFile, data: impl FnOnce() -> Result<InputFile>) -> Result<OpenFiles> {
    let header = read_header(&index)?;
    check_kind(&index, &header, FileKind::Index)?;
    let data = data()?;
    let data_header = read_header(&data)?;
    check_kind(&data, &data_header, FileKind::Data)?;
    FileHeader::check_pair(&header, &data_header).map_err(|error| data.blame(error))?;
    Ok(OpenFiles {
        index,
        data: Some(data),
        seal: Seal::new(&header.file_id),
        header,
    })
}

impl OpenFiles {
    /// The same files, found elsewhere.
    pub(crate) fn with(&self, stored: StoredOutput) -> OpenFiles {
        OpenFiles {
            index: InputFile::new(stored.index, self.index.role()),
            data: stored.data.map(|data| InputFile::new(data, FileRole::Data)),
            header: self.header.clone(),
            seal: self.seal,
        }
    }

    /// The file with the partition blocks.
    pub(crate) fn data_file(&self) -> &InputFile {
        self.data.as_ref().unwrap_or(&self.index)
    }

    /// The count of dictionaries in the context of a metadata block.
    fn no_dictionaries(&self) -> Dictionaries {
        self.header.has_dictionaries().then_some(0)
    }

    /// The current size of the data (or single) file, in bytes.
    pub(crate) fn data_size(&self) -> Result<u64> {
        self.data_file().size()
    }

    /// Checks 6 to 8 of OPN-1.
    pub(crate) fn read_footer(&self, limits: &Limits) -> Result<FoundFooter> {
        let found = self.find_footer(limits)?;
        if let Some(data) = &self.data {
            check_data_size(data, &found.footer, true)?;
        }
        Ok(found)
    }

    /// Finds the tail and the footer (OPN-2).
    fn find_footer(&self, limits: &Limits) -> Result<FoundFooter> {
        let source = &self.index;
        let size = source.size()?;
        let blame =
            |code, offset, expected: &str, found: String| source.blame(Error::at(code, offset, expected, found));
        let at = size
            .checked_sub(Tail::SIZE as u64)
            .filter(|at| *at >= FileHeader::SIZE as u64);
        let mut bytes = [0; Tail::SIZE];
        if let Some(at) = at {
            source.read_exact(at, &mut bytes)?;
        }
        let Some(at) = at.filter(|_| Tail::has_magic(&bytes)) else {
            let found = "none: it is still being written, or its writer died, or its end was cut off".to_string();
            return Err(blame(
                ErrorCode::Unfinished,
                size,
                "a tail at the end of the file",
                found,
            ));
        };
        let tail = Tail::parse(&bytes, at).map_err(|error| source.blame(error))?;
        let (offset, footer_size) = (tail.footer_offset, tail.footer_size);
        let end = offset.checked_add(BlockHeader::SIZE as u64 + pad8(footer_size));
        if offset < FileHeader::SIZE as u64 || offset % 8 != 0 || end != Some(at) {
            let found = format!("a footer of {footer_size} bytes at {offset}");
            return Err(blame(
                ErrorCode::InconsistentIndex,
                at,
                "a tail whose footer ends where the tail begins",
                found,
            ));
        }
        let kinds = Kinds {
            footer: true,
            ..Kinds::default()
        };
        let context = Context::metadata(limits, self.seal, kinds, Sequence::Unknown, self.no_dictionaries());
        let (block, message) = read_metadata(source, offset, at, &context)?;
        if block.stored_size != footer_size {
            let expected = format!("a footer of {footer_size} bytes, as the tail says");
            return Err(blame(
                ErrorCode::InconsistentIndex,
                offset,
                &expected,
                block.stored_size.to_string(),
            ));
        }
        let footer = parse_footer(&message, &self.header, offset, limits).map_err(|error| source.blame(error))?;
        Ok(FoundFooter {
            footer,
            offset,
            sequence: block.sequence,
            size: footer_size,
        })
    }

    /// The context of the schema block (SCH-1).
    pub(crate) fn schema_context<'a>(&self, limits: &'a Limits) -> Context<'a> {
        let kinds = Kinds {
            schema: true,
            ..Kinds::default()
        };
        Context::metadata(limits, self.seal, kinds, Sequence::Is(0), self.no_dictionaries())
    }

    /// Check 9 of OPN-1: the schema of a file with Arrow framing; `end` is where the schema block must end (SCH-1).
    pub(crate) fn read_schema(&self, limits: &Limits, end: u64) -> Result<Option<Schema>> {
        if self.header.framing != Framing::Arrow {
            return Ok(None);
        }
        let (_, message) = read_metadata(&self.index, FileHeader::SIZE as u64, end, &self.schema_context(limits))?;
        parse_schema(&message, &self.header)
            .map(Some)
            .map_err(|error| self.index.blame(error))
    }
}

/// Checks 6 to 8 of OPN-2, for the message at `offset`.
pub(crate) fn parse_footer(message: &[u8], header: &FileHeader, offset: u64, limits: &Limits) -> Result<Footer> {
    let message_offset = offset + BlockHeader::SIZE as u64;
    let footer = Footer::parse(message, header.version_minor, message_offset)?;
    check_counts(&footer, message_offset, limits)?;
    index::check_footer(&footer, header, offset)?;
    Ok(footer)
}

/// Check 7 of OPN-2: the counts of the footer are within their limits. Its message begins at `message_offset`.
pub(super) fn check_counts(footer: &Footer, message_offset: u64, limits: &Limits) -> Result<()> {
    if footer.regions.len() as u64 > limits.max_regions {
        return Err(Error::at(
            ErrorCode::LimitExceeded,
            message_offset,
            format!("at most {} regions (max_regions)", limits.max_regions),
            footer.regions.len().to_string(),
        ));
    }
    if footer.dictionaries.len() as u64 > limits.max_dictionaries {
        return Err(Error::at(
            ErrorCode::LimitExceeded,
            message_offset,
            format!("at most {} dictionaries (max_dictionaries)", limits.max_dictionaries),
            footer.dictionaries.len().to_string(),
        ));
    }
    Ok(())
}

/// Reads the schema message, and checks the beginning of the Arrow message in it (SCH-1).
pub(crate) fn parse_schema(message: &[u8], header: &FileHeader) -> Result<Schema> {
    let schema = Schema::parse(message, header.version_minor, SCHEMA_OFFSET)?;
    match framing::encapsulated_fault(&schema.arrow) {
        None => Ok(schema),
        Some(found) => Err(Error::at(
            ErrorCode::MalformedMessage,
            SCHEMA_OFFSET,
            "an encapsulated Arrow IPC message in the schema",
            found,
        )),
    }
}

/// Check 8 of OPN-1, and check 7 if `least`.
pub(crate) fn check_data_size(data: &InputFile, footer: &Footer, least: bool) -> Result<()> {
    let (expected, size) = (footer.data_size, data.size()?);
    let text = || format!("{expected} bytes, as the footer says");
    if least && size < expected {
        return Err(data.blame(Error::at(
            ErrorCode::Truncated,
            size,
            text(),
            format!("a file of {size} bytes"),
        )));
    }
    if size > expected {
        let found = format!("a file of {size} bytes");
        return Err(data.blame(Error::at(ErrorCode::InconsistentIndex, expected, text(), found)));
    }
    Ok(())
}
