//! The figures of a writer agree with the file that it made.

mod common;
mod script;

use common::{Place, check, open, options};
use faro::storage::MemoryDestination;
use faro::{Codec, Durability, Layout, Writer, WriterFigures};
use proptest::prelude::*;
use script::{call, fit, make};
use std::time::Duration;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn figures_agree_with_the_file(
        written in script::options(),
        mut calls in prop::collection::vec(call(), 0..60),
        durable in any::<bool>(),
        threads in 1usize..3,
    ) {
        fit(&mut calls, &written);
        let durability = if durable { Durability::Commit } else { Durability::None };
        let place = Place::new();
        let written = written.durability(durability).timed(true).compress_threads(threads);
        let mut writer = Writer::create(place.name(), written.clone()).unwrap();
        let mut last = writer.figures();
        for call in &calls {
            make(&mut writer, &written, std::slice::from_ref(call)).unwrap();
            let now = writer.figures();
            prop_assert!(now.records >= last.records && now.blocks >= last.blocks && now.regions >= last.regions);
            prop_assert!(now.file_bytes >= last.file_bytes && now.region_time >= last.region_time);
            last = now;
        }
        let summary = writer.finish().unwrap();
        let figures = writer.figures();
        let report = check(&summary.files).unwrap();
        prop_assert_eq!((figures.regions, Some(figures.blocks)), (report.regions, report.blocks));
        let reader = open(&summary.files).unwrap();
        let of_regions: u64 = reader.footer().regions.iter().map(|entry| entry.data_length).sum();
        prop_assert_eq!(figures.stored_bytes, of_regions);
        let mut plain = 0;
        for block in reader.all().unwrap() {
            let block = block.unwrap();
            plain += block.payload.len() as u64;
        }
        prop_assert_eq!(figures.plain_bytes, plain);
        let sizes = summary.files.paths().into_iter().map(|(_, path)| path.metadata().unwrap().len());
        prop_assert_eq!(figures.file_bytes, sizes.sum::<u64>());
        // Shared records count once in the figures, and for each partition and set in the statistics.
        let statistics = reader.footer().statistics.clone().unwrap();
        let own: u64 = statistics.records.iter().flatten().sum::<u64>() + statistics.records_to_all;
        prop_assert!(figures.records <= own);
        if !calls.iter().any(|call| format!("{call:?}").contains("These") || format!("{call:?}").contains("shared: Some")) {
            prop_assert_eq!(figures.records, own);
        }
        prop_assert!(figures.spills <= figures.regions + calls.len() as u64);
        prop_assert_eq!((figures.memory_used, figures.memory_refusals), (0, 0));
        if figures.blocks > 0 {
            prop_assert!(figures.checksum_time > Duration::ZERO && figures.region_time > Duration::ZERO);
        }
        prop_assert_eq!(durable, figures.sync_time > Duration::ZERO);
    }
}

/// Events count in the bytes, and not in the records.
#[test]
fn a_region_writer_counts_in_all_figures() {
    let mut writer = Writer::create_in(MemoryDestination::new("x"), options(Layout::Single, 2)).unwrap();
    let mut given_up = writer.region().unwrap();
    given_up.block(Some(0), 0, &[1, 0, 0, 0, 7], 1).unwrap();
    drop(given_up);
    let before = writer.figures();
    assert_eq!((before.records, before.blocks, before.plain_bytes), (0, 0, 0));
    let mut region = writer.region().unwrap();
    region.block(Some(0), 0, &[1, 0, 0, 0, 7, 1, 0, 0, 0, 8], 2).unwrap();
    region.block(Some(1), 64, b"an event", 0).unwrap();
    region.end().unwrap();
    let figures = writer.figures();
    assert_eq!((figures.records, figures.regions, figures.blocks), (2, 1, 2));
    assert_eq!(figures.plain_bytes, 10 + 8);
    assert!(figures.region_time > before.region_time);
}

#[test]
fn times_of_blocks_are_measured_only_if_they_are_wanted() {
    for timed in [false, true] {
        let options = options(Layout::Single, 2)
            .codec(Codec::Zstd)
            .timed(timed)
            .buffer_size(100_000);
        let mut writer = Writer::create_in(MemoryDestination::new("x"), options).unwrap();
        for number in 0..3000u32 {
            writer.write(number % 2, &[b'x'; 100]).unwrap();
        }
        writer.finish().unwrap();
        let figures = writer.figures();
        assert_eq!(figures.compress_time > Duration::ZERO, timed);
        assert_eq!(figures.checksum_time > Duration::ZERO, timed);
        assert!(figures.compress_time + figures.checksum_time <= figures.region_time);
        assert!(figures.write_time > Duration::ZERO);
        assert_eq!((figures.spills, figures.regions, figures.records), (3, 4, 3000));
    }
}

/// The same calls have the same figures in all languages.
#[test]
fn what_counts_as_a_spill_and_as_a_record() {
    let options = options(Layout::Single, 2).buffer_size(100);
    let mut writer = Writer::create_in(MemoryDestination::new("x"), options).unwrap();
    let of = |writer: &Writer| {
        let figures = writer.figures();
        (figures.regions, figures.spills, figures.records)
    };
    writer.write(0, &[1; 60]).unwrap();
    assert_eq!(of(&writer), (0, 0, 0));
    writer.write(0, &[1; 60]).unwrap();
    assert_eq!(of(&writer), (1, 1, 1));
    writer.write(1, &[1; 200]).unwrap();
    assert_eq!(of(&writer), (3, 2, 3));
    writer.broadcast(&[1; 10]).unwrap();
    writer.write(1, &[1; 10]).unwrap();
    assert_eq!(of(&writer), (4, 2, 4));
    writer.write_event(1, 64, b"event").unwrap();
    writer.flush().unwrap();
    assert_eq!(of(&writer), (5, 2, 5));
}

/// What ended for other reasons is not a spill, and what was given up is not counted.
#[test]
fn flushes_and_regions_that_were_given_up() {
    let mut writer = Writer::create_in(MemoryDestination::new("x"), options(Layout::Paired, 2)).unwrap();
    assert_eq!(writer.figures(), WriterFigures::default());
    writer.write(0, b"one").unwrap();
    writer.flush().unwrap();
    let mut region = writer.region().unwrap();
    region.block(Some(1), 0, b"\x01\0\0\0x", 1).unwrap();
    drop(region);
    let mut region = writer.region().unwrap();
    region.block(Some(1), 0, b"\x01\0\0\0x", 1).unwrap();
    region.end().unwrap();
    writer.abort().unwrap();
    let figures = writer.figures();
    assert_eq!(
        (figures.spills, figures.regions, figures.blocks, figures.records),
        (0, 2, 2, 2)
    );
    assert_eq!((figures.plain_bytes, figures.stored_bytes), (7 + 5, 32 + 32));
}
