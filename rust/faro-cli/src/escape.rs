//! Text from files, without control characters, to be shown to people (SEC-4).

use std::fmt::Write as _;

/// Escapes every character that could control a terminal or change the reading direction.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmful(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Bytes of a record for a terminal: text, tabs and line ends stay; everything else is escaped.
pub(crate) fn escape_bytes(bytes: &[u8]) -> String {
    let mut safe = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_harmful(c) && c != '\n' && c != '\t' {
                safe.extend(c.escape_default());
            } else {
                safe.push(c);
            }
        }
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(safe, "\\x{byte:02x}");
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_steers_a_terminal() {
        assert_eq!(escape("a\x1b[31mb\u{202e}c\u{9b}"), "a\\u{1b}[31mb\\u{202e}c\\u{9b}");
        assert_eq!(escape("Grüße \\ \"x\""), "Grüße \\ \"x\"");
        assert_eq!(escape_bytes(b"a\tb\n\x07\xff"), "a\tb\n\\u{7}\\xff");
    }
}
