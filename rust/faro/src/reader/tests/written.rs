//! A reader that its writer handed over: it has read nothing, and its output passes the check.

use super::by_partition::{acts, from_three_on, unfinished};
use crate::check::{CheckLevel, check_reader};
use crate::{Codec, Durability, Layout, Reader, ReaderOptions, WriterOptions, check};
use proptest::prelude::*;

/// The bytes that were read of all files.
fn read(reader: &Reader) -> u64 {
    let files = &reader.output().opened.files;
    let of = |file: &crate::storage::InputFile| file.calls().bytes();
    of(&files.index) + files.data.as_ref().map_or(0, of)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn it_passes_the_check_and_was_not_read_before(
        partitions in 1..40u32,
        acts in acts(40),
        single in any::<bool>(),
        follow in any::<bool>(),
        durable in any::<bool>(),
        statistics in any::<bool>(),
        compressed in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions::new(partitions)
            .first_partition(3)
            .layout(if single { Layout::Single } else { Layout::Paired })
            .follow(follow)
            .durability(if durable { Durability::Commit } else { Durability::None })
            .statistics(statistics)
            .codec(if compressed { Codec::Lz4 } else { Codec::None })
            .buffer_size(3000)
            .block_size(300);
        let mut writer = unfinished(&folder.path().join("out"), options, &from_three_on(acts, partitions));
        let (summary, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        prop_assert_eq!(read(&reader), 0);
        // The few regions are all in the cache.
        for number in 0..reader.region_count() {
            reader.region(number).unwrap();
        }
        prop_assert_eq!(read(&reader), 0);
        let report = check_reader(&reader, CheckLevel::Decode, &mut |_, _| ()).unwrap();
        prop_assert_eq!(report, check(&summary.files, &crate::CheckOptions::default()).unwrap());
        prop_assert_eq!((report.regions, report.blocks), (summary.regions as u64, Some(summary.blocks)));
        // The measurement sees the reads of the check.
        prop_assert_eq!(read(&reader) > 0, report.regions > 0);
    }
}
