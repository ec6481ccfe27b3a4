//! The lines of the codecs, `header_block` and `script`.

use super::files::state;
use super::{Transcript, sum};
use crate::container::{Container, limits_of};
use crate::cursor::Cursor;
use crate::scratch;
use crate::seal::seal;
use crate::seen::every;
use crate::targets::codec::file;
use crate::targets::program::{Call, Program};
use crate::targets::script::carry_out;
use faro::{Codec, Files, Layout, Limits, Reader, ReaderOptions, RebuildOptions, rebuild};

/// Where the block of a codec's input begins.
const BLOCK: u64 = 64;

pub(super) fn codec(input: &[u8], codec: u8, lines: &mut Transcript) {
    let mut cursor = Cursor::new(input);
    let plain_size = cursor.number(3) & 0x1_FFFF;
    let files = Files::single(scratch::path("x"));
    scratch::write(scratch::index(&files), &file(codec, plain_size, cursor.rest()));
    let options = ReaderOptions::default().limits(Limits::default().max_window_size(1 << 20));
    let reader = Reader::open(&files, options).expect("a file around a block");
    let block = reader.partition(0).expect("the file's partition").next();
    match block.expect("the file's block") {
        Ok(block) => lines.line(&format!("plain {}", sum(&block.payload))),
        Err(error) => {
            let distance = error.offset.map_or(u64::MAX, |offset| offset - BLOCK);
            lines.line(&format!("!{} block {distance}", error.code));
            lines.note(format!("{}@block:{distance}", error.code));
        }
    }
}

pub(super) fn header_block(input: &[u8], lines: &mut Transcript) {
    let (flags, file) = input.split_first().unwrap_or((&0, &[]));
    let mut file = file.to_vec();
    if flags & Container::SEAL != 0 {
        seal(&mut file);
    }
    let (data, index) = (scratch::path("h.data"), scratch::path("h.index"));
    scratch::write(&data, &file);
    let options = RebuildOptions::default().limits(limits_of(*flags)).dry_run(true);
    let report = rebuild(&Files::Paired { data, index }, &options);
    lines.result("rebuild", report, |report| {
        let blocks = report.blocks.unwrap_or(u64::MAX);
        let bytes = format!("{} {}", report.data_kept, report.data_cut);
        format!("{} {blocks} {bytes} {}", report.regions, report.orphaned)
    });
}

pub(super) fn script(input: &[u8], lines: &mut Transcript) {
    let program = Program::decode(input);
    let folder = scratch::empty_folder("v");
    let said = carry_out(&program, &folder);
    for (number, code) in said.iter().enumerate() {
        if let Err(code) = code {
            lines.line(&format!("call {number} {code}"));
            lines.note(format!("{code}@-:-"));
        }
    }
    let is_finished = program
        .calls
        .iter()
        .zip(&said)
        .any(|(call, said)| *call == Call::Finish && said.is_ok());
    if !is_finished {
        return;
    }
    let base = folder.join("x");
    let files = match program.options.layout {
        Some(Layout::Paired) | None => Files::paired(base),
        Some(Layout::Single) => Files::single(base),
    };
    if program.options.codec == Codec::None {
        state(&files, lines);
    }
    let reader = Reader::open(&files, ReaderOptions::default()).expect("what a writer wrote opens");
    for partition in every(reader.partitions()) {
        let blocks = reader.partition(partition).expect("a partition of the file");
        lines.content(&format!("partition {partition}"), blocks, false);
    }
}
