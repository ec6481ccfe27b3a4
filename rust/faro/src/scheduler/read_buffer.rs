//! The buffer in which a read for several consumers lands.

use super::guard::{Payload, caught_alone};
use crate::error::Result;
use crate::limits::{Grants, MemoryBudget};
use crate::storage::InputFile;
// The Arc of a budget is that of the standard library, in the tests of interleavings too.
use std::sync::Arc;

/// A buffer that is kept for the next read: a new one each time would be freed and allocated again.
#[derive(Default)]
pub(super) struct ReadBuffer {
    bytes: Vec<u8>,
    /// They are dropped after the bytes.
    grants: Grants,
}

impl ReadBuffer {
    pub(super) fn new(budget: Option<Arc<dyn MemoryBudget>>) -> Self {
        ReadBuffer {
            bytes: Vec::new(),
            grants: Grants::new(budget),
        }
    }

    /// Asks for room for `length` bytes. Returns the panic of the budget.
    pub(super) fn ask(&mut self, length: u64) -> Option<Payload> {
        let missing = length.saturating_sub(self.grants.held());
        if missing == 0 || !self.grants.has_budget() {
            return None;
        }
        caught_alone(|| {
            self.grants.try_grow(missing);
        })
        .err()
    }

    /// Reads from `offset` on, and returns how many of `length` bytes it got: none without a grant.
    pub(super) fn fill(&mut self, source: &InputFile, offset: u64, length: usize) -> Result<usize> {
        if self.grants.has_budget() && self.grants.held() < length as u64 {
            return Ok(0);
        }
        if self.bytes.len() < length {
            self.bytes = Vec::new();
            self.bytes = source.room(length)?;
            self.bytes.resize(length, 0);
        }
        source.read_up_to(offset, &mut self.bytes[..length])
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
