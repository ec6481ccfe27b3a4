//! Files with dictionaries in the output of the commands.

mod common;

use common::Folder;
use faro::{Codec, Layout, Writer, WriterOptions};

/// Small blocks of similar lines.
fn written(layout: Layout) -> Folder {
    let folder = Folder::new();
    let options = WriterOptions::new(500)
        .layout(layout)
        .codec(Codec::Zstd)
        .dictionaries(true);
    let mut writer = Writer::create(folder.path("out"), options).unwrap();
    for at in 0..20_000u32 {
        let line = format!("record {at} of the harbour, kept by lantern number {}", at % 7);
        writer.write(at % 500, line.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    folder
}

#[test]
fn dictionaries_are_shown() {
    for (layout, data) in [(Layout::Paired, "out.data"), (Layout::Single, "out.faro")] {
        let folder = written(layout);
        folder.ok(&["check", "out"]);
        let info = folder.json(&["info", "out", "--json"]);
        assert_eq!(info["dictionaries"]["count"], 1);
        let size = info["dictionaries"]["bytes"].as_u64().unwrap();
        assert!(folder.text(&["info", "out"]).contains(&format!("1, {size} bytes")));
        let report = folder.json(&["layout", "out", "--json"]);
        let ranges = report["ranges"].as_array().unwrap();
        let dictionary = ranges.iter().find(|range| range["what"] == "dictionary").unwrap();
        assert_eq!(dictionary["offset"], 64);
        assert_eq!(dictionary["length"], 24 + size.next_multiple_of(8));
        folder.text(&["layout", "out"]);
        let dump = folder.text(&["dump", "--annotate", "--offset", "64", "--length", "24", data]);
        assert!(dump.contains("131: dictionary"));
    }
}
