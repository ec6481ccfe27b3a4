//! What steps do when an output that is still written has more regions, or will have none.

use super::state::State;
use super::waiting::Waiting;
use crate::error::{Error, ErrorCode, Result};
use crate::reader::OpenOutput;
use std::sync::Arc;

impl State {
    /// Tells the consumers of an output which regions it has now, and whether more will come.
    pub(super) fn output_grew(&mut self, output: &OpenOutput, end: Option<&Result<()>>) {
        let file = Arc::as_ptr(&output.opened) as usize;
        self.go_on(|consumer| consumer.file == file, Some(output), end);
    }

    /// Ends all consumers of outputs that are still written, after the regions seen so far: nothing can tell them of more.
    pub(super) fn end_watches(&mut self) {
        let gone = Error::bare(ErrorCode::Io, "a scheduler that follows the output", "it was dropped");
        self.go_on(|_| true, None, Some(&Err(gone)));
    }

    fn go_on(&mut self, is_meant: impl Fn(&Waiting) -> bool, output: Option<&OpenOutput>, end: Option<&Result<()>>) {
        let mut grown = Vec::new();
        for (id, consumer) in self.consumers.iter_mut().filter(|(_, consumer)| is_meant(consumer)) {
            // The first end stays.
            let Some(growth) = consumer.growth.as_mut().filter(|growth| growth.end.is_none()) else {
                continue;
            };
            growth.end = end.cloned();
            growth.is_waiting = false;
            if let Some(output) = output {
                growth.output = output.clone();
                if let Some(finder) = &mut consumer.finder {
                    finder.go_on(output);
                }
            }
            grown.push(*id);
        }
        for id in grown {
            self.enqueue(id);
        }
    }
}
