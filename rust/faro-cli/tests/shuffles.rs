//! Commands about folders of outputs: what they add up is what `cat` prints, and bad outputs do not stop the rest.

mod common;

use std::collections::BTreeMap;

use common::Folder;
use serde_json::Value;

const PARTITIONS: usize = 8;

/// Four outputs in `maps/`, from four inputs.
fn maps(more: &[&str]) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("maps")).unwrap();
    let mut args = vec!["pack"];
    let inputs: Vec<String> = (0..4).map(|number| format!("part-{number}.csv")).collect();
    for (number, input) in inputs.iter().enumerate() {
        let rows = (0..300 * (number + 1)).map(|row| format!("{},\"row {row}\nof {number}\"\n", row * row % 23));
        folder.write(input, format!("key,text\n{}", rows.collect::<String>()));
        args.push(input);
    }
    args.extend([
        "-o",
        "maps/",
        "--by",
        "key:int",
        "--partitions",
        "8",
        "--memory",
        "64KiB",
    ]);
    args.extend(more);
    folder.ok(&args);
    folder
}

/// The records that `cat` prints of a partition, each with its line end; two lines are a record here.
fn printed(folder: &Folder, name: &str, partition: usize) -> String {
    folder.text(&["cat", name, "-p", &partition.to_string(), "--no-header"])
}

fn cut(folder: &Folder, name: &str, keep: usize) {
    let bytes = folder.read(name);
    folder.write(name, &bytes[..keep]);
}

fn flip(folder: &Folder, name: &str, at: usize) {
    let mut bytes = folder.read(name);
    bytes[at] ^= 0x55;
    folder.write(name, bytes);
}

fn numbers(list: &Value, key: &str) -> Vec<u64> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|one| one[key].as_u64().unwrap())
        .collect()
}

#[test]
fn info_adds_up_what_cat_prints() {
    let folder = maps(&[]);
    let report = folder.json(&["info", "maps", "--partitions", "--json"]);
    let records = |partition: usize| {
        let lines: usize = (0..4)
            .map(|map| printed(&folder, &format!("maps/part-{map}"), partition).lines().count())
            .sum();
        (lines / 2) as u64
    };
    let each: BTreeMap<u64, u64> = numbers(&report["partitions"]["each"], "partition")
        .into_iter()
        .zip(numbers(&report["partitions"]["each"], "records"))
        .collect();
    let expected: BTreeMap<u64, u64> = (0..PARTITIONS)
        .map(|p| (p as u64, records(p)))
        .filter(|(_, n)| *n > 0)
        .collect();
    assert_eq!(each, expected);
    assert_eq!(report["records"], 3000);
    assert_eq!(report["outputs"]["finished"], 4);
    // Each output for itself has its bytes in another report.
    let single = |map: usize| {
        folder.json(&["info", &format!("maps/part-{map}"), "--json"])["regions"]["bytes"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(report["bytes"], (0..4).map(single).sum::<u64>());
    let largest = &report["producers"]["largest"];
    assert_eq!(numbers(largest, "producer"), [3, 2, 1, 0]);
    assert_eq!(numbers(largest, "bytes"), [single(3), single(2), single(1), single(0)]);
    let skew = report["producers"]["skew"].as_f64().unwrap();
    assert!((skew - single(3) as f64 * 4.0 / report["bytes"].as_f64().unwrap()).abs() < 1e-9);
    let text = folder.text(&["info", "--total", "maps/part-0", "maps/part-1.index", "maps/part-1"]);
    assert!(text.contains("outputs      2, 2 finished"), "{text}");
}

#[test]
fn bad_outputs_do_not_stop_the_rest() {
    let folder = maps(&[]);
    cut(&folder, "maps/part-1.index", 300);
    let at = folder.read("maps/part-2.index").len() - 100;
    flip(&folder, "maps/part-2.index", at);
    let output = folder.run(&["info", "maps"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("4, 2 finished, 1 unfinished, 1 damaged"), "{text}");
    assert!(
        text.contains("unfinished   maps/part-1: unfinished in maps/part-1.index at 300"),
        "{text}"
    );
    assert!(
        text.contains("damaged      maps/part-2: checksum in maps/part-2.index"),
        "{text}"
    );
    assert!(text.contains("records      1,500"), "{text}");

    let output = folder.run(&["check", "maps"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4));
    let verdicts: Vec<&str> = text.lines().filter(|line| line.starts_with("maps/")).collect();
    assert_eq!(verdicts, ["maps/part-1: unfinished", "maps/part-2: checksum"]);
    assert!(
        text.lines()
            .last()
            .unwrap()
            .starts_with("4 outputs: 2 OK, 2 not OK (decode: "),
        "{text}"
    );

    // What would be incomplete is refused.
    for args in [&["cat", "maps", "-p", "1"][..], &["top", "maps"], &["head", "maps"]] {
        folder.fails(4, args);
    }
    // What is right without them is shown.
    for (args, shown) in [
        (&["schema", "maps"][..], "csv, in 2 outputs: 2 columns"),
        (&["where", "maps", "--key", "1"], " in 2 outputs"),
    ] {
        let output = folder.run(args);
        let text = String::from_utf8(output.stdout).unwrap();
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{complaint}");
        assert!(text.contains(shown), "{text}");
        for name in ["maps/part-1.index", "maps/part-2.index"] {
            assert!(
                complaint
                    .lines()
                    .any(|line| line.starts_with("faro: left out: ") && line.contains(name)),
                "{complaint}"
            );
        }
    }
    // One output alone is an error, with its hint.
    assert!(!folder.fails(4, &["schema", "maps/part-1"]).contains("left out"));
    let output = folder.run(&["layout", "maps"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("2 outputs for 8 partitions")
    );
    // An unfinished output alone is not an error of `info`, as for one output.
    folder.ok(&["info", "--total", "maps/part-0", "maps/part-1"]);
}

#[test]
fn check_finds_damage_in_blocks() {
    let folder = maps(&[]);
    assert!(
        folder
            .text(&["check", "maps"])
            .starts_with("4 outputs: all OK (decode: ")
    );
    assert_eq!(folder.text(&["check", "maps", "--verbose"]).lines().count(), 5);
    flip(&folder, "maps/part-3.data", 2000);
    folder.ok(&["check", "maps", "--level", "structure"]);
    folder.fails(4, &["check", "maps", "--level", "checksums", "--quiet"]);
    let output = folder.run(&["check", "maps", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["checked"], &report["ok"]), (&4.into(), &3.into()));
    assert_eq!(report["outputs"][3]["error"]["code"], "checksum");
    // `info` reads no blocks.
    folder.ok(&["info", "maps"]);
}

#[test]
fn empty_and_missing_folders_are_named() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.write("empty/notes.txt", "");
    for command in ["info", "check", "layout", "head", "schema", "top"] {
        let complaint = folder.fails(3, &[command, "empty"]);
        assert!(
            complaint.contains("empty: no Faro output there, but 1 other file"),
            "{complaint}"
        );
        folder.fails(3, &[command, "absent"]);
        folder.fails(3, &[command, "absent/"]);
    }
    folder.fails(3, &["cat", "empty", "-p", "1"]);
    folder.fails(3, &["where", "empty", "--key", "1"]);
    // One of several is missing: the report comes, and then the code.
    let folder = maps(&[]);
    let output = folder.run(&["info", "maps", "absent"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("not found    io in absent")
    );
}

#[test]
fn cat_and_head_print_all_producers() {
    let folder = maps(&[]);
    for partition in 0..PARTITIONS {
        let parts: String = (0..4)
            .map(|map| printed(&folder, &format!("maps/part-{map}"), partition))
            .collect();
        assert_eq!(
            folder.text(&["cat", "maps", "-p", &partition.to_string()]),
            format!("key,text\n{parts}")
        );
    }
    let all: String = (0..PARTITIONS)
        .map(|partition| printed(&folder, "maps", partition))
        .collect();
    assert_eq!(folder.text(&["cat", "maps", "--all", "--no-header"]), all);
    let first: String = all.split_inclusive("\"\n").take(3).collect();
    assert_eq!(folder.text(&["head", "maps", "-n", "3"]), format!("key,text\n{first}"));
    assert_eq!(folder.text(&["head", "maps", "-n", "0"]), "key,text\n");
    assert_eq!(folder.text(&["head", "maps", "-n", "9999999", "--no-header"]), all);
    let one = printed(&folder, "maps/part-2", 1);
    assert_eq!(
        folder.text(&["head", "maps/part-2", "-p", "1", "-n", "9999", "--no-header"]),
        one
    );
    let complaint = folder.fails(2, &["cat", "maps", "-p", "8"]);
    assert!(complaint.contains("no output has a partition 8"), "{complaint}");
}

#[test]
fn rows_of_another_kind_are_refused() {
    let folder = maps(&[]);
    folder.write("other.csv", "key,text,more\n1,a,b\n");
    folder.ok(&[
        "pack",
        "other.csv",
        "-o",
        "maps/z",
        "--by",
        "key:int",
        "--partitions",
        "8",
    ]);
    let partition = folder.json(&["where", "maps/z", "--key", "1", "--json"])["answers"][0]["partition"].to_string();
    let complaint = folder.fails(4, &["cat", "maps", "-p", &partition]);
    assert!(
        complaint.contains("maps/z: its rows are of another kind than those of maps/part-0"),
        "{complaint}"
    );
    let text = folder.text(&["schema", "maps"]);
    assert!(
        text.contains("the outputs differ") && text.contains("in 1 output, first in maps/z"),
        "{text}"
    );
    let report = folder.json(&["schema", "maps", "--json"]);
    assert_eq!(numbers(&report["schemas"], "outputs"), [4, 1]);
    let columns = report["schemas"][1]["columns"].as_array().unwrap();
    let columns: Vec<_> = columns
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["type"].as_str().unwrap()))
        .collect();
    assert_eq!(columns, [("key", "int"), ("text", "text"), ("more", "text")]);
}

#[test]
fn layout_draws_outputs_by_partitions() {
    let folder = maps(&[]);
    let report = folder.json(&["layout", "maps", "--json"]);
    let outputs = report["outputs"].as_array().unwrap();
    assert_eq!(numbers(&report["outputs"], "producer"), [0, 1, 2, 3]);
    // The same bytes are in the table of one output.
    let table = folder.json(&["layout", "maps/part-2", "--json"]);
    let mut own: BTreeMap<u64, u64> = BTreeMap::new();
    for range in table["ranges"].as_array().unwrap() {
        if range["what"] == "own-extent" {
            *own.entry(range["partition"].as_u64().unwrap()).or_default() += range["length"].as_u64().unwrap();
        }
    }
    let pairs = outputs[2]["partitions"].as_array().unwrap();
    let pairs = pairs
        .iter()
        .map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap()));
    assert_eq!(pairs.collect::<BTreeMap<_, _>>(), own);
    let text = folder.text(&["layout", "maps"]);
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.ends_with("KiB") && line.contains('|'))
        .collect();
    assert_eq!(rows.len(), 4, "{text}");
    // The largest cell of all is the darkest, a partition without bytes is blank.
    let largest = outputs
        .iter()
        .flat_map(|output| output["partitions"].as_array().unwrap());
    let largest = largest.max_by_key(|pair| pair[1].as_u64()).unwrap()[0]
        .as_u64()
        .unwrap() as usize;
    let cells: Vec<char> = rows[3].split('|').nth(1).unwrap().chars().collect();
    assert_eq!((cells.len(), cells[largest]), (PARTITIONS, '@'), "{text}");
    for (partition, cell) in cells.iter().enumerate() {
        assert_eq!(
            *cell == ' ',
            printed(&folder, "maps/part-3", partition).is_empty(),
            "{text}"
        );
    }
    folder.ok(&["layout", "maps", "--svg", "maps.svg"]);
    let svg = String::from_utf8(folder.read("maps.svg")).unwrap();
    assert!(
        svg.contains("on a linear scale") && svg.contains("producer 3, partition "),
        "{svg}"
    );
    assert!(folder.text(&["layout", "maps", "--svg", "-"]).starts_with("<svg"));
}

#[test]
fn many_outputs_are_grouped_and_the_picture_says_so() {
    let folder = Folder::new();
    for producer in 0..100 {
        let options = faro::WriterOptions::new(500).producer(producer);
        let mut writer = faro::Writer::create(folder.path(&format!("map-{producer}")), options).unwrap();
        writer.write(producer as u32 * 5, b"a record").unwrap();
        writer.finish().unwrap();
    }
    let text = folder.text(&["layout", "."]);
    assert!(
        text.contains("each character is the largest of 10 partitions wide and 4 producers high"),
        "{text}"
    );
    let rows = text.lines().filter(|line| line.contains('|')).count();
    assert_eq!(rows, 25, "{text}");
    // The diagonal.
    for (number, line) in text.lines().filter(|line| line.contains('|')).enumerate() {
        let cells = line.split('|').nth(1).unwrap();
        assert_eq!(cells.trim(), "@@", "{line}");
        assert_eq!(cells.find('@'), Some(number * 2), "{line}");
    }
}

#[test]
fn merged_and_selective_outputs_count() {
    let folder = maps(&[]);
    folder.ok(&[
        "merge",
        "maps/merged",
        "maps/part-0",
        "maps/part-1",
        "maps/part-2",
        "maps/part-3",
    ]);
    let report = folder.json(&["info", "maps", "--json"]);
    assert_eq!(
        (&report["producers"]["count"], &report["producers"]["merged"]),
        (&4.into(), &1.into())
    );
    // A merged file does not have statistics.
    assert_eq!(report["records"], Value::Null);
    let merged = &report["producers"]["largest"][0];
    assert_eq!((&merged["producer"], &merged["generation"]), (&Value::Null, &0.into()));
    let text = folder.text(&["layout", "maps"]);
    assert!(text.lines().any(|line| line.starts_with("output  0")), "{text}");

    let options = faro::WriterOptions::new(8)
        .selective(true)
        .framing(faro::Framing::Opaque);
    let mut writer = faro::Writer::create(folder.path("maps/selective"), options).unwrap();
    let mut region = writer.region().unwrap();
    region.sequence(3).unwrap();
    region.block(Some(1), faro::block::DATA, b"three", 0).unwrap();
    region.end().unwrap();
    writer.finish().unwrap();
    assert_eq!(folder.json(&["info", "maps", "--json"])["outputs"]["finished"], 6);
    folder.ok(&["check", "maps"]);
}

#[test]
fn different_partition_counts_are_said() {
    let folder = maps(&[]);
    let options = faro::WriterOptions::new(1 << 28).producer(9).statistics(false);
    let mut writer = faro::Writer::create(folder.path("maps/huge"), options).unwrap();
    writer.write((1 << 28) - 1, b"far away").unwrap();
    writer.finish().unwrap();
    let text = folder.text(&["info", "maps"]);
    let said = "the outputs have different partitions: 4 outputs with 8, 1 output with 268,435,456";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("records      not known"), "{text}");
    folder.ok(&["layout", "maps"]);
    folder.ok(&["layout", "maps", "--json"]);
    let each = folder.json(&["info", "maps", "--partitions", "--json"]);
    assert!(each["partitions"]["each"].as_array().unwrap().len() <= 9);
}

#[test]
fn copies_of_an_output_are_said() {
    let folder = maps(&[]);
    let report = folder.json(&["info", "maps", "--json"]);
    assert_eq!(report["producers"]["copies"], 0);
    let outputs = std::fs::read_dir(folder.path("maps")).unwrap();
    for file in outputs.map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        std::fs::copy(&file, folder.path("maps").join(format!("copy-of-{name}"))).unwrap();
    }
    let text = folder.text(&["info", "maps"]);
    assert!(text.contains("4 outputs are copies of others, and count too"), "{text}");
    // Rows that would be printed or counted twice are refused.
    for args in [
        &["cat", "maps", "-p", "1"][..],
        &["top", "maps"],
        &["cat", "maps", "--all"],
        &["head", "maps", "-n", "1"],
        &["where", "maps", "--key", "1"],
    ] {
        assert!(folder.run(args).stdout.is_empty());
        let said = folder.fails(2, args);
        assert!(said.contains("maps/part-0 is a copy of maps/copy-of-part-0"), "{said}");
    }
}

#[test]
fn outputs_with_other_partitions_are_said() {
    let folder = maps(&[]);
    folder.ok(&[
        "pack",
        "part-0.csv",
        "-o",
        "maps/other",
        "--by",
        "key:int",
        "--partitions",
        "5",
    ]);
    // Partition 6 is only in some of them.
    for partition in ["1", "6"] {
        let output = folder.run(&["cat", "maps", "-p", partition]);
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "faro: maps/part-0 has 8 partitions, but maps/other has 5: are they of one shuffle?\n";
        assert_eq!(said, expected);
    }
}

#[test]
fn outputs_that_are_partitioned_in_another_way_are_told() {
    let folder = maps(&[]);
    let pack = |more: &[&str]| {
        let args = ["pack", "part-0.csv", "-o", "maps/zother", "--force"];
        folder.ok(&[&args[..], more].concat());
        let output = folder.run(&["cat", "maps", "-p", "1"]);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let told = "faro: maps/zother is partitioned in another way than maps/part-0: are they of one shuffle?\n";
    assert_eq!(pack(&["--by", "text", "--partitions", "8"]), told);
    assert_eq!(pack(&["--by", "key:int", "--bounds", "1,2,3,4,5,6,7"]), told);
    assert_eq!(pack(&["--by", "key:int", "--partitions", "8"]), "");
}

/// The lines of `layout --totals`, as a count and bytes of each kind.
fn totals(folder: &Folder, name: &str) -> BTreeMap<String, (u64, u64)> {
    let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    let text = folder.text(&["layout", name, "--totals"]);
    // A folder has the number of its outputs first.
    let lines = text.lines().skip_while(|line| !line.starts_with("what"));
    let line = |line: &str| {
        let parts: Vec<&str> = line
            .split("  ")
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        (parts[0].to_owned(), (number(parts[1]), number(parts[2])))
    };
    lines.skip(1).take_while(|line| !line.is_empty()).map(line).collect()
}

#[test]
fn layout_adds_up_all_outputs() {
    let folder = maps(&[]);
    let all = totals(&folder, "maps");
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for map in 0..4 {
        for (kind, (count, bytes)) in totals(&folder, &format!("maps/part-{map}")) {
            let sum = sums.entry(kind).or_default();
            *sum = (sum.0 + count, sum.1 + bytes);
        }
    }
    assert_eq!(all, sums);
    let files = std::fs::read_dir(folder.path("maps")).unwrap();
    let on_disk: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(all["every byte"].1, on_disk);
    // A bad output is left out.
    cut(&folder, "maps/part-1.index", 300);
    let output = folder.run(&["layout", "maps", "--totals"]);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    std::fs::create_dir(folder.path("good")).unwrap();
    for name in [0, 2, 3].map(|map| format!("part-{map}")) {
        for ending in ["data", "index"] {
            let file = format!("{name}.{ending}");
            std::fs::rename(
                folder.path(&format!("maps/{file}")),
                folder.path(&format!("good/{file}")),
            )
            .unwrap();
        }
    }
    assert_eq!(
        text.replace("3 of 4 outputs", "3 outputs"),
        folder.text(&["layout", "good", "--totals"])
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("faro: left out: unfinished"), "{said}");
}

#[test]
fn odd_names_are_shown_safely() {
    let folder = maps(&[]);
    let odd = "maps/a\u{1b}[31m,\n\"b c";
    for ending in ["data", "index"] {
        std::fs::rename(
            folder.path(&format!("maps/part-1.{ending}")),
            folder.path(&format!("{odd}.{ending}")),
        )
        .unwrap();
    }
    cut(&folder, &format!("{odd}.data"), 100);
    let output = folder.run(&["info", "maps"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("damaged      maps/a\\u{1b}[31m,\\n\"b c: truncated"),
        "{text}"
    );
    let report: Value = serde_json::from_slice(&folder.run(&["info", "maps", "--json"]).stdout).unwrap();
    assert_eq!(report["damaged"][0]["name"], odd);
}

#[test]
fn a_partition_that_no_output_has_is_refused_before_rows() {
    let folder = maps(&[]);
    for args in [
        &["cat", "maps", "-p", "0-99", "--format", "csv"][..],
        &["cat", "maps/part-0", "-p", "0-99", "--format", "csv"],
        &["head", "maps", "-p", "0,99"],
        &["top", "maps", "-p", "99"],
    ] {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("partition 99"), "{message}");
    }
}

#[test]
fn rows_that_were_consumed_before_are_named() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("out")).unwrap();
    for (name, first) in [("whole", 0), ("gaps", 2)] {
        let options = faro::WriterOptions::new(2).selective(true).producer(first.into());
        let mut writer = faro::Writer::create(folder.path(&format!("out/{name}")), options).unwrap();
        let mut region = writer.region().unwrap();
        region.sequence(first).unwrap();
        region
            .block(Some(1), faro::block::DATA, b"\x06\0\0\0stored", 1)
            .unwrap();
        region.end().unwrap();
        writer.finish().unwrap();
    }
    let says = |args: &[&str]| {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(says(&["cat", "out/whole", "--all"]), "");
    let one = "faro: with gaps: 2 of 3 blocks consumed before they were stored\n";
    assert_eq!(says(&["cat", "out/gaps", "--all"]), one);
    assert_eq!(says(&["head", "out/gaps"]), one);
    let all = "faro: with gaps in 1 of 2 outputs: 2 of 3 blocks consumed before they were stored\n";
    assert_eq!(says(&["cat", "out", "--all"]), all);
    let refused = folder.fails(2, &["merge", "merged", "out/whole", "out/gaps"]);
    assert!(refused.contains("a merged file could not say so"), "{refused}");
    folder.ok(&["merge", "merged", "out/whole"]);
}
