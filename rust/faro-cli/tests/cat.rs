//! `faro cat`: prints partitions, and messages about them.

mod common;

use common::Folder;
use std::sync::Arc;

use arrow_array::{ArrayRef, TimestampMicrosecondArray};
use common::tables::numbered;

fn packed() -> Folder {
    let folder = Folder::new();
    folder.write(
        "in.csv",
        (0..100).fold("k,v\n".to_owned(), |text, i| format!("{text}{i},{}\n", i * 2)),
    );
    folder.ok(&["pack", "in.csv", "-o", "out", "--by", "k", "--partitions", "10"]);
    folder
}

#[test]
fn partitions_are_chosen_one_by_one_and_in_rows() {
    let folder = packed();
    let of = |args: &[&str]| folder.text(&[&["cat", "out", "--no-header"], args].concat());
    let expected = of(&["-p", "3"]) + &of(&["-p", "5"]) + &of(&["-p", "6"]) + &of(&["-p", "7"]);
    for args in [
        &["-p", "3,5-7"][..],
        &["-p", "3", "-p", "5..7"],
        &["--partition", "3,5,6,7"],
        &["-p", "3, 5, 6-7"],
    ] {
        assert_eq!(of(args), expected, "{args:?}");
    }
    assert!(
        folder
            .fails(2, &["cat", "out"])
            .contains("--partition 3, --partition 3,5-9, or --all")
    );
    assert!(
        folder
            .fails(2, &["cat", "out", "-p", "3-"])
            .contains("write 3, 3-5 or 3,5-9")
    );
    assert!(
        folder
            .fails(2, &["cat", "out", "-p", "9-12"])
            .contains("no partition 12")
    );
}

#[test]
fn times_with_zones_are_shown() {
    for zone in ["UTC", "Europe/Berlin", "+02:00", "America/New_York"] {
        let folder = Folder::new();
        let times = TimestampMicrosecondArray::from(vec![1_700_000_000_000_000, 0]).with_timezone(zone);
        let column: ArrayRef = Arc::new(times);
        folder.stream("in.arrow", &numbered(&[("at", column)]));
        folder.ok(&["pack", "in.arrow", "-o", "out", "--by", "row", "--partitions", "2"]);
        for format in ["jsonl", "csv", "tsv", "parquet", "arrow"] {
            let shown = folder.ok(&["cat", "out", "--all", "--format", format]);
            let year = shown.windows(4).any(|bytes| bytes == b"2023");
            assert!(year || matches!(format, "parquet" | "arrow"), "{zone} {format}");
        }
    }
}

#[test]
fn what_a_format_cannot_show_is_the_callers_mistake() {
    let folder = Folder::new();
    let times = TimestampMicrosecondArray::from(vec![0]).with_timezone("Nowhere/Atlantis");
    let column: ArrayRef = Arc::new(times);
    folder.stream("in.arrow", &numbered(&[("at", column)]));
    folder.ok(&["pack", "in.arrow", "-o", "out", "--by", "row", "--partitions", "1"]);
    let complaint = folder.fails(2, &["cat", "out", "--all", "--format", "csv"]);
    assert!(complaint.contains("try --format arrow"), "{complaint}");
    folder.ok(&["cat", "out", "--all", "--format", "arrow"]);
}

#[test]
fn info_tells_of_several_outputs_their_columns_and_partitions() {
    let folder = packed();
    let times = TimestampMicrosecondArray::from(vec![0, 1, 2]).with_timezone("UTC");
    let column: ArrayRef = Arc::new(times);
    folder.stream("in.arrow", &numbered(&[("at", column)]));
    folder.ok(&[
        "pack",
        "in.arrow",
        "-o",
        "rows",
        "--by",
        "row",
        "--partitions",
        "4",
        "--single",
    ]);
    let one = folder.json(&["info", "rows", "--json", "--schema", "--partitions"]);
    assert_eq!(one["schema"][1]["name"], "at");
    assert_eq!(one["schema"][0]["type"], "Int64");
    let each = one["partitions"]["each"].as_array().unwrap();
    let records: u64 = each.iter().map(|part| part["records"].as_u64().unwrap()).sum();
    assert_eq!(records, 3);
    let both = folder.json(&["info", "rows", "out", "--json"]);
    assert_eq!(both["outputs"].as_array().unwrap().len(), 2);
    assert_eq!(both["outputs"][1]["records"], 100);
    assert!(both["outputs"][1].get("schema").is_none());
    let text = folder.text(&["info", "rows.faro", "out.index", "--schema", "--partitions"]);
    assert!(text.contains("row: Int64") && text.contains("out.data"), "{text}");
    assert!(
        folder
            .fails(2, &["info", "rows", "out", "--index", "x"])
            .contains("one output")
    );
}
