use super::*;
use crate::writer::{Writer, WriterOptions};

/// Rebuilds three regions: each of three calls writes to a lower partition than the one before it.
fn rebuilt(limits: Limits) -> Result<u64> {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("x");
    let mut writer = Writer::create(&name, WriterOptions::new(100)).unwrap();
    for partition in [2, 1, 0] {
        writer.write(partition, b"abcd").unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    let index = folder.path().join("x.index");
    let before = std::fs::read(&index).unwrap();
    let report = rebuild(&Files::paired(&name), &RebuildOptions::default().limits(limits.clone()));
    assert_eq!(report.is_err(), std::fs::read(&index).unwrap() == before);
    report.map(|report| report.regions)
}

#[test]
fn a_region_that_no_reader_with_these_limits_would_take_is_refused() {
    let fault = |limits| rebuilt(limits).map_err(|error| (error.code, error.role, error.offset));
    let limit = |offset| Err((ErrorCode::LimitExceeded, Some(FileRole::Data), Some(offset)));
    let regions = |max_regions| Limits {
        max_regions,
        ..Limits::default()
    };
    assert_eq!(fault(regions(3)), Ok(3));
    // A block has 24 + 8 bytes. The last region ends with the walk, the one before it with a block.
    assert_eq!(fault(regions(2)), limit(64 + 64));
    assert_eq!(fault(regions(1)), limit(64 + 32));
    let message = |max_message_size| Limits {
        max_message_size,
        ..Limits::default()
    };
    assert_eq!(fault(message(400)), Ok(3));
    assert_eq!(fault(message(8)), limit(64));
}
