//! Prints annotations as text: offset, bytes, meaning.

use super::note::{Note, Section};
use crate::failure::Outcome;
use crate::term::{Out, Style};

/// Bytes in a row of fields, and in a row of payloads, which are also shown as characters.
const FIELD_ROW: usize = 8;
const PAYLOAD_ROW: usize = 16;
/// Names are padded to the longest in their section, and at most to this width.
const NAME_WIDTH: usize = 40;

/// The limits for long notes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of a payload.
    pub payload: usize,
}

/// Prints a section: a title, and one or more rows for each note.
pub(super) fn section(section: &Section, limits: Limits, out: &mut Out) -> Outcome {
    let style = out.style();
    let title = format!("{} ({} bytes at {})", section.title, section.length, section.offset);
    out.line(&style.bold(&title))?;
    let names = section
        .notes
        .iter()
        .filter(|note| !is_long(note))
        .map(|note| note.name.chars().count());
    let width = names.max().unwrap_or(0).min(NAME_WIDTH);
    for note in &section.notes {
        if is_long(note) {
            payload(section, note, limits, style, out)?;
        } else {
            field(section, note, limits, width, style, out)?;
        }
    }
    out.line("")
}

/// Whether a note needs separate rows, with the bytes also as characters after them.
fn is_long(note: &Note) -> bool {
    note.payload && note.length > FIELD_ROW as u64
}

fn field(section: &Section, note: &Note, limits: Limits, width: usize, style: Style, out: &mut Out) -> Outcome {
    let bytes = section.bytes_of(note);
    let value = if note.payload {
        format!("\"{}\"", characters(bytes))
    } else {
        note.value.clone()
    };
    let meaning = format!("{:<width$}  {}", note.name, style.cyan(&value));
    let shown = bytes.len().min(limits.payload.max(FIELD_ROW));
    for (i, row) in bytes[..shown].chunks(FIELD_ROW).enumerate() {
        let offset = note.offset + (i * FIELD_ROW) as u64;
        let meaning = if i == 0 { meaning.as_str() } else { "" };
        out.line(format!("{offset:>10}  {}  {meaning}", hex_row(row, FIELD_ROW)).trim_end())?;
    }
    more(note, shown, style, out)
}

fn payload(section: &Section, note: &Note, limits: Limits, style: Style, out: &mut Out) -> Outcome {
    let bytes = section.bytes_of(note);
    let shown = bytes.len().min(limits.payload);
    let blank = " ".repeat(FIELD_ROW * 3 - 1);
    out.line(&format!(
        "{:>10}  {blank}  {}, {} bytes",
        note.offset, note.name, note.length
    ))?;
    plain(note.offset, &bytes[..shown], out)?;
    more(note, shown, style, out)
}

/// Prints how many bytes of a note are not shown.
fn more(note: &Note, shown: usize, style: Style, out: &mut Out) -> Outcome {
    let hidden = note.length - shown as u64;
    if hidden == 0 {
        return Ok(());
    }
    out.line(&style.dim(&format!("{:>10}  ... {hidden} bytes more", note.offset + shown as u64)))
}

/// Prints bytes without their meaning.
pub(super) fn plain(offset: u64, bytes: &[u8], out: &mut Out) -> Outcome {
    let style = out.style();
    for (i, row) in bytes.chunks(PAYLOAD_ROW).enumerate() {
        let at = offset + (i * PAYLOAD_ROW) as u64;
        out.line(&format!(
            "{at:>10}  {}  {}",
            hex_row(row, PAYLOAD_ROW),
            style.dim(&characters(row))
        ))?;
    }
    Ok(())
}

fn hex_row(row: &[u8], width: usize) -> String {
    let mut text = String::with_capacity(width * 3);
    for i in 0..width {
        if i > 0 {
            text.push(' ');
        }
        match row.get(i) {
            Some(byte) => text.push_str(&format!("{byte:02x}")),
            None => text.push_str("  "),
        }
    }
    text
}

fn characters(row: &[u8]) -> String {
    row.iter()
        .map(|&byte| {
            if (0x20..0x7f).contains(&byte) {
                char::from(byte)
            } else {
                '.'
            }
        })
        .collect()
}
