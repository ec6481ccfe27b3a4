//! `pack` and `cat`: rows come back, from the partitions that the specification defines.

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use common::Folder;

/// Text with sorted lines, since partitions come one after another.
fn sorted(text: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = text
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    lines.sort();
    lines
}

/// A table of 5000 orders.
fn csv() -> String {
    let mut text = "id,customer,note\n".to_owned();
    for id in 0..5000 {
        text.push_str(&format!("{id},customer {},plain\n", id % 37));
    }
    text
}

fn batch() -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter((0..1000).map(|id| (id % 10 > 0).then_some(id))));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..1000).map(|id| format!("name {}", id % 7)),
    ));
    RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap()
}

#[test]
fn csv_comes_back_with_its_header() {
    let folder = Folder::new();
    folder.write("orders.csv", csv());
    folder.ok(&[
        "pack",
        "orders.csv",
        "-o",
        "out",
        "--by",
        "customer",
        "--memory",
        "64KiB",
        "--codec",
        "zstd:3",
    ]);
    assert_eq!(folder.names(), ["orders.csv", "out.data", "out.index"]);
    let back = folder.ok(&["cat", "out", "--all"]);
    assert!(back.starts_with(b"id,customer,note\n"));
    assert_eq!(sorted(&back), sorted(csv().as_bytes()));
    folder.ok(&["check", "out"]);
    assert!(
        folder.json(&["info", "--json", "out"])["regions"]["count"]
            .as_u64()
            .unwrap()
            > 1
    );
}

#[test]
fn quoted_line_ends_and_crlf_stay() {
    let folder = Folder::new();
    let text = "k,v\r\na,\"two\r\nlines, \"\"quoted\"\"\"\r\nb,\r\n";
    folder.write("in.csv", text);
    folder.ok(&[
        "pack",
        "in.csv",
        "-o",
        "out",
        "--by",
        "k",
        "--range",
        "--partitions",
        "2",
        "--single",
    ]);
    assert_eq!(folder.text(&["cat", "out", "--all"]), text);
    assert_eq!(folder.names(), ["in.csv", "out.faro"]);
}

#[test]
fn tsv_and_json_lines_come_back() {
    let folder = Folder::new();
    let tsv = csv().replace(',', "\t");
    folder.write("in.tsv", &tsv);
    folder.ok(&["pack", "in.tsv", "-o", "t", "--by", "1:int"]);
    assert_eq!(sorted(&folder.ok(&["cat", "t", "--all"])), sorted(tsv.as_bytes()));
    let json: String = (0..100)
        .map(|i| format!("{{\"user\": {{\"id\": {}}}, \"n\": {i}}}\n", i % 9))
        .collect();
    folder.write("in.jsonl", &json);
    folder.ok(&["pack", "in.jsonl", "-o", "j", "--by", "/user/id", "--partitions", "4"]);
    assert_eq!(sorted(&folder.ok(&["cat", "j", "--all"])), sorted(json.as_bytes()));
}

#[test]
fn parquet_and_arrow_come_back_in_every_format() {
    let folder = Folder::new();
    let batch = batch();
    let file = std::fs::File::create(folder.path("in.parquet")).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let file = std::fs::File::create(folder.path("in.arrow")).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    folder.ok(&["pack", "in.parquet", "-o", "p", "--by", "id,name", "--codec", "lz4"]);
    folder.ok(&["pack", "in.arrow", "-o", "a", "--by", "id,name"]);
    folder.ok(&["diff", "--content", "p", "a"]);
    folder.ok(&["check", "p", "a"]);
    // `cat` restores the packed file, which can be packed again.
    folder.write("again.parquet", folder.ok(&["cat", "p", "--all"]));
    folder.write("again.stream", folder.ok(&["cat", "a", "--all"]));
    folder.ok(&["pack", "again.parquet", "-o", "p2", "--by", "id,name"]);
    folder.ok(&["pack", "again.stream", "-o", "a2", "--by", "id,name"]);
    folder.ok(&["diff", "--content", "p", "p2"]);
    folder.ok(&["diff", "--content", "a", "a2"]);
    let csv = folder.text(&["cat", "p", "--all", "--format", "csv"]);
    assert!(csv.starts_with("id,name\n") && csv.lines().count() == 1001);
    assert_eq!(
        folder.text(&["cat", "p", "--all", "--format", "jsonl"]).lines().count(),
        1000
    );
}

#[test]
fn keys_hash_as_the_specification_says() {
    let folder = Folder::new();
    let holds = |name: &str, partition: &str, expected: &str| {
        assert_eq!(folder.text(&["cat", name, "-p", partition, "--no-header"]), expected);
    };
    folder.write("in.csv", "k,n\n1,-1\nfaro,-1\n");
    folder.ok(&["pack", "in.csv", "-o", "text", "--by", "k"]);
    holds("text", "2", "1,-1\n");
    folder.ok(&["pack", "in.csv", "-o", "two", "--by", "k,n:int"]);
    holds("two", "15", "faro,-1\n");
    folder.write("in.jsonl", "{\"k\":1}\n{\"k\":null}\n{\"k\":\"1\"}\n");
    folder.ok(&["pack", "in.jsonl", "-o", "json", "--by", "k"]);
    holds("json", "18", "{\"k\":1}\n");
    holds("json", "40", "{\"k\":null}\n");
    holds("json", "2", "{\"k\":\"1\"}\n");
}

#[test]
fn ranges_are_found_or_given() {
    let folder = Folder::new();
    let numbers: String = (0..1000).map(|i| format!("{}\n", i * 7919 % 1000)).collect();
    folder.write("in.csv", numbers);
    let pack = |name: &str, more: &[&str]| {
        let mut args = vec!["pack", "in.csv", "-o", name, "--by", "1:int", "--no-header"];
        args.extend(more);
        folder.ok(&args);
    };
    pack("found", &["--range", "--partitions", "4"]);
    let values = |name: &str, partition: &str| -> Vec<u32> {
        folder
            .text(&["cat", name, "-p", partition])
            .lines()
            .map(|line| line.parse().unwrap())
            .collect()
    };
    let second = values("found", "1");
    assert_eq!(
        (second.iter().min(), second.iter().max(), second.len()),
        (Some(&250), Some(&499), 250)
    );
    pack("given", &["--bounds", "10,900"]);
    assert_eq!(values("given", "0").len(), 10);
    assert_eq!(values("given", "2").len(), 100);
    folder.write("bounds", "10\n[900]\n");
    pack("listed", &["--bounds", "@bounds"]);
    folder.ok(&["diff", "given", "listed"]);
    let complaint = folder.fails(
        2,
        &[
            "pack",
            "in.csv",
            "-o",
            "x",
            "--by",
            "1:int",
            "--no-header",
            "--bounds",
            "9,1",
        ],
    );
    assert!(complaint.contains("ascend"), "{complaint}");
}

#[test]
fn several_inputs_become_several_outputs() {
    let folder = Folder::new();
    folder.write("a.csv", csv());
    folder.write("b.csv", csv());
    std::fs::create_dir(folder.path("out")).unwrap();
    let report = folder.json(&[
        "pack",
        "a.csv",
        "b.csv",
        "-o",
        "out",
        "--by",
        "id",
        "--producer",
        "7",
        "--json",
    ]);
    assert_eq!(report["outputs"][1]["producer"], 8);
    assert_eq!(folder.json(&["info", "--json", "out/b"])["header"]["producer"], 8);
    folder.ok(&["pack", "a.csv", "b.csv", "-o", "x", "-o", "y", "--by", "id"]);
    folder.ok(&["diff", "--content", "x", "y"]);
    let complaint = folder.fails(2, &["pack", "a.csv", "b.csv", "-o", "z", "--by", "id"]);
    assert!(complaint.contains("-o a directory"), "{complaint}");
}

#[test]
fn a_given_identity_makes_identical_files() {
    let folder = Folder::new();
    folder.write("in.csv", csv());
    let id = "00112233-4455-4677-8899-aabbccddeeff";
    for name in ["a", "b"] {
        folder.ok(&["pack", "in.csv", "-o", name, "--by", "id", "--file-id", id]);
    }
    assert_eq!(folder.read("a.data"), folder.read("b.data"));
    assert_eq!(folder.read("a.index"), folder.read("b.index"));
}

#[test]
fn mistakes_in_inputs_name_their_line() {
    let folder = Folder::new();
    folder.write("in.csv", "k\n1\nx\n");
    let complaint = folder.fails(4, &["pack", "in.csv", "-o", "out", "--by", "k:int"]);
    assert!(
        complaint.contains("in.csv: line 3: \"x\" is not an integer, such as 42"),
        "{complaint}"
    );
    folder.write("in.jsonl", "{}\n\n[]\n");
    let complaint = folder.fails(4, &["pack", "in.jsonl", "-o", "out", "--by", "k"]);
    assert!(complaint.contains("line 3"), "{complaint}");
    folder.write("in.parquet", "PAR1 and no more");
    folder.fails(4, &["pack", "in.parquet", "-o", "out", "--by", "k"]);
    assert_eq!(folder.names(), ["in.csv", "in.jsonl", "in.parquet"]);
}
