//! A library that was built without a codec (COD-7) refuses it, in writing and in reading, and reads everything else.
//! `make test` runs this with each set of features.

use faro::{Codec, ErrorCode, Files, Reader, ReaderOptions, Writer, WriterOptions};
use std::path::Path;

/// Outputs of the conformance suite whose second block is compressed, and the offset of that block.
const OUTPUTS: [(Codec, &str, u64); 2] = [
    (Codec::Lz4, "cod-2-lz4-run.faro", 104),
    (Codec::Zstd, "cod-3-zstd-single-segment-8.faro", 104),
];

#[test]
fn readers_refuse_blocks_of_a_codec_that_is_not_there() {
    for (codec, name, offset) in OUTPUTS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../conformance/cases/valid")
            .join(name);
        let reader = Reader::open(&Files::Single(path), ReaderOptions::default()).unwrap();
        let blocks = reader.all().unwrap().collect::<Result<Vec<_>, _>>();
        match (codec.is_available(), blocks) {
            (true, blocks) => assert!(!blocks.unwrap().is_empty()),
            (false, blocks) => {
                let error = blocks.unwrap_err();
                assert_eq!(
                    (error.code, error.offset),
                    (ErrorCode::UnsupportedCodec, Some(offset + 17)),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn writers_refuse_a_codec_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    for codec in [Codec::None, Codec::Lz4, Codec::Zstd] {
        let name = folder.path().join(codec.as_str());
        let written = Writer::create(&name, WriterOptions::new(1).codec(codec)).and_then(|mut writer| {
            writer.write(0, &[7; 1000])?;
            writer.finish()
        });
        match written {
            Ok(_) => assert!(codec.is_available()),
            Err(error) => {
                assert!(!codec.is_available(), "{error}");
                assert_eq!(error.code, ErrorCode::InvalidArgument);
                let names = std::fs::read_dir(folder.path())
                    .unwrap()
                    .map(|entry| entry.unwrap().file_name());
                assert!(
                    names
                        .into_iter()
                        .all(|name| !name.to_string_lossy().starts_with(codec.as_str()))
                );
            }
        }
    }
}
