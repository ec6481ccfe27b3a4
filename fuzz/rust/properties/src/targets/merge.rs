//! Merging by a program of pushes, and reading the result.

use super::merge_model::{Merged, Model};
use super::merge_program::{MergeProgram, carry_out};
use crate::scratch;
use crate::seen::{Content, every};
use faro::merge::Have;
use faro::{CheckLevel, CheckOptions, Files, Limits, Reader, ReaderOptions, check};

/// Checks the properties of `merge`: merges twice, and reads.
pub fn merge(input: &[u8]) {
    let program = MergeProgram::decode(input);
    let mut model = Model::new(&program);
    let mut answers = Vec::new();
    let [first, second] = ["a", "b"].map(|name| {
        let folder = scratch::empty_folder(name);
        let mut given = Vec::new();
        let files = Files::paired(folder.join("x"));
        let created = carry_out(&program, &folder, |step, answer| {
            if name == "a" {
                model.step(step, answer, &files);
            }
            given.push(answer);
        });
        answers.push((created, given));
        scratch::listing(&folder)
    });
    assert_eq!(answers[0], answers[1], "two merges, and not the same answers");
    assert!(first == second, "two merges, and not the same bytes");
    let names: Vec<_> = first.iter().map(|(name, _)| name.as_str()).collect();
    if answers[0].0.is_err() {
        assert!(names.is_empty(), "a merge that was refused left {names:?}");
        return;
    }
    assert_eq!(names, ["x.data", "x.index"]);
    if model.is_finished() {
        let files = Files::paired(scratch::path("a").join("x"));
        read(&files, &program.limits(), &model.merged);
    }
}

fn read(files: &Files, limits: &Limits, merged: &Merged) {
    let options = CheckOptions::default()
        .level(CheckLevel::Checksums)
        .limits(limits.clone());
    check(files, &options).expect("what was merged is whole");
    let options = ReaderOptions::default().limits(limits.clone());
    let reader = Reader::open(files, options).expect("what was merged opens");
    for partition in every(reader.partitions()) {
        let have: Vec<_> = reader.have(partition).expect("a partition of a merged file");
        let held = merged.held.range((partition, 0)..=(partition, u64::MAX));
        let expected = held.filter(|(_, held)| held.blocks > 0);
        let expected: Vec<_> = expected
            .map(|((_, producer), held)| {
                let attempt = merged.attempts[producer];
                (*producer, attempt, u64::from(held.blocks), held.is_complete)
            })
            .collect();
        let told = |have: &Have| (have.producer, have.attempt, have.blocks, have.is_complete);
        assert_eq!(have.iter().map(told).collect::<Vec<_>>(), expected);

        let blocks = reader.partition(partition).expect("a partition of the file");
        let content = Content::of(blocks, None, limits.max_plain_size, files);
        let pieces = merged.pieces.get(&partition).map_or(&[][..], Vec::as_slice);
        let whole = pieces.iter().map_while(|(kind, plain)| Some((*kind, (*plain)?)));
        let found = content
            .blocks
            .iter()
            .map(|block| (block.kind, (block.size, block.checksum)));
        assert!(found.eq(whole), "the blocks of partition {partition}");
        assert_eq!(content.fault.is_some(), content.blocks.len() < pieces.len());
    }
}
