//! The end of an output: its footer, and what is known of it without reading.

use super::{RecentRegions, RegionBuilder};
use crate::block;
use crate::bytes::Tail;
use crate::error::Result;
use crate::message::{Footer, Property, Schema, Statistics};
use crate::reader::{FoundFooter, OpenFiles, WrittenOutput};
use crate::writer::statistics::Sums;
use crate::writer::summary::Summary;

impl RegionBuilder {
    /// Writes footer and tail, publishes the files, and returns the footer.
    pub(crate) fn finish(&mut self, properties: Vec<Property>, created_by: Option<String>) -> Result<FoundFooter> {
        // The message of the statistics takes as much memory again.
        self.region.forget();
        let data_size = if self.output.is_single() {
            self.output.metadata().offset()
        } else {
            self.output.blocks().offset()
        };
        let statistics = self.sums.take().map(Sums::into_statistics);
        let footer = Footer {
            regions: std::mem::take(&mut self.directory),
            data_size,
            statistics,
            properties,
            created_by,
            dictionaries: self.dictionaries.entries(),
            streams: self.shape.selective.then(|| self.streams.take()),
        };
        let message = footer.build()?;
        let sequence = self.metadata_sequence;
        let offset = self.metadata_block(block::FOOTER, &message)?;
        let size = message.len() as u32;
        let tail = Tail {
            footer_offset: offset,
            footer_size: size,
        };
        let file = self.output.metadata();
        let tail_offset = file.offset();
        file.buffer().extend_from_slice(&tail.encode());
        self.output.publish(tail_offset)?;
        Ok(FoundFooter {
            footer,
            offset,
            sequence,
            size,
        })
    }

    /// What was written, for the caller; `statistics` are those of the footer.
    pub(crate) fn summary(&self, footer: &Footer, statistics: Option<Statistics>) -> Summary {
        let (data_bytes, index_bytes) = match self.output.sizes() {
            (Some(data), index) => (data, index),
            (None, all) => {
                let of_regions = footer.regions.iter().map(|entry| entry.data_length).sum();
                (of_regions, all - of_regions)
            }
        };
        Summary {
            files: self.output.files().clone(),
            file_id: self.header.file_id,
            regions: footer.regions.len(),
            blocks: self.counts.blocks,
            data_bytes,
            index_bytes,
            statistics,
        }
    }

    /// Ends the use of the files, which are finished.
    pub(crate) fn close(&mut self) {
        self.recent = RecentRegions::default();
        self.output.close();
    }

    /// Hands the finished output over to a reader. `schema` is the option of the writer.
    pub(crate) fn hand_over(&mut self, footer: FoundFooter, schema: Option<Vec<u8>>) -> Result<WrittenOutput> {
        let (index, data) = self.output.hand_over()?;
        Ok(WrittenOutput {
            files: OpenFiles {
                index,
                data,
                header: self.header.clone(),
                seal: self.block_builder.seal(),
            },
            footer,
            schema: schema.map(|arrow| (Schema { arrow }, self.schema_size)),
            regions: self.recent.take(),
        })
    }
}
