//! The 64 bytes at the start of every file (spec, HDR-1 to HDR-5). No memory is allocated because of a header alone.

use super::checksum::crc32c;
use crate::error::{Error, ErrorCode, Result};

/// The major version of the format that this library reads and writes.
pub const VERSION_MAJOR: u8 = 1;
/// The minor version of the format that this library writes.
pub const VERSION_MINOR: u8 = 0;

/// The first 8 bytes of every file.
pub(crate) const MAGIC: [u8; 8] = [0x89, b'F', b'A', b'R', b'O', 0x0D, 0x0A, 0x1A];
/// The most partitions in a file; all partition numbers are below it.
pub(crate) const MAX_PARTITIONS: u32 = 1 << 28;
/// Reader feature `selective`: sequences may have gaps, region messages have `first_block` (VER-3).
pub(crate) const FEATURE_SELECTIVE: u32 = 1;
/// Reader feature `dictionaries`: blocks may be compressed with dictionaries, which are in the file (VER-3).
pub(crate) const FEATURE_DICTIONARIES: u32 = 2;
/// The reader features that this library knows.
pub(crate) const KNOWN_READER_FEATURES: u32 = FEATURE_SELECTIVE | FEATURE_DICTIONARIES;
/// The writer features that this library knows: none are registered yet (VER-4).
pub(crate) const KNOWN_WRITER_FEATURES: u32 = 0;

/// What a file is (HDR-1). Later versions may register more kinds (VER-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum FileKind {
    /// The data file of a pair.
    Data = 1,
    /// The index file of a pair.
    Index = 2,
    /// Data and index in one file.
    Single = 3,
    /// A part of an output, as it is pushed (FRG in spec/merging.md); never an output by itself.
    Fragment = 5,
}

/// What the plain payloads of data blocks are (FRM-1 to FRM-3). The set is closed in version 1 of the format (HDR-1,
/// check 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Framing {
    /// Bytes that only the engine understands.
    Opaque = 0,
    /// Whole records, each after its length.
    Records = 1,
    /// One encapsulated Arrow IPC record batch message in each block.
    Arrow = 2,
}

impl Framing {
    /// The framing as the conformance protocol spells it, for example `records`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Framing::Opaque => "opaque",
            Framing::Records => "records",
            Framing::Arrow => "arrow",
        }
    }
}

/// The header of a file. The magic, the major version and the checksum are not kept: [`FileHeader::parse`] checks them
/// and [`FileHeader::encode`] writes them. The fields are those of HDR-1, which do not change within a major version
/// (VER-1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// What the file is.
    pub kind: FileKind,
    /// Minor version of the format: which fields messages may have (VER-2).
    pub version_minor: u8,
    /// What the plain payloads of data blocks are.
    pub framing: Framing,
    /// The number of partitions, 1 to 2^28; P in the specification.
    pub partition_count: u32,
    /// The features that a reader must know, as a bit set (VER-3).
    pub reader_features: u32,
    /// The features that a program must know before it rewrites the file, as a bit set (VER-4).
    pub writer_features: u32,
    /// The producer's number; `u64::MAX` in a merged file.
    pub producer: u64,
    /// The producer's attempt, or the generation of the merge.
    pub attempt: u64,
    /// The number of the file's first partition; 0 unless the file holds a range of the shuffle's partitions.
    pub first_partition: u32,
    /// The identity of the output, a UUID; the two files of a pair have the same.
    pub file_id: [u8; 16],
}

/// Where the fields are, in bytes from the beginning of the file (HDR-1). The magic is at 0.
pub(crate) mod field {
    pub(crate) const KIND: usize = 8;
    pub(crate) const VERSION_MAJOR: usize = 9;
    pub(crate) const VERSION_MINOR: usize = 10;
    pub(crate) const FRAMING: usize = 11;
    pub(crate) const PARTITION_COUNT: usize = 12;
    pub(crate) const READER_FEATURES: usize = 16;
    pub(crate) const WRITER_FEATURES: usize = 20;
    pub(crate) const PRODUCER: usize = 24;
    pub(crate) const ATTEMPT: usize = 32;
    pub(crate) const FILE_ID: usize = 40;
    pub(crate) const FIRST_PARTITION: usize = 56;
    pub(crate) const CHECKSUM: usize = 60;
}

/// Writes a field to a header.
fn put(bytes: &mut [u8; FileHeader::SIZE], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

/// The bytes of a field.
fn get<const N: usize>(bytes: &[u8; FileHeader::SIZE], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

fn u32_at(bytes: &[u8; FileHeader::SIZE], at: usize) -> u32 {
    u32::from_le_bytes(get(bytes, at))
}

fn u64_at(bytes: &[u8; FileHeader::SIZE], at: usize) -> u64 {
    u64::from_le_bytes(get(bytes, at))
}

impl FileHeader {
    /// The size of a file header, in bytes.
    pub const SIZE: usize = 64;

    /// The 64 bytes of the header, with its checksum.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        put(&mut bytes, 0, &MAGIC);
        bytes[field::KIND] = self.kind as u8;
        bytes[field::VERSION_MAJOR] = VERSION_MAJOR;
        bytes[field::VERSION_MINOR] = self.version_minor;
        bytes[field::FRAMING] = self.framing as u8;
        put(&mut bytes, field::PARTITION_COUNT, &self.partition_count.to_le_bytes());
        put(&mut bytes, field::READER_FEATURES, &self.reader_features.to_le_bytes());
        put(&mut bytes, field::WRITER_FEATURES, &self.writer_features.to_le_bytes());
        put(&mut bytes, field::PRODUCER, &self.producer.to_le_bytes());
        put(&mut bytes, field::ATTEMPT, &self.attempt.to_le_bytes());
        put(&mut bytes, field::FILE_ID, &self.file_id);
        put(&mut bytes, field::FIRST_PARTITION, &self.first_partition.to_le_bytes());
        let checksum = crc32c(&[&bytes[..field::CHECKSUM]]);
        put(&mut bytes, field::CHECKSUM, &checksum.to_le_bytes());
        bytes
    }

    /// Whether the bytes look like a header, valid or not, with a file_id that begins with these bytes.
    pub(crate) fn looks_like(start: &[u8; Self::SIZE], file_id: Option<[u8; 4]>) -> bool {
        start[..8] == MAGIC && file_id.is_none_or(|wanted| start[field::FILE_ID..][..4] == wanted)
    }

    /// Checks and reads a header (HDR-1). `start` holds the first 64 bytes of the file, or all of a shorter file.
    pub fn parse(start: &[u8]) -> Result<Self> {
        let of_magic = &start[..start.len().min(MAGIC.len())];
        if *of_magic != MAGIC[..of_magic.len()] {
            return Err(Error::at(
                ErrorCode::NotFaro,
                0,
                format!("the magic {MAGIC:02X?}"),
                what_instead(of_magic),
            ));
        }
        let Some(bytes) = start.first_chunk::<{ Self::SIZE }>() else {
            return Err(Error::at(
                ErrorCode::Truncated,
                start.len() as u64,
                "a file header of 64 bytes",
                format!("a file of {} bytes", start.len()),
            ));
        };
        let (stored, computed) = (u32_at(bytes, field::CHECKSUM), crc32c(&[&bytes[..field::CHECKSUM]]));
        if stored != computed {
            return Err(Error::checksum(0, stored, computed));
        }
        check(
            bytes[field::VERSION_MAJOR] == VERSION_MAJOR,
            ErrorCode::UnsupportedVersion,
            field::VERSION_MAJOR as u64,
            "major version 1",
            || bytes[field::VERSION_MAJOR].to_string(),
        )?;
        let unknown = u32_at(bytes, field::READER_FEATURES) & !KNOWN_READER_FEATURES;
        check(
            unknown == 0,
            ErrorCode::UnsupportedFeature,
            field::READER_FEATURES as u64,
            "reader features that this library knows",
            || format!("the unknown bits {unknown:#X}; a newer version of this library may know them"),
        )?;
        let kind = match bytes[field::KIND] {
            1 => FileKind::Data,
            2 => FileKind::Index,
            3 => FileKind::Single,
            4 => {
                return Err(Error::at(
                    ErrorCode::UnsupportedFeature,
                    field::KIND as u64,
                    "file kind 1, 2, 3 or 5",
                    "4, a manifest",
                ));
            }
            5 => FileKind::Fragment,
            other => {
                return Err(Error::at(
                    ErrorCode::MalformedHeader,
                    field::KIND as u64,
                    "file kind 1, 2, 3 or 5",
                    other.to_string(),
                ));
            }
        };
        let framing = match bytes[field::FRAMING] {
            0 => Framing::Opaque,
            1 => Framing::Records,
            2 => Framing::Arrow,
            other => {
                return Err(Error::at(
                    ErrorCode::MalformedHeader,
                    field::FRAMING as u64,
                    "framing 0, 1 or 2",
                    other.to_string(),
                ));
            }
        };
        let (partition_count, first_partition) = (
            u32_at(bytes, field::PARTITION_COUNT),
            u32_at(bytes, field::FIRST_PARTITION),
        );
        let malformed = ErrorCode::MalformedHeader;
        let in_range = (1..=MAX_PARTITIONS).contains(&partition_count);
        check(
            in_range,
            malformed,
            field::PARTITION_COUNT as u64,
            "1 to 2^28 partitions",
            || partition_count.to_string(),
        )?;
        let fits = u64::from(first_partition) + u64::from(partition_count) <= u64::from(MAX_PARTITIONS);
        check(
            fits,
            malformed,
            field::FIRST_PARTITION as u64,
            "partition numbers below 2^28",
            || format!("{partition_count} partitions from {first_partition} on"),
        )?;

        Ok(FileHeader {
            kind,
            version_minor: bytes[field::VERSION_MINOR],
            framing,
            partition_count,
            reader_features: u32_at(bytes, field::READER_FEATURES),
            writer_features: u32_at(bytes, field::WRITER_FEATURES),
            producer: u64_at(bytes, field::PRODUCER),
            attempt: u64_at(bytes, field::ATTEMPT),
            first_partition,
            file_id: get(bytes, field::FILE_ID),
        })
    }

    /// Whether the file has the reader feature `selective`.
    pub fn is_selective(&self) -> bool {
        self.reader_features & FEATURE_SELECTIVE != 0
    }

    /// Whether the file has the reader feature `dictionaries`.
    pub fn has_dictionaries(&self) -> bool {
        self.reader_features & FEATURE_DICTIONARIES != 0
    }

    /// Whether the file is merged: it has blocks of many producers (MRG-1).
    pub fn is_merged(&self) -> bool {
        self.producer == u64::MAX
    }

    /// Whether messages of the file may have fields that this library does not know (MSG-12).
    pub fn is_newer_minor(&self) -> bool {
        self.version_minor > VERSION_MINOR
    }

    /// The partition numbers of the file.
    pub fn partitions(&self) -> std::ops::Range<u32> {
        self.first_partition..self.first_partition + self.partition_count
    }

    /// Checks that two headers belong to one pair (FIL-3). A fault is in the data file.
    pub(crate) fn check_pair(index: &FileHeader, data: &FileHeader) -> Result<()> {
        let fields: [(&str, usize, u128, u128); 9] = [
            (
                "file_id",
                field::FILE_ID,
                u128::from_be_bytes(index.file_id),
                u128::from_be_bytes(data.file_id),
            ),
            (
                "partition_count",
                field::PARTITION_COUNT,
                index.partition_count.into(),
                data.partition_count.into(),
            ),
            (
                "first_partition",
                field::FIRST_PARTITION,
                index.first_partition.into(),
                data.first_partition.into(),
            ),
            ("producer", field::PRODUCER, index.producer.into(), data.producer.into()),
            ("attempt", field::ATTEMPT, index.attempt.into(), data.attempt.into()),
            ("framing", field::FRAMING, index.framing as u128, data.framing as u128),
            (
                "reader_features",
                field::READER_FEATURES,
                index.reader_features.into(),
                data.reader_features.into(),
            ),
            (
                "writer_features",
                field::WRITER_FEATURES,
                index.writer_features.into(),
                data.writer_features.into(),
            ),
            (
                "version_minor",
                field::VERSION_MINOR,
                index.version_minor.into(),
                data.version_minor.into(),
            ),
        ];
        for (name, offset, expected, found) in fields {
            let show = |value: u128| match name {
                "file_id" => format!("{value:032x}"),
                _ => value.to_string(),
            };
            check(
                expected == found,
                ErrorCode::MismatchedPair,
                offset as u64,
                &format!("the index file's {name}, {}", show(expected)),
                || format!("{}: the two files are not of one output", show(found)),
            )?;
        }
        Ok(())
    }

    /// Refuses to rewrite a file with a writer feature that this library does not know (HDR-4).
    pub(crate) fn check_writer_features(&self) -> Result<()> {
        let unknown = self.writer_features & !KNOWN_WRITER_FEATURES;
        check(
            unknown == 0,
            ErrorCode::UnsupportedFeature,
            field::WRITER_FEATURES as u64,
            "writer features that this library knows",
            || format!("the unknown bits {unknown:#X}"),
        )
    }
}

fn check(holds: bool, code: ErrorCode, offset: u64, expected: &str, found: impl FnOnce() -> String) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(Error::at(code, offset, expected, found()))
    }
}

/// Describes the bytes that are in place of the magic, and guesses the cause.
fn what_instead(bytes: &[u8]) -> String {
    let text_mode = bytes.starts_with(b"\x89FARO\n\x1A") || bytes.starts_with(b"\x89FARO\r\n\n") || {
        bytes.starts_with(b"\x89FARO\r\r\n")
    };
    let stripped = bytes.starts_with(b"\x09FARO");
    let hint = if text_mode {
        ": the file was damaged by a transfer in text mode, which changes line ends"
    } else if stripped {
        ": the file was damaged by a transfer that clears the eighth bit"
    } else {
        ""
    };
    format!("{bytes:02X?}{hint}")
}

#[cfg(test)]
mod tests;
