//! Reading all of a finished output.

use crate::container::Container;
use crate::scratch;
use crate::seen::{Content, every, verdict};
use faro::{CheckLevel, CheckOptions, Files, Framing, Lookup, Reader, ReaderOptions, check};

/// Checks the properties of `read_all`: reads every partition alone and in a range, and checks the output.
pub fn read_all(input: &[u8]) {
    let container = Container::sealed(input);
    let files = scratch::put(&container);
    let options = container.options();
    let levels = [CheckLevel::Structure, CheckLevel::Checksums, CheckLevel::Decode];
    let checked = levels.map(|level| {
        verdict(
            check(
                &files,
                &CheckOptions::default().level(level).limits(options.limits.clone()),
            ),
            &files,
        )
    });
    for higher in &checked[1..] {
        match (checked[0], higher) {
            (Ok(lower), Ok(higher)) => assert_eq!(lower.regions, higher.regions),
            (Err(fault), higher) => assert_eq!(higher.map(drop), Err(fault), "a level includes those below it"),
            (Ok(_), Err(_)) => {}
        }
    }
    // The faults may differ: a payload that does not decode may come before a wrong block.
    assert!(
        checked[1].is_ok() || checked[2].is_err(),
        "a level includes those below it"
    );
    let whole = checked[2].is_ok();
    match verdict(Reader::open(&files, options.clone()), &files) {
        Ok(reader) => partitions(&reader, &files, &options, whole),
        Err(fault) => assert_eq!(checked.map(|checked| checked.map(drop)), [Err(fault); 3]),
    }
}

fn partitions(reader: &Reader, files: &Files, options: &ReaderOptions, whole: bool) {
    let most = options.limits.max_plain_size;
    let in_range = |wanted| {
        Content::of(
            reader.all().expect("all partitions are the file's"),
            wanted,
            most,
            files,
        )
    };
    let all = in_range(None);
    if whole {
        assert_eq!(all.fault, None, "checked whole, and the range does not read");
    }
    let options = options.clone().lookup(Lookup::Direct);
    let direct = verdict(Reader::open(files, options), files).expect("it opened before");
    for partition in every(reader.partitions()) {
        let looked_up = direct.partition(partition).expect("a partition of the file");
        let looked_up = Content::of(looked_up, None, most, files);
        let blocks = || reader.partition(partition).expect("a partition of the file");
        let alone = Content::of(blocks(), None, most, files);
        let again = Content::of(blocks(), Some(partition), most, files);
        assert_eq!(alone, again, "twice the same, and all of it is the partition's");
        if all.fault.is_none() {
            assert_eq!(alone, in_range(Some(partition)), "alone, and in the range");
        }
        let stored = verdict(reader.stored_bytes(partition), files);
        let records = records(reader, partition, files);
        if whole {
            assert!(stored.is_ok() && records.is_ok(), "{stored:?} {records:?}");
            assert_eq!(alone, looked_up, "by direct lookup");
        }
    }
}

/// The number of records of a partition.
fn records(reader: &Reader, partition: u32, files: &Files) -> Result<usize, crate::seen::Fault> {
    if reader.header().framing != Framing::Records {
        return Ok(0);
    }
    let mut count = 0;
    for record in reader.records(partition).expect("a partition of the file") {
        verdict(record, files)?;
        count += 1;
    }
    Ok(count)
}
