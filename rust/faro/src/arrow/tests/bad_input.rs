//! Whatever a file contains, reading batches ends in a batch or in an error of the specification.

use super::{folder, numbers, open, shapes};
use crate::arrow::ipc::{Encoder, decode_batch, decode_schema};
use crate::arrow::plain::{Rewrite, unpacked_schema};
use crate::{ErrorCode, FileRole, Framing, Writer, WriterOptions};
use bytes::Bytes;

fn arrow_options(schema: &[u8]) -> WriterOptions {
    let mut options = WriterOptions::new(1);
    options.framing = Framing::Arrow;
    options.schema = Some(schema.to_vec());
    options
}

#[test]
fn changed_bytes_never_panic() {
    let schema = unpacked_schema(&shapes::batch().schema()).unwrap();
    let batch = Rewrite::Unpack.apply(&shapes::batch().slice(0, 30), &schema).unwrap();
    let mut encoder = Encoder::new().unwrap();
    let (schema_message, message) = (encoder.schema(&schema).unwrap(), encoder.batch(&batch).unwrap());
    assert_eq!(decode_schema(&schema_message).unwrap(), *schema);
    assert_eq!(decode_batch(&schema, &Bytes::from(message.clone())).unwrap(), batch);
    for change in [0x01, 0x80, 0xFF] {
        for at in 0..schema_message.len() {
            let mut bad = schema_message.clone();
            bad[at] ^= change;
            let _ = decode_schema(&bad);
        }
        // All of the metadata, and the beginning of the body.
        for at in 0..message.len().min(6000) {
            let mut bad = message.clone();
            bad[at] ^= change;
            let _ = decode_batch(&schema, &Bytes::from(bad));
        }
    }
    for length in (0..message.len()).step_by(11) {
        assert!(decode_batch(&schema, &Bytes::copy_from_slice(&message[..length])).is_err());
    }
}

#[test]
fn what_arrow_refuses_is_blamed_on_its_block() {
    let mut encoder = Encoder::new().unwrap();
    let schema = encoder.schema(&numbers([]).schema()).unwrap();
    let (_folder, name) = folder();
    let mut writer = Writer::create(&name, arrow_options(&schema)).unwrap();
    writer.write(0, &encoder.batch(&numbers([1, 2])).unwrap()).unwrap();
    writer.write_event(0, crate::block::EVENT, b"an event").unwrap();
    // Valid by FRM-4, but not a record batch.
    writer.write(0, &schema).unwrap();
    writer.write(0, &encoder.batch(&numbers([3])).unwrap()).unwrap();
    writer.finish().unwrap();
    let reader = open(&name);
    let blocks: Vec<_> = reader.partition(0).unwrap().map(|block| block.unwrap()).collect();
    let mut batches = reader.batches(0).unwrap();
    assert_eq!(batches.next().unwrap().unwrap(), numbers([1, 2]));
    let error = batches.next().unwrap().unwrap_err();
    assert_eq!(
        (error.code, error.role, error.offset),
        (
            ErrorCode::MalformedBlock,
            Some(FileRole::Data),
            Some(blocks[2].offset + 24)
        )
    );
    assert!(batches.next().is_none());
    let decoder = reader.batch_decoder().unwrap();
    assert_eq!(decoder.decode(&blocks[3]).unwrap(), numbers([3]));
    assert_eq!(decoder.decode(&blocks[1]).unwrap_err().code, ErrorCode::InvalidArgument);
}

#[test]
fn a_schema_that_arrow_refuses_is_blamed_on_the_schema_block() {
    let (_folder, name) = folder();
    let no_schema = b"\xFF\xFF\xFF\xFF\x08\0\0\x0012345678";
    Writer::create(&name, arrow_options(no_schema))
        .unwrap()
        .finish()
        .unwrap();
    let error = open(&name).batches(0).err().unwrap();
    assert_eq!(
        (error.code, error.role, error.offset),
        (ErrorCode::MalformedMessage, Some(FileRole::Index), Some(88))
    );
}

#[test]
fn other_framings_have_no_batches() {
    let (_folder, name) = folder();
    Writer::create(&name, WriterOptions::new(1)).unwrap().finish().unwrap();
    assert_eq!(open(&name).arrow_schema().unwrap_err().code, ErrorCode::InvalidArgument);
}
