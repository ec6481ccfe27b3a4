//! The lines of `fragments` and `merge`.

use super::files::state;
use super::{Transcript, digits};
use crate::scratch;
use crate::seen::every;
use crate::targets::fragments::split;
use crate::targets::merge_program::{Answer, MergeProgram, carry_out};
use faro::merge::FragmentReader;
use faro::{Error, FileHeader, Files, Reader, ReaderOptions};
use sha2::{Digest, Sha256};

pub(super) fn fragments(input: &[u8], lines: &mut Transcript) {
    let (limits, stream) = split(input);
    let mut reader = FragmentReader::new(&stream[..], limits);
    loop {
        match reader.next_fragment() {
            Ok(Some(header)) => lines.line(&fragment(&header)),
            Ok(None) => return,
            Err(error) => return lines.fault("fragment", &error),
        }
        let (mut count, mut digest) = (0, Sha256::new());
        let ended = blocks(&mut reader, &mut count, &mut digest);
        let words = format!("blocks {count} {}", digits(&digest.finalize()));
        match ended {
            Ok(is_last) => lines.line(&format!("{words} {}", u8::from(is_last))),
            Err(error) => return lines.fault(&words, &error),
        }
    }
}

fn fragment(header: &FileHeader) -> String {
    let FileHeader {
        producer,
        attempt,
        first_partition,
        partition_count,
        ..
    } = header;
    format!("fragment {producer} {attempt} {first_partition} {partition_count}")
}

/// Counts the blocks of a fragment; whether it is *last*, or what ends it.
fn blocks(reader: &mut FragmentReader<&[u8]>, count: &mut u32, digest: &mut Sha256) -> Result<bool, Error> {
    while let Some(block) = reader.next_block()? {
        let plain = reader.decode(&block)?;
        *count += 1;
        digest.update(block.header.partition.to_le_bytes());
        digest.update(block.header.sequence.to_le_bytes());
        digest.update([block.header.kind]);
        digest.update((plain.len() as u32).to_le_bytes());
        digest.update(&plain);
    }
    Ok(reader.is_last() == Some(true))
}

pub(super) fn merge(input: &[u8], lines: &mut Transcript) {
    let program = MergeProgram::decode(input);
    let folder = scratch::empty_folder("v");
    let mut number = 0;
    let mut is_finished = false;
    let created = carry_out(&program, &folder, |_, answer| {
        let words = format!("step {number}");
        number += 1;
        match answer {
            Answer::Begun => lines.line(&format!("{words} begun")),
            Answer::Taken => lines.line(&format!("{words} taken")),
            Answer::Done => lines.line(&format!("{words} done")),
            Answer::Outcome(outcome) => lines.line(&format!("{words} {outcome}")),
            Answer::Finalized { regions, runs } => {
                is_finished = true;
                lines.line(&format!("{words} finalized {regions} {runs}"));
            }
            Answer::Fault(fault) => lines.fails(&words, fault.code, fault.role, fault.offset),
        }
    });
    if let Err(fault) = created {
        return lines.fails("create", fault.code, fault.role, fault.offset);
    }
    let files = Files::paired(folder.join("x"));
    state(&files, lines);
    if !is_finished {
        return;
    }
    let options = ReaderOptions::default().limits(program.limits());
    let reader = Reader::open(&files, options).expect("what was merged opens");
    for partition in every(reader.partitions()) {
        for have in reader.have(partition).expect("a partition of a merged file") {
            let is_complete = u8::from(have.is_complete);
            let of = format!("{} {} {} {is_complete}", have.producer, have.attempt, have.blocks);
            lines.line(&format!("have {partition} {of}"));
        }
    }
}
