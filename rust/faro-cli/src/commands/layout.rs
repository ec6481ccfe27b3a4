//! `faro layout`: shows what every byte of an output is, as a table or a picture.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use faro::{Piece, PieceKind};
use serde::Serialize;

use crate::escape::escape;
use crate::failure::{Failure, Outcome};
use crate::picture::{self, Grid, Part, RegionShare, SharedShare};
use crate::target::Target;
use crate::term::Out;
use crate::units::{self, count, size};
use crate::view::View;

/// Show where everything is: every byte of the files, as a table, JSON or a picture
#[derive(Args, Debug)]
#[command(after_long_help = "\
The picture has a row for each region and a column for each partition (several share one when there are many), \
coloured by stored bytes; bars show the totals of partitions and regions, so that skew is visible at a glance.

Examples:
  faro layout shuffle
  faro layout shuffle --totals
  faro layout shuffle --svg shuffle.svg
  faro layout --json shuffle | jq '.pieces[] | select(.partition == 3)'")]
pub(crate) struct LayoutArgs {
    #[command(flatten)]
    target: Target,

    /// Print only the totals
    #[arg(long, conflicts_with = "json")]
    totals: bool,

    /// Draw a picture into this file; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "totals"])]
    svg: Option<PathBuf>,

    /// Print the pieces as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct PieceInfo {
    file: &'static str,
    offset: u64,
    length: u64,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_block: Option<u32>,
    blocks: u64,
    block_headers: u64,
    payload: u64,
    padding: u64,
}

impl PieceInfo {
    fn of(piece: &Piece) -> PieceInfo {
        PieceInfo {
            file: piece.file.as_str(),
            offset: piece.offset,
            length: piece.length,
            what: piece.what.as_str().replace(' ', "-"),
            region: piece.region,
            partition: piece.partition,
            members: piece.members,
            first_block: piece.first_block,
            blocks: piece.blocks.count,
            block_headers: piece.blocks.headers,
            payload: piece.blocks.payload,
            padding: piece.blocks.padding,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &LayoutArgs, out: &mut Out) -> Outcome {
    let files = args.target.files()?;
    let view = View::open(&files)?;
    let pieces = view.layout()?;
    let total = pieces.iter().map(|piece| piece.length).sum();
    if args.json {
        let pieces: Vec<PieceInfo> = pieces.iter().map(PieceInfo::of).collect();
        return out.json(&serde_json::json!({ "bytes": total, "finished": view.is_finished(), "pieces": pieces }));
    }
    if let Some(path) = &args.svg {
        let name = args
            .target
            .name
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let svg = picture::svg(&name, &grid(&view)?, &parts(&pieces));
        if path.as_os_str() == "-" {
            return out.text(&svg);
        }
        return std::fs::write(path, svg).map_err(|source| Failure::file(path, source));
    }
    if !args.totals {
        table(&pieces, out)?;
        out.line("")?;
    }
    totals(&pieces, total, out)
}

fn table(pieces: &[Piece], out: &mut Out) -> Outcome {
    let mut rows = titled(&[
        "file", "offset", "length", "what", "region", "for", "blocks", "payload", "padding",
    ]);
    for piece in pieces {
        let optional = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
        let readers = match (piece.partition, piece.members) {
            (Some(partition), _) => format!("partition {partition}"),
            (_, Some(members)) => units::plural(members.into(), "member"),
            _ => String::new(),
        };
        let readers = match piece.first_block {
            Some(first) => format!("{readers}, from block {first} on"),
            None => readers,
        };
        let in_blocks = |n: u64| {
            if piece.blocks.count > 0 {
                n.to_string()
            } else {
                String::new()
            }
        };
        rows.add_row([
            piece.file.to_string(),
            piece.offset.to_string(),
            piece.length.to_string(),
            piece.what.as_str().to_owned(),
            optional(piece.region),
            readers,
            in_blocks(piece.blocks.count),
            in_blocks(piece.blocks.payload),
            in_blocks(piece.blocks.padding),
        ]);
    }
    print_rows(&rows, out)
}

/// A table without borders. Texts are aligned left, numbers right.
fn titled(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(titles);
    for (column, title) in table.column_iter_mut().zip(titles) {
        column.set_padding((0, 2));
        if !matches!(*title, "file" | "what" | "for") {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Prints rows of safe text, with the titles in bold.
fn print_rows(rows: &Table, out: &mut Out) -> Outcome {
    for (i, line) in rows.lines().enumerate() {
        let (style, line) = (out.style(), line.trim_end());
        out.line(&if i == 0 { style.bold(line) } else { line.to_owned() })?;
    }
    Ok(())
}

fn totals(pieces: &[Piece], total: u64, out: &mut Out) -> Outcome {
    let mut sums: BTreeMap<PieceKind, (u64, u64)> = BTreeMap::new();
    for piece in pieces {
        let sum = sums.entry(piece.what).or_default();
        sum.0 += 1;
        sum.1 += piece.length;
    }
    let mut rows = titled(&["what", "count", "bytes", "", "share"]);
    let percent = |bytes: u64| format!("{:.2}%", bytes as f64 * 100.0 / total.max(1) as f64);
    for (what, (n, bytes)) in &sums {
        rows.add_row([
            what.as_str().to_owned(),
            count(*n),
            count(*bytes),
            size(*bytes),
            percent(*bytes),
        ]);
    }
    let of_blocks = |pick: fn(&Piece) -> u64| pieces.iter().map(pick).sum::<u64>();
    rows.add_row([
        "every byte".to_owned(),
        count(pieces.len() as u64),
        count(total),
        size(total),
        percent(total),
    ]);
    print_rows(&rows, out)?;
    let headers = of_blocks(|piece| piece.blocks.headers);
    let padding = of_blocks(|piece| piece.blocks.padding);
    let blocks = of_blocks(|piece| piece.blocks.count);
    out.line(&format!(
        "\n{}: {} of block headers, {} of padding",
        escape(&units::plural(blocks, "block")),
        size(headers),
        size(padding)
    ))
}

fn grid(view: &View) -> Outcome<Grid> {
    let header = view.header();
    let first = header.first_partition;
    let grid = Grid::collect(first, header.partition_count, view.region_count(), |i| {
        let region = view.region(i)?;
        let own = region.slots().filter(|slot| slot.extent.length > 0);
        let own = own.map(|slot| (slot.partition - first, slot.extent.length)).collect();
        let shared = region.shared().iter().map(|shared| SharedShare {
            bytes: shared.extent.length,
            members: (!shared.members.is_all()).then(|| shared.members.iter().map(|p| p - first).collect()),
        });
        Ok::<_, faro::Error>(RegionShare {
            own,
            shared: shared.collect(),
        })
    });
    Ok(grid?)
}

/// The shares of all bytes, for the bar at the bottom of the picture.
fn parts(pieces: &[Piece]) -> Vec<Part> {
    let sum = |pick: &dyn Fn(&Piece) -> u64| pieces.iter().map(pick).sum();
    let of = |what: PieceKind| move |piece: &Piece| if piece.what == what { piece.blocks.payload } else { 0 };
    let framing = |piece: &Piece| match piece.what {
        PieceKind::OwnExtent | PieceKind::SharedExtent => piece.blocks.headers + piece.blocks.padding,
        _ => 0,
    };
    let messages = |piece: &Piece| match piece.what {
        PieceKind::RegionMessage
        | PieceKind::SchemaMessage
        | PieceKind::Dictionary
        | PieceKind::OtherMetadata
        | PieceKind::FooterMessage => piece.length,
        _ => 0,
    };
    let ends = |piece: &Piece| match piece.what {
        PieceKind::FileHeader | PieceKind::Tail => piece.length,
        _ => 0,
    };
    let uncommitted = |piece: &Piece| {
        if piece.what == PieceKind::Uncommitted {
            piece.length
        } else {
            0
        }
    };
    vec![
        Part {
            name: "own payload",
            bytes: sum(&of(PieceKind::OwnExtent)),
        },
        Part {
            name: "shared payload",
            bytes: sum(&of(PieceKind::SharedExtent)),
        },
        Part {
            name: "block headers, padding",
            bytes: sum(&framing),
        },
        Part {
            name: "messages",
            bytes: sum(&messages),
        },
        Part {
            name: "headers, tail",
            bytes: sum(&ends),
        },
        Part {
            name: "uncommitted",
            bytes: sum(&uncommitted),
        },
    ]
}
