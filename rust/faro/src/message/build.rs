//! The canonical bytes of messages (spec, CAN-1 to CAN-3).
//!
//! Children are made in the order of their declaration in the schema. The generated `create` functions add the fields
//! of a table by size and then in reverse order, as the clauses require.

use super::{
    DictionaryEntry, FOOTER_IDENTIFIER, Footer, REGION_IDENTIFIER, Region, SCHEMA_IDENTIFIER, Schema, Statistics,
    Streams,
};
use crate::error::{Error, ErrorCode, Result};
use crate::generated;
use flatbuffers::{FlatBufferBuilder, Push, Vector, WIPOffset};

/// A builder panics above 2^31 bytes. Larger messages are refused before that.
const LARGEST_MESSAGE: u64 = (1 << 31) - (1 << 16);

/// The most bytes that a table, its vtable and the padding of its vectors take.
const TABLE_ROOM: u64 = 128;

fn builder(bytes: u64) -> Result<FlatBufferBuilder<'static>> {
    if bytes > LARGEST_MESSAGE {
        return Err(Error::bare(
            ErrorCode::LimitExceeded,
            format!("a message of at most {LARGEST_MESSAGE} bytes"),
            format!("one of up to {bytes}"),
        ));
    }
    Ok(FlatBufferBuilder::with_capacity(bytes as usize))
}

/// The bytes of a finished message, without a copy, since they may be many.
fn finished(to: FlatBufferBuilder<'_>) -> Vec<u8> {
    let (mut bytes, start) = to.collapse();
    bytes.drain(..start);
    bytes
}

/// A vector that is left out when it has no elements (CAN-3).
fn vector<'a, T: Push + Copy>(to: &mut FlatBufferBuilder<'a>, items: &[T]) -> Option<WIPOffset<Vector<'a, T::Output>>> {
    if items.is_empty() {
        None
    } else {
        Some(to.create_vector(items))
    }
}

/// A vector of statistics or streams, which is left out when all of its values are zero.
fn counts<'a, T: Push + Copy + Default + PartialEq>(
    to: &mut FlatBufferBuilder<'a>,
    values: &Option<Vec<T>>,
) -> Option<WIPOffset<Vector<'a, T::Output>>> {
    let values = values.as_ref()?;
    if values.iter().all(|value| *value == T::default()) {
        None
    } else {
        vector(to, values)
    }
}

fn len<T>(items: &Option<Vec<T>>) -> u64 {
    items.as_ref().map_or(0, |items| items.len() as u64)
}

impl Region {
    /// The canonical bytes of the message.
    ///
    /// # Errors
    /// `limit-exceeded` when the message would be larger than a FlatBuffers buffer can be.
    pub fn build(&self) -> Result<Vec<u8>> {
        let members: u64 = self.shared.iter().map(|extent| len(&extent.members) + TABLE_ROOM).sum();
        let words = self.offsets.len() as u64 + len(&self.partitions) + len(&self.first_block);
        let mut to = builder(2 * TABLE_ROOM + 4 * words + members + 32 * len(&self.runs))?;
        let offsets = to.create_vector(&self.offsets);
        // Absent partitions mean dense, empty ones sparse without slots. Absent members mean all partitions, empty ones
        // none. No other vector may be empty.
        let partitions = self.partitions.as_ref().map(|partitions| to.create_vector(partitions));
        let mut shared = Vec::with_capacity(self.shared.len());
        for extent in &self.shared {
            let members = extent.members.as_ref().map(|members| to.create_vector(members));
            let args = generated::SharedExtentArgs {
                length: extent.length,
                members,
                first_block: extent.first_block,
            };
            shared.push(generated::SharedExtent::create(&mut to, &args));
        }
        let shared = vector(&mut to, &shared);
        let runs = self.runs.as_ref().and_then(|runs| {
            let run = |run: &super::Run| {
                generated::Run::new(
                    run.producer,
                    run.attempt,
                    run.first_block,
                    run.blocks,
                    run.length,
                    run.flags,
                )
            };
            vector(&mut to, &runs.iter().map(run).collect::<Vec<_>>())
        });
        let first_block = self
            .first_block
            .as_ref()
            .and_then(|first_block| vector(&mut to, first_block));
        let root = generated::Region::create(
            &mut to,
            &generated::RegionArgs {
                sequence: self.sequence,
                data_offset: self.data_offset,
                data_length: self.data_length,
                offsets: Some(offsets),
                rotation: self.rotation,
                partitions,
                shared,
                runs,
                first_block,
            },
        );
        to.finish(root, Some(REGION_IDENTIFIER));
        Ok(finished(to))
    }
}

impl Statistics {
    fn build<'a>(&self, to: &mut FlatBufferBuilder<'a>) -> WIPOffset<generated::Statistics<'a>> {
        let stored = counts(to, &self.stored);
        let plain = counts(to, &self.plain);
        let records = counts(to, &self.records);
        generated::Statistics::create(
            to,
            &generated::StatisticsArgs {
                stored,
                plain,
                records,
                stored_to_all: self.stored_to_all,
                plain_to_all: self.plain_to_all,
                records_to_all: self.records_to_all,
            },
        )
    }
}

impl Streams {
    fn build<'a>(&self, to: &mut FlatBufferBuilder<'a>) -> WIPOffset<generated::Streams<'a>> {
        let next = counts(to, &self.next);
        let missing = counts(to, &self.missing);
        generated::Streams::create(
            to,
            &generated::StreamsArgs {
                next,
                missing,
                shared_next: self.shared_next,
                shared_missing: self.shared_missing,
            },
        )
    }
}

impl Footer {
    /// The canonical bytes of the message.
    ///
    /// # Errors
    /// `limit-exceeded` when the message would be larger than a FlatBuffers buffer can be.
    pub fn build(&self) -> Result<Vec<u8>> {
        let counted = self
            .statistics
            .as_ref()
            .map_or(0, |s| len(&s.stored) + len(&s.plain) + len(&s.records));
        let property = |p: &super::Property| p.key.len() as u64 + p.value.len() as u64 + TABLE_ROOM;
        let text =
            self.properties.iter().map(property).sum::<u64>() + self.created_by.as_ref().map_or(0, |s| s.len() as u64);
        let entries = 32 * self.regions.len() as u64 + 16 * self.dictionaries.len() as u64;
        let words = self.streams.as_ref().map_or(0, |s| len(&s.next) + len(&s.missing));
        let mut to = builder(5 * TABLE_ROOM + entries + 8 * counted + 4 * words + text)?;
        let entries: Vec<_> = self
            .regions
            .iter()
            .map(|entry| {
                generated::RegionEntry::new(
                    entry.message_offset,
                    entry.message_size,
                    entry.flags,
                    entry.data_offset,
                    entry.data_length,
                )
            })
            .collect();
        let regions = vector(&mut to, &entries);
        let statistics = self.statistics.as_ref().map(|statistics| statistics.build(&mut to));
        let mut properties = Vec::with_capacity(self.properties.len());
        for property in &self.properties {
            let key = Some(to.create_string(&property.key));
            let value = Some(to.create_string(&property.value));
            properties.push(generated::Property::create(
                &mut to,
                &generated::PropertyArgs { key, value },
            ));
        }
        let properties = vector(&mut to, &properties);
        let created_by = self.created_by.as_ref().map(|text| to.create_string(text));
        let dictionary =
            |entry: &DictionaryEntry| generated::DictionaryEntry::new(entry.offset, entry.size, entry.reserved);
        let dictionaries: Vec<_> = self.dictionaries.iter().map(dictionary).collect();
        let dictionaries = vector(&mut to, &dictionaries);
        let streams = self.streams.as_ref().map(|streams| streams.build(&mut to));
        let root = generated::Footer::create(
            &mut to,
            &generated::FooterArgs {
                regions,
                data_size: self.data_size,
                statistics,
                properties,
                created_by,
                dictionaries,
                streams,
            },
        );
        to.finish(root, Some(FOOTER_IDENTIFIER));
        Ok(finished(to))
    }
}

impl Schema {
    /// The canonical bytes of the message.
    ///
    /// # Errors
    /// `limit-exceeded` when the message would be larger than a FlatBuffers buffer can be.
    pub fn build(&self) -> Result<Vec<u8>> {
        let mut to = builder(TABLE_ROOM + self.arrow.len() as u64)?;
        let arrow = Some(to.create_vector(&self.arrow));
        let root = generated::Schema::create(&mut to, &generated::SchemaArgs { arrow });
        to.finish(root, Some(SCHEMA_IDENTIFIER));
        Ok(finished(to))
    }
}
