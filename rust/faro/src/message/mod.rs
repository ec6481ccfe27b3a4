//! The messages of the index, read from and written as FlatBuffers (spec, MSG, CAN and the tables of REG, FTR and SCH).
//!
//! `parse` refuses a message that is not structurally valid. It does not check the rules of REG and FTR; opening an
//! output does. `build` returns the canonical bytes. Tables may gain fields in a minor version; the structs [`Run`],
//! [`RegionEntry`] and [`DictionaryEntry`] do not change within a major version (VER-1).

mod build;
mod piecewise;
mod tables;
#[cfg(test)]
mod tests;
mod verify;

use crate::bytes::VERSION_MINOR;
use crate::error::{Error, ErrorCode, Result};
use crate::generated;
use flatbuffers::{Follow, Vector, Verifiable, VerifierOptions};
use verify::TableType;

pub(crate) use piecewise::{Elements, Followed, PIECE, Piecewise, Table, broken};
pub(crate) use tables::{REGION, SHARED_EXTENT};

pub(crate) const REGION_IDENTIFIER: &str = "FRRG";
const FOOTER_IDENTIFIER: &str = "FRFT";
const SCHEMA_IDENTIFIER: &str = "FRSC";

/// A shared extent: blocks that are stored once and read by several partitions (REG-6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedExtent {
    /// In units of 8 bytes.
    pub length: u32,
    /// The partitions that read it, one bit for each partition of the file; absent for all (REG-7).
    pub members: Option<Vec<u8>>,
    /// The sequence number of the first block (REG-11).
    pub first_block: u32,
}

/// The blocks of one producer in one own extent of a merged file (REG-8). Its partition is that of the extent.
/// Its fields are those of the format, which do not change within a major version (VER-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The producer's number.
    pub producer: u64,
    /// The producer's attempt.
    pub attempt: u64,
    /// The number of the first block among those that the partition reads from the producer's output (FRG-1).
    pub first_block: u32,
    /// The number of blocks.
    pub blocks: u32,
    /// In units of 8 bytes.
    pub length: u32,
    /// Bit 0, *last*: the producer has no further block for the partition. All other bits are zero.
    pub flags: u32,
}

impl Run {
    /// The flag *last*.
    pub(crate) const LAST: u32 = 1;

    /// Whether the producer has no further block for the partition.
    pub const fn is_last(&self) -> bool {
        self.flags & Run::LAST != 0
    }
}

/// A region message: what the region holds, and where (REG-1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Region {
    /// The number of the region, counted from 0.
    pub sequence: u32,
    /// Where the region's blocks begin, in bytes.
    pub data_offset: u64,
    /// Bytes of the region's blocks.
    pub data_length: u64,
    /// Where the own extents begin, in units of 8 bytes from `data_offset`: one value for each slot, and the end of the
    /// last.
    pub offsets: Vec<u32>,
    /// In dense regions, the partition of slot 0, counted from the file's first partition.
    pub rotation: u32,
    /// Absent in dense regions. In sparse regions, the partition of each slot.
    pub partitions: Option<Vec<u32>>,
    /// The shared extents, which come after the own extents.
    pub shared: Vec<SharedExtent>,
    /// In merged files, whose blocks these are; absent in other files.
    pub runs: Option<Vec<Run>>,
    /// With the reader feature `selective`, the sequence number of the first block of each slot (REG-9); otherwise
    /// absent.
    pub first_block: Option<Vec<u32>>,
}

/// One region in the footer's directory (FTR-1).
/// Its fields are those of the format, which do not change within a major version (VER-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionEntry {
    /// Where the region message's block begins, in bytes.
    pub message_offset: u64,
    /// Its stored size in bytes.
    pub message_size: u32,
    /// Reserved, zero.
    pub flags: u32,
    /// Where the region's blocks begin, in bytes.
    pub data_offset: u64,
    /// Bytes of the region's blocks.
    pub data_length: u64,
}

/// One dictionary in the footer's directory of dictionaries (FTR-7).
/// Its fields are those of the format, which do not change within a major version (VER-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DictionaryEntry {
    /// Where the dictionary's block begins, in bytes of the data (or single) file.
    pub offset: u64,
    /// Bytes of the dictionary.
    pub size: u32,
    /// Reserved, zero.
    pub reserved: u32,
}

/// The amount of data of each partition, for schedulers (FTR-4). Partition p has `stored[p] + stored_to_all` stored
/// bytes, and so on; p counts from the file's first partition. An absent vector is all zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Bytes of the extents, block headers and padding included.
    pub stored: Option<Vec<u64>>,
    /// Plain bytes of the data blocks.
    pub plain: Option<Vec<u64>>,
    /// Records in the data blocks.
    pub records: Option<Vec<u64>>,
    /// Stored bytes that every partition reads.
    pub stored_to_all: u64,
    /// Plain bytes that every partition reads.
    pub plain_to_all: u64,
    /// Records that every partition reads.
    pub records_to_all: u64,
}

/// How many blocks the streams of a `selective` file had, and how many of them are not in it, as the footer has them
/// (FTR-8). Partitions count from the file's first. An absent vector is all zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Streams {
    /// The sequence number that the next block of each partition's own stream would have had.
    pub next: Option<Vec<u32>>,
    /// The number of blocks of each partition's own stream that are not in the file.
    pub missing: Option<Vec<u32>>,
    /// The sequence number that the next shared block would have had.
    pub shared_next: u32,
    /// The number of shared blocks that are not in the file.
    pub shared_missing: u32,
}

/// A key and its value, both text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Property {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// A footer message: the end of a finished index or single file (FTR-1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Footer {
    /// The directory: one entry per region, in order.
    pub regions: Vec<RegionEntry>,
    /// Bytes of the data file; in a single file, the footer block's offset.
    pub data_size: u64,
    /// Absent when the writer kept none.
    pub statistics: Option<Statistics>,
    /// Sorted by key.
    pub properties: Vec<Property>,
    /// The writing program, as its caller named it.
    pub created_by: Option<String>,
    /// Where the dictionaries are, number 1 first; only with the reader feature `dictionaries`.
    pub dictionaries: Vec<DictionaryEntry>,
    /// What each stream had; only with the reader feature `selective`, and absent when it is not known.
    pub streams: Option<Streams>,
}

/// The schema of a file with Arrow framing (SCH-1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// One encapsulated Arrow IPC schema message.
    pub arrow: Vec<u8>,
}

impl Region {
    /// Reads a region message of a file with this minor version; `offset` is where the message begins, for errors.
    ///
    /// # Errors
    /// `malformed-message` at `offset` when the message is not structurally valid.
    pub fn parse(message: &[u8], version_minor: u8, offset: u64) -> Result<Self> {
        let root = root::<generated::Region<'_>>(message, REGION_IDENTIFIER, &tables::REGION, version_minor, offset)?;
        let shared = root.shared().map(|shared| {
            let extent = |extent: generated::SharedExtent<'_>| SharedExtent {
                length: extent.length(),
                members: extent.members().map(|members| members.bytes().to_vec()),
                first_block: extent.first_block(),
            };
            shared.iter().map(extent).collect()
        });
        let runs = root.runs().map(|runs| {
            let run = |run: &generated::Run| Run {
                producer: run.producer(),
                attempt: run.attempt(),
                first_block: run.first_block(),
                blocks: run.blocks(),
                length: run.length(),
                flags: run.flags(),
            };
            runs.iter().map(run).collect()
        });
        Ok(Region {
            sequence: root.sequence(),
            data_offset: root.data_offset(),
            data_length: root.data_length(),
            offsets: u32s(root.offsets()),
            rotation: root.rotation(),
            partitions: root.partitions().map(u32s),
            shared: shared.unwrap_or_default(),
            runs,
            first_block: root.first_block().map(u32s),
        })
    }
}

impl Footer {
    /// Reads a footer message of a file with this minor version; `offset` is where the message begins, for errors.
    ///
    /// # Errors
    /// `malformed-message` at `offset` when the message is not structurally valid.
    pub fn parse(message: &[u8], version_minor: u8, offset: u64) -> Result<Self> {
        let root = root::<generated::Footer<'_>>(message, FOOTER_IDENTIFIER, &tables::FOOTER, version_minor, offset)?;
        let regions = root.regions().map(|entries| {
            let entry = |entry: &generated::RegionEntry| RegionEntry {
                message_offset: entry.message_offset(),
                message_size: entry.message_size(),
                flags: entry.flags(),
                data_offset: entry.data_offset(),
                data_length: entry.data_length(),
            };
            entries.iter().map(entry).collect()
        });
        let statistics = root.statistics().map(|statistics| Statistics {
            stored: statistics.stored().map(u64s),
            plain: statistics.plain().map(u64s),
            records: statistics.records().map(u64s),
            stored_to_all: statistics.stored_to_all(),
            plain_to_all: statistics.plain_to_all(),
            records_to_all: statistics.records_to_all(),
        });
        let dictionaries = root.dictionaries().map(|entries| {
            let entry = |entry: &generated::DictionaryEntry| DictionaryEntry {
                offset: entry.offset(),
                size: entry.size(),
                reserved: entry.reserved(),
            };
            entries.iter().map(entry).collect()
        });
        let streams = root.streams().map(|streams| Streams {
            next: streams.next().map(u32s),
            missing: streams.missing().map(u32s),
            shared_next: streams.shared_next(),
            shared_missing: streams.shared_missing(),
        });
        let properties = root.properties().map(|properties| {
            let property = |property: generated::Property<'_>| Property {
                key: property.key().to_string(),
                value: property.value().to_string(),
            };
            properties.iter().map(property).collect()
        });
        Ok(Footer {
            regions: regions.unwrap_or_default(),
            data_size: root.data_size(),
            statistics,
            properties: properties.unwrap_or_default(),
            created_by: root.created_by().map(str::to_string),
            dictionaries: dictionaries.unwrap_or_default(),
            streams,
        })
    }
}

impl Schema {
    /// Reads a schema message of a file with this minor version; `offset` is where the message begins, for errors.
    ///
    /// # Errors
    /// `malformed-message` at `offset` when the message is not structurally valid.
    pub fn parse(message: &[u8], version_minor: u8, offset: u64) -> Result<Self> {
        let root = root::<generated::Schema<'_>>(message, SCHEMA_IDENTIFIER, &tables::SCHEMA, version_minor, offset)?;
        Ok(Schema {
            arrow: root.arrow().bytes().to_vec(),
        })
    }
}

/// The root of a message, after both our walk and the verifier of the FlatBuffers library found it valid.
fn root<'a, T: Follow<'a> + Verifiable + 'a>(
    message: &'a [u8],
    identifier: &str,
    of: &'static TableType,
    version_minor: u8,
    offset: u64,
) -> Result<T::Inner> {
    let fault = |found: String| {
        Error::at(
            ErrorCode::MalformedMessage,
            offset,
            format!("a structurally valid {} message", of.name),
            found,
        )
    };
    verify::verify(message, identifier.as_bytes(), of, version_minor > VERSION_MINOR).map_err(fault)?;
    // Our walk bounds the work already, more tightly than these limits could.
    let options = VerifierOptions {
        max_tables: usize::MAX,
        max_apparent_size: usize::MAX,
        ..VerifierOptions::default()
    };
    flatbuffers::root_with_opts::<T>(&options, message).map_err(|error| {
        // Our walk is the stricter one. The fuzzers find a message for which it is not.
        debug_assert!(false, "the walk accepts a message that FlatBuffers refuses: {error}");
        fault(error.to_string())
    })
}

fn u32s(vector: Vector<'_, u32>) -> Vec<u32> {
    let (numbers, _) = vector.bytes().as_chunks::<4>();
    numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn u64s(vector: Vector<'_, u64>) -> Vec<u64> {
    let (numbers, _) = vector.bytes().as_chunks::<8>();
    numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}
