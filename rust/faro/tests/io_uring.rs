//! The example that brings bytes from a ring of the kernel delivers what a reader delivers.
#![cfg(target_os = "linux")]

mod common;

#[path = "../examples/io_uring/ring.rs"]
#[allow(dead_code)]
mod example;

use common::{Place, open, write_sample};
use faro::{Layout, Writer, WriterOptions};

#[test]
fn a_ring_brings_what_a_reader_reads() {
    let place = Place::new();
    let name = place.name();
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        compare(&files, place.name().to_str().unwrap(), 6);
    }
    // One that takes several requests.
    let mut writer = Writer::create(&name, WriterOptions::new(2)).unwrap();
    (0..20_000u32).for_each(|record| writer.write(1, &record.to_le_bytes().repeat(250)).unwrap());
    compare(&writer.finish().unwrap().files, name.to_str().unwrap(), 1);
}

fn compare(files: &faro::Files, name: &str, partition: u32) {
    let mut expected = (0, 0);
    for block in open(files).unwrap().partition(partition).unwrap() {
        expected.0 += 1;
        expected.1 += block.unwrap().payload.len() as u64;
    }
    // The kernel may refuse a ring, for example in a container.
    if let Some(found) = example::read(name, partition).unwrap() {
        assert_eq!(found, expected);
    }
}
