//! Following a file while it is written, and repairing it after its writer died.

mod common;

use common::{Content, Place, check, code, content, contents, fill_sample, index_path, open, options, write_sample};
use faro::{
    Action, ByteRangeKind, ErrorCode, FileRole, Files, Follower, Framing, Layout, Limits, ReaderOptions,
    RebuildOptions, RepairOptions, SharedPolicy, Writer, rebuild, repair,
};

fn follow(files: &Files) -> Follower {
    Follower::open(files, ReaderOptions::default()).unwrap()
}

fn followed(follower: &Follower) -> Vec<Content> {
    follower
        .partitions()
        .map(|partition| content(follower.partition(partition).unwrap()).unwrap())
        .collect()
}

/// The bytes of an unfinished output after a commit, and what its partitions read then.
struct Stage {
    files: Vec<Vec<u8>>,
    contents: Vec<Content>,
}

/// Writes an output in follow mode, and reads it after every region.
fn stages(layout: Layout) -> (Vec<Stage>, Vec<Vec<u8>>) {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(layout, 3).follow(true)).unwrap();
    let files = place.output(layout);
    let bytes = || {
        files
            .paths()
            .iter()
            .map(|(_, path)| std::fs::read(path).unwrap())
            .collect::<Vec<_>>()
    };
    let mut follower = follow(&files);
    let mut stages = vec![Stage {
        files: bytes(),
        contents: vec![vec![]; 3],
    }];
    for region in 0..3u8 {
        writer.write(1, &[region; 3]).unwrap();
        writer.write(u32::from(region % 3), b"own").unwrap();
        writer.broadcast(&[region; 9]).unwrap();
        assert_eq!(follower.poll().unwrap().regions, usize::from(region));
        writer.flush().unwrap();
        let progress = follower.poll().unwrap();
        assert_eq!((progress.regions, progress.finished), (usize::from(region) + 1, false));
        stages.push(Stage {
            files: bytes(),
            contents: followed(&follower),
        });
    }
    assert!(follower.footer().is_none());
    writer.finish().unwrap();
    assert!(follower.poll().unwrap().finished);
    assert!(follower.footer().is_some());
    assert_eq!(followed(&follower), contents(&open(&files).unwrap()).unwrap());
    let last = stages.len() - 1;
    assert_eq!(
        content(follower.partition_in(1, last - 1..last).unwrap())
            .unwrap()
            .len(),
        2
    );
    (stages, bytes())
}

#[test]
fn a_follower_sees_each_region_once_it_is_committed() {
    for layout in [Layout::Paired, Layout::Single] {
        let (stages, _) = stages(layout);
        assert_eq!(stages.last().unwrap().contents[1].len(), 6);
    }
}

#[test]
fn a_follower_opens_files_in_every_state() {
    let (_, finished) = stages(Layout::Single);
    let place = Place::new();
    let files = Files::single(place.name());
    let whole = &finished[0];
    for length in 64..=whole.len() {
        std::fs::write(index_path(&files), &whole[..length]).unwrap();
        let mut follower = follow(&files);
        let progress = follower.poll().unwrap();
        assert_eq!(progress.finished, length == whole.len());
        let ranges = follower.byte_map().unwrap();
        let end = ranges.iter().fold(0, |end, range| {
            assert_eq!(range.offset, end);
            end + range.length
        });
        assert_eq!(end, length as u64);
        let commits = ranges.iter().filter(|range| range.what == ByteRangeKind::RegionMessage);
        assert_eq!(commits.count(), progress.regions);
        let tail = ranges.last().is_some_and(|range| range.what == ByteRangeKind::Tail);
        assert_eq!(tail, progress.finished);
    }
}

#[test]
fn a_cut_file_is_repaired_to_its_last_commit() {
    for layout in [Layout::Paired, Layout::Single] {
        let (stages, finished) = stages(layout);
        let place = Place::new();
        let files = place.output(layout);
        let paths: Vec<_> = files.paths().into_iter().map(|(_, path)| path.to_path_buf()).collect();
        let index = paths.len() - 1;
        for length in 64..finished[index].len() {
            // The data file of a pair is whole: the index is a log of the writes before it.
            for (path, bytes) in paths.iter().zip(&finished) {
                std::fs::write(path, bytes).unwrap();
            }
            std::fs::write(&paths[index], &finished[index][..length]).unwrap();
            let committed = stages
                .iter()
                .rposition(|stage| stage.files[index].len() <= length)
                .unwrap();

            let foretold = repair(&files, &RepairOptions::default().dry_run(true)).unwrap();
            assert_eq!(std::fs::read(&paths[index]).unwrap().len(), length);
            let report = repair(&files, &RepairOptions::default()).unwrap();
            assert_eq!(format!("{report:?}"), format!("{foretold:?}"));
            assert_eq!(
                (report.action, report.regions),
                (Action::LastCommit, committed as u64),
                "{length}"
            );
            assert_eq!(report.index_kept + report.index_cut, length as u64);
            let reader = open(&files).unwrap();
            assert_eq!(contents(&reader).unwrap(), stages[committed].contents);
            check(&files).unwrap();
            assert_eq!(
                repair(&files, &RepairOptions::default()).unwrap().action,
                Action::Nothing
            );
        }
    }
}

#[test]
fn zeros_and_torn_blocks_at_the_end_were_never_committed() {
    let (stages, _) = stages(Layout::Single);
    let place = Place::new();
    let files = Files::single(place.name());
    let stage = &stages[2];
    // A data block of 4 bytes for partition 5 with a wrong checksum. Its header is allowed here.
    let torn = [
        4, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 77, 77, 77, 77,
    ];
    for behind in [
        vec![0; 3],
        vec![0; 4096],
        vec![0xAB; 20],
        [&[7; 16][..], &[0; 4000]].concat(),
        [&torn[..], &[0; 8]].concat(),
        [&torn[..], &[0; 8 + 24]].concat(),
    ] {
        std::fs::write(index_path(&files), [&stage.files[0][..], &behind].concat()).unwrap();
        let report = repair(&files, &RepairOptions::default()).unwrap();
        assert_eq!((report.regions, report.index_cut), (2, behind.len() as u64));
        assert_eq!(contents(&open(&files).unwrap()).unwrap(), stage.contents);
    }
}

/// A header that is not allowed at the end is damage, however near the end it is.
#[test]
fn a_size_is_not_believed_in_a_header_that_makes_no_sense() {
    let (stages, _) = stages(Layout::Paired);
    let place = Place::new();
    let files = Files::paired(place.name());
    let stage = &stages[2];
    let mut index = stage.files[1].clone();
    // Change the stored size of the first region message, so that its block extends beyond the end and plain_size
    // differs.
    index[66] ^= 1;
    for ((_, path), bytes) in files.paths().iter().zip([&stage.files[0], &index]) {
        std::fs::write(path, bytes).unwrap();
    }
    let error = repair(&files, &RepairOptions::default()).unwrap_err();
    assert_eq!(
        (error.code, error.offset),
        (ErrorCode::MalformedBlock, Some(68)),
        "{error}"
    );
    let mut follower = Follower::open(&files, ReaderOptions::default()).unwrap();
    assert_eq!(code(follower.poll()), ErrorCode::MalformedBlock);
    assert_eq!(std::fs::read(index_path(&files)).unwrap(), index);
}

#[test]
fn damage_before_the_end_is_reported_and_left_alone() {
    let (stages, _) = stages(Layout::Paired);
    let place = Place::new();
    let files = Files::paired(place.name());
    let stage = stages.last().unwrap();
    let mut index = stage.files[1].clone();
    index[100] ^= 1;
    for ((_, path), bytes) in files.paths().iter().zip([&stage.files[0], &index]) {
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(code(repair(&files, &RepairOptions::default())), ErrorCode::Checksum);
    assert_eq!(std::fs::read(index_path(&files)).unwrap(), index);
}

#[test]
fn a_lost_tail_is_written_anew() {
    for layout in [Layout::Paired, Layout::Single] {
        let place = Place::new();
        let files = write_sample(&place.name(), layout);
        let path = index_path(&files);
        let good = std::fs::read(path).unwrap();
        for bad in [
            good[..good.len() - 5].to_vec(),
            [&good[..good.len() - 24], b"garbage of any length...."].concat(),
        ] {
            std::fs::write(path, &bad).unwrap();
            assert_eq!(
                repair(&files, &RepairOptions::default()).unwrap().action,
                Action::LastCommit
            );
            assert_eq!(std::fs::read(path).unwrap(), good);
        }
    }
}

#[test]
fn a_lost_index_is_rebuilt() {
    let place = Place::new();
    let files = write_sample(&place.name(), Layout::Paired);
    let before = contents(&open(&files).unwrap()).unwrap();
    std::fs::remove_file(index_path(&files)).unwrap();
    let dry = RebuildOptions::default().dry_run(true);
    let foretold = rebuild(&files, &dry).unwrap();
    assert_eq!(place.files(), ["out.data"]);

    let report = rebuild(&files, &RebuildOptions::default()).unwrap();
    assert_eq!(format!("{report:?}"), format!("{foretold:?}"));
    assert_eq!((report.blocks, report.orphaned, report.data_cut), (Some(6), 2, 0));
    check(&files).unwrap();
    let reader = open(&files).unwrap();
    assert_eq!(reader.footer().properties[0].value, "rebuilt");
    assert_eq!(contents(&reader).unwrap()[1][..2], before[1][..2]);

    let to_all = RebuildOptions::default().shared(SharedPolicy::All);
    assert_eq!(rebuild(&files, &to_all).unwrap().orphaned, 0);
    check(&files).unwrap();
    assert_eq!(contents(&open(&files).unwrap()).unwrap()[1].len(), before[1].len() + 1);
    assert_eq!(place.files(), ["out.data", "out.index"]);
}

/// REP-5, checks 5a and 5b.
#[test]
fn a_rebuild_takes_a_schema_that_the_framing_needs_and_no_other() {
    let place = Place::new();
    let records = write_sample(&place.name(), Layout::Paired);
    let message: &[u8] = b"\xFF\xFF\xFF\xFF\x08\0\0\0an Arrow";
    let mut arrow = options(Layout::Paired, 1);
    (arrow.framing, arrow.schema) = (Framing::Arrow, Some(message.to_vec()));
    let name = place.name().with_file_name("arrow");
    Writer::create(&name, arrow).unwrap().finish().unwrap();
    let arrow = Files::paired(name);
    for (files, schema, taken) in [
        (&records, None, true),
        (&records, Some(message), false),
        (&arrow, None, false),
        (&arrow, Some(&b"short"[..]), false),
        (&arrow, Some(message), true),
    ] {
        let result = rebuild(files, &RebuildOptions::default().schema(schema.map(<[u8]>::to_vec)));
        assert_eq!(
            result.map_err(|error| error.code).err(),
            (!taken).then_some(ErrorCode::InvalidArgument)
        );
    }
}

#[test]
fn rebuilding_keeps_what_is_whole() {
    let place = Place::new();
    let files = write_sample(&place.name(), Layout::Paired);
    let Files::Paired { data, .. } = &files else {
        unreachable!()
    };
    let good = std::fs::read(data).unwrap();
    for length in 64..good.len() {
        std::fs::write(data, &good[..length]).unwrap();
        let report = rebuild(&files, &RebuildOptions::default()).unwrap();
        assert_eq!(report.data_kept + report.data_cut, length as u64);
        // Its fault is that of the first block that was cut.
        let cut_at = (report.data_cut > 0).then_some((Some(FileRole::Data), Some(report.data_kept)));
        assert_eq!(report.fault.map(|fault| (fault.role, fault.offset)), cut_at);
        let checked = check(&files).unwrap();
        assert_eq!(checked.blocks, report.blocks);
    }
    assert_eq!(
        code(rebuild(&Files::single("x"), &RebuildOptions::default())),
        ErrorCode::InvalidArgument
    );
}

#[test]
fn a_rebuild_does_not_cut_what_is_merely_too_large() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 3).first_partition(5)).unwrap();
    fill_sample(&mut writer);
    writer.write(5, &[1; 1000]).unwrap();
    let files = writer.finish().unwrap().files;
    let Files::Paired { data, .. } = &files else {
        unreachable!()
    };
    let before = std::fs::read(data).unwrap();
    let small = Limits::default().max_block_size(500);
    assert_eq!(
        code(rebuild(&files, &RebuildOptions::default().limits(small))),
        ErrorCode::LimitExceeded
    );
    assert_eq!(std::fs::read(data).unwrap(), before);
}
