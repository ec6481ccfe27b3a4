//! The page docs/after-a-crash.md: its commands, run in order, print what the page shows.

#![cfg(unix)]

mod common;

use common::Folder;
use common::page::{Example, Page};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Starts a `faro pack` that writes some regions and waits for more input.
fn packing(folder: &Folder, name: &str, more: &[&str]) -> Child {
    let mut args = vec!["pack", "-", "--format", "csv", "-o", name, "--by", "id"];
    args.extend(["--partitions", "8", "--memory", "1MiB"]);
    args.extend(more);
    let mut child = folder.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut rows = String::from("id,customer,amount\n");
    for i in 0..200_000 {
        writeln!(rows, "{i},customer-{},{}.50", i % 997, i % 1000).unwrap();
    }
    // The input stays open, so the command waits for its end.
    child.stdin.as_mut().unwrap().write_all(rows.as_bytes()).unwrap();
    let size = || -> u64 {
        let sizes = std::fs::read_dir(folder.0.path()).unwrap();
        sizes.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while size() < 4_500_000 {
        assert!(Instant::now() < deadline, "{} bytes", size());
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Numbers differ from run to run; names do not.
fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    for word in text.split_inclusive([' ', '\n']) {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(".tmp");
        plain.push_str(if is_number { "# " } else { word });
    }
    plain
}

#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let folder = Folder::new();
    kill(packing(
        &folder,
        "orders",
        &["--file-id", "5b21c0de-0000-4000-8000-000000000000"],
    ));
    let mut tried = 0;
    for Example { command, printed, .. } in Page::open("after-a-crash.md").examples() {
        let words: Vec<&str> = command.split(' ').collect();
        if words[1..] == ["clean", "."] {
            // The page removes the file of another writer.
            let mut header = folder.read("orders.data");
            header.truncate(64);
            header[40..44].copy_from_slice(&[0x0b, 0xad, 0xca, 0xfe]);
            folder.write("other.data.0badcafe.tmp", header);
        }
        let got = match words[0] {
            "ls" => folder.names().join("\n") + "\n",
            _ => folder.text(&words[1..]),
        };
        assert_eq!(without_numbers(&got), without_numbers(&printed), "{command}: {got}");
        tried += 1;
    }
    assert!(tried >= 7, "{tried} commands");
    assert_eq!(folder.names(), ["orders.data", "orders.index"]);
    // The saved rows are the first packed rows of each partition.
    let saved = folder.text(&["cat", "orders", "--all"]);
    let ids: Vec<u32> = saved
        .lines()
        .filter_map(|line| line.split(',').next()?.parse().ok())
        .collect();
    assert!(ids.len() > 100_000 && ids.len() < 200_000, "{}", ids.len());
    let most = *ids.iter().max().unwrap();
    assert_eq!(ids.len(), most as usize + 1, "rows are missing in between");
}

#[test]
fn a_living_writers_files_are_left_alone() {
    let folder = Folder::new();
    let child = packing(
        &folder,
        "orders",
        &["--file-id", "5b21c0de-0000-4000-8000-000000000000"],
    );
    let before = folder.names();
    assert!(folder.fails(3, &["repair", "orders"]).contains("living writer"));
    let report = folder.json(&["clean", ".", "--older-than", "0s", "--json"]);
    assert_eq!(report["folders"][0]["removed"].as_array().map(Vec::len), Some(0));
    assert_eq!(report["folders"][0]["kept"][0]["reason"], "living");
    assert_eq!(folder.names(), before);
    kill(child);
    assert_eq!(folder.json(&["repair", "orders", "--json"])["action"], "last-commit");
}

#[test]
fn several_writers_are_named_and_one_is_chosen() {
    let folder = Folder::new();
    for digit in ["1", "2"] {
        let id = format!("{}-0000-4000-8000-000000000000", digit.repeat(8));
        kill(packing(&folder, "orders", &["--single", "--file-id", &id]));
        // The next writer waits after twice as many bytes.
        let name = format!("orders.faro.{}.tmp", digit.repeat(8));
        std::fs::rename(folder.path(&name), folder.path(&format!("kept-{digit}"))).unwrap();
        std::fs::create_dir_all(folder.path("aside")).unwrap();
        std::fs::rename(folder.path(&format!("kept-{digit}")), folder.path("aside").join(name)).unwrap();
    }
    let complaint = folder.fails(2, &["repair", "aside/orders"]);
    assert!(complaint.contains("11111111, 22222222"), "{complaint}");
    let report = folder.json(&["repair", "aside/orders", "--file-id", "22222222", "--json"]);
    assert_eq!(
        (&report["action"], &report["file_id"]),
        (&"last-commit".into(), &"22222222".into())
    );
    folder.ok(&["check", "aside/orders.faro"]);
    assert!(
        folder
            .fails(2, &["repair", "aside/orders", "--file-id", "xyz"])
            .contains("8 hexadecimal digits")
    );
    assert!(folder.fails(3, &["repair", "nosuch"]).contains("none"));
}
