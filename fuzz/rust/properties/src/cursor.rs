//! Reads the bytes of an input. A missing byte counts as 0.

/// A position in an input.
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// The start of an input.
    pub fn new(input: &'a [u8]) -> Self {
        Cursor { rest: input }
    }

    /// Whether all bytes are read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// The next number of `size` bytes, at most 4.
    pub fn number(&mut self, size: usize) -> u32 {
        (0..size).fold(0, |sum, at| sum | u32::from(self.byte()) << (8 * at))
    }

    /// The next `count` bytes, or as many as there are.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// All remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_bytes_are_zero() {
        let mut cursor = Cursor::new(&[1, 2, 3]);
        assert_eq!(cursor.number(2), 0x201);
        assert_eq!(cursor.number(4), 3);
        assert!(cursor.is_empty());
        assert_eq!(cursor.byte(), 0);
        assert_eq!(cursor.take(4), b"");
    }
}
