//! The page docs/cli.md: its commands, run in order, print what the page shows.
//!
//! `FARO_UPDATE_PAGES=1 cargo test --package faro-cli --test cli_page` rewrites the page.

#![cfg(unix)]

mod common;

use std::process::{Command, Stdio};

use common::Folder;
use common::page::{Example, Page};
use regex::Regex;

/// What a shell prints for a command, as on a terminal, and its exit code unless that is 0.
fn printed(folder: &Folder, command: &str) -> String {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_faro"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder.0.path())
        .env("PATH", path.unwrap())
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    match output.status.code() {
        Some(0) => {}
        Some(code) => text.push_str(&format!("[exit code {code}]\n")),
        None => panic!("{command}: {}", output.status),
    }
    text
}

/// The output without the parts that differ from run to run: a random file id, and what depends on it.
fn without_chance(text: &str) -> String {
    let patterns = [
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"(stored|computed) [0-9a-f]{8}",
        // In a dump.
        r"( [0-9a-f]{2}){8}  file_id .*\n.*",
        r"( [0-9a-f]{2}){4}              checksum ",
    ];
    patterns.iter().fold(text.to_owned(), |text, pattern| {
        Regex::new(pattern).unwrap().replace_all(&text, "#").into_owned()
    })
}

/// As much of the output as the page shows: a last line `...` stands for the rest.
fn as_shown(got: &str, page: &str) -> String {
    let Some(shown) = page.strip_suffix("...\n") else {
        return got.to_owned();
    };
    let count = shown.lines().count();
    assert!(got.lines().count() > count, "nothing is left out");
    let mut lines: String = got.lines().take(count).flat_map(|line| [line, "\n"]).collect();
    lines.push_str("...\n");
    lines
}

#[test]
fn the_commands_of_the_page_print_what_it_says() {
    let page = Page::open("cli.md");
    let folder = Folder::new();
    let update = std::env::var_os("FARO_UPDATE_PAGES").is_some();
    let mut differ = Vec::new();
    let mut commands = 0;
    for example in page.examples() {
        let got = as_shown(&printed(&folder, &example.command), &example.printed);
        commands += 1;
        if without_chance(&got) == without_chance(&example.printed) {
            continue;
        }
        if !update {
            let Example { command, printed, .. } = example;
            panic!("$ {command}\n{got}\nbut the page says\n{printed}");
        }
        differ.push((example, got));
    }
    assert!(commands > 20, "{commands} commands");
    if update {
        page.update(&differ);
    }
}
