//! Space on the device that is reserved ahead of a long file. It is a hint: nothing depends on it, and none of it is
//! left.

#![cfg(target_os = "linux")]

mod common;
mod recorder;

use common::{Place, check, options};
use faro::{Layout, Result, Writer, WriterOptions};
use recorder::recorded;
use std::os::unix::fs::MetadataExt;

const RECORDS: usize = 60;

fn write(writer: &mut Writer) -> Result<()> {
    let record = vec![7; 100_000];
    for number in 0..RECORDS {
        writer.write(number as u32 % 3, &record)?;
        if number % 20 == 19 {
            writer.flush()?;
        }
    }
    writer.finish().map(|_| ())
}

/// The calls for an output of 6 MB, some of which fail.
fn calls(place: &Place, options: WriterOptions, refused: std::ops::Range<usize>) -> Vec<String> {
    let mut writer = Writer::create(place.name(), options).unwrap();
    let (result, calls) = recorded(refused, || write(&mut writer));
    result.unwrap();
    assert_eq!(check(&place.output(Layout::Paired)).unwrap().regions, 3);
    calls
}

fn where_is(calls: &[String], name: &str) -> Option<usize> {
    calls.iter().position(|call| call.starts_with(name))
}

#[test]
fn a_finished_file_takes_no_more_of_the_device_than_its_bytes() {
    let place = Place::new();
    let calls = calls(&place, options(Layout::Paired, 3), 0..0);
    let (room, cut) = (where_is(&calls, "room for out.data"), where_is(&calls, "cut out.data"));
    assert!(room.is_some() && cut > room, "{calls:?}");
    let data = place.name().with_file_name("out.data").metadata().unwrap();
    // This holds also for file systems with blocks of 64 KiB.
    assert!(
        data.blocks() * 512 < data.len() + (128 << 10),
        "{} of {}",
        data.blocks() * 512,
        data.len()
    );
}

#[test]
fn a_failure_to_reserve_space_is_ignored_and_not_retried() {
    let all = calls(&Place::new(), options(Layout::Paired, 3), 0..0);
    for name in ["room for", "cut"] {
        let at = where_is(&all, name).unwrap();
        let refused = calls(&Place::new(), options(Layout::Paired, 3), at..at + 1);
        let count = |calls: &[String]| calls.iter().filter(|call| call.starts_with("room for")).count();
        assert!(count(&refused) <= count(&all), "{refused:?}");
    }
}

#[test]
fn a_file_that_others_follow_has_only_what_was_written() {
    let calls = calls(&Place::new(), options(Layout::Paired, 3).follow(true), 0..0);
    assert_eq!(where_is(&calls, "room for"), None, "{calls:?}");
}
