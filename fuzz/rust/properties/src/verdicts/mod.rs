//! The transcript of a target on an input, which is the same in every language. `fuzz/VERDICTS.md` defines its lines.

mod files;
mod merges;
mod message;
mod others;

use faro::{Blocks, Error, ErrorCode, FileRole, Result};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::panic::catch_unwind;

/// The lines for an input.
#[derive(Debug, Default)]
pub struct Transcript {
    text: String,
    first: Option<String>,
}

impl Transcript {
    /// The transcript of a target on an input; none for an unknown target.
    pub fn of(target: &str, input: &[u8]) -> Option<Self> {
        let mut transcript = Transcript::default();
        let lines = &mut transcript;
        match target {
            "open" => files::open(input, lines),
            "read_all" => files::read_all(input, lines),
            "follow" => files::follow(input, lines),
            "repair" => files::repair(input, lines),
            "message" => message::message(input, lines),
            "codec_lz4" => others::codec(input, 1, lines),
            "codec_zstd" => others::codec(input, 2, lines),
            "header_block" => others::header_block(input, lines),
            "fragments" => merges::fragments(input, lines),
            "merge" => merges::merge(input, lines),
            "script" => others::script(input, lines),
            _ => return None,
        }
        Some(transcript)
    }

    /// The lines.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first error, or `ok`, and the sum of the lines.
    pub fn verdict(&self) -> String {
        format!(
            "{} {}",
            self.first.as_deref().unwrap_or("ok"),
            sum(self.text.as_bytes())
        )
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Notes an error for the verdict, if it is the first.
    fn note(&mut self, error: String) {
        self.first.get_or_insert(error);
    }

    /// Adds a line that ends in an error.
    fn fails(&mut self, words: &str, code: ErrorCode, role: Option<FileRole>, offset: Option<u64>) {
        let role = role.map_or("-", FileRole::as_str);
        let offset = offset.map_or_else(|| "-".into(), |offset| offset.to_string());
        self.note(format!("{code}@{role}:{offset}"));
        self.line(&format!("{words} !{code} {role} {offset}"));
    }

    fn fault(&mut self, words: &str, error: &Error) {
        self.fails(words, error.code, error.role, error.offset);
    }

    /// Adds a line that ends in the text of a value, or in an error.
    fn result<T>(&mut self, words: &str, result: Result<T>, right: impl Fn(&T) -> String) -> Option<T> {
        match result {
            Ok(value) => {
                self.line(&format!("{words} {}", right(&value)));
                Some(value)
            }
            Err(error) => {
                self.fault(words, &error);
                None
            }
        }
    }

    /// Adds a line that ends in a content.
    fn content(&mut self, words: &str, blocks: Blocks, with_partition: bool) {
        let (mut count, mut digest) = (0, Sha256::new());
        let mut ending = None;
        for block in blocks {
            match block {
                Ok(block) => {
                    count += 1;
                    if with_partition {
                        digest.update(block.partition.unwrap_or(u32::MAX).to_le_bytes());
                    }
                    digest.update([block.kind()]);
                    digest.update((block.payload.len() as u32).to_le_bytes());
                    digest.update(&block.payload);
                }
                Err(error) => ending = Some(error),
            }
        }
        let words = format!("{words} {count} {}", digits(&digest.finalize()));
        match ending {
            Some(error) => self.fault(&words, &error),
            None => self.line(&words),
        }
    }
}

/// The verdict of a target on an input; `broken -` after a panic. The replay of the corpus checks the properties.
pub fn verdict(target: &str, input: &[u8]) -> Option<String> {
    match catch_unwind(|| Transcript::of(target, input)) {
        Ok(transcript) => Some(transcript?.verdict()),
        Err(_) => Some("broken -".into()),
    }
}

/// The first 16 hexadecimal digits of the SHA-256 of some bytes.
pub fn sum(bytes: &[u8]) -> String {
    digits(&Sha256::digest(bytes))
}

fn digits(digest: &[u8]) -> String {
    digest[..8].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_the_first_error_and_a_sum() {
        assert_eq!(
            verdict("message", b""),
            Some(format!("malformed-message@-:- {}", sum(b"refused\n")))
        );
        assert_eq!(
            Transcript::of("open", b"").unwrap().text(),
            "open !truncated single 0\n"
        );
        assert_eq!(verdict("what", b""), None);
    }
}
