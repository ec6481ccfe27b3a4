//! `faro report`: what a page shows, beside what other commands say.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use common::Folder;
use serde_json::Value;

/// An output of rows whose first column is skewed.
fn orders() -> Folder {
    let folder = Folder::new();
    let rows: String = (0..3_000)
        .map(|row| format!("{},\"<b>{row}</b>, \"\"x\"\"\"\n", row * row % 7))
        .collect();
    folder.write("orders.csv", format!("customer,text\n{rows}"));
    let args = [
        "pack",
        "orders.csv",
        "-o",
        "orders",
        "--by",
        "customer:int",
        "--partitions",
        "16",
    ];
    folder.ok(&[&args[..], &["--memory", "64KiB"]].concat());
    folder
}

fn subject(folder: &Folder, args: &[&str]) -> Value {
    folder.json(&[&["report", "--json"], args].concat())["subjects"][0].take()
}

#[test]
fn a_page_says_what_other_commands_say() {
    let folder = orders();
    let shown = subject(&folder, &["orders"]);
    let info = folder.json(&["info", "--json", "orders"]);
    let layout = folder.json(&["layout", "--json", "orders"]);
    let largest = info["partitions"]["largest"].as_array().unwrap();
    for (bar, partition) in shown["largest"].as_array().unwrap().iter().zip(largest) {
        assert_eq!(bar[0], partition["partition"].to_string());
        assert_eq!(bar[1], partition["bytes"]);
    }
    let sizes: u64 = shown["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| size[1].as_u64().unwrap())
        .sum();
    assert_eq!(sizes, layout["bytes"].as_u64().unwrap());
    let blocks = shown["blocks"]["rows"].as_array().unwrap();
    assert_eq!(blocks.len() as u64, info["blocks"]["count"].as_u64().unwrap());
    assert!(blocks.iter().all(|block| block[8] == "right"));
    let cells: u64 = shown["heat"]["cells"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|cell| cell.as_u64().unwrap())
        .sum();
    assert_eq!(
        cells,
        info["regions"]["bytes"].as_u64().unwrap() - info["regions"]["shared_bytes"].as_u64().unwrap()
    );
    // The first records are those that `cat` prints.
    let preview = &shown["records"][0];
    let partition = preview["partition"].to_string();
    let printed = folder.text(&["cat", "orders", "-p", &partition, "--no-header"]);
    assert_eq!(preview["columns"], serde_json::json!(["customer", "text"]));
    assert_eq!(preview["rows"].as_array().unwrap().len(), 20);
    for (row, line) in preview["rows"].as_array().unwrap().iter().zip(printed.lines()) {
        let quoted = row[1].as_str().unwrap().replace('"', "\"\"");
        assert_eq!(format!("{},\"{quoted}\"", row[0].as_str().unwrap()), line);
    }
    assert!(
        subject(&folder, &["orders", "--records", "0"])["records"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_damaged_output_has_its_fault_and_the_bytes_around_it() {
    let folder = orders();
    let mut bytes = folder.read("orders.data");
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    folder.write("orders.data", bytes);
    let checked = folder.run(&["check", "--json", "orders"]);
    let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let fault = &checked["outputs"][0]["error"];
    let output = folder.run(&["report", "--json", "orders"]);
    assert_eq!(output.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = &report["subjects"][0];
    assert_eq!(shown["fault"]["code"], fault["code"]);
    let here: Vec<&Value> = shown["bytes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["meaning"].as_str().unwrap().starts_with("HERE"))
        .collect();
    assert_eq!(here.len(), 1);
    let offset = fault["offset"].as_u64().unwrap();
    assert!(here[0]["offset"].as_u64().unwrap() <= offset);
    let wrong = shown["blocks"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block[8] != "right")
        .count();
    assert_eq!(wrong, 1);
}

#[test]
fn a_page_is_one_file_that_loads_nothing() {
    let folder = orders();
    folder.ok(&[
        "report",
        "orders",
        "--html",
        "page.html",
        "--spec",
        "https://example.org/spec/",
    ]);
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("<b>0</b>"), "records are data and not markup");
    for loads in ["src=", "<link", "@import", "url("] {
        assert!(!page.contains(loads), "{loads}");
    }
    assert!(
        folder
            .fails(2, &["report", "orders", "--html", "x", "--spec", "javascript:alert(1)"])
            .contains("http")
    );
    assert!(folder.fails(2, &["report", "orders"]).contains("--html"));
    assert!(folder.fails(3, &["report", "nothing", "--json"]).contains("nothing"));
}

#[test]
fn a_folder_has_its_outputs_and_each_damaged_one() {
    let folder = orders();
    std::fs::create_dir(folder.path("all")).unwrap();
    for name in ["one", "two", "three"] {
        for ending in ["data", "index"] {
            folder.write(
                &format!("all/{name}.{ending}"),
                folder.read(&format!("orders.{ending}")),
            );
        }
    }
    let index = folder.read("all/two.index");
    folder.write("all/two.index", &index[..index.len() - 1]);
    let output = folder.run(&["report", "--json", "all"]);
    assert_eq!(output.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let subjects = report["subjects"].as_array().unwrap();
    assert_eq!(subjects.len(), 2);
    let one = folder.json(&["info", "--json", "all/one"]);
    let rows = subjects[0]["outputs"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row[4] == one["records"]));
    assert_eq!(subjects[0]["heat"]["cells"].as_array().unwrap().len(), 2);
    assert!(subjects[1]["name"].as_str().unwrap().ends_with("two"));
    assert!(!subjects[1]["fault"].is_null());
}

#[test]
fn a_hundred_thousand_partitions_and_none() {
    let folder = orders();
    let args = [
        "pack",
        "orders.csv",
        "-o",
        "many",
        "--by",
        "text",
        "--partitions",
        "100000",
    ];
    folder.ok(&args);
    let heat = subject(&folder, &["many"])["heat"].take();
    assert!(heat["columns"].as_array().unwrap().len() <= 200);
    assert!(heat["grouped"].as_str().unwrap().contains("500 partitions"));
    folder.write("empty.csv", "customer,text\n");
    folder.ok(&[
        "pack",
        "empty.csv",
        "-o",
        "empty",
        "--by",
        "customer",
        "--partitions",
        "4",
    ]);
    let empty = subject(&folder, &["empty"]);
    assert_eq!(
        (empty["heat"]["most"].as_u64(), empty["fault"].is_null()),
        (Some(0), true)
    );
}

/// The answer of `faro view` for a path, as a browser asks for it.
fn asked(address: &str, path: &str, host: &str, method: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_shows_the_outputs_as_they_are_now() {
    let folder = orders();
    let mut server = folder
        .command(&["view", "orders"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let rest = line.trim().strip_prefix("http://").unwrap();
    let (address, path) = rest.split_at(rest.find('/').unwrap());
    assert!(address.starts_with("127.0.0.1:"));
    let page = asked(address, path, address, "GET");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("OK: "), "{page}");
    // Only with the part that cannot be guessed, from a page of this address, and to read.
    for (path, host, method, status) in [
        ("/", address, "GET", "404"),
        (path, "example.org", "GET", "404"),
        (path, address, "POST", "405"),
    ] {
        assert!(
            asked(address, path, host, method).starts_with(&format!("HTTP/1.1 {status}")),
            "{path} {host} {method}"
        );
    }
    let mut bytes = folder.read("orders.data");
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    folder.write("orders.data", bytes);
    assert!(asked(address, path, address, "GET").contains("HERE is the fault"));
    std::fs::remove_file(folder.path("orders.index")).unwrap();
    std::fs::remove_file(folder.path("orders.data")).unwrap();
    assert!(asked(address, path, address, "GET").starts_with("HTTP/1.1 500"));
    let interrupted = Command::new("kill")
        .args(["-INT", &server.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert!(folder.fails(3, &["view", "nothing"]).contains("nothing"));
}

#[test]
fn a_folder_is_checked_and_no_other_file_is_replaced() {
    let folder = orders();
    std::fs::create_dir(folder.path("all")).unwrap();
    for name in ["one", "two"] {
        for ending in ["data", "index"] {
            folder.write(
                &format!("all/{name}.{ending}"),
                folder.read(&format!("orders.{ending}")),
            );
        }
    }
    folder.ok(&["report", "all", "--html", "all.html"]);
    // Again: a page is replaced by a page.
    folder.ok(&["report", "all", "--html", "all.html"]);
    for victim in ["all/one.data", "orders.csv"] {
        let before = folder.read(victim);
        assert!(
            folder
                .fails(3, &["report", "all", "--html", victim])
                .contains("not replaced")
        );
        assert!(
            folder
                .fails(3, &["layout", "all", "--svg", victim])
                .contains("not replaced")
        );
        assert!(
            folder
                .fails(3, &["layout", "orders", "--svg", victim])
                .contains("not replaced")
        );
        assert_eq!(folder.read(victim), before);
    }
    let mut bytes = folder.read("all/two.data");
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    folder.write("all/two.data", bytes);
    std::fs::copy(folder.path("orders.data"), folder.path("all/zero.data")).unwrap();
    let output = folder.run(&["report", "--json", "all"]);
    assert_eq!(output.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes: Vec<&str> = report["subjects"].as_array().unwrap()[1..]
        .iter()
        .map(|subject| subject["fault"]["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["checksum", "io"]);
    folder.ok(&["report", "all/one", "--json", "--level", "structure"]);
}

/// A check delivers no batches, so only the records show that the library of Arrow refuses the schema.
#[test]
fn a_schema_that_is_refused_is_a_fault_and_not_the_end() {
    let folder = Folder::new();
    let gold = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/gold/1.0-draft");
    for ending in ["data", "index"] {
        let name = format!("gold-paired-arrow.{ending}");
        folder.write(&name, std::fs::read(gold.join(&name)).unwrap());
    }
    let output = folder.run(&["report", "--json", "gold-paired-arrow"]);
    assert_eq!(output.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let subject = &report["subjects"][0];
    assert_eq!(subject["fault"]["code"], "malformed-message");
    assert_eq!(
        (&subject["fault"]["clause"], &subject["checked"]),
        (&"SCH-3".into(), &Value::Null)
    );
    let bytes = subject["bytes"].as_array().unwrap();
    let here = |entry: &&Value| entry["meaning"].as_str().unwrap().starts_with("HERE");
    assert_eq!(bytes.iter().find(here).unwrap()["offset"], 88);
    assert_eq!(subject["blocks"]["rows"].as_array().unwrap().len(), 2);
    assert!(!subject["bytes"].as_array().unwrap().is_empty());
}

#[test]
fn a_fault_names_the_clause_of_its_place() {
    let folder = Folder::new();
    let gold = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/gold/1.0-draft");
    let whole = std::fs::read(gold.join("gold-single-records.faro")).unwrap();
    for (at, clause) in [(20, "HDR-1"), (64, "BLK-7"), (whole.len() - 20, "OPN-2")] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        folder.write("damaged.faro", &damaged);
        let output = folder.run(&["report", "--json", "damaged"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["subjects"][0]["fault"]["clause"], clause, "at {at}");
    }
}

#[test]
fn tab_separated_values_have_no_quotes() {
    let folder = Folder::new();
    folder.write("rows.tsv", "k\ttext\n1\ta \"b\n2\t\"c\td\"\n");
    let refused = folder.run(&["pack", "rows.tsv", "-o", "bad", "--by", "k"]);
    assert_eq!(refused.status.code(), Some(4), "a row with three fields");
    folder.write("rows.tsv", "k\ttext\n1\ta \"b\n2\t\"c\n");
    folder.ok(&["pack", "rows.tsv", "-o", "rows", "--by", "k", "--partitions", "1"]);
    let rows = subject(&folder, &["rows"])["records"][0]["rows"].take();
    assert_eq!(rows, serde_json::json!([["1", "a \"b"], ["2", "\"c"]]));
}

#[test]
fn without_records_a_page_has_no_bytes_of_payloads() {
    let folder = Folder::new();
    folder.write("rows.csv", "k,text\n1,secret\n2,secret\n");
    let args = [
        "pack",
        "rows.csv",
        "-o",
        "rows",
        "--by",
        "k",
        "--partitions",
        "1",
        "--codec",
        "none",
    ];
    folder.ok(&args);
    let secret = "73 65 63 72 65 74";
    let report = |more: &[&str]| folder.run(&[&["report", "--json", "rows"], more].concat());
    let text = |more: &[&str]| String::from_utf8(report(more).stdout).unwrap();
    assert!(text(&[]).contains(secret));
    let page = text(&["--records", "0"]);
    assert!(!page.contains(secret) && !page.contains("secret"), "{page}");
    // Around a fault, too.
    let path = folder.path("rows.data");
    let mut data = std::fs::read(&path).unwrap();
    let end = data.len() - 9;
    data[end] ^= 1;
    std::fs::write(&path, data).unwrap();
    assert!(text(&[]).contains("73 65 63 72 65"));
    let page = text(&["--records", "0"]);
    assert!(page.contains("checksum") && !page.contains("73 65 63"), "{page}");
}
