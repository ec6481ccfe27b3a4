//! The option `single_below`: when the layout is decided, and that nothing else differs (WRT-13).

#![cfg(target_os = "linux")]

mod common;
mod recorder;
mod script;

use common::{Place, code, contents, open};
use faro::{ErrorCode, FileRole, Files, Layout, ReaderOptions, Writer, WriterOptions};
use proptest::prelude::*;
use recorder::recorded;
use script::{Call, call, fit, unfinished};

/// Options with a fixed file id and no layout.
fn options(single_below: u64) -> WriterOptions {
    WriterOptions::new(3)
        .file_id(Some(*b"0123456789abcdef"))
        .single_below(single_below)
}

fn layout_of(files: &Files) -> Layout {
    match files {
        Files::Single(_) => Layout::Single,
        Files::Paired { .. } => Layout::Paired,
    }
}

fn bytes_of(files: &Files) -> Vec<Vec<u8>> {
    files
        .paths()
        .into_iter()
        .map(|(_, path)| std::fs::read(path).unwrap())
        .collect()
}

/// A record of 8 bytes has a charge of 20.
#[test]
fn the_charges_in_the_buffer_decide_when_the_output_is_finished() {
    for (records, single_below, layout) in [
        (0, 1, Layout::Single),
        (1, 19, Layout::Paired),
        (1, 20, Layout::Single),
        (3, 59, Layout::Paired),
        (3, 60, Layout::Single),
        (3, 1 << 33, Layout::Single),
    ] {
        let place = Place::new();
        let mut writer = Writer::create(place.name(), options(single_below)).unwrap();
        for _ in 0..records {
            writer.write(1, b"8 bytes.").unwrap();
        }
        assert!(place.files().is_empty());
        let summary = writer.finish().unwrap();
        assert_eq!(layout_of(&summary.files), layout, "{records} {single_below}");
        assert_eq!(summary.files, place.output(layout));
        assert_eq!(open(&summary.files).unwrap().records(1).unwrap().count(), records);
        assert_eq!(place.files().len(), summary.files.paths().len());
    }
}

type Step = fn(&mut Writer);

/// What ends a region, or writes to a file, decides for a pair; what does neither leaves the layout open.
#[test]
fn some_calls_decide_for_a_pair() {
    let steps: [(&str, Step, Layout); 8] = [
        ("flush with records", |w| w.flush().unwrap(), Layout::Paired),
        (
            "a region writer",
            |w| w.region().unwrap().end().unwrap(),
            Layout::Paired,
        ),
        ("one that is given up", |w| drop(w.region().unwrap()), Layout::Paired),
        (
            "order",
            |w| {
                w.broadcast(b"x").unwrap();
                w.write(0, b"x").unwrap();
            },
            Layout::Paired,
        ),
        (
            "a dictionary",
            |w| {
                assert_eq!(
                    w.dictionary(b"\x37\xA4\x30\xEC, of which no block makes use").unwrap(),
                    1
                )
            },
            Layout::Paired,
        ),
        (
            "an oversized record",
            |w| w.write(0, &[0; 2000]).unwrap(),
            Layout::Paired,
        ),
        (
            "what is refused",
            |w| {
                assert!(w.write(9, b"x").is_err());
                assert!(w.dictionary(b"none").is_err());
            },
            Layout::Single,
        ),
        ("a property", |w| w.property("a", "b").unwrap(), Layout::Single),
    ];
    for (what, step, layout) in steps {
        let place = Place::new();
        let small = options(1 << 20).buffer_size(1000).dictionaries(true);
        let mut writer = Writer::create(place.name(), small).unwrap();
        writer.write(1, b"first").unwrap();
        step(&mut writer);
        let files = writer.finish().unwrap().files;
        assert_eq!(layout_of(&files), layout, "{what}");
        faro::check(&files, &faro::CheckOptions::default()).unwrap();
    }
    // A flush without records ends no region.
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(100)).unwrap();
    writer.flush().unwrap();
    writer.write(1, b"first").unwrap();
    assert_eq!(layout_of(&writer.finish().unwrap().files), Layout::Single);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The files are those of the layout that was chosen from the start.
    #[test]
    fn the_bytes_are_those_of_a_layout_from_the_start(
        written in script::options(),
        mut calls in prop::collection::vec(call(), 0..30),
        single_below in 1u64..3000,
    ) {
        fit(&mut calls, &written);
        let mut written = written.follow(false).file_id(Some([7; 16]));
        written.layout = None;
        let place = Place::new();
        let mut writer = unfinished(&place.name(), &written.clone().single_below(single_below), &calls).unwrap();
        let before = place.files().len();
        let (summary, reader) = writer.finish_and_open(ReaderOptions::default()).unwrap();
        let layout = layout_of(&summary.files);
        if calls.iter().any(|call| matches!(call, Call::Region { .. })) || before > 0 {
            prop_assert_eq!(layout, Layout::Paired);
        }
        if layout == Layout::Single {
            prop_assert!(summary.regions <= 1);
        }
        let other = Place::new();
        let expected = unfinished(&other.name(), &written.layout(layout), &calls).unwrap().finish().unwrap();
        prop_assert_eq!(bytes_of(&summary.files), bytes_of(&expected.files));
        prop_assert_eq!(summary.statistics, expected.statistics);
        prop_assert_eq!(contents(&reader).unwrap(), contents(&open(&expected.files).unwrap()).unwrap());
    }
}

#[test]
fn what_leaves_no_choice_is_refused() {
    let place = Place::new();
    for refused in [
        options(1).layout(Layout::Single),
        options(1).layout(Layout::Paired),
        options(1).overwrite(true),
        options(1).follow(true),
        options((1 << 33) + 1),
    ] {
        let error = Writer::create(place.name(), refused).err().unwrap();
        assert_eq!(error.code, ErrorCode::InvalidArgument);
    }
    for ending in ["faro", "data", "index"] {
        let name = place.name().with_extension(ending);
        assert_eq!(code(Writer::create(&name, options(1))), ErrorCode::InvalidArgument);
        // Without the option it is a NAME.
        Writer::create(&name, options(0)).unwrap();
    }
    assert!(place.files().is_empty());
}

/// WRT-4, for the names of both layouts: when the writer is made, when the layout is decided, when a pair is published.
#[test]
fn a_name_of_either_layout_that_exists_is_refused() {
    for (taken, role) in [
        ("faro", FileRole::Single),
        ("data", FileRole::Data),
        ("index", FileRole::Index),
    ] {
        for moment in 0..4 {
            let place = Place::new();
            let path = place.name().with_extension(taken);
            let take = |now: usize| (now == moment).then(|| std::fs::write(&path, "another's").unwrap());
            take(0);
            let made = Writer::create(place.name(), options(1000));
            let error = match made {
                Err(error) => error,
                Ok(mut writer) => {
                    writer.write(0, b"x").unwrap();
                    take(1);
                    let flushed = if moment > 1 { writer.flush() } else { Ok(()) };
                    take(2);
                    let error = flushed.and_then(|()| writer.finish().map(drop));
                    if moment == 3 {
                        error.unwrap();
                        continue;
                    }
                    let error = error.unwrap_err();
                    assert_eq!(writer.write(0, b"x").unwrap_err().to_string(), error.to_string());
                    error
                }
            };
            assert_eq!((error.code, error.role), (ErrorCode::Io, Some(role)), "{moment}");
            assert!(
                error
                    .to_string()
                    .contains("a file that exists, without the option overwrite")
            );
            assert_eq!(place.files(), [format!("out.{taken}")], "{moment}");
            assert_eq!(std::fs::read(&path).unwrap(), b"another's");
        }
    }
}

#[test]
fn nothing_is_left_when_the_writer_is_given_up_or_a_call_is_refused() {
    for aborted in [false, true] {
        for flushed in [false, true] {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options(1000)).unwrap();
            writer.write(0, b"x").unwrap();
            if flushed {
                writer.flush().unwrap();
            }
            if aborted {
                writer.abort().unwrap();
            }
            drop(writer);
            assert!(place.files().is_empty());
        }
    }
    for single_below in [1, 1000] {
        for refused in 0.. {
            let place = Place::new();
            let mut writer = Writer::create(place.name(), options(single_below)).unwrap();
            writer.write(0, b"x").unwrap();
            let (result, calls) = recorded(refused..refused + 1, || writer.finish());
            let Err(error) = result else {
                assert!(calls.len() == refused && refused >= 2);
                break;
            };
            assert_eq!(error.code, ErrorCode::Io);
            assert_eq!(writer.flush().unwrap_err().to_string(), error.to_string());
            drop(writer);
            assert!(place.files().is_empty());
        }
    }
    // Making the file fails: the folder is gone.
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(1000)).unwrap();
    std::fs::remove_dir(place.name().parent().unwrap()).unwrap();
    let error = writer.finish().unwrap_err();
    assert_eq!((error.code, error.role), (ErrorCode::Io, Some(FileRole::Single)));
    assert_eq!(writer.finish().unwrap_err().to_string(), error.to_string());
}
