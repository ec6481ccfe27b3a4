//! What a NAME stands for (spec, PUB-1), in commands that write and read.

mod common;

use common::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.csv", "k,v\n1,a\n2,b\n3,c\n");
    folder
}

fn pack<'a>(name: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["pack", "in.csv", "-o", name, "--by", "k", "--partitions", "2"];
    args.extend(more);
    args
}

#[test]
fn the_ending_of_a_name_says_the_layout() {
    for (name, files) in [
        ("a.faro", &["a.faro"][..]),
        ("a.data", &["a.data", "a.index"]),
        ("a.index", &["a.data", "a.index"]),
        ("a", &["a.data", "a.index"]),
        ("a.b", &["a.b.data", "a.b.index"]),
    ] {
        let folder = folder();
        folder.ok(&pack(name, &[]));
        let made: Vec<_> = folder.names().into_iter().filter(|name| name != "in.csv").collect();
        assert_eq!(made, files, "{name}");
        for command in ["info", "check", "layout"] {
            folder.ok(&[command, name]);
        }
        assert_eq!(folder.text(&["cat", name, "--all"]).lines().count(), 4, "{name}");
    }
}

#[test]
fn an_ending_that_contradicts_the_layout_is_refused() {
    let folder = folder();
    assert!(folder.fails(2, &pack("a.data", &["--single"])).contains("a.data"));
    folder.ok(&pack("a.faro", &["--single"]));
    assert_eq!(folder.names(), ["a.faro", "in.csv"]);
}

#[test]
fn a_name_of_nothing_and_a_name_of_two_outputs() {
    let folder = folder();
    let complaint = folder.fails(3, &["info", "nosuch"]);
    assert!(
        complaint.contains("nosuch.faro, or nosuch.data and nosuch.index"),
        "{complaint}"
    );
    folder.ok(&pack("a", &[]));
    folder.ok(&pack("a.faro", &[]));
    assert!(folder.fails(2, &["info", "a"]).contains("a.faro and a.index"));
    folder.ok(&["info", "a.faro"]);
    folder.ok(&["info", "a.index"]);
}

#[test]
fn inputs_that_would_share_a_file_are_refused() {
    let folder = folder();
    folder.write("other.csv", "k,v\n1,a\n");
    let args = ["pack", "in.csv", "other.csv", "-o", "a", "-o", "a.data", "--by", "k"];
    assert!(folder.fails(2, &args).contains("would both become"));
}
