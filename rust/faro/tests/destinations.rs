//! Writers whose files are in a storage: the same bytes as local files, and nothing left when a call fails.

mod common;
mod flawed;
mod script;

use common::{Place, code, contents, fill_sample, options};
use faro::storage::{Destination, MemoryDestination, NewFile, StoredFile};
use faro::{
    Durability, ErrorCode, FileRole, Files, Layout, Reader, ReaderOptions, Result, Summary, Writer, WriterOptions,
    block::DATA,
};
use flawed::{Flaw, Flawed};
use proptest::prelude::*;
use script::{call, fit, make};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const LAYOUTS: [Layout; 2] = [Layout::Paired, Layout::Single];
const ROLES: [FileRole; 3] = [FileRole::Data, FileRole::Index, FileRole::Single];

/// The bytes of all published files, by role.
fn bytes_in(memory: &MemoryDestination) -> Vec<Vec<u8>> {
    let found = ROLES.iter().filter_map(|role| memory.find(*role));
    found.map(|file| file.bytes().to_vec()).collect()
}

fn bytes_of(files: &Files) -> Vec<Vec<u8>> {
    let paths = files.paths().into_iter();
    paths.map(|(_, path)| std::fs::read(path).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_bytes_are_those_of_local_files(
        written in script::options(),
        mut calls in prop::collection::vec(call(), 0..60),
        durable in any::<bool>(),
        single_below in prop::option::of(1u64..3000),
    ) {
        fit(&mut calls, &written);
        let durability = if durable { Durability::Commit } else { Durability::None };
        let mut written = written.follow(false).file_id(Some([7; 16])).durability(durability);
        if let Some(single_below) = single_below {
            written.layout = None;
            written.single_below = single_below;
        }
        let place = Place::new();
        let mut local = Writer::create(place.name(), written.clone()).unwrap();
        make(&mut local, &written, &calls).unwrap();
        let expected = local.finish().unwrap();
        let memory = MemoryDestination::new(place.name());
        let mut writer = Writer::create_in(memory.clone(), written.clone()).unwrap();
        make(&mut writer, &written, &calls).unwrap();
        prop_assert!(bytes_in(&memory).is_empty());
        let (summary, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        prop_assert_eq!(bytes_in(&memory), bytes_of(&expected.files));
        let stored = Reader::open_stored(memory.output().unwrap(), ReaderOptions::default()).unwrap();
        prop_assert_eq!(contents(&reader).unwrap(), contents(&stored).unwrap());
        // It has the same names, too.
        prop_assert_eq!(summary, expected);
    }
}

/// Sample data with a region writer, one of whose regions is given up.
fn write(destination: impl Destination + 'static, options: WriterOptions) -> (Option<Writer>, Result<Summary>) {
    let mut writer = match Writer::create_in(destination, options.first_partition(5)) {
        Ok(writer) => writer,
        Err(error) => return (None, Err(error)),
    };
    let mut run = || {
        fill_some(&mut writer)?;
        Ok(writer.finish_and_open(ReaderOptions::default())?.0)
    };
    let result = run();
    (Some(writer), result)
}

fn fill_some(writer: &mut Writer) -> Result<()> {
    writer.write(6, b"one")?;
    writer.flush()?;
    // More than one piece, so that the writer appends before the end of a region.
    let large = [&(9u32 << 17).to_le_bytes()[..], &vec![7; 9 << 17]].concat();
    for ends in [false, true] {
        let mut region = writer.region()?;
        region.block(Some(5), DATA, &large, 1)?;
        region.block(Some(7), DATA, &[1, 0, 0, 0, 7], 1)?;
        if ends {
            region.end()?;
        }
    }
    writer.broadcast(b"all")
}

fn variants() -> impl Iterator<Item = WriterOptions> {
    LAYOUTS.into_iter().flat_map(|layout| {
        [Durability::None, Durability::Commit]
            .into_iter()
            .flat_map(move |durability| {
                [false, true].map(|overwrite| options(layout, 3).durability(durability).overwrite(overwrite))
            })
    })
}

/// Whatever call fails, however it fails: nothing is published, and the writer fails for good.
#[test]
fn every_failed_call_leaves_nothing_and_fails_the_writer() {
    let flaws = [
        Flaw::Refused(ErrorKind::Other),
        Flaw::Refused(ErrorKind::Interrupted),
        Flaw::Refused(ErrorKind::AlreadyExists),
        Flaw::DoneAndFailed,
    ];
    for options in variants() {
        for flaw in flaws {
            for at in 0.. {
                let flawed = Flawed::new(Some((at, flaw)));
                let (writer, result) = write(flawed.clone(), options.clone());
                let calls = flawed.calls();
                if at >= calls.len() {
                    result.unwrap();
                    assert!(calls.len() >= 5, "{calls:?}");
                    break;
                }
                let (what, first) = (format!("{flaw:?} {options:?} {}", calls[at]), result.unwrap_err());
                assert_eq!(first.code, ErrorCode::Io, "{what}");
                if calls[at].starts_with("open") {
                    // It was published before.
                    let output = flawed.memory.output().unwrap();
                    contents(&Reader::open_stored(output, ReaderOptions::default()).unwrap()).unwrap();
                    continue;
                }
                assert_eq!(calls.len(), at + 1, "{what}: no call comes after it: {calls:?}");
                assert!(bytes_in(&flawed.memory).is_empty(), "{what}");
                if let Some(mut writer) = writer {
                    for again in [writer.write(6, b"x"), writer.flush(), writer.finish().map(drop)] {
                        assert_eq!(again.unwrap_err().to_string(), first.to_string(), "{what}");
                    }
                    writer.abort().unwrap();
                }
                assert!(bytes_in(&flawed.memory).is_empty(), "{what}");
            }
        }
    }
}

/// A panic of the storage passes through, and no later call makes an output of what was written so far.
#[test]
fn after_a_panic_of_the_storage_nothing_is_published() {
    for options in variants() {
        for at in 0.. {
            let flawed = Flawed::new(Some((at, Flaw::Panic)));
            let make = || Writer::create_in(flawed.clone(), options.clone().first_partition(5));
            let Ok(made) = catch_unwind(AssertUnwindSafe(make)) else {
                assert!(bytes_in(&flawed.memory).is_empty());
                continue;
            };
            let mut writer = made.unwrap();
            let run = |writer: &mut Writer| -> Result<()> {
                fill_some(writer)?;
                writer.finish_and_open(ReaderOptions::default()).map(drop)
            };
            let first = catch_unwind(AssertUnwindSafe(|| run(&mut writer)));
            if at >= flawed.calls().len() {
                first.unwrap().unwrap();
                break;
            }
            assert!(first.is_err());
            if flawed.calls()[at].starts_with("open") {
                continue;
            }
            for _ in 0..2 {
                assert!(writer.finish().is_err());
            }
            drop(writer);
            assert!(bytes_in(&flawed.memory).is_empty(), "{:?}", flawed.calls());
        }
    }
}

/// A destination whose published files count their reads.
#[derive(Debug)]
struct Counting(MemoryDestination, Arc<AtomicUsize>);

#[derive(Debug)]
struct CountingFile(Box<dyn NewFile>, Arc<AtomicUsize>);

#[derive(Debug)]
struct CountedFile(Box<dyn StoredFile>, Arc<AtomicUsize>);

impl Destination for Counting {
    fn create(&mut self, role: FileRole) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(CountingFile(self.0.create(role)?, Arc::clone(&self.1))))
    }
}

impl NewFile for CountingFile {
    fn name(&self) -> &Path {
        self.0.name()
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.append(bytes)
    }
    fn sync(&mut self) -> io::Result<()> {
        panic!("only with durability commit")
    }
    fn publish(&mut self, replace: bool) -> io::Result<()> {
        self.0.publish(replace)
    }
    fn remove(&mut self) -> io::Result<()> {
        self.0.remove()
    }
    fn open(&self) -> io::Result<Box<dyn StoredFile>> {
        Ok(Box::new(CountedFile(self.0.open()?, Arc::clone(&self.1))))
    }
}

impl StoredFile for CountedFile {
    fn name(&self) -> &Path {
        self.0.name()
    }
    fn size(&self) -> io::Result<u64> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.size()
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_at(offset, buffer)
    }
}

#[test]
fn finishing_and_opening_reads_nothing() {
    for layout in LAYOUTS {
        let reads = Arc::new(AtomicUsize::new(0));
        let counting = Counting(MemoryDestination::new("out"), Arc::clone(&reads));
        let mut writer = Writer::create_in(counting, options(layout, 3).first_partition(5)).unwrap();
        fill_sample(&mut writer);
        let (_, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        drop(writer);
        assert_eq!(reads.load(Ordering::Relaxed), 0);
        assert_eq!(reader.partition(6).unwrap().count(), 4);
        assert!(reads.load(Ordering::Relaxed) > 0);
    }
}

/// The text is that of local files, and says whose file it is.
#[test]
fn a_name_that_exists_is_refused_as_with_local_files() {
    for layout in LAYOUTS {
        let memory = MemoryDestination::new("out");
        let mut writers: Vec<Writer> = (0..2)
            .map(|_| Writer::create_in(memory.clone(), options(layout, 3)).unwrap())
            .collect();
        writers[0].write(1, b"first").unwrap();
        writers[1].write(1, b"second").unwrap();
        writers[0].finish().unwrap();
        let published = bytes_in(&memory);
        let error = writers[1].finish().unwrap_err();
        let (role, name) = match layout {
            Layout::Paired => (FileRole::Data, "out.data"),
            Layout::Single => (FileRole::Single, "out.faro"),
        };
        assert_eq!((error.code, error.role), (ErrorCode::Io, Some(role)));
        assert_eq!(error.file.as_deref(), Some(Path::new(name)));
        let place = Place::new();
        std::fs::write(place.name().with_extension(&name[4..]), "another's").unwrap();
        let local = Writer::create(place.name(), options(layout, 3)).err().unwrap();
        assert_eq!((error.expected, error.found), (local.expected, local.found));
        assert_eq!(bytes_in(&memory), published);
        // With overwrite, the second replaces it.
        let mut third = Writer::create_in(memory.clone(), options(layout, 3).overwrite(true)).unwrap();
        third.write(1, b"third").unwrap();
        third.finish().unwrap();
        let reader = Reader::open_stored(memory.output().unwrap(), ReaderOptions::default()).unwrap();
        assert_eq!(reader.records(1).unwrap().next().unwrap().unwrap(), "third");
    }
}

/// Publishes another's file.
fn put(memory: &MemoryDestination, role: FileRole) {
    let mut file = memory.clone().create(role).unwrap();
    file.append(b"another's").unwrap();
    file.publish(false).unwrap();
}

/// WRT-4, WRT-13: the writer asks when it is made, when the layout is decided, and for the other layout's name when it
/// publishes.
#[test]
fn a_name_that_is_taken_is_refused_before_anything_is_written() {
    type Put = fn(&MemoryDestination, FileRole);
    let never: Put = |_, _| {};
    for (layout, single_below, flushes) in [
        (Some(Layout::Paired), 0, false),
        (Some(Layout::Single), 0, false),
        (None, 1000, false),
        (None, 1000, true),
        (None, 1, false),
    ] {
        for role in ROLES {
            let matters = single_below > 0 || (role == FileRole::Single) == (layout == Some(Layout::Single));
            // The first of these moments at which the writer looks refuses the name.
            for (moment, puts) in [[put, never, never], [never, put, never], [never, never, put]]
                .iter()
                .enumerate()
            {
                let flawed = Flawed::new(None);
                let mut written = options(Layout::Paired, 3).single_below(single_below);
                written.layout = layout;
                let run = || -> Result<()> {
                    puts[0](&flawed.memory, role);
                    let mut writer = Writer::create_in(flawed.clone(), written)?;
                    puts[1](&flawed.memory, role);
                    writer.write(1, b"x")?;
                    if flushes {
                        writer.flush()?;
                    }
                    puts[2](&flawed.memory, role);
                    writer.finish().map(drop)
                };
                let what = format!("{layout:?} {single_below} {flushes} {role:?} {moment}");
                let Err(error) = run() else {
                    assert!(!matters, "{what}");
                    continue;
                };
                assert!(matters, "{what}");
                assert_eq!((error.code, error.role), (ErrorCode::Io, Some(role)), "{what}");
                assert_eq!(error.found, "a file that exists, without the option overwrite");
                let name = ["out.data", "out.index", "out.faro"][ROLES.iter().position(|of| *of == role).unwrap()];
                assert_eq!(error.file.as_deref(), Some(Path::new(name)), "{what}");
                assert_eq!(bytes_in(&flawed.memory), [b"another's"], "{what}");
                let made = flawed.calls().iter().any(|call| call.starts_with("create"));
                let decided = single_below == 0 || flushes;
                assert_eq!(
                    made,
                    moment == 2 && decided || moment == 1 && single_below == 0,
                    "{what}"
                );
            }
        }
    }
}

/// With overwrite, the writer does not ask.
#[test]
fn a_name_that_may_be_replaced_is_not_looked_at() {
    let flawed = Flawed::new(None);
    put(&flawed.memory, FileRole::Data);
    let (_, result) = write(flawed.clone(), options(Layout::Paired, 3).overwrite(true));
    result.unwrap();
    assert!(
        !flawed.calls().iter().any(|call| call.starts_with("taken")),
        "{:?}",
        flawed.calls()
    );
}

/// The index is the commit: when it is refused, the writer takes its data file back.
#[test]
fn a_refused_index_takes_the_data_file_with_it() {
    let memory = MemoryDestination::new("out");
    let mut writer = Writer::create_in(memory.clone(), options(Layout::Paired, 3)).unwrap();
    put(&memory, FileRole::Index);
    let error = writer.finish().unwrap_err();
    assert_eq!((error.code, error.role), (ErrorCode::Io, Some(FileRole::Index)));
    assert_eq!(bytes_in(&memory), [b"another's"]);
}

#[test]
fn a_storage_has_no_followers() {
    for single_below in [0, 10] {
        let mut followed = options(Layout::Paired, 3).follow(true).single_below(single_below);
        followed.layout = None;
        let made = Writer::create_in(MemoryDestination::new("out"), followed);
        assert_eq!(code(made), ErrorCode::InvalidArgument);
    }
}

/// WRT-11: dropping the copy of a forked process does not give up what the parent writes.
#[cfg(unix)]
#[test]
fn a_forked_process_leaves_the_storage_alone() {
    #[derive(Debug)]
    struct OnDisk(std::path::PathBuf);
    impl Destination for OnDisk {
        fn create(&mut self, _: FileRole) -> io::Result<Box<dyn NewFile>> {
            std::fs::write(&self.0, "")?;
            Ok(Box::new(OnDiskFile(self.0.clone())))
        }
    }
    #[derive(Debug)]
    struct OnDiskFile(std::path::PathBuf);
    impl NewFile for OnDiskFile {
        fn name(&self) -> &Path {
            &self.0
        }
        fn append(&mut self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn publish(&mut self, _: bool) -> io::Result<()> {
            Ok(())
        }
        fn remove(&mut self) -> io::Result<()> {
            std::fs::remove_file(&self.0)
        }
        fn open(&self) -> io::Result<Box<dyn StoredFile>> {
            Err(ErrorKind::Unsupported.into())
        }
    }
    impl Drop for OnDiskFile {
        fn drop(&mut self) {
            let _ = self.remove();
        }
    }
    let place = Place::new();
    let destination = OnDisk(place.name());
    let writer = Writer::create_in(destination, options(Layout::Single, 3)).unwrap();
    let mut writer = Some(writer);
    assert!(common::in_fork(|| {
        drop(writer.take());
        true
    }));
    assert!(place.name().exists());
    drop(writer.take());
    assert!(!place.name().exists());
}
