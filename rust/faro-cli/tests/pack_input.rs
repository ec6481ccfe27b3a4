//! Inputs of `pack`: compressed inputs, and wrong inputs.

mod common;

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use common::Folder;

const TEXT: &str = "id,name\n1,a\n2,b\n3,c\n";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

/// The text in two members or frames, the first of one byte.
fn parts(compress: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    [compress(&TEXT.as_bytes()[..1]), compress(&TEXT.as_bytes()[1..])].concat()
}

#[test]
fn compressed_inputs_are_read() {
    let folder = Folder::new();
    folder.write("plain.csv", TEXT);
    folder.ok(&[
        "pack",
        "plain.csv",
        "-o",
        "plain",
        "--by",
        "id:int",
        "--range",
        "-p",
        "2",
    ]);
    let skippable = [&b"\x50\x2a\x4d\x18\x01\x00\x00\x00x"[..], &zstd(TEXT.as_bytes())].concat();
    let inputs = [
        ("s.csv.gz", gzip(TEXT.as_bytes())),
        ("two.csv.gz", parts(gzip)),
        ("s.csv.zst", zstd(TEXT.as_bytes())),
        ("two.csv.zstd", parts(zstd)),
        ("skip.CSV.ZST", skippable),
        // The content counts, not the name.
        ("unnamed.csv", gzip(TEXT.as_bytes())),
    ];
    for (name, bytes) in inputs {
        folder.write(name, bytes);
        folder.ok(&[
            "pack", name, "-o", "out", "--by", "id:int", "--range", "-p", "2", "--force",
        ]);
        folder.ok(&["diff", "plain", "out"]);
    }
    std::fs::create_dir(folder.path("into")).unwrap();
    folder.ok(&["pack", "s.csv.gz", "-o", "into", "--by", "id"]);
    assert!(folder.path("into/s.data").exists());
}

#[test]
fn compressed_batches_and_pipes_are_read() {
    let folder = Folder::new();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    folder.parquet("in.parquet", &batch);
    folder.stream("in.arrows", &batch);
    for name in ["in.parquet", "in.arrows"] {
        let compressed = format!("{name}.gz");
        folder.write(&compressed, gzip(&folder.read(name)));
        folder.ok(&["pack", name, &compressed, "-o", "a", "-o", "b", "--by", "id", "--force"]);
        folder.ok(&["diff", "--content", "a", "b"]);
    }
    for compressed in [gzip(TEXT.as_bytes()), zstd(TEXT.as_bytes()), parts(gzip)] {
        let args = ["pack", "-", "--format", "csv", "-o", "p", "--by", "id", "--force"];
        let mut child = folder.command(&args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&compressed).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(folder.text(&["cat", "p", "--all"]).lines().count(), 4);
    }
}

#[test]
fn damaged_compressed_inputs_leave_no_output() {
    let folder = Folder::new();
    let long = "id\n".to_owned() + &"a line of some length\n".repeat(100_000);
    for (name, whole) in [
        ("in.csv.gz", gzip(long.as_bytes())),
        ("in.csv.zst", zstd(long.as_bytes())),
    ] {
        let mut flipped = whole.clone();
        let last = flipped.len() - 2;
        flipped[last] ^= 0x55;
        for bytes in [
            &whole[..whole.len() - 1],
            &whole[..whole.len() / 2],
            &whole[..5],
            &flipped,
        ] {
            folder.write(name, bytes);
            let complaint = folder.fails(4, &["pack", name, "-o", "out", "--by", "id", "--memory", "64KiB"]);
            assert!(complaint.contains(&format!("{name}: the ")), "{complaint}");
            assert!(complaint.contains("stream is damaged or cut off"), "{complaint}");
            let packed = folder.names().into_iter().filter(|name| name.starts_with("out"));
            assert_eq!(packed.count(), 0);
        }
    }
}

#[test]
fn unknown_formats_are_said() {
    let folder = Folder::new();
    for name in ["s.csv.bz2", "notes.txt", "notes.txt.gz"] {
        folder.write(name, TEXT);
        let complaint = folder.fails(2, &["pack", name, "-o", "out", "--by", "id"]);
        assert!(
            complaint.contains(&format!("cannot tell the format of {name}; pass --format")),
            "{complaint}"
        );
    }
    let complaint = folder.fails(2, &["pack", "-", "-o", "out", "--by", "id"]);
    assert!(
        complaint.contains("cannot tell the format of standard input"),
        "{complaint}"
    );
}

#[test]
fn bad_text_is_refused_with_its_line() {
    let folder = Folder::new();
    let table: [(&str, &[u8], &str); 7] = [
        ("a.csv", b"k,v\n1,2\n3\n", "line 3: 1 field, where the first line has 2"),
        ("b.csv", b"k,v\n\n1,2,3\n", "line 3: 3 fields"),
        ("c.tsv", b"k\tv\n1\t2\n3\n", "line 3: 1 field"),
        ("d.csv", b"k,v\n\xff,2\n", "line 2: column 1: the key is not UTF-8"),
        ("e.csv", b"k,v\n1,\0\n", "line 2: a NUL"),
        ("f.csv", b"\xff\xfek\0,\0v\0\n\0", "line 1: the header is not UTF-8"),
        (
            "g.csv",
            b"k,v\n1,\"2\n",
            "line 2: the record that begins here has a quote",
        ),
    ];
    for (name, bytes, expected) in table {
        folder.write(name, bytes);
        let complaint = folder.fails(4, &["pack", name, "-o", "out", "--by", "k"]);
        assert!(complaint.contains(&format!("{name}: {expected}")), "{complaint}");
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    // Bytes that are not UTF-8 are allowed outside the key.
    folder.write("latin1.csv", b"k,v\n1,\xff\n");
    folder.ok(&["pack", "latin1.csv", "-o", "latin1", "--by", "k"]);
    folder.write("wide.csv", "1\n2,3\n");
    let complaint = folder.fails(4, &["pack", "wide.csv", "-o", "out", "--by", "1", "--no-header"]);
    assert!(complaint.contains("line 2: 2 fields"), "{complaint}");
    assert_eq!(
        folder.names(),
        ["latin1.csv", "latin1.data", "latin1.index", "wide.csv"]
    );
}

#[test]
fn columns_that_do_not_exist_are_said() {
    let folder = Folder::new();
    folder.write("in.csv", "id,name,name\n1,a,b\n");
    folder.write("in.tsv", "id\tname\n1\ta\n");
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
    let batch = RecordBatch::try_from_iter([("id", Arc::clone(&ids)), ("name", ids)]).unwrap();
    folder.parquet("in.parquet", &batch);
    folder.stream("in.arrows", &batch);
    let pack = |name: &str, by: &str| folder.fails(2, &["pack", name, "-o", "out", "--by", by]);
    for name in ["in.csv", "in.tsv", "in.parquet", "in.arrows"] {
        let complaint = pack(name, "ids");
        assert!(
            complaint.contains(&format!(
                "{name}: there is no column \"ids\"; the columns are: id, name"
            )),
            "{complaint}"
        );
    }
    assert!(pack("in.csv", "id:integer").contains("\"integer\" is not a type: text, int"));
    assert!(pack("in.csv", "name").contains("columns 2 and 3 are both called"));
    assert!(pack("in.parquet", "id:int").contains("the columns have their types"));
    // The second input is checked before the first is packed.
    folder.fails(2, &["pack", "in.tsv", "in.csv", "-o", "a", "-o", "b", "--by", "name"]);
    assert_eq!(folder.names(), ["in.arrows", "in.csv", "in.parquet", "in.tsv"]);
}

#[test]
fn a_late_mistake_leaves_no_output() {
    let folder = Folder::new();
    folder.write("in.csv", "k,v\n".to_owned() + &"1,2\n".repeat(100_000) + "x,2\n");
    folder.write("out.data", "precious");
    let pack = [
        "pack", "in.csv", "-o", "out", "--by", "k:int", "--memory", "64KiB", "--force",
    ];
    assert!(folder.fails(4, &pack).contains("line 100002"));
    assert_eq!(folder.names(), ["in.csv", "out.data"]);
    assert_eq!(folder.read("out.data"), b"precious");
}

#[test]
fn sizes_that_are_too_small_are_refused() {
    let folder = Folder::new();
    folder.write("in.csv", TEXT);
    for (option, least) in [("--memory", "64KiB"), ("--block-size", "1KiB")] {
        let complaint = folder.fails(2, &["pack", "in.csv", "-o", "out", "--by", "id", option, "64"]);
        assert!(
            complaint.contains("64 bytes") && complaint.contains(least),
            "{complaint}"
        );
        assert!(
            complaint.contains("64KiB") || complaint.contains("64MiB"),
            "{complaint}"
        );
        folder.ok(&["pack", "in.csv", "-o", "out", "--by", "id", option, least, "--force"]);
    }
    folder.fails(2, &["pack", "in.csv", "-o", "x", "--by", "id", "--block-size", "65MiB"]);
}
