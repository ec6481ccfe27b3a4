//! `pack` of JSON lines: names and pointers find the same values, and wrong input is refused.

mod common;

use common::Folder;

/// The records of each of two partitions, below 5 and from 5 on.
fn halves(folder: &Folder, by: &str) -> [String; 2] {
    folder.ok(&["pack", "in.jsonl", "-o", "out", "--by", by, "--bounds", "5", "--force"]);
    ["0", "1"].map(|partition| folder.text(&["cat", "out", "-p", partition]))
}

#[test]
fn names_and_pointers_find_the_same() {
    let folder = Folder::new();
    let low = " {\"a\": 1}\n\t{ \"a\" :4 }\n";
    let high = "  { \"b\": 1, \"a\": 9 } \r\n";
    folder.write("in.jsonl", format!("{low}{high}"));
    let expected = [low.to_owned(), high.trim_end_matches("\r\n").to_owned() + "\n"];
    for by in ["a", "/a"] {
        folder.write("in.jsonl", format!("{low}{}", high.replace("\r\n", "\n")));
        assert_eq!(halves(&folder, by), expected, "{by}");
    }
}

#[test]
fn pointers_reach_into_lists_and_escapes() {
    let folder = Folder::new();
    let line = |n: u32| format!("{{\"l\": [[0], {{\"a/b~\": {n}, \"\": {n}}}], \"01\": {n}}}\n");
    folder.write("in.jsonl", line(1) + &line(7));
    for by in ["/l/1/a~1b~0", "/l/1/", "/01"] {
        assert_eq!(halves(&folder, by), [line(1), line(7)], "{by}");
    }
    for by in ["/l/~2", "/l/~"] {
        let complaint = folder.fails(2, &["pack", "in.jsonl", "-o", "x", "--by", by]);
        assert!(complaint.contains("~0"), "{complaint}");
    }
    // These are not indexes: a leading zero, a sign, the element after the last.
    for by in ["/l/01", "/l/+1", "/l/-", "/l/2"] {
        let complaint = folder.fails(2, &["pack", "in.jsonl", "-o", "x", "--by", by]);
        assert!(complaint.contains("/l/0, /l/1"), "{complaint}");
    }
}

#[test]
fn a_line_that_is_not_an_object_is_refused() {
    let folder = Folder::new();
    for bad in [
        "not json",
        "5",
        "[1]",
        "{\"a\": 1",
        "{\"a\": 1} 2",
        "{\"a\": {}}",
        "{\"a\": [1]}",
        "{\"a\": 01}",
    ] {
        folder.write("in.jsonl", format!("{{\"a\": 1}}\n\n{bad}\n"));
        for by in ["a", "/a"] {
            let complaint = folder.fails(4, &["pack", "in.jsonl", "-o", "out", "--by", by]);
            assert!(complaint.contains("in.jsonl: line 3: "), "{bad} {by}: {complaint}");
        }
    }
    folder.write("in.jsonl", b"{\"a\": 1}\n{\"a\": \"\xff\"}\n");
    assert!(
        folder
            .fails(4, &["pack", "in.jsonl", "-o", "out", "--by", "a"])
            .contains("line 2: not UTF-8")
    );
    folder.write("in.jsonl", "{\"a\": \"\0\"}\n");
    assert!(
        folder
            .fails(4, &["pack", "in.jsonl", "-o", "out", "--by", "a"])
            .contains("line 1")
    );
    assert_eq!(folder.names(), ["in.jsonl"]);
}

#[test]
fn a_key_that_no_record_has_is_an_error() {
    let folder = Folder::new();
    folder.write(
        "in.jsonl",
        "{\"customer\": 1, \"user\": {\"id\": 1}}\n{\"customer\": 2, \"day\": 3}\n",
    );
    let pack = |by: &str, code| folder.fails(code, &["pack", "in.jsonl", "-o", "out", "--by", by]);
    let complaint = pack("custmer", 2);
    assert!(
        complaint.contains("no record has \"custmer\"; names that exist: customer, day, user"),
        "{complaint}"
    );
    let complaint = pack("/user/name", 2);
    assert!(
        complaint.contains("names that exist: /customer, /day, /user/id"),
        "{complaint}"
    );
    folder.fails(2, &["pack", "in.jsonl", "-o", "out", "--by", "custmer", "--range"]);
    folder.fails(
        2,
        &["pack", "in.jsonl", "-o", "out", "--by", "custmer", "--bounds", "1"],
    );
    assert_eq!(folder.names(), ["in.jsonl"]);
    // Without records, no value is missing.
    folder.write("empty.jsonl", "");
    folder.ok(&["pack", "empty.jsonl", "-o", "empty", "--by", "custmer"]);
}

#[test]
fn missing_keys_are_counted() {
    let folder = Folder::new();
    folder.write("in.jsonl", "{\"a\": 1}\n{\"b\": 1}\n{\"a\": null}\n");
    let output = folder.run(&["pack", "in.jsonl", "-o", "out", "--by", "a", "--json"]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("in.jsonl: 1 of 3 records has no \"a\"; its key is null there"),
        "{note}"
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["outputs"][0]["missing"], serde_json::json!({"a": 1}));
}

#[test]
fn types_of_json_values_are_kept_apart() {
    let folder = Folder::new();
    folder.write("in.jsonl", "{\"a\": 1}\n{\"a\": 9.5}\n");
    let pack = |by: &str, more: &[&str]| {
        let args = [&["pack", "in.jsonl", "-o", "out", "--force", "--by", by][..], more].concat();
        folder.run(&args)
    };
    // By the order of types every float would come after the bound.
    let output = pack("a", &["--bounds", "10"]);
    assert_eq!(output.status.code(), Some(4));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(
        complaint.contains("line 2") && complaint.contains("--by a:float"),
        "{complaint}"
    );
    assert_eq!(pack("a", &["--range"]).status.code(), Some(4));
    assert!(pack("a", &[]).status.success());
    for by in ["a:float", "a:decimal(1)"] {
        assert!(pack(by, &["--bounds", "9"]).status.success());
        assert_eq!(folder.text(&["cat", "out", "-p", "1"]), "{\"a\": 9.5}\n");
    }
    folder.write("in.jsonl", "{\"a\": \"1\"}\n");
    assert_eq!(pack("a:int", &[]).status.code(), Some(4));
    assert!(pack("a:text", &[]).status.success());
    folder.write("in.jsonl", "{\"a\": \"2024-02-29\"}\n{\"a\": null}\n");
    assert!(pack("a:date", &["--bounds", "2024-02-29"]).status.success());
    assert_eq!(folder.text(&["cat", "out", "-p", "1"]), "{\"a\": \"2024-02-29\"}\n");
}
