//! Opening a finished output.

use crate::container::Container;
use crate::scratch;
use crate::seen::{Fault, verdict};
use faro::{CheckLevel, CheckOptions, Files, Reader, ReaderOptions, check};

/// Checks the properties of `open`: opens the files, and reads every region and the layout.
pub fn open(input: &[u8]) {
    let container = Container::sealed(input);
    let files = scratch::put(&container);
    let options = container.options();
    let checked = verdict(
        check(
            &files,
            &CheckOptions::default()
                .level(CheckLevel::Structure)
                .limits(options.limits.clone()),
        ),
        &files,
    );
    let opened = once(&files, &options);
    assert_eq!(opened, once(&files, &options), "twice the same");
    match checked {
        Ok(report) => assert_eq!(opened.map(|regions| regions.len() as u64), Ok(report.regions)),
        // The first step of a check is to open.
        Err(fault) => assert!(
            opened.is_ok() || opened == Err(fault),
            "{opened:?}, and check says {fault:?}"
        ),
    }
}

/// For each region, the number of slots and shared extents, or the fault.
type Regions = Vec<Result<(usize, usize), Fault>>;

fn once(files: &Files, options: &ReaderOptions) -> Result<Regions, Fault> {
    let reader = verdict(Reader::open(files, options.clone()), files)?;
    let footer = reader.footer();
    assert_eq!(footer.regions.len(), reader.region_count());
    assert!(reader.region_count() as u64 <= options.limits.max_regions);
    let mut regions = Vec::new();
    for number in 0..reader.region_count() {
        let region = verdict(reader.region(number), files);
        regions.push(region.map(|region| {
            assert_eq!(region.sequence() as usize, number);
            let entry = footer.regions[number];
            assert_eq!(
                (region.extent().offset, region.extent().length),
                (entry.data_offset, entry.data_length)
            );
            (region.slot_count(), region.shared().len())
        }));
    }
    if let Ok(ranges) = verdict(reader.byte_map(), files) {
        let sizes = scratch::sizes(files);
        for (role, size) in sizes {
            let tiled = ranges.iter().filter(|range| range.file == role).fold(0, |at, range| {
                assert_eq!(range.offset, at, "the ranges of a file tile it");
                at + range.length
            });
            assert_eq!(tiled, size, "the ranges of a file tile it");
        }
    }
    Ok(regions)
}
