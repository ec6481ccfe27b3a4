//! The lines of the targets that read files.

use super::{Transcript, sum};
use crate::container::Container;
use crate::scratch;
use crate::seen::every;
use crate::targets::follow::Growing;
use crate::targets::repair::asked;
use faro::{CheckLevel, CheckOptions, ErrorCode, Files, Follower, Reader, check};

pub(super) fn open(input: &[u8], lines: &mut Transcript) {
    let container = Container::sealed(input);
    let files = scratch::put(&container);
    let reader = Reader::open(&files, container.options());
    if let Some(reader) = lines.result("open", reader, |reader| reader.region_count().to_string()) {
        for number in 0..reader.region_count() {
            lines.result(&format!("region {number}"), reader.region(number), |_| "ok".into());
        }
    }
}

pub(super) fn read_all(input: &[u8], lines: &mut Transcript) {
    let container = Container::sealed(input);
    let files = scratch::put(&container);
    let options = container.options();
    let reader = Reader::open(&files, options.clone());
    let Some(reader) = lines.result("open", reader, |reader| reader.region_count().to_string()) else {
        return;
    };
    for partition in every(reader.partitions()) {
        let blocks = reader.partition(partition).expect("a partition of the file");
        lines.content(&format!("partition {partition}"), blocks, false);
    }
    lines.content("range", reader.all().expect("all partitions are the file's"), true);
    for (name, level) in [
        ("structure", CheckLevel::Structure),
        ("checksums", CheckLevel::Checksums),
        ("decode", CheckLevel::Decode),
    ] {
        lines.result(
            &format!("check {name}"),
            check(
                &files,
                &CheckOptions::default().level(level).limits(options.limits.clone()),
            ),
            |report| {
                let blocks = report.blocks.map_or_else(|| "-".into(), |blocks| blocks.to_string());
                format!("{} {blocks}", report.regions)
            },
        );
    }
}

pub(super) fn follow(input: &[u8], lines: &mut Transcript) {
    let container = Container::sealed(input);
    let mut growing = Growing::new(&container);
    let mut follower = None;
    for step in 0..5 {
        growing.step(step, &container);
        if follower.is_none() {
            match Follower::open(&growing.files, container.options()) {
                Ok(opened) => follower = Some(opened),
                Err(error) => lines.fault(&format!("open {}", step + 1), &error),
            }
        }
        let Some(follower) = &mut follower else { continue };
        let progress = follower.poll();
        let words = format!("poll {} {}", step + 1, follower.region_count());
        lines.result(&words, progress, |progress| u8::from(progress.finished).to_string());
        for partition in every(follower.partitions()) {
            let blocks = follower.partition(partition).expect("a partition of the file");
            lines.content(&format!("partition {partition}"), blocks, false);
        }
    }
}

pub(super) fn repair(input: &[u8], lines: &mut Transcript) {
    let container = Container::sealed(input);
    let files = scratch::put(&container);
    for (word, dry_run) in [("dry", true), ("real", false)] {
        if container.mode & 1 == 1 && container.data.is_none() {
            lines.fails(word, ErrorCode::InvalidArgument, None, None);
            continue;
        }
        let report = asked(&container, &files, &container.options().limits, dry_run);
        lines.result(word, report, |report| {
            let cut = format!("{} {}", report.data_cut, report.index_cut);
            format!(
                "{} {} {cut} {}",
                report.action.as_str(),
                report.regions,
                report.orphaned
            )
        });
    }
    state(&files, lines);
}

/// Adds a line for each file as it is now.
pub(super) fn state(files: &Files, lines: &mut Transcript) {
    for (role, path) in files.paths() {
        let bytes = scratch::read(path);
        lines.line(&format!("file {role} {} {}", bytes.len(), sum(&bytes)));
    }
}
