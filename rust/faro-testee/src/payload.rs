//! Payloads of requests, and the generator for them (protocol, "The generator").

use serde::Deserialize;

/// The content of a record or block in a request.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Payload {
    /// The UTF-8 bytes of a text.
    Text {
        /// The text.
        text: String,
    },
    /// Bytes as pairs of hexadecimal digits.
    Hex {
        /// The digits.
        hex: String,
    },
    /// A text, repeated.
    Repeat {
        /// The text.
        repeat: String,
        /// Where it is cut.
        length: usize,
    },
    /// Bytes from the generator.
    Random {
        /// Its seed.
        random: u64,
        /// How many.
        length: usize,
    },
    /// Words that the generator chooses.
    Words {
        /// Its seed.
        words: u64,
        /// Where they are cut.
        length: usize,
    },
}

impl Payload {
    /// The bytes, or the fault of the payload.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, String> {
        match self {
            Payload::Text { text } => Ok(text.as_bytes().to_vec()),
            Payload::Hex { hex } => from_hex(hex).ok_or_else(|| format!("{hex:?} is not hexadecimal")),
            Payload::Repeat { repeat, .. } if repeat.is_empty() => Err("an empty text to repeat".into()),
            Payload::Repeat { repeat, length } => Ok(repeat.bytes().cycle().take(*length).collect()),
            Payload::Random { random, length } => Ok(Content::Random.bytes(*random, *length)),
            Payload::Words { words, length } => Ok(Content::Words.bytes(*words, *length)),
        }
    }
}

/// Decodes pairs of hexadecimal digits.
pub(crate) fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let value = |digit: u8| char::from(digit).to_digit(16);
    let bytes = pairs
        .iter()
        .map(|[high, low]| Some((value(*high)? << 4 | value(*low)?) as u8));
    if rest.is_empty() { bytes.collect() } else { None }
}

/// The hexadecimal digits of bytes.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The content of generated records.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Content {
    /// Bytes from the generator.
    Random,
    /// Words that the generator chooses.
    Words,
}

const WORDS: [&str; 16] = [
    "the",
    "of",
    "shuffle",
    "and",
    "partition",
    "region",
    "block",
    "extent",
    "to",
    "data",
    "in",
    "writer",
    "reader",
    "index",
    "footer",
    "zero",
];

impl Content {
    /// `length` bytes from a seed.
    pub(crate) fn bytes(self, seed: u64, length: usize) -> Vec<u8> {
        let mut generator = SplitMix64(seed);
        let mut bytes = Vec::with_capacity(length + 256);
        while bytes.len() < length {
            let value = generator.next();
            match self {
                Content::Random => bytes.extend_from_slice(&value.to_le_bytes()),
                Content::Words => {
                    for group in 0..16 {
                        bytes.extend_from_slice(WORDS[(value >> (4 * group) & 15) as usize].as_bytes());
                        bytes.push(b' ');
                    }
                }
            }
        }
        bytes.truncate(length);
        bytes
    }
}

/// The generator, which returns the same numbers for a seed in every testee.
pub(crate) struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(json: &str) -> Vec<u8> {
        serde_json::from_str::<Payload>(json).unwrap().bytes().unwrap()
    }

    #[test]
    fn the_generator_is_that_of_the_protocol() {
        let mut generator = SplitMix64(0);
        assert_eq!(
            [generator.next(), generator.next()],
            [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]
        );
        assert_eq!(
            bytes(r#"{"random": 0, "length": 9}"#),
            from_hex("afcd1d7b39a820e2f4").unwrap()
        );
        assert_eq!(bytes(r#"{"words": 0, "length": 20}"#), b"zero in index reader");
    }

    #[test]
    fn payloads_are_what_they_say() {
        assert_eq!(bytes(r#"{"text": "é"}"#), [0xC3, 0xA9]);
        assert_eq!(bytes(r#"{"hex": "00fF"}"#), [0, 255]);
        assert_eq!(bytes(r#"{"repeat": "abc", "length": 7}"#), b"abcabca");
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("+1"), None);
        assert_eq!(to_hex(&[0, 254]), "00fe");
    }
}
