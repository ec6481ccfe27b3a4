//! The commands that inspect files: they explain every byte, and name every fault.

mod common;

use common::Folder;
use serde_json::Value;

/// An output of a few regions.
fn packed(name: &str, more: &[&str]) -> Folder {
    let folder = Folder::new();
    let text: String = (0..6400)
        .map(|i| format!("{{\"k\":{},\"text\":\"record {i}\"}}\n", i % 50))
        .collect();
    folder.write("in.jsonl", text);
    let mut args = vec![
        "pack",
        "in.jsonl",
        "-o",
        name,
        "--by",
        "k",
        "--partitions",
        "8",
        "--memory",
        "64KiB",
    ];
    args.extend(more);
    folder.ok(&args);
    folder
}

/// Whether ranges follow one another from 0 to the end.
fn tile(ranges: &[Value], size: u64) {
    let mut at = 0;
    for range in ranges {
        assert_eq!(range["offset"].as_u64(), Some(at));
        at += range["length"].as_u64().unwrap();
    }
    assert_eq!(at, size);
}

fn size(folder: &Folder, name: &str) -> u64 {
    folder.read(name).len() as u64
}

#[test]
fn layout_accounts_for_every_byte() {
    for (more, files) in [
        (&[][..], &["out.data", "out.index"][..]),
        (&["--single"][..], &["out.faro"][..]),
    ] {
        let folder = packed("out", more);
        let report = folder.json(&["layout", "out", "--json"]);
        for file in files {
            let role = match file.rsplit_once('.') {
                Some((_, "faro")) => "single",
                Some((_, role)) => role,
                None => unreachable!(),
            };
            let ranges = report["ranges"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|range| range["file"] == role);
            tile(&ranges.cloned().collect::<Vec<_>>(), size(&folder, file));
        }
        assert_eq!(
            report["bytes"].as_u64().unwrap(),
            files.iter().map(|file| size(&folder, file)).sum::<u64>()
        );
        let text = folder.text(&["layout", "out"]);
        assert!(text.contains("region message"));
        // Numbers are aligned right, in columns with two spaces between them.
        let column = text.lines().next().and_then(|titles| titles.find("length")).unwrap() + "length".len();
        let lengths = text.lines().skip(1).take_while(|line| !line.is_empty());
        assert!(
            lengths
                .map(|line| &line[column - 1..column + 2])
                .all(|cut| { cut.starts_with(|c: char| c.is_ascii_digit()) && cut.ends_with("  ") })
        );
        folder.ok(&["layout", "out", "--svg", "out.svg"]);
        assert!(folder.read("out.svg").starts_with(b"<svg"));
    }
}

#[test]
fn dump_explains_every_byte() {
    let folder = packed("out", &["--codec", "lz4"]);
    let report = folder.json(&["dump", "out", "--format", "json"]);
    for (file, name) in report["files"]
        .as_array()
        .unwrap()
        .iter()
        .zip(["out.data", "out.index"])
    {
        let sections = file["sections"].as_array().unwrap();
        tile(sections, size(&folder, name));
        for section in sections {
            let notes = section["notes"].as_array().unwrap();
            assert!(notes.iter().all(|note| note["name"] != "  not explained"), "{section}");
            let (first, last) = (&notes[0], &notes[notes.len() - 1]);
            assert_eq!(first["offset"], section["offset"]);
            let end = |part: &Value| part["offset"].as_u64().unwrap() + part["length"].as_u64().unwrap();
            assert_eq!(end(last), end(section));
            assert!(
                notes
                    .windows(2)
                    .all(|pair| Some(end(&pair[0])) == pair[1]["offset"].as_u64())
            );
        }
    }
    let text = folder.text(&["dump", "--annotate", "--region", "1", "--partition", "3", "out"]);
    assert!(
        text.contains("block: data, partition 3") && !text.contains("partition 4"),
        "{text}"
    );
    let text = folder.text(&["dump", "--offset", "0", "--length", "8", "out.data"]);
    assert_eq!(
        text,
        "         0  89 46 41 52 4f 0d 0a 1a                          .FARO...\n"
    );
    assert!(
        folder
            .text(&["dump", "--annotate", "--format", "markdown", "out"])
            .starts_with("### `out.data`")
    );
}

#[test]
fn damage_is_named_with_code_and_offset() {
    let folder = packed("out", &[]);
    let mut data = folder.read("out.data");
    data[100] ^= 1;
    folder.write("out.data", &data);
    let output = folder.run(&["check", "--json", "out"]);
    assert_eq!(output.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = &report["outputs"][0]["error"];
    assert_eq!(
        (error["code"].as_str(), error["offset"].as_u64()),
        (Some("checksum"), Some(64))
    );
    assert_eq!(error["role"], "data");
    folder.ok(&["check", "--level", "structure", "out"]);
    let text = String::from_utf8(folder.run(&["check", "--level", "checksums", "out"]).stdout).unwrap();
    assert!(text.contains("checksum") && text.contains("offset    64"), "{text}");
    // A damaged file can still be dumped, and the dump says where.
    assert!(folder.text(&["dump", "--annotate", "out"]).contains("does not match"));
    assert!(folder.fails(4, &["cat", "out", "--all"]).contains("checksum"));
}

#[test]
fn an_output_that_was_cut_is_told_and_repaired() {
    let folder = packed("out", &[]);
    let whole = folder.json(&["info", "--json", "out"]);
    let index = folder.read("out.index");
    folder.write("out.index", &index[..index.len() - 30]);
    assert!(folder.fails(4, &["cat", "out", "--all"]).contains("unfinished"));
    let cut = folder.json(&["info", "--json", "out"]);
    assert_eq!(
        (&cut["finished"], &cut["regions"]["count"]),
        (&Value::Bool(false), &whole["regions"]["count"])
    );
    assert!(folder.text(&["layout", "out"]).contains("uncommitted"));
    let before = folder.names();
    folder.ok(&["repair", "out", "--dry-run"]);
    assert_eq!(size(&folder, "out.index"), index.len() as u64 - 30);
    assert_eq!(folder.json(&["repair", "out", "--json"])["action"], "last-commit");
    assert_eq!(folder.names(), before);
    folder.ok(&["check", "out"]);
    assert!(folder.text(&["repair", "out"]).contains("nothing to do"));
    std::fs::remove_file(folder.path("out.index")).unwrap();
    folder.ok(&["repair", "out", "--rebuild"]);
    folder.ok(&["check", "out"]);
    assert_eq!(
        folder
            .text(&["cat", "out", "--all", "--format", "lines"])
            .lines()
            .count(),
        6400
    );
}

#[test]
fn a_lost_index_has_a_hint_that_helps() {
    let folder = packed("out", &[]);
    let hint = "hint: `faro repair out` finds the index that a dead writer left, or rebuilds it from out.data\n";
    folder.ok(&["pack", "in.jsonl", "-o", "other", "--by", "k", "--partitions", "8"]);
    std::fs::rename(folder.path("out.index"), folder.path("aside")).unwrap();
    for args in [
        &["info", "out"][..],
        &["layout", "out.data"],
        &["cat", "out.index", "--all"],
        &["diff", "out", "other"],
    ] {
        let complaint = folder.fails(3, args);
        assert!(complaint.ends_with(hint), "{args:?}: {complaint}");
    }
    let checked = folder.run(&["check", "out"]);
    let checked = String::from_utf8(checked.stdout).unwrap();
    assert!(
        checked.contains(&hint.replacen("hint: ", "  hint      ", 1)),
        "{checked}"
    );
    // An index with a name of its own.
    let complaint = folder.fails(3, &["info", "out.data", "--index", "nosuch"]);
    assert!(complaint.contains("\nhint: `faro repair --rebuild`"), "{complaint}");
    // Nothing helps without the data file, and no hint is needed for other errors.
    for args in [&["info", "nosuch.index"][..], &["info", "nosuch"]] {
        let complaint = folder.fails(3, args);
        assert!(!complaint.contains("hint"), "{args:?}: {complaint}");
    }
    // It helps, as it says.
    folder.ok(&["repair", "out"]);
    folder.ok(&["check", "out"]);
    std::fs::remove_file(folder.path("out.index")).unwrap();
    folder.ok(&["repair", "out.data", "--index", "nosuch", "--rebuild"]);
    folder.ok(&["info", "out.data", "--index", "nosuch"]);
}

#[test]
fn a_rebuild_that_cuts_names_the_fault() {
    let folder = packed("out", &[]);
    std::fs::remove_file(folder.path("out.index")).unwrap();
    let mut data = folder.read("out.data");
    let middle = data.len() / 2;
    data[middle] ^= 1;
    folder.write("out.data", &data);
    let report = folder.json(&["repair", "out", "--rebuild", "--dry-run", "--json"]);
    let (kept, cut) = (
        report["data_kept"].as_u64().unwrap(),
        report["data_cut"].as_u64().unwrap(),
    );
    assert!(
        kept <= middle as u64 && kept + cut == data.len() as u64,
        "{kept} and {cut}"
    );
    let fault = &report["fault"];
    assert_eq!((&fault["code"], &fault["role"]), (&"checksum".into(), &"data".into()));
    // The block with the damaged byte.
    assert_eq!(fault["offset"].as_u64(), Some(kept));
    let line = format!("  fault    checksum in out.data at offset {kept}: expected stored ");
    for args in [&["repair", "out", "--rebuild", "--dry-run"][..], &["repair", "out"]] {
        let text = folder.text(args);
        assert!(text.contains(&line), "{args:?}: {text}");
    }
    // What is left is whole.
    let report = folder.json(&["repair", "out", "--rebuild", "--json"]);
    assert_eq!((&report["data_cut"], &report["fault"]), (&0.into(), &Value::Null));
    assert!(!folder.text(&["repair", "out", "--rebuild"]).contains("fault"));
}

#[test]
fn diff_tells_content_from_form() {
    let folder = packed("a", &[]);
    let pack = |name: &str, input: &str| {
        folder.ok(&[
            "pack",
            input,
            "-o",
            name,
            "--by",
            "k",
            "--partitions",
            "8",
            "--codec",
            "zstd",
            "--single",
        ]);
    };
    pack("b", "in.jsonl");
    folder.ok(&["diff", "--content", "a", "b"]);
    folder.ok(&["diff", "a", "a"]);
    let output = folder.run(&["diff", "a", "b", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["equal"], &report["physical"][0]["what"]),
        (&Value::Bool(false), &"layout".into())
    );
    let text = String::from_utf8(folder.read("in.jsonl")).unwrap();
    folder.write("other.jsonl", text.replace("record 77\"", "RECORD 77\""));
    pack("c", "other.jsonl");
    let report = folder.run(&["diff", "--content", "a", "c", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let different = report["content"]["different"].as_array().unwrap();
    assert_eq!(different.len(), 1);
    assert!(
        different[0]["what"].as_str().unwrap().starts_with("record "),
        "{report}"
    );
}

#[test]
fn an_attempt_has_64_bits() {
    let last = u64::MAX.to_string();
    let folder = packed("a", &["--attempt", &last]);
    assert_eq!(folder.json(&["info", "a", "--json"])["header"]["attempt"], u64::MAX);
    assert!(folder.text(&["info", "a"]).contains(&format!("0, attempt {last}")));
    let text = folder.text(&["dump", "--annotate", "a.index"]);
    assert!(text.contains(&format!("attempt          {last}")), "{text}");
    folder.ok(&["pack", "in.jsonl", "-o", "b", "--by", "k", "--partitions", "8"]);
    let output = folder.run(&["diff", "a", "b"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("attempt") && text.contains(&last), "{text}");
    folder.fails(
        2,
        &[
            "pack",
            "in.jsonl",
            "-o",
            "c",
            "--by",
            "k",
            "--attempt",
            "18446744073709551616",
        ],
    );
}

#[test]
fn a_fragment_is_named() {
    let folder = packed("out", &["--single"]);
    let mut file = folder.read("out.faro");
    file[8] = 5;
    folder.write("push.faro", file);
    let text = folder.text(&["dump", "--annotate", "--offset", "0", "--length", "64", "push.faro"]);
    assert!(text.contains("5: fragment"), "{text}");
}

#[test]
fn a_property_cannot_steer_the_terminal() {
    let folder = Folder::new();
    folder.write("in.csv", "a\x1b[31m,b\n1,2\n");
    folder.ok(&["pack", "in.csv", "-o", "out", "--by", "b"]);
    for command in [
        &["info", "out"][..],
        &["dump", "--annotate", "out"],
        &["dump", "--annotate", "--limit", "0", "out"],
    ] {
        let text = folder.text(command);
        assert!(!text.contains('\x1b'), "{text:?}");
    }
    assert!(folder.text(&["info", "out"]).contains("a\\u{1b}[31m,b"));
}

#[test]
fn info_names_what_a_reader_has_to_understand() {
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases");
    let folder = Folder::new();
    for (case, expected) in [
        (
            "write/wrt-8-sequence-own-single-after.faro",
            "features     selective (sequences may have gaps)\n",
        ),
        ("valid/dic-arrow.faro", "features     dictionaries\n"),
    ] {
        let printed = folder.text(&["info", cases.join(case).to_str().unwrap()]);
        assert!(printed.contains(expected), "{printed}");
    }
}

#[test]
fn gaps_of_selective_files_are_printed() {
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases/valid");
    let folder = Folder::new();
    let name = |case: &str| cases.join(case).to_str().unwrap().to_owned();
    let gaps = name("prt-8-gaps-single.faro");
    let text = "with gaps: 19 of 24 blocks consumed before they were stored (of 3 partitions, 4 shared)\n";
    let printed = folder.text(&["info", "--partitions", &gaps]);
    assert!(printed.contains(&format!("streams      {text}")), "{printed}");
    assert!(
        printed.contains("        1        64 B  7 blocks missing\n"),
        "{printed}"
    );
    // Partitions of which nothing is stored have a line too, if blocks are missing.
    let nothing = folder.text(&["info", "--partitions", &name("ftr-8-all-missing.faro")]);
    assert!(
        nothing.contains("        1         0 B  5 blocks missing\n"),
        "{nothing}"
    );
    let report = folder.json(&["info", "--json", "--partitions", &gaps]);
    assert_eq!(report["streams"]["partitions_with_gaps"], 3);
    assert_eq!(report["partitions"]["each"][1]["missing"], 7);
    let page = folder.text(&["report", "--json", &gaps]);
    assert!(page.contains(text.trim_end()), "{page}");
    let checked = folder.text(&["check", &gaps]);
    let named = "  gaps      0 (7 blocks), 1 (7 blocks), 2 (1 block)\n";
    assert!(checked.ends_with(&format!("  streams   {text}{named}")), "{checked}");
    let gap = &folder.json(&["check", "--json", &gaps])["outputs"][0]["gaps"][1];
    assert_eq!((&gap["partition"], &gap["missing"]), (&1.into(), &7.into()));
    assert_eq!(
        folder.json(&["check", "--json", &gaps])["outputs"][0]["streams"]["missing"],
        19
    );
    for (case, expected) in [
        ("prt-8-complete.faro", "complete"),
        ("prt-8-absent.faro", "not known whether blocks are missing"),
    ] {
        let printed = folder.text(&["info", &name(case)]);
        assert!(printed.contains(&format!("streams      {expected}\n")), "{printed}");
    }
    let each = folder.text(&["info", "--partitions", &name("prt-8-complete.faro")]);
    assert!(each.contains("  complete\n"), "{each}");
    let plain = folder.text(&["info", &name("read-64-kib.faro")]);
    assert!(!plain.contains("streams"), "{plain}");
}

#[test]
fn fragments_are_described_and_checked() {
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases/fragment");
    let folder = Folder::new();
    let one = std::fs::read(cases.join("frg-6-all-after.fragment")).unwrap();
    folder.write("served.data", [&one[..], &one].concat());
    let report = folder.json(&["info", "served.data", "--json"]);
    let single = folder.json(&[
        "info",
        cases.join("frg-6-all-after.fragment").to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(
        (&report["layout"], &report["fragments"]),
        (&"fragments".into(), &2.into())
    );
    assert_eq!(report["bytes"], 2 * one.len());
    assert_eq!(
        report["blocks"].as_u64(),
        single["blocks"].as_u64().map(|blocks| 2 * blocks)
    );
    let printed = folder.text(&["info", "served.data"]);
    assert!(printed.contains("2 fragments of 1 producer"), "{printed}");
    let checked = folder.text(&["check", "served.data"]);
    assert!(
        checked.starts_with("served.data: OK (decode: 2 fragments, "),
        "{checked}"
    );
    // A fault in the second is at its place in the file.
    let mut damaged = [&one[..], &one].concat();
    let at = one.len() + 64;
    damaged[at + 30] ^= 1;
    folder.write("served.data", &damaged);
    let output = folder.run(&["check", "--json", "served.data"]);
    assert_eq!(output.status.code(), Some(4));
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = &verdict["outputs"][0]["error"];
    assert_eq!((&error["code"], &error["offset"]), (&"checksum".into(), &at.into()));
}

/// The payloads of fragments are those of the output that they were made of, which another test of the format compares.
#[test]
fn payloads_of_fragments_are_printed() {
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases/fragment");
    let folder = Folder::new();
    let one = std::fs::read(cases.join("frg-6-all-after.fragment")).unwrap();
    folder.write("served.data", [&one[..], &one].concat());
    let of = |selection: &[&str]| folder.run(&[&["cat", "served.data"], selection].concat());
    let all = of(&["--all", "--raw"]);
    assert_eq!(all.status.code(), Some(0), "{all:?}");
    assert!(all.stdout.starts_with(b"zero, firstzero, third"), "{all:?}");
    assert!(String::from_utf8_lossy(&all.stderr).contains("not printed: 2 events"));
    // The payloads of the events have four bytes each.
    let plain = folder.json(&["info", "served.data", "--json"])["plain_bytes"].as_u64();
    assert_eq!(Some(all.stdout.len() as u64 + 8), plain);
    assert_eq!(all.stdout[..all.stdout.len() / 2], all.stdout[all.stdout.len() / 2..]);
    // One partition after another, those without a fragment left out.
    folder.write("served.data", &one);
    let each: Vec<u8> = (0..64)
        .map(|partition: u32| of(&["-p", &partition.to_string(), "--raw"]))
        .filter(|output| output.status.success())
        .flat_map(|output| output.stdout)
        .collect();
    assert_eq!(each, all.stdout[..all.stdout.len() / 2]);
    let none = of(&["-p", "70000", "--raw"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no fragment has a partition 70000"));
    // What was verified before the fault is printed.
    let mut damaged = [&one[..], &one].concat();
    damaged[one.len() + 94] ^= 1;
    folder.write("served.data", &damaged);
    let cut = of(&["--all", "--raw"]);
    assert_eq!(cut.status.code(), Some(4));
    assert_eq!(cut.stdout, all.stdout[..all.stdout.len() / 2]);
}
