//! How the command behaves with shells, pipes and interrupts.

mod common;

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Folder;

#[test]
fn wrong_arguments_and_missing_files_have_their_codes() {
    let folder = Folder::new();
    folder.write("in.csv", "k\n1\n");
    folder.fails(2, &["pack", "in.csv", "-o", "out"]);
    folder.fails(2, &["pack", "in.csv", "-o", "out", "--by", "k", "--codec", "gzip"]);
    folder.fails(2, &["pack", "in.csv", "-o", "out", "--by", "k", "--memory", "much"]);
    let complaint = folder.fails(2, &["pack", "in.csv", "-o", "out", "--by", "nothing"]);
    assert!(complaint.contains("the columns are: k"), "{complaint}");
    let complaint = folder.fails(2, &["pack", "in.csv", "-o", "out", "--by", "k,k"]);
    assert!(complaint.contains("column k is there twice"), "{complaint}");
    folder.fails(2, &["pack", "in.csv", "-o", "out", "--by", "k", "--rotation", "64"]);
    folder.fails(2, &["frobnicate"]);
    folder.fails(3, &["pack", "absent.csv", "-o", "out", "--by", "k"]);
    folder.fails(3, &["info", "absent"]);
    folder.fails(3, &["check", "absent"]);
    folder.write("junk.faro", "this is not a Faro file");
    assert!(folder.fails(4, &["info", "junk.faro"]).contains("not-faro"));
    assert_eq!(folder.names(), ["in.csv", "junk.faro"]);
}

#[test]
fn existing_files_stay_unless_forced() {
    let folder = Folder::new();
    folder.write("in.csv", "k\n1\n");
    folder.write("out.index", "precious");
    let complaint = folder.fails(3, &["pack", "in.csv", "-o", "out", "--by", "k"]);
    assert!(complaint.contains("--force"), "{complaint}");
    assert_eq!(folder.read("out.index"), b"precious");
    folder.ok(&["pack", "in.csv", "-o", "out", "--by", "k", "--force"]);
    folder.ok(&["check", "out"]);
}

#[test]
fn partitions_outside_are_refused() {
    let folder = Folder::new();
    folder.write("in.csv", "k\n1\n");
    folder.ok(&["pack", "in.csv", "-o", "out", "--by", "k", "--partitions", "4"]);
    assert!(
        folder
            .fails(2, &["cat", "out", "-p", "2..4"])
            .contains("the file has 0 to 3")
    );
    folder.fails(2, &["cat", "out"]);
}

#[test]
fn a_reader_may_leave_early() {
    let folder = Folder::new();
    let text: String = (0..200_000)
        .map(|i| format!("{i},some text to fill the pipe\n"))
        .collect();
    folder.write("in.csv", text);
    folder.ok(&["pack", "in.csv", "-o", "out", "--by", "1", "--no-header"]);
    for args in [
        &["cat", "out", "--all"][..],
        &["dump", "--annotate", "out"],
        &["cat", "out", "--all", "--raw"],
    ] {
        let mut child = folder
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{args:?}");
    }
}

#[test]
fn an_interrupted_pack_leaves_nothing() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("out")).unwrap();
    let args = [
        "pack",
        "-",
        "--format",
        "csv",
        "-o",
        "out/x",
        "--by",
        "1",
        "--no-header",
        "--memory",
        "64KiB",
    ];
    let mut child = folder
        .command(&args)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The input stays open, so the command waits for more when the signal comes.
    let mut input = child.stdin.take().unwrap();
    input
        .write_all("a line of some length\n".repeat(30_000).as_bytes())
        .unwrap();
    let files = || std::fs::read_dir(folder.path("out")).unwrap().count();
    let begun = Instant::now();
    while files() == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the command does not begin to write"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(files(), 0);
}

#[test]
fn standard_input_is_an_input() {
    let folder = Folder::new();
    let args = ["pack", "-", "--format", "csv", "-o", "x", "--by", "k"];
    let mut child = folder
        .command(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"k\n1\n2\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.json(&["info", "--json", "x"])["records"], 2);
}

#[test]
fn help_is_there_for_people_and_shells() {
    let folder = Folder::new();
    assert!(folder.text(&["--help"]).contains("Exit codes"));
    for command in [
        "pack",
        "cat",
        "head",
        "schema",
        "info",
        "layout",
        "top",
        "where",
        "check",
        "dump",
        "diff",
        "repair",
        "completions",
        "man",
    ] {
        assert!(folder.text(&[command, "--help"]).contains("Examples:"), "{command}");
        assert!(folder.text(&["man", command]).contains(".TH"), "{command}");
    }
    assert!(folder.text(&["completions", "bash"]).contains("_faro"));
    folder.ok(&["man", "--all", "pages"]);
    assert!(folder.path("pages/faro-pack.1").is_file());
}

#[test]
fn colours_only_when_asked_for() {
    let folder = Folder::new();
    folder.write("in.csv", "k\n1\n");
    folder.ok(&["pack", "in.csv", "-o", "out", "--by", "k"]);
    assert!(!folder.text(&["info", "out"]).contains('\x1b'));
    assert!(folder.text(&["--color", "always", "info", "out"]).contains('\x1b'));
}

#[test]
fn cat_says_that_it_leaves_events_out() {
    let folder = Folder::new();
    let mut writer = faro::Writer::create(folder.path("out"), faro::WriterOptions::new(2)).unwrap();
    writer.broadcast(b"for both").unwrap();
    writer.write_event(1, 64, b"mark").unwrap();
    writer.broadcast_event(1, b"end").unwrap();
    writer.finish().unwrap();
    for (args, expected) in [
        (&["--all"][..], "for both\nfor both\n"),
        (&["--all", "--raw"], "\x08\0\0\0for both\x08\0\0\0for both"),
    ] {
        let output = folder.run(&[&["cat", "out"], args].concat());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "faro: not printed: 3 events\n"
        );
    }
}
