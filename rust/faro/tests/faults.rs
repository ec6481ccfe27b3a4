//! Files and folders that vanish, shrink or change while a reader or a writer is at work, and names of other things
//! than files.

mod common;

use common::{Content, Place, check, code, content, contents, index_path, open, options, write_sample};
use faro::{
    Durability, ErrorCode, FileRole, Files, Follower, Layout, Limits, Reader, ReaderOptions, RebuildOptions, Result,
    Writer,
};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];
const PARTITIONS: u32 = 4;

/// Three regions of blocks that are larger than a read, so that much is left to be read while the iterator is at work.
fn write_large(place: &Place, layout: Layout) -> Files {
    let mut writer = Writer::create(place.name(), options(layout, PARTITIONS)).unwrap();
    for region in 0..3 {
        for partition in 0..PARTITIONS {
            writer
                .write(partition, &vec![(10 * region + partition) as u8; 300_000])
                .unwrap();
        }
        writer.broadcast(&[99; 1000]).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap().files
}

fn data_path(files: &Files) -> &Path {
    match files {
        Files::Single(path) => path,
        Files::Paired { data, .. } => data,
    }
}

fn read(reader: &Reader, partition: u32) -> Result<Content> {
    content(reader.partition(partition)?)
}

#[test]
fn a_data_file_that_shrinks_is_truncated_and_what_is_left_can_be_read() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_large(&place, layout);
        let path = data_path(&files);
        let good = std::fs::read(path).unwrap();
        let reader = open(&files).unwrap();
        let expected = contents(&reader).unwrap();
        // With every region in memory, only blocks are read; without any, also messages.
        let fresh = open(&files).unwrap();
        for length in (0..good.len()).step_by(good.len() / 50) {
            OpenOptions::new()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(length as u64)
                .unwrap();
            let mut truncated = 0;
            for reader in [&reader, &fresh] {
                for partition in 0..PARTITIONS {
                    match read(reader, partition) {
                        Ok(found) => assert_eq!(found, expected[partition as usize]),
                        Err(error) => {
                            let told = (error.code, error.offset, error.file.as_deref());
                            assert_eq!(told, (ErrorCode::Truncated, Some(length as u64), Some(path)), "{error}");
                            truncated += 1;
                        }
                    }
                }
            }
            // Every partition reads the broadcast of the last region.
            let all_blocks = reader.region(2).unwrap().extent().end();
            assert_eq!(truncated > 0, (length as u64) < all_blocks, "{length}");
            std::fs::write(path, &good).unwrap();
        }
        assert_eq!(contents(&reader).unwrap(), expected);
        assert_eq!(contents(&fresh).unwrap(), expected);
    }
}

#[test]
fn a_data_file_that_changes_is_found_out_and_the_reader_outlives_it() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_large(&place, layout);
        let path = data_path(&files);
        let good = std::fs::read(path).unwrap();
        let file = OpenOptions::new().write(true).open(path).unwrap();
        let reader = open(&files).unwrap();
        let expected = contents(&reader).unwrap();
        let blocks = 0..reader.region_count();
        let extents: Vec<_> = blocks.map(|number| reader.region(number).unwrap().extent()).collect();
        for at in (64..good.len() as u64).step_by(99_991) {
            file.write_all_at(&[!good[at as usize]], at).unwrap();
            let read = reader.all().unwrap().try_for_each(|block| block.map(drop));
            let in_blocks = extents.iter().any(|extent| (extent.offset..extent.end()).contains(&at));
            assert_eq!(read.is_err(), in_blocks, "at {at}");
            // An iterator ends after its error, and the next one starts again.
            let mut blocks = reader.all().unwrap();
            if blocks.find(Result::is_err).is_some() {
                assert!(blocks.next().is_none());
            }
            file.write_all_at(&[good[at as usize]], at).unwrap();
            assert_eq!(contents(&reader).unwrap(), expected);
        }
    }
}

#[test]
fn a_region_message_that_is_damaged_is_not_remembered() {
    let place = Place::new();
    let files = write_large(&place, Layout::Paired);
    let path = index_path(&files);
    let reader = open(&files).unwrap();
    let at = reader.footer().regions[1].message_offset + 40;
    let good = std::fs::read(path).unwrap();
    let mut bad = good.clone();
    bad[at as usize] ^= 1;
    std::fs::write(path, &bad).unwrap();
    assert_eq!(code(reader.region(1)), ErrorCode::Checksum);
    assert_eq!(code(read(&reader, 0)), ErrorCode::Checksum);
    assert_eq!(reader.region(0).unwrap().sequence(), 0);
    std::fs::write(path, &good).unwrap();
    let expected = contents(&open(&files).unwrap()).unwrap();
    assert_eq!(contents(&reader).unwrap(), expected);
    // Regions that were checked are not read again.
    std::fs::write(path, &bad).unwrap();
    assert_eq!(contents(&reader).unwrap(), expected);
}

/// Every way to open the files ends in `io` with the name of the file.
fn is_refused(files: &Files, role: FileRole, path: &Path) {
    let limits = Limits::default();
    let dry = RebuildOptions::default().dry_run(true);
    let mut errors = vec![
        open(files).unwrap_err(),
        Follower::open(files, ReaderOptions::default()).err().unwrap(),
        check(files).unwrap_err(),
        faro::repair(
            files,
            &faro::RepairOptions::default().limits(limits.clone()).dry_run(true),
        )
        .unwrap_err(),
    ];
    if role == FileRole::Data {
        errors.push(faro::rebuild(files, &dry.limits(limits.clone())).unwrap_err());
    }
    for error in errors {
        let told = (error.code, error.role, error.file.as_deref());
        assert_eq!(told, (ErrorCode::Io, Some(role), Some(path)), "{error}");
    }
}

#[test]
fn names_of_no_file_are_refused_at_once() {
    for layout in LAYOUTS {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        for (role, path) in files.paths() {
            let good = std::fs::read(path).unwrap();
            std::fs::remove_file(path).unwrap();
            is_refused(&files, role, path);
            std::fs::create_dir(path).unwrap();
            is_refused(&files, role, path);
            std::fs::remove_dir(path).unwrap();
            // Opening a pipe waits for a writer, which never comes.
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
            is_refused(&files, role, path);
            std::fs::remove_file(path).unwrap();
            // A device can be read, but it is not a file.
            std::os::unix::fs::symlink("/dev/null", path).unwrap();
            is_refused(&files, role, path);
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, &good).unwrap();
        }
        check(&files).unwrap();
    }
}

#[test]
fn a_folder_that_vanishes_fails_the_writer() {
    for layout in LAYOUTS {
        for follow in [false, true] {
            let place = Place::new();
            let folder = place.name().parent().unwrap().to_owned();
            // Only the sync of the folder notices that a followed file has lost its name.
            let durable = options(layout, 2).follow(follow).durability(Durability::Commit);
            let mut writer = Writer::create(place.name(), durable).unwrap();
            writer.write(1, b"one").unwrap();
            std::fs::remove_dir_all(&folder).unwrap();
            let first = writer.finish().unwrap_err();
            assert_eq!(first.code, ErrorCode::Io);
            assert_eq!(writer.write(0, b"x").unwrap_err().to_string(), first.to_string());
            assert_eq!(writer.finish().unwrap_err().to_string(), first.to_string());
            std::fs::create_dir(&folder).unwrap();
            assert_eq!(writer.finish().unwrap_err().to_string(), first.to_string());
            writer.abort().unwrap();
            writer.abort().unwrap();
            assert_eq!(code(writer.write(0, b"x")), ErrorCode::InvalidArgument);
            assert!(place.files().is_empty());
        }
    }
}

#[test]
fn a_writer_removes_no_file_but_its_own() {
    for layout in LAYOUTS {
        for follow in [false, true] {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options(layout, 2).follow(follow)).unwrap();
            let folder = place.name().parent().unwrap().to_owned();
            let names = place.files();
            for name in &names {
                std::fs::rename(folder.join(name), folder.join(format!("{name}.kept"))).unwrap();
                std::fs::write(folder.join(name), "another's").unwrap();
            }
            writer.abort().unwrap();
            for name in &names {
                assert_eq!(std::fs::read(folder.join(name)).unwrap(), b"another's");
            }
            assert_eq!(place.files().len(), 2 * names.len());
        }
    }
}
