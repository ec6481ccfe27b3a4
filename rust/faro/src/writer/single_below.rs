//! When the layout is decided with the option `single_below` (spec, WRT-13).

use super::output_writer::Writer;
use crate::error::Result;
use crate::storage::Layout;

impl Writer {
    /// Decides for a pair, before blocks are written that are not the only region's.
    pub(super) fn decide_paired(&mut self) -> Result<()> {
        self.decide(Layout::Paired)
    }

    /// Decides when the output is finished: a single file, if all records are still in the sort buffer, and are few.
    pub(super) fn decide_at_finish(&mut self) -> Result<()> {
        let few = self.buffer.charged() <= self.options.single_below;
        self.decide(if few { Layout::Single } else { Layout::Paired })
    }

    fn decide(&mut self, layout: Layout) -> Result<()> {
        // Only before the first region.
        let Some(builder) = self.builder.as_mut().filter(|builder| builder.is_undecided()) else {
            return Ok(());
        };
        let decided = builder.decide(layout, &self.options);
        self.guarded(|_| decided)
    }
}
