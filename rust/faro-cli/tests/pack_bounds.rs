//! `pack --bounds`: bounds have the type of the key's column, and divide the rows.

mod common;

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use common::Folder;
use common::tables::numbered;

/// Packs a column by these bounds, and returns the rows of each partition.
fn split(column: ArrayRef, bounds: &str) -> Vec<Vec<i64>> {
    let folder = Folder::new();
    folder.stream("in.arrows", &numbered(&[("k", column)]));
    let partitions = bounds.split(',').count() + 1;
    let bounds = format!("--bounds={bounds}");
    folder.ok(&["pack", "in.arrows", "-o", "out", "--by", "k", &bounds]);
    (0..partitions).map(|partition| folder.rows("out", partition)).collect()
}

/// The error message for bounds.
fn refused(column: ArrayRef, bounds: &str) -> String {
    let folder = Folder::new();
    folder.stream("in.arrows", &numbered(&[("k", column)]));
    let bounds = format!("--bounds={bounds}");
    let complaint = folder.fails(2, &["pack", "in.arrows", "-o", "out", "--by", "k", &bounds]);
    assert_eq!(folder.names(), ["in.arrows"]);
    complaint
}

fn decimals(unscaled: &[i128], precision: u8, scale: i8) -> ArrayRef {
    let array = Decimal128Array::from(unscaled.to_vec());
    Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
}

#[test]
fn decimals_compare_exactly() {
    let column = || decimals(&[999, 1000, 5000, 10_000, 10_001], 12, 2);
    assert_eq!(split(column(), "10,100"), [vec![0], vec![1, 2], vec![3, 4]]);
    assert_eq!(split(column(), "1e1,100.00"), [vec![0], vec![1, 2], vec![3, 4]]);
    // Bounds with more digits than the column's scale are compared exactly, not rounded.
    assert_eq!(split(column(), "9.995,100.005"), [vec![0], vec![1, 2, 3], vec![4]]);
    assert_eq!(
        split(decimals(&[-2, 0, 3], 5, -3), "-2000,0,2999.5"),
        [vec![], vec![0], vec![1], vec![2]]
    );
    assert_eq!(split(decimals(&[0, 1], 38, -60), "7"), [vec![0], vec![1]]);
    let complaint = refused(column(), "10,x");
    assert!(complaint.contains("--bounds: \"x\" is not a decimal"), "{complaint}");
    assert!(complaint.contains("such as 12.50"), "{complaint}");
    assert!(refused(column(), &"9".repeat(40)).contains("too many digits"));
    refused(column(), "NaN");
}

#[test]
fn dates_and_times_are_in_iso_form() {
    let dates = || Arc::new(Date32Array::from(vec![-1, 0, 19_782]));
    assert_eq!(split(dates(), "1970-01-01,2024-02-29"), [vec![0], vec![1], vec![2]]);
    let complaint = refused(dates(), "20240229");
    assert!(complaint.contains("such as 2024-01-31"), "{complaint}");
    refused(dates(), "2023-02-29");
    let date64 = Arc::new(Date64Array::from(vec![0, 86_400_000]));
    assert_eq!(split(date64, "1970-01-02"), [vec![0], vec![1]]);

    let stamps = || Arc::new(TimestampMillisecondArray::from(vec![-1, 0, 1500]));
    assert_eq!(
        split(stamps(), "1970-01-01,1970-01-01T00:00:01.5"),
        [vec![0], vec![1], vec![2]]
    );
    assert!(refused(stamps(), "1970-01-01T00:00:00Z").contains("no time zone"));
    assert!(refused(stamps(), "1970-01-01T00:00:00.0001").contains("finer than"));
    let zoned = || Arc::new(TimestampMillisecondArray::from(vec![-1, 0, 1500]).with_timezone("Europe/Berlin"));
    assert_eq!(
        split(zoned(), "1970-01-01T01:00:00+01:00,1970-01-01 00:00:01Z"),
        [vec![0], vec![1], vec![2]]
    );
    assert!(refused(zoned(), "1970-01-01").contains("needs a time zone"));

    let times = Arc::new(Time64MicrosecondArray::from(vec![0, 3_600_000_000]));
    assert_eq!(split(times, "00:00:00.000001"), [vec![0], vec![1]]);
    let durations = Arc::new(DurationSecondArray::from(vec![1, 2]));
    assert_eq!(split(durations, "2"), [vec![0], vec![1]]);
}

#[test]
fn other_types_have_bounds_of_their_own() {
    let large = Arc::new(UInt64Array::from(vec![1, 1 << 63, u64::MAX]));
    assert_eq!(
        split(large, "9223372036854775808,18446744073709551615"),
        [vec![0], vec![1], vec![2]]
    );
    assert!(refused(Arc::new(Int8Array::from(vec![1])), "1.5").contains("not an integer, such as 42"));
    assert!(refused(Arc::new(Int64Array::from(vec![1])), "99999999999999999999").contains("64 bits"));
    let floats = vec![f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY, f64::NAN];
    assert_eq!(
        split(Arc::new(Float64Array::from(floats)), "0,inf,NaN"),
        [vec![0], vec![1, 2], vec![3], vec![4]]
    );
    // The bound is the 32-bit value 0.7 of the column.
    assert_eq!(
        split(Arc::new(Float32Array::from(vec![0.6, 0.7])), "0.7"),
        [vec![0], vec![1]]
    );
    let truths = Arc::new(BooleanArray::from(vec![Some(false), Some(true), None]));
    assert_eq!(split(truths, "true"), [vec![0, 2], vec![1]]);
    let binary = Arc::new(BinaryArray::from_vec(vec![b"", b"\x00", b"\xff"]));
    assert_eq!(split(binary, "00,ff"), [vec![0], vec![1], vec![2]]);
    let texts: DictionaryArray<Int8Type> = ["A", "a", "ä"].into_iter().collect();
    assert_eq!(split(Arc::new(texts), "a,b"), [vec![0], vec![1], vec![2]]);
    assert!(refused(Arc::new(Int64Array::from(vec![1])), "1,,3").contains("empty"));
    assert!(refused(Arc::new(NullArray::new(1)), "1").contains("only nulls"));
}

#[test]
fn a_file_of_bounds_works_alike() {
    let folder = Folder::new();
    folder.stream("in.arrows", &numbered(&[("k", decimals(&[150, 151], 9, 2))]));
    let pack = |bounds: &str| {
        folder.write("bounds", bounds);
        folder.run(&[
            "pack",
            "in.arrows",
            "-o",
            "out",
            "--by",
            "k",
            "--bounds",
            "@bounds",
            "--force",
        ])
    };
    for bounds in ["1.505\n", "\"1.505\"\n", "[1.505]\n"] {
        assert!(pack(bounds).status.success());
        assert_eq!([folder.rows("out", 0), folder.rows("out", 1)], [[0], [1]], "{bounds}");
    }
    for bounds in ["null\n1\n\"x\"\n", "true\n", "2024-01-31\n", "{}\n", "[1, 2]\n"] {
        let output = pack(bounds);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{bounds}: {complaint}");
        assert!(complaint.contains("bounds: line "), "{complaint}");
    }
    // A null is less than every other bound.
    assert!(pack("null\n1.505\n").status.success());
    assert_eq!(folder.rows("out", 1), [0]);
    let complaint = String::from_utf8(pack("2\n1\n").stderr).unwrap();
    assert!(complaint.contains("ascend"), "{complaint}");
}

#[test]
fn bounds_that_were_found_can_be_given() {
    let folder = Folder::new();
    let k: ArrayRef =
        Arc::new(TimestampSecondArray::from_iter((0..100).map(|i| (i > 9).then_some(i))).with_timezone("UTC"));
    let b: ArrayRef = Arc::new(BinaryArray::from_iter_values((0..100u8).map(|i| [i])));
    folder.stream("in.arrows", &numbered(&[("k", k), ("b", b)]));
    folder.ok(&[
        "pack",
        "in.arrows",
        "-o",
        "a",
        "--by",
        "k,b",
        "--range",
        "--partitions",
        "4",
    ]);
    let info = folder.json(&["info", "--json", "a"]);
    let bounds: serde_json::Value =
        serde_json::from_str(info["properties"]["faro.pack.bounds"].as_str().unwrap()).unwrap();
    assert_eq!(bounds[0].to_string(), r#"["1970-01-01T00:00:25Z","19"]"#);
    let lines = bounds.as_array().unwrap().iter().map(|bound| format!("{bound}\n"));
    folder.write("bounds", lines.collect::<String>());
    folder.ok(&["pack", "in.arrows", "-o", "b", "--by", "k,b", "--bounds", "@bounds"]);
    folder.ok(&["diff", "--content", "a", "b"]);
}

#[test]
fn each_input_reads_the_bounds_by_its_own_type() {
    let folder = Folder::new();
    folder.stream("cents.arrows", &numbered(&[("k", decimals(&[150, 151], 9, 2))]));
    folder.stream(
        "whole.arrows",
        &numbered(&[("k", Arc::new(Int32Array::from(vec![1, 2])))]),
    );
    let pack = [
        "pack",
        "cents.arrows",
        "whole.arrows",
        "-o",
        "c",
        "-o",
        "w",
        "--by",
        "k",
    ];
    folder.ok(&[&pack[..], &["--bounds", "2"]].concat());
    assert_eq!([folder.rows("c", 0), folder.rows("c", 1)], [vec![0, 1], vec![]]);
    assert_eq!([folder.rows("w", 0), folder.rows("w", 1)], [[0], [1]]);
    let complaint = folder.fails(2, &[&pack[..], &["--range", "--force"]].concat());
    assert!(complaint.contains("whole.arrows"), "{complaint}");
}
