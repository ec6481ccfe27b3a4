//! Writing by a script, and reading the result.

use super::plain_model::{Model, Piece, without_order};
use super::program::{Call, Item, Program, Whom};
use crate::scratch;
use faro::{CheckOptions, ErrorCode, Files, Framing, Layout, Reader, ReaderOptions, To, Writer, check};
use std::path::Path;

/// Checks the properties of `script`: writes twice, and reads.
pub fn script(input: &[u8]) {
    let program = Program::decode(input);
    let mut model = Model::new(&program);
    let expected: Vec<_> = program.calls.iter().map(|call| model.call(call)).collect();
    let [first, second] = ["a", "b"].map(|folder| {
        let folder = scratch::empty_folder(folder);
        assert_eq!(
            carry_out(&program, &folder),
            expected,
            "what the calls gave, and should"
        );
        scratch::listing(&folder)
    });
    assert_eq!(first, second, "two writers, and not the same bytes");
    let names: Vec<_> = first.iter().map(|(name, _)| name.as_str()).collect();
    if !model.is_finished() {
        assert!(names.is_empty(), "an aborted writer left {names:?}");
        return;
    }
    let base = scratch::path("a").join("x");
    let (files, expected) = match program.options.layout {
        Some(Layout::Paired) | None => (Files::paired(base), vec!["x.data", "x.index"]),
        Some(Layout::Single) => (Files::single(base), vec!["x.faro"]),
    };
    assert_eq!(names, expected);
    check(&files, &CheckOptions::default()).expect("what a writer wrote is whole");
    read(&files, &program, model);
}

/// Runs the calls; returns the result of each.
pub(crate) fn carry_out(program: &Program, folder: &Path) -> Vec<Result<(), ErrorCode>> {
    let mut writer = Writer::create(folder.join("x"), program.options.clone()).expect("options in range");
    let code = |result: faro::Result<()>| result.map_err(|error| error.code);
    let mut said = Vec::new();
    for call in &program.calls {
        said.push(code(match call {
            Call::Put { whom, kind, payload } => {
                let to = match whom {
                    Whom::One(partition) => To::One(*partition),
                    Whom::All => To::All,
                    Whom::These(partitions) => To::These(partitions),
                };
                writer.put(to, *kind, payload, 1)
            }
            Call::Flush => writer.flush(),
            Call::Property { key, value } => writer.property(key, value),
            Call::Region(items) => region(&mut writer, items, program.options.first_partition),
            Call::Finish => writer.finish().map(drop),
            Call::Abort => writer.abort(),
        }));
    }
    said
}

fn region(writer: &mut Writer, items: &[Item], first_partition: u32) -> faro::Result<()> {
    let first = [first_partition];
    let mut region = writer.region()?;
    let mut shared = false;
    for item in items {
        match item {
            Item::Shared { all } => {
                region.shared(if *all { None } else { Some(&first) })?;
                shared = true;
            }
            Item::Block {
                partition,
                kind,
                payload,
                records,
            } => region.block((!shared).then_some(*partition), *kind, payload, *records)?,
        }
    }
    region.end()
}

fn read(files: &Files, program: &Program, model: Model<'_>) {
    let options = &program.options;
    let reader = Reader::open(files, ReaderOptions::default()).expect("what a writer wrote opens");
    let properties = reader.footer().properties.iter();
    assert!(properties.map(|p| (&p.key, &p.value)).eq(&model.properties));
    let statistics = reader.footer().statistics.as_ref();
    assert_eq!(statistics.is_some(), options.statistics);
    for (at, expected) in model.contents.into_iter().enumerate() {
        let partition = options.first_partition + at as u32;
        if let Some(statistics) = statistics {
            let own = statistics.records.as_ref().map_or(0, |records| records[at]);
            assert_eq!(
                own + statistics.records_to_all,
                model.records[at],
                "records of partition {partition}"
            );
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for block in reader.partition(partition).expect("a partition of the file") {
            let block = block.expect("what a writer wrote reads");
            match (block.kind(), options.framing, pieces.last_mut()) {
                (0, Framing::Records, _) => {
                    let records = block.record_slices().expect("whole records");
                    pieces.extend(records.map(|record| Piece::Data(record.to_vec())));
                }
                (0, _, Some(Piece::Data(data))) => data.extend_from_slice(&block.payload),
                (0, _, _) => pieces.push(Piece::Data(block.payload.to_vec())),
                (kind, _, _) => pieces.push(Piece::Event(kind, block.payload.to_vec())),
            }
        }
        if options.ordered {
            assert_eq!(pieces, expected, "partition {partition}");
        } else {
            let [pieces, expected] = [pieces, expected].map(|pieces| without_order(pieces, options.framing));
            assert_eq!(pieces, expected, "partition {partition}");
        }
    }
}
