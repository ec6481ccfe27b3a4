//! `where` and `top`: keys are where `pack` put them, and counted as a model counts them.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::*;
use common::Folder;
use common::tables::numbered;
use serde_json::Value;

/// The partition that `where` names.
fn place(folder: &Folder, name: &str, key: &str, more: &[&str]) -> usize {
    let args = [&["where", name, "--key", key, "--json"][..], more].concat();
    folder.json(&args)["answers"][0]["partition"].as_u64().unwrap() as usize
}

/// Packs a column with these values, and compares `where` with the rows that are in each partition.
fn agree(column: ArrayRef, keys: &[&str], more: &[&str]) {
    let folder = Folder::new();
    folder.parquet("in.parquet", &numbered(&[("k", column)]));
    folder.ok(&[&["pack", "in.parquet", "-o", "out", "--by", "k"][..], more].concat());
    let partitions = folder.json(&["info", "out", "--json"])["header"]["partition_count"]
        .as_u64()
        .unwrap();
    let mut found = vec![None; keys.len()];
    for partition in 0..partitions as usize {
        for row in folder.rows("out", partition) {
            found[row as usize] = Some(partition);
        }
    }
    for (row, key) in keys.iter().enumerate() {
        assert_eq!(Some(place(&folder, "out", key, &[])), found[row], "{key} {more:?}");
    }
}

#[test]
fn arrow_keys_are_where_pack_put_them() {
    let decimals = || {
        Arc::new(
            Decimal128Array::from(vec![150, 1000, -7])
                .with_precision_and_scale(12, 2)
                .unwrap(),
        )
    };
    agree(decimals(), &["1.5", "10.00", "-0.07"], &["--partitions", "9"]);
    agree(decimals(), &["1.5", "10.00", "-0.07"], &["--bounds=0,5,10"]);
    let texts = || Arc::new(StringArray::from(vec![Some("a,b"), Some(""), Some("[x"), None]));
    agree(texts(), &["a,b", "", "[x", "[null]"], &["--partitions", "9"]);
    agree(texts(), &["a,b", "", "[x", "[null]"], &["--range", "--partitions", "3"]);
    let dates = Arc::new(Date32Array::from(vec![Some(-1), Some(19_782), None]));
    agree(dates, &["1969-12-31", "2024-02-29", ""], &["--partitions", "9"]);
    let stamps = TimestampMillisecondArray::from(vec![-1, 1500]).with_timezone("Europe/Berlin");
    agree(
        Arc::new(stamps),
        &["1969-12-31T23:59:59.999Z", "1970-01-01T01:00:01.5+01:00"],
        &["--partitions", "9"],
    );
    let floats = Arc::new(Float32Array::from(vec![0.7, -0.0, f32::NAN]));
    agree(floats, &["0.7", "0", "NaN"], &["--partitions", "9"]);
    agree(
        Arc::new(UInt64Array::from(vec![u64::MAX, 5])),
        &["18446744073709551615", "5"],
        &["--partitions", "9"],
    );
    agree(
        Arc::new(BinaryArray::from(vec![&b"\x00\xff"[..], b""])),
        &["00ff", ""],
        &["--partitions", "9"],
    );
    agree(
        Arc::new(BooleanArray::from(vec![true, false])),
        &["true", "false"],
        &["--bounds", "true"],
    );
}

#[test]
fn text_keys_are_where_pack_put_them() {
    let folder = Folder::new();
    let rows: String = (0..200).map(|row| format!("{},\"n,{}\"\n", row * 7, row % 9)).collect();
    folder.write("in.csv", format!("id,name\n{rows}"));
    for (name, by, method) in [
        ("typed", "id:int,name", &["--partitions", "50"][..]),
        ("plain", "id,name", &["--partitions", "50"]),
        ("range", "id:int,name", &["--range", "--partitions", "7"]),
    ] {
        folder.ok(&[&["pack", "in.csv", "-o", name, "--by", by][..], method].concat());
        for row in (0..200).step_by(40) {
            let key = match by {
                "id,name" => format!("[\"{}\", \"n,{}\"]", row * 7, row % 9),
                _ => format!("[{}, \"n,{}\"]", row * 7, row % 9),
            };
            let partition = place(&folder, name, &key, &[]);
            let printed = folder.text(&["cat", name, "-p", &partition.to_string()]);
            assert!(
                printed
                    .lines()
                    .any(|line| line == format!("{},\"n,{}\"", row * 7, row % 9)),
                "{name} {key}"
            );
        }
    }
    let complaint = folder.fails(2, &["where", "typed", "--key", "7,n,7"]);
    assert!(
        complaint.contains("the key has 2 columns, and this is 3 values"),
        "{complaint}"
    );
    assert!(
        folder
            .fails(2, &["where", "typed", "--key", "x,y"])
            .contains("not an integer")
    );
    let text = folder.text(&["where", "range", "--key", "[700, \"x\"]"]);
    assert!(
        text.contains("range: 6 bounds, from ") && text.contains("id = 700 (int)"),
        "{text}"
    );
}

#[test]
fn json_keys_are_what_they_look_like() {
    let folder = Folder::new();
    folder.write(
        "in.jsonl",
        "{\"k\": 42}\n{\"k\": \"42\"}\n{\"k\": 1.5}\n{\"k\": null}\n{\"k\": true}\n{\"k\": \"x\"}\n",
    );
    folder.ok(&["pack", "in.jsonl", "-o", "out", "--by", "k", "--partitions", "1000"]);
    let lines = [
        ("42", "42"),
        ("\"42\"", "\"42\""),
        ("1.5", "1.5"),
        ("null", "null"),
        ("true", "true"),
        ("x", "\"x\""),
    ];
    for (key, shown) in lines {
        let partition = place(&folder, "out", key, &[]).to_string();
        let printed = folder.text(&["cat", "out", "-p", &partition]);
        assert!(printed.contains(&format!("{{\"k\": {shown}}}")), "{key}: {printed}");
    }
    let text = folder.text(&["where", "out", "--key", "42"]);
    assert!(text.contains("k = 42 (int, as it looks"), "{text}");
    let typed = place(&folder, "out", "42", &["--by", "k:text"]);
    assert_eq!(typed, place(&folder, "out", "\"42\"", &[]));
    assert!(
        folder
            .fails(2, &["where", "out", "--key", "42", "--by", "j:text"])
            .contains("the key are: k")
    );
}

#[test]
fn where_needs_the_properties_of_pack() {
    let folder = Folder::new();
    let mut writer = faro::Writer::create(folder.path("out"), faro::WriterOptions::new(2)).unwrap();
    writer.write(1, b"x").unwrap();
    writer.finish().unwrap();
    assert!(
        folder
            .fails(2, &["where", "out", "--key", "1"])
            .contains("`faro pack` did not write it")
    );
    assert!(folder.fails(2, &["top", "out"]).contains("--by COLUMN"));
    assert!(
        folder
            .text(&["schema", "out"])
            .contains("records: the output does not name columns")
    );
}

#[test]
fn outputs_may_answer_differently() {
    let folder = Folder::new();
    folder.write("in.csv", "k\n1\n2\n");
    std::fs::create_dir(folder.path("maps")).unwrap();
    folder.ok(&["pack", "in.csv", "-o", "maps/a", "--by", "k:int", "--partitions", "64"]);
    folder.ok(&["pack", "in.csv", "-o", "maps/b", "--by", "k", "--partitions", "64"]);
    let report = folder.json(&["where", "maps", "--key", "1", "--json"]);
    let partitions: Vec<u64> = report["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["partition"].as_u64().unwrap())
        .collect();
    assert_eq!(partitions, [18, 2]);
    assert!(
        folder
            .text(&["where", "maps", "--key", "1"])
            .starts_with("the outputs have different answers:")
    );
}

#[test]
fn a_part_of_a_merged_shuffle_needs_the_count() {
    let folder = Folder::new();
    folder.write("in.csv", "k\n1\n2\n");
    folder.ok(&["pack", "in.csv", "-o", "whole", "--by", "k:int", "--partitions", "64"]);
    std::fs::create_dir(folder.path("merged")).unwrap();
    folder.ok(&["merge", "merged/m", "whole", "--every", "20"]);
    // All parts together have all partitions.
    assert_eq!(place(&folder, "merged", "1", &[]), 18);
    assert_eq!(place(&folder, "merged/m-0", "1", &["--partitions", "64"]), 18);
    assert!(
        folder
            .text(&["where", "merged/m-0", "--key", "1"])
            .contains("pass --partitions")
    );
    // Without one part the count is not known.
    let index = folder.read("merged/m-60.index");
    folder.write("merged/m-60.index", &index[..index.len() - 1]);
    folder.fails(4, &["where", "merged", "--key", "1"]);
    let output = folder.run(&["where", "merged", "--key", "1", "--partitions", "64"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("partition  18\n"));
}

/// Rows in which few keys are heavy: `(key, row)`.
fn rows() -> Vec<(String, String)> {
    let mut x = 1u64;
    let mut next = move || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        x >> 33
    };
    let row = |number: u64| {
        let key = match next() % 4 {
            0 => format!("hot {}", next() % 2),
            _ => format!("cold, {}", next() % 700),
        };
        (
            key.clone(),
            format!("\"{key}\",{}", "x".repeat((next() % 40) as usize + number as usize % 2)),
        )
    };
    (0..3000).map(row).collect()
}

/// Records and bytes of each key.
fn model(rows: &[(String, String)]) -> BTreeMap<String, (u64, u64)> {
    let mut model: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (key, row) in rows {
        let counts = model.entry(key.clone()).or_default();
        *counts = (counts.0 + 1, counts.1 + row.len() as u64);
    }
    model
}

fn top_keys(report: &Value) -> Vec<(String, (u64, u64))> {
    let number = |one: &Value, name: &str| one[name].as_u64().unwrap();
    let keys = report["keys"].as_array().unwrap().iter();
    keys.map(|one| {
        let key = one["key"][0].as_str().unwrap().to_owned();
        (key, (number(one, "records"), number(one, "bytes")))
    })
    .collect()
}

#[test]
fn top_counts_as_a_model_does() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("maps")).unwrap();
    let rows = rows();
    for (number, part) in rows.chunks(1000).enumerate() {
        let text: String = part.iter().map(|(_, row)| format!("{row}\n")).collect();
        folder.write(&format!("{number}.csv"), format!("k,v\n{text}"));
    }
    folder.ok(&[
        "pack",
        "0.csv",
        "1.csv",
        "2.csv",
        "-o",
        "maps/",
        "--by",
        "k",
        "--partitions",
        "3",
    ]);
    let model = model(&rows);
    let mut expected: Vec<(String, (u64, u64))> = model.clone().into_iter().collect();
    expected.sort_by_key(|(key, (records, bytes))| (std::cmp::Reverse((*bytes, *records)), key.clone()));
    let report = folder.json(&["top", "maps", "-p", "0-2", "-n", "2", "--json"]);
    assert_eq!(top_keys(&report), expected[..2]);
    assert_eq!(
        (&report["distinct"], &report["error_bytes"]),
        (&(model.len() as u64).into(), &0.into())
    );
    let bytes: u64 = model.values().map(|(_, bytes)| bytes).sum();
    assert_eq!((&report["records"], &report["bytes"]), (&3000.into(), &bytes.into()));
    assert_eq!(
        report["keys"][0]["share"].as_f64().unwrap(),
        expected[0].1.1 as f64 / bytes as f64
    );

    // With room for few keys, the heavy ones are still found, and the error is true.
    let report = folder.json(&["top", "maps", "-p", "0-2", "-n", "2", "--keys", "30", "--json"]);
    let error = report["error_bytes"].as_u64().unwrap();
    assert!(error > 0 && error <= bytes / 15, "{report}");
    let found = top_keys(&report);
    assert_eq!(
        found.iter().map(|(key, _)| key).collect::<Vec<_>>(),
        [&expected[0].0, &expected[1].0]
    );
    for (key, (_, bytes)) in &found {
        let exact = model[key].1;
        assert!(*bytes <= exact && exact <= bytes + error, "{key}: {bytes} of {exact}");
    }
    let text = folder.text(&["top", "maps", "-p", "0-2", "--keys", "30"]);
    assert!(text.contains("estimates: each key may have up to "), "{text}");
}

#[test]
fn top_takes_the_largest_partition() {
    let folder = Folder::new();
    folder.write("in.csv", format!("k:x,v\n{}1,b\n", "7,a\n".repeat(500)));
    folder.ok(&["pack", "in.csv", "-o", "out", "--by", "1:int", "--partitions", "16"]);
    let report = folder.json(&["top", "out", "--json"]);
    assert_eq!(report["partitions"], place(&folder, "out", "7", &[]).to_string());
    assert_eq!(
        (&report["largest"], &report["keys"][0]["key"][0]),
        (&true.into(), &7.into())
    );
    assert!(folder.text(&["top", "out"]).contains(", the largest: 50"));
    // Other columns than those that were packed by.
    let report = folder.json(&["top", "out", "-p", "0-15", "--by", "v", "--json"]);
    assert_eq!(report["keys"][0]["key"][0], "a");
    assert!(
        folder
            .fails(2, &["top", "out", "--by", "w"])
            .contains("there is no column \"w\"")
    );
}

#[test]
fn top_takes_json_and_arrow() {
    let folder = Folder::new();
    let lines: String = (0..90)
        .map(|row| format!("{{\"u\":{{\"id\":{}}},\"d\":\"{row}\"}}\n", row % 3 * (row % 2)))
        .collect();
    folder.write("in.jsonl", &lines);
    folder.ok(&["pack", "in.jsonl", "-o", "json", "--by", "/u/id", "--partitions", "1"]);
    let report = folder.json(&["top", "json", "--json"]);
    let counts: Vec<(u64, u64)> = report["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["key"][0].as_u64().unwrap(), one["records"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts[0], (0, 60));
    assert_eq!(
        counts[1..]
            .iter()
            .map(|(key, records)| key * 100 + records)
            .sum::<u64>(),
        330
    );
    let complaint = folder.fails(2, &["top", "json", "--by", "/u/nothing"]);
    assert!(complaint.contains("names that exist: /u/id"), "{complaint}");

    let dates: ArrayRef = Arc::new(Date32Array::from(vec![Some(19_782), Some(19_782), None]));
    folder.parquet("in.parquet", &numbered(&[("day", dates)]));
    folder.ok(&["pack", "in.parquet", "-o", "arrow", "--by", "day", "--partitions", "1"]);
    let report = folder.json(&["top", "arrow", "--json"]);
    let keys = report["keys"].as_array().unwrap();
    assert_eq!(
        (&keys[0]["key"][0], &keys[0]["records"]),
        (&"2024-02-29".into(), &2.into())
    );
    assert_eq!((&keys[1]["key"][0], &keys[1]["records"]), (&Value::Null, &1.into()));
    let bytes: u64 = keys.iter().map(|one| one["bytes"].as_u64().unwrap()).sum();
    assert_eq!(report["bytes"], bytes);
    assert_eq!(
        folder
            .text(&["head", "arrow", "-n", "1", "--format", "jsonl"])
            .lines()
            .count(),
        1
    );
}

#[test]
fn schemas_of_all_formats() {
    let folder = Folder::new();
    let numbers: ArrayRef = Arc::new(Int8Array::from(vec![1, 2]));
    folder.parquet("in.parquet", &numbered(&[("n", numbers)]));
    folder.ok(&["pack", "in.parquet", "-o", "arrow", "--by", "n"]);
    let text = folder.text(&["schema", "arrow"]);
    assert_eq!(
        text,
        "parquet: 2 columns\n  row  Int64, may be null\n  n    Int8, may be null, key\n"
    );
    folder.write(
        "in.jsonl",
        "{\"b\":1,\"a\":\"x\"}\n{\"a\":null,\"c\":[1]}\n{\"b\":1.5,\"a\":\"y\",\"c\":{}}\n",
    );
    folder.ok(&["pack", "in.jsonl", "-o", "json", "--by", "a", "--partitions", "1"]);
    let text = folder.text(&["schema", "json"]);
    let expected = "jsonl: 3 columns, as seen in 3 records\n  b  float or int, may be null\n  a  text, may be null, key\n  \
                    c  list or object, may be null\n";
    assert_eq!(text, expected);
}

#[test]
fn outputs_of_different_counts_have_their_own_answers() {
    let folder = Folder::new();
    let rows: String = (0..50).map(|row| format!("{row},x\n")).collect();
    folder.write("rows.csv", format!("k,text\n{rows}"));
    std::fs::create_dir(folder.path("both")).unwrap();
    for (name, partitions) in [("both/of-16", "16"), ("both/of-8", "8")] {
        folder.ok(&["pack", "rows.csv", "-o", name, "--by", "k", "--partitions", partitions]);
    }
    let answers = folder.json(&["where", "both", "--key", "7", "--json"])["answers"].take();
    assert_eq!(answers.as_array().unwrap().len(), 2);
    for answer in answers.as_array().unwrap() {
        let (output, partition) = (
            answer["first_output"].as_str().unwrap(),
            answer["partition"].to_string(),
        );
        let rows = folder.text(&["cat", output, "-p", &partition, "--no-header"]);
        assert!(rows.lines().any(|row| row == "7,x"), "{output}: {rows}");
    }
}
