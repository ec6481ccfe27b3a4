//! The calls that finish an output, and what they return.

use super::output_writer::{State, Writer};
use super::summary::Summary;
use super::trace::Span;
use crate::error::Result;
use crate::message::Property;
use crate::reader::{FoundFooter, Reader, ReaderOptions};

impl Writer {
    /// Closes the region, writes footer and tail, publishes the files under their final names, and closes them.
    ///
    /// # Errors
    /// `invalid-argument` after `finish` or `abort`; `io`, which is final and leaves nothing that looks finished.
    pub fn finish(&mut self) -> Result<Summary> {
        self.telling(|writer| {
            let mut written = writer.publish()?;
            let builder = writer.builder()?;
            builder.close();
            let statistics = written.footer.statistics.take();
            let summary = builder.summary(&written.footer, statistics);
            writer.finished_news = Some(news_of(&summary));
            Ok(summary)
        })
    }

    /// Finishes the output as [`Writer::finish`] does, and opens it for reading without a single read: header, footer
    /// and schema come from the writer's memory.
    ///
    /// The reader takes over the writer's open files. So it reads the output that was just written, even if another
    /// writer replaces or removes the names meanwhile. The writer's locks are released, as by `finish` (PUB-6).
    ///
    /// The writer keeps the contents of the last region messages, up to 1 MiB together. They are in the reader's cache
    /// from the start, as many as [`ReaderOptions::region_cache_bytes`] allows. All other regions are read when they are
    /// needed. [`crate::Lookup::Direct`] reads its parts of all messages, as always.
    ///
    /// ```
    /// # fn main() -> faro::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let name = folder.path().join("shuffle");
    /// let mut writer = faro::Writer::create(&name, faro::WriterOptions::new(4))?;
    /// writer.write(2, b"a record")?;
    /// let (summary, reader) = writer.finish_and_open(faro::ReaderOptions::default())?;
    /// assert_eq!(summary.blocks, 1);
    /// assert_eq!(reader.records(2)?.collect::<faro::Result<Vec<_>>>()?, ["a record"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`Writer::finish`]. `limit-exceeded`, as [`Reader::open`] reports it, when the output breaks one of
    /// [`ReaderOptions::limits`]: the output is finished and published then, which the error says, and can be opened by
    /// its name with higher limits. `io` when a storage cannot open what it has published.
    pub fn finish_and_open(&mut self, options: ReaderOptions) -> Result<(Summary, Reader)> {
        let (summary, output) = self.telling(|writer| {
            let written = writer.publish()?;
            let schema = writer.options.schema.take();
            let builder = writer.builder()?;
            let summary = builder.summary(&written.footer, written.footer.statistics.clone());
            let output = builder.hand_over(written, schema);
            writer.finished_news = Some(news_of(&summary));
            Ok((summary, output))
        })?;
        Ok((summary, Reader::of_written(output?, options)?))
    }

    /// Whether the output was published.
    #[cfg(feature = "arrow")]
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.state, State::Finished)
    }

    fn publish(&mut self) -> Result<FoundFooter> {
        self.check_idle()?;
        self.decide_at_finish()?;
        self.close_region()?;
        self.buffer.forget_order();
        let properties = std::mem::take(&mut self.properties);
        let properties = properties
            .into_iter()
            .map(|(key, value)| Property { key, value })
            .collect();
        let created_by = self.options.created_by.take();
        let written = self.guarded(|builder| {
            let span = Span::finish(builder.files());
            let written = builder.finish(properties, created_by);
            let (regions, bytes) = builder.counts();
            span.ends_with(regions, bytes);
            written
        })?;
        self.end_with(State::Finished);
        Ok(written)
    }
}

/// What the listener learns of an output that was published.
fn news_of(summary: &Summary) -> (usize, u64) {
    (summary.regions, summary.data_bytes + summary.index_bytes)
}
