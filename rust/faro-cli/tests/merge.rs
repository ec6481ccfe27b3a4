//! `faro merge`, and `faro check --originals`.

mod common;

use common::Folder;
use std::collections::BTreeMap;

/// The outputs of five producers with these options; all have eight partitions.
fn packed(more: &[&str]) -> Folder {
    let folder = Folder::new();
    for producer in 0..5 {
        let rows =
            (producer * 1000..producer * 1000 + 900).map(|row| format!("{{\"k\":{row},\"v\":\"{}\"}}\n", row * 7));
        folder.write(&format!("in-{producer}.jsonl"), rows.collect::<String>());
        let (input, name, number) = (
            format!("in-{producer}.jsonl"),
            format!("map-{producer}"),
            producer.to_string(),
        );
        let mut args = vec![
            "pack",
            &input,
            "-o",
            &name,
            "--by",
            "k",
            "--partitions",
            "8",
            "--producer",
            &number,
        ];
        args.extend(more);
        folder.ok(&args);
    }
    folder
}

const NAMES: [&str; 5] = ["map-0", "map-1", "map-2.index", "map-3.data", "map-4"];

/// A command with the names of all outputs.
fn with_names<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().chain(NAMES).collect()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_merged_file_has_the_records_of_all() {
    for more in [&[][..], &["--codec", "zstd"], &["--codec", "lz4", "--memory", "64KiB"]] {
        let folder = packed(more);
        folder.ok(&with_names(&["merge", "merged"]));
        let merged = folder.text(&["cat", "merged", "--all"]);
        let all: String = NAMES.iter().map(|name| folder.text(&["cat", name, "--all"])).collect();
        assert_eq!(sorted(&merged), sorted(&all), "{more:?}");
        let info = folder.json(&["info", "merged", "--json"]);
        assert_eq!(info["header"]["producer"], serde_json::Value::Null);
        assert_eq!(info["regions"]["runs"]["producers"], 5);
        let checked = folder.json(&with_names(&["check", "merged", "--json", "--originals"]));
        let originals = &checked["outputs"][0]["originals"];
        assert_eq!(originals["missing"], 0);
        assert_eq!(originals["producers"], 5);
        assert_eq!(originals["blocks"], info["blocks"]["count"]);
    }
}

#[test]
fn the_layout_says_whose_blocks_an_extent_has() {
    let folder = packed(&[]);
    folder.ok(&with_names(&["merge", "merged", "--chunk-size", "3000"]));
    let ranges = folder.json(&["layout", "merged", "--json"])["ranges"].clone();
    let mut producers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for range in ranges
        .as_array()
        .unwrap()
        .iter()
        .filter(|range| range["what"] == "own-extent")
    {
        let runs = range["runs"].as_array().unwrap();
        let sum = |field: &str| runs.iter().map(|run| run[field].as_u64().unwrap()).sum::<u64>();
        assert_eq!(
            (sum("length"), sum("blocks")),
            (range["length"].as_u64().unwrap(), range["blocks"].as_u64().unwrap())
        );
        let of = producers.entry(range["partition"].as_u64().unwrap()).or_default();
        of.extend(runs.iter().map(|run| run["producer"].as_u64().unwrap()));
    }
    assert_eq!(producers.len(), 8);
    assert!(producers.values().all(|of| of == &[0, 1, 2, 3, 4]), "{producers:?}");
    assert!(folder.text(&["layout", "merged"]).contains("partition 0, "));
}

#[test]
fn a_file_for_each_range_of_partitions() {
    let folder = packed(&[]);
    let report = folder.json(&with_names(&["merge", "part", "--every", "3", "--json"]));
    let firsts: Vec<_> = report["merged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["first_partition"])
        .collect();
    assert_eq!(firsts, [0, 3, 6]);
    let parts: String = ["part-0", "part-3", "part-6"]
        .map(|name| folder.text(&["cat", name, "--all"]))
        .concat();
    let all: String = NAMES.iter().map(|name| folder.text(&["cat", name, "--all"])).collect();
    assert_eq!(sorted(&parts), sorted(&all));
    folder.ok(&with_names(&["merge", "some", "--partitions", "2..4"]));
    let some = folder.text(&["cat", "some", "--all"]);
    let of_one = folder.text(&["cat", "map-1", "--partition", "2-4"]);
    assert!(of_one.lines().all(|line| some.contains(line)) && !of_one.is_empty());
}

#[test]
fn properties_that_all_have_are_kept() {
    let folder = Folder::new();
    for (number, header) in ["k,v", "k,v", "k,w"].iter().enumerate() {
        folder.write("in.csv", format!("{header}\n{number},x\n"));
        let (name, number) = (format!("map-{number}"), number.to_string());
        folder.ok(&["pack", "in.csv", "-o", &name, "--by", "k", "--producer", &number]);
    }
    folder.ok(&["merge", "same", "map-0", "map-1"]);
    assert_eq!(sorted(&folder.text(&["cat", "same", "--all"])), ["0,x", "1,x", "k,v"]);
    folder.ok(&["merge", "differ", "map-0", "map-1", "map-2"]);
    let properties = &folder.json(&["info", "differ", "--json"])["properties"];
    assert_eq!(properties["faro.pack.format"], "csv");
    assert_eq!(properties["faro.pack.header"], serde_json::Value::Null);
}

#[test]
fn a_merge_goes_on() {
    let folder = packed(&[]);
    folder.ok(&["merge", "merged", "map-0", "map-1"]);
    // Without its footer and tail it is a merge whose process has died.
    let index = folder.read("merged.index");
    let map = folder.json(&["layout", "merged", "--json"]);
    let is_footer = |range: &&serde_json::Value| range["what"].as_str().is_some_and(|what| what.starts_with("footer"));
    let footer = map["ranges"].as_array().unwrap().iter().find(is_footer).unwrap();
    folder.write("merged.index", &index[..footer["offset"].as_u64().unwrap() as usize]);
    let report = folder.json(&with_names(&["merge", "merged", "--resume", "--json"]));
    assert_eq!(report["merged"][0]["duplicates"], 16);
    folder.ok(&with_names(&["check", "merged", "--originals"]));
    // It is finished now.
    folder.fails(2, &with_names(&["merge", "merged", "--resume"]));
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let folder = packed(&[]);
    folder.ok(&["merge", "merged", "map-0", "map-1"]);
    for (args, code, text) in [
        (&["merge", "merged", "map-0"][..], 3, "exists"),
        (&["merge", "other", "map-0", "map-0"], 2, "both of producer 0"),
        (&["merge", "other", "merged", "map-2"], 2, "is a merged file"),
        (
            &["merge", "other", "map-0", "--partitions", "3..9"],
            2,
            "the partitions 0 to 7",
        ),
        (&["merge", "other", "map-0", "--partitions", "x"], 2, "not a range"),
        (&["merge", "other", "nothing"], 3, "nothing"),
        (
            &["check", "map-0", "--originals", "map-0"],
            2,
            "--originals is for merged files",
        ),
    ] {
        let errors = folder.fails(code, args);
        assert!(errors.contains(text), "{args:?}: {errors}");
    }
    // A damaged block is not merged, and nothing is left.
    let mut data = folder.read("map-3.data");
    data[100] ^= 1;
    folder.write("map-3.data", &data);
    folder.fails(4, &with_names(&["merge", "other"]));
    assert!(!folder.names().iter().any(|name| name.starts_with("other")));
}

#[test]
fn a_merged_file_that_differs_from_its_originals_is_found() {
    let folder = packed(&[]);
    folder.ok(&with_names(&["merge", "merged"]));
    folder.fails(4, &["check", "merged", "--originals", "map-0", "map-1"]);
    // Another output of the same producer.
    folder.ok(&[
        "pack",
        "in-0.jsonl",
        "-o",
        "map-3",
        "--force",
        "--by",
        "k",
        "--partitions",
        "8",
        "--producer",
        "3",
    ]);
    folder.fails(4, &with_names(&["check", "merged", "--originals"]));
}
