//! The options of a merge (spec, MRG).

use super::names::Names;
use crate::block::framing;
use crate::bytes::{FEATURE_DICTIONARIES, FileHeader, FileKind, Framing, MAX_PARTITIONS, VERSION_MINOR};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::writer::Durability;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What a merged file is, and how it is made. `with` methods set the fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MergeOptions {
    /// The number of partitions, 1 to 2^28.
    pub partition_count: u32,
    /// The number of the first partition; default 0.
    pub first_partition: u32,
    /// What plain payloads are; default records.
    pub framing: Framing,
    /// The identity of the output; default random. When a merge is resumed, it must be that of the file if it is given.
    pub file_id: Option<[u8; 16]>,
    /// The generation of the merge: pushes for another are stale; default 0.
    pub generation: u64,
    /// The names of the shuffle: a fragment is refused if its file_id does not follow from them, its producer and its
    /// attempt (NAM-1). By default any file_id is taken.
    pub names: Option<Names>,
    /// With framing arrow: the encapsulated Arrow IPC schema message.
    pub schema: Option<Vec<u8>>,
    /// Whether fragments may have dictionaries; default no.
    pub dictionaries: bool,
    /// A region ends when it has at least this many bytes, 1 to 2^31; default 2 MiB.
    pub chunk_size: u64,
    /// Bytes of all pushes that wait for their turn, at most; default 16 MiB.
    pub max_waiting: u64,
    /// Whether regions are synced when they are committed; default none.
    pub durability: Durability,
    /// The writing program, for the footer.
    pub created_by: Option<String>,
    /// Properties for the footer.
    pub properties: BTreeMap<String, String>,
    /// What is taken from fragments, and from a file that is resumed, at most.
    pub limits: Limits,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name;
            self
        })*
    };
}

impl MergeOptions {
    /// The defaults for this many partitions.
    pub fn new(partition_count: u32) -> Self {
        MergeOptions {
            partition_count,
            first_partition: 0,
            framing: Framing::Records,
            file_id: None,
            generation: 0,
            names: None,
            schema: None,
            dictionaries: false,
            chunk_size: 2 << 20,
            max_waiting: 16 << 20,
            durability: Durability::None,
            created_by: None,
            properties: BTreeMap::new(),
            limits: Limits::default(),
        }
    }

    setters! {
        /// Sets `first_partition`.
        first_partition: u32;
        /// Sets `framing`.
        framing: Framing;
        /// Sets `file_id`.
        file_id: Option<[u8; 16]>;
        /// Sets `generation`.
        generation: u64;
        /// Sets `names`.
        names: Option<Names>;
        /// Sets `schema`.
        schema: Option<Vec<u8>>;
        /// Sets `dictionaries`.
        dictionaries: bool;
        /// Sets `chunk_size`.
        chunk_size: u64;
        /// Sets `max_waiting`.
        max_waiting: u64;
        /// Sets `durability`.
        durability: Durability;
        /// Sets `created_by`.
        created_by: Option<String>;
        /// Sets `properties`.
        properties: BTreeMap<String, String>;
        /// Sets `limits`.
        limits: Limits;
    }

    /// WRT-1: an option out of range is `invalid-argument`.
    pub(super) fn check(&self) -> Result<()> {
        let (count, most) = (u64::from(self.partition_count), u64::from(MAX_PARTITIONS));
        if !(1..=most).contains(&count) {
            return Err(Error::argument("a partition_count of 1 to 2^28", count.to_string()));
        }
        let end = u64::from(self.first_partition) + count;
        if end > most {
            return Err(Error::argument("partition numbers below 2^28", (end - 1).to_string()));
        }
        if !(1..=1 << 31).contains(&self.chunk_size) {
            return Err(Error::argument(
                "a chunk_size of 1 to 2^31",
                self.chunk_size.to_string(),
            ));
        }
        match (&self.schema, self.framing) {
            (None, Framing::Arrow) => Err(Error::argument("a schema message with framing arrow", "none")),
            (Some(_), Framing::Opaque | Framing::Records) => {
                let found = format!("one with framing {}", self.framing.as_str());
                Err(Error::argument("a schema message with framing arrow only", found))
            }
            (Some(message), Framing::Arrow) => match framing::encapsulated_fault(message) {
                Some(found) => Err(Error::argument("a schema message that is encapsulated", found)),
                None => Ok(()),
            },
            (None, _) => Ok(()),
        }
    }

    /// The header of the index file (MRG-1).
    pub(super) fn header(&self) -> FileHeader {
        FileHeader {
            kind: FileKind::Index,
            version_minor: VERSION_MINOR,
            framing: self.framing,
            partition_count: self.partition_count,
            reader_features: if self.dictionaries { FEATURE_DICTIONARIES } else { 0 },
            writer_features: 0,
            producer: u64::MAX,
            attempt: self.generation,
            first_partition: self.first_partition,
            file_id: self.file_id.unwrap_or_else(|| *Uuid::new_v4().as_bytes()),
        }
    }
}
