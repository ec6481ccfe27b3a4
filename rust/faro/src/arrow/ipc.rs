//! Encapsulated Arrow IPC messages: the payloads of data blocks (spec, FRM-3) and the content of the schema message
//! (SCH-1).

use crate::block::framing::encapsulated_fault;
use crate::error::{Error, Result};
use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::RecordBatchDecoder;
use arrow::ipc::writer::{DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow::ipc::{Message, MetadataVersion};
use bytes::Bytes;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Encodes messages, and reuses the encoder's memory.
pub(super) struct Encoder {
    options: IpcWriteOptions,
    /// Always empty, since dictionaries are unpacked before.
    dictionaries: DictionaryTracker,
    context: IpcWriteContext,
}

impl Encoder {
    pub(super) fn new() -> Result<Self> {
        Ok(Encoder {
            // Blocks begin at multiples of 8, so no larger alignment is possible inside them.
            options: IpcWriteOptions::try_new(8, false, MetadataVersion::V5).map_err(refused)?,
            dictionaries: DictionaryTracker::new(true),
            context: IpcWriteContext::default(),
        })
    }

    /// The message of a schema.
    pub(super) fn schema(&mut self, schema: &Schema) -> Result<Vec<u8>> {
        let encoded = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            schema,
            &mut self.dictionaries,
            &self.options,
        );
        self.encapsulate(encoded)
    }

    /// The message of a batch without dictionary columns.
    pub(super) fn batch(&mut self, batch: &RecordBatch) -> Result<Vec<u8>> {
        let (_, encoded) = IpcDataGenerator::default()
            .encode(batch, &mut self.dictionaries, &self.options, &mut self.context)
            .map_err(refused)?;
        self.encapsulate(encoded)
    }

    fn encapsulate(&self, encoded: EncodedData) -> Result<Vec<u8>> {
        let mut message = Vec::with_capacity(encoded.ipc_message.len() + encoded.arrow_data.len() + 16);
        arrow::ipc::writer::write_message(&mut message, encoded, &self.options).map_err(refused)?;
        Ok(message)
    }
}

/// The error for a batch or schema of the caller that Arrow refuses.
pub(super) fn refused(error: ArrowError) -> Error {
    Error::argument("what Arrow can encode", error.to_string())
}

/// The schema of an encapsulated schema message, or the fault (SCH-3).
pub(super) fn decode_schema(message: &[u8]) -> std::result::Result<Schema, String> {
    let (parsed, body_at) = split(message)?;
    if parsed.header_as_schema().is_none() {
        return Err(format!("a message of {:?}", parsed.header_type()));
    }
    // Both majors of Arrow have this function; that of 59 panics at some schemas.
    guarded(|| arrow::ipc::convert::try_schema_from_flatbuffer_bytes(&message[8..body_at]))
}

/// The batch of an encapsulated record batch message, or the fault (FRM-5). Its columns share the payload's memory.
pub(super) fn decode_batch(schema: &SchemaRef, payload: &Bytes) -> std::result::Result<RecordBatch, String> {
    let (message, body_at) = split(payload)?;
    let batch = message
        .header_as_record_batch()
        .ok_or_else(|| format!("a message of {:?}", message.header_type()))?;
    let body = payload.slice(body_at..);
    check_body(message.bodyLength(), &batch, body.len())?;
    let (body, version) = (Buffer::from(body), message.version());
    let no_dictionaries = HashMap::new();
    guarded(|| {
        RecordBatchDecoder::try_new(&body, batch, schema.clone(), &no_dictionaries, &version)?.read_record_batch()
    })
}

/// The metadata of an encapsulated message, verified, and where its body begins.
fn split(payload: &[u8]) -> std::result::Result<(Message<'_>, usize), String> {
    if let Some(fault) = encapsulated_fault(payload) {
        return Err(fault);
    }
    let start = payload.first_chunk::<8>().ok_or("too few bytes")?;
    // Positive and inside the payload, as FRM-4 was checked.
    let body_at = 8 + u32::from_le_bytes([start[4], start[5], start[6], start[7]]) as usize;
    let metadata = payload.get(8..body_at).ok_or("too few bytes")?;
    let message = arrow::ipc::root_as_message(metadata).map_err(|error| error.to_string())?;
    Ok((message, body_at))
}

/// Checks what the decoder does not check: sizes and positions of the batch's parts.
fn check_body(body_length: i64, batch: &arrow::ipc::RecordBatch<'_>, there: usize) -> std::result::Result<(), String> {
    let inside = |offset: i64, length: i64| {
        let end = u64::try_from(offset)
            .ok()
            .zip(u64::try_from(length).ok())
            .and_then(|(at, size)| at.checked_add(size));
        end.is_some_and(|end| end <= there as u64)
    };
    if !inside(0, body_length) {
        return Err(format!("a body of {body_length} bytes where {there} are"));
    }
    if batch.compression().is_some() {
        // The decompressed size is not known in advance. Blocks are compressed as a whole instead.
        return Err("buffers that Arrow compressed".into());
    }
    if batch.length() < 0 {
        return Err(format!("{} rows", batch.length()));
    }
    for buffer in batch.buffers().iter().flatten() {
        if !inside(buffer.offset(), buffer.length()) {
            return Err(format!(
                "a buffer of {} bytes at {} of {there}",
                buffer.length(),
                buffer.offset()
            ));
        }
    }
    for node in batch.nodes().iter().flatten() {
        if node.length() < 0 || !(0..=node.length()).contains(&node.null_count()) {
            return Err(format!("{} nulls of {} values", node.null_count(), node.length()));
        }
    }
    Ok(())
}

/// Runs a decoder of Arrow, which panics on some bad input, and turns the panic into an error (ERR-3).
fn guarded<T>(decode: impl FnOnce() -> std::result::Result<T, ArrowError>) -> std::result::Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("a message on which Arrow's decoder panics".into()),
    }
}
