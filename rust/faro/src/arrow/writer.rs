//! Writes record batches as blocks of a file with framing arrow.

use super::ipc::{Encoder, refused};
use super::plain::{Rewrite, detached, size_of, unpacked_schema};
use super::rows::{OwnRows, SharedRows};
use crate::bytes::Framing;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{Grants, out_of_memory};
use crate::reader::{Reader, ReaderOptions};
use crate::writer::{RegionWriter, Summary, Writer, WriterOptions};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use std::path::Path;

/// The memory for a row beside its columns, in bytes: its partition, and its position while it is sorted.
const ROW_COST: u64 = 20;

/// Writes record batches by partition (SRT-10): collects the rows of each partition, cuts them into batches of about
/// `block_size` bytes, and writes these region by region.
///
/// Rows wait in memory, up to `buffer_size` bytes, until they become a region. Dictionary columns are replaced by their
/// values (FRM-3). With the option `ordered`, each partition reads its rows in the order of the calls.
///
/// With the option `memory_budget`, it asks for the memory of a batch's rows before it takes them. After a refusal, the
/// rows that wait become a region; if it is refused again, the call is, and the batch was not taken (WRT-14). With the
/// option `single_below`, an output with rows is a pair, because rows are written as regions (WRT-13).
///
/// ```
/// # use std::sync::Arc;
/// # use arrow::array::{Int32Array, RecordBatch};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let name = folder.path().join("shuffle");
/// let batch = RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![1, 2, 3])) as _)])?;
/// let mut writer = faro::ArrowWriter::create(&name, batch.schema(), faro::WriterOptions::new(2))?;
/// writer.write(&batch, &[1, 0, 1])?;
/// writer.finish()?;
///
/// let reader = faro::Reader::open(&faro::Files::locate(&name)?, faro::ReaderOptions::default())?;
/// let rows: usize = reader.batches(1)?.map(|batch| batch.map(|batch| batch.num_rows())).sum::<faro::Result<_>>()?;
/// assert_eq!(rows, 2);
/// # Ok(()) }
/// ```
pub struct ArrowWriter {
    writer: Writer,
    encoder: Encoder,
    /// The schema of the caller's batches.
    input_schema: SchemaRef,
    /// The schema of the file.
    schema: SchemaRef,
    first_partition: u32,
    partition_count: u32,
    rotation: u32,
    ordered: bool,
    buffer_size: u64,
    /// The target size of a block, in bytes.
    target: u64,
    max_plain_size: u64,
    own: OwnRows,
    shared: Vec<SharedRows>,
    /// The charges of the waiting rows, in bytes.
    charged: u64,
    /// What is granted for waiting rows.
    grants: Grants,
    state: State,
}

enum State {
    Open,
    Closed,
    /// Rows were lost; every call returns the error again (WRT-6).
    Failed(Error),
}

impl ArrowWriter {
    /// Creates a writer for batches with this schema. It sets the options `framing` and `schema`.
    ///
    /// # Errors
    /// `invalid-argument` for a schema with dictionaries in unions or run-end encoded columns, and the errors of
    /// [`Writer::create`].
    pub fn create(base: impl AsRef<Path>, schema: SchemaRef, mut options: WriterOptions) -> Result<Self> {
        let mut encoder = Encoder::new()?;
        let file_schema = unpacked_schema(&schema)?;
        options.framing = Framing::Arrow;
        options.schema = Some(encoder.schema(&file_schema)?);
        Ok(ArrowWriter {
            encoder,
            input_schema: schema,
            schema: file_schema,
            first_partition: options.first_partition,
            partition_count: options.partition_count,
            rotation: options.rotation,
            ordered: options.ordered,
            buffer_size: options.buffer_size,
            target: u64::from(options.block_size).min(u64::from(options.max_plain_size)),
            max_plain_size: u64::from(options.max_plain_size),
            own: OwnRows::default(),
            shared: Vec::new(),
            charged: 0,
            grants: Grants::new(options.memory_budget.clone()),
            state: State::Open,
            writer: Writer::create(base, options)?,
        })
    }

    /// The schema of the file: that of the batches, without dictionaries.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Writes a batch; `partitions` has the partition of each row.
    ///
    /// # Errors
    /// `invalid-argument` for another schema, or for partitions that the file does not have or that are not one for
    /// each row (WRT-1); `limit-exceeded` for a row that is too large for a block (WRT-3). Nothing of the batch is
    /// written then, nor after `io` with the source [`std::io::ErrorKind::OutOfMemory`]: the budget refused memory, and the
    /// call may be repeated. Any other `io`, when a region cannot be written, is final.
    pub fn write(&mut self, batch: &RecordBatch, partitions: &[u32]) -> Result<()> {
        self.telling(|writer| writer.take(batch, partitions))
    }

    fn take(&mut self, batch: &RecordBatch, partitions: &[u32]) -> Result<()> {
        self.check_open()?;
        if partitions.len() != batch.num_rows() {
            let expected = format!("a partition for each of {} rows", batch.num_rows());
            return Err(Error::argument(expected, partitions.len().to_string()));
        }
        self.check_partitions(partitions)?;
        let batch = self.prepare(batch)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let pieces = self.pieces(&batch);
        self.reserve(pieces.iter().map(cost_of))?;
        if self.ordered && !self.shared.is_empty() {
            self.close_region()?;
        }
        let (schema, mut at) = (self.schema.clone(), 0);
        for piece in pieces {
            let (rows, cost) = (piece.num_rows(), cost_of(&piece));
            self.make_room(cost)?;
            self.own
                .push(&schema, piece, &partitions[at..at + rows], cost)
                .map_err(|error| self.fail(error))?;
            at += rows;
        }
        self.close_if_full()
    }

    /// Writes a batch for every partition, stored once.
    ///
    /// # Errors
    /// Those of [`ArrowWriter::write`].
    pub fn broadcast(&mut self, batch: &RecordBatch) -> Result<()> {
        self.telling(|writer| writer.share(batch, None))
    }

    /// Writes a batch for a set of partitions, stored once. The numbers may be in any order and repeat.
    ///
    /// # Errors
    /// Those of [`ArrowWriter::write`]; `invalid-argument` for an empty set.
    pub fn multicast(&mut self, partitions: &[u32], batch: &RecordBatch) -> Result<()> {
        if partitions.is_empty() {
            return Err(Error::argument("a partition at least", "none"));
        }
        self.check_partitions(partitions)?;
        let mut members = partitions.to_vec();
        members.sort_unstable();
        members.dedup();
        // A set of all partitions is a broadcast (SRT-5).
        let all = members.len() as u64 == u64::from(self.partition_count);
        self.telling(|writer| writer.share(batch, (!all).then_some(members)))
    }

    fn share(&mut self, batch: &RecordBatch, members: Option<Vec<u32>>) -> Result<()> {
        self.check_open()?;
        let batch = self.prepare(batch)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let (schema, pieces) = (self.schema.clone(), self.pieces(&batch));
        let beside = members.as_ref().map_or(0, |members| 4 * members.len() as u64);
        self.reserve(pieces.iter().map(|piece| cost_of(piece) + beside))?;
        for piece in pieces {
            let cost = cost_of(&piece) + beside;
            self.make_room(cost)?;
            // SRT-4: only the last extent, to keep the order.
            let last = if self.ordered {
                self.shared.len().saturating_sub(1)
            } else {
                0
            };
            let open = self.shared[last..].iter_mut().find(|shared| shared.members == members);
            let pushed = match open {
                Some(shared) => shared.push(&schema, piece, cost),
                None => {
                    let mut shared = SharedRows::new(members.clone());
                    let pushed = shared.push(&schema, piece, cost);
                    self.shared.push(shared);
                    pushed
                }
            };
            pushed.map_err(|error| self.fail(error))?;
        }
        self.close_if_full()
    }

    /// Adds a property to the footer.
    ///
    /// # Errors
    /// `invalid-argument` for a key that was used before.
    pub fn property(&mut self, key: &str, value: &str) -> Result<()> {
        self.check_open()?;
        self.writer.property(key, value)
    }

    /// Closes the region now.
    ///
    /// # Errors
    /// `io` when it cannot be written, which is final.
    pub fn flush(&mut self) -> Result<()> {
        self.check_open()?;
        self.telling(Self::spill)
    }

    /// Closes the region, writes footer and tail, and publishes the files under their final names.
    ///
    /// # Errors
    /// `invalid-argument` after `finish` or `abort`; `io`, which is final.
    pub fn finish(&mut self) -> Result<Summary> {
        self.finish_by(Writer::finish)
    }

    /// Finishes the output and opens it without a read, as [`Writer::finish_and_open`] does.
    ///
    /// # Errors
    /// Those of [`ArrowWriter::finish`]; `limit-exceeded` as [`Writer::finish_and_open`] reports it, when the output is
    /// published already.
    pub fn finish_and_open(&mut self, options: ReaderOptions) -> Result<(Summary, Reader)> {
        self.finish_by(|writer| writer.finish_and_open(options))
    }

    fn finish_by<T>(&mut self, finish: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.check_open()?;
        // The listener learns of the region when the output is finished.
        if let Err(error) = self.spill() {
            return self.telling(|_| Err(error));
        }
        let finished = finish(&mut self.writer);
        // A limit of the reader is reported after the writer has finished.
        self.state = match &finished {
            Err(error) if !self.writer.is_finished() => State::Failed(error.clone()),
            _ => State::Closed,
        };
        finished
    }

    /// Gives up the output and removes its files. A second call does nothing.
    ///
    /// # Errors
    /// As [`Writer::abort`].
    pub fn abort(&mut self) -> Result<()> {
        self.state = State::Closed;
        self.own = OwnRows::default();
        self.shared = Vec::new();
        self.grants.shrink_to(0);
        self.writer.abort()
    }

    fn check_open(&self) -> Result<()> {
        match &self.state {
            // Its listener may have panicked in the call that finished it, or in which it failed.
            State::Open => self.writer.check_open(),
            State::Closed => Err(Error::argument("a writer that is open", "a call after finish or abort")),
            State::Failed(error) => Err(error.clone()),
        }
    }

    /// Does the work of a call, and tells the listener what came of it.
    fn telling<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let done = work(self);
        self.writer.tell();
        if let State::Failed(error) = &self.state {
            self.writer.tell_fault(error);
        }
        done
    }

    fn fail(&mut self, error: Error) -> Error {
        self.state = State::Failed(error.clone());
        self.own = OwnRows::default();
        self.shared = Vec::new();
        self.grants.shrink_to(0);
        error
    }

    fn check_partitions(&self, partitions: &[u32]) -> Result<()> {
        let outside = |partition: &&u32| {
            partition
                .checked_sub(self.first_partition)
                .is_none_or(|at| at >= self.partition_count)
        };
        match partitions.iter().find(outside) {
            None => Ok(()),
            Some(partition) => Err(Error::argument(
                format!("{} partitions from {} on", self.partition_count, self.first_partition),
                partition.to_string(),
            )),
        }
    }

    /// Checks a batch and unpacks its dictionaries.
    fn prepare(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let types = |schema: &SchemaRef| -> Vec<_> {
            schema
                .fields()
                .iter()
                .map(|field| (field.name().clone(), field.data_type().clone()))
                .collect()
        };
        if !std::sync::Arc::ptr_eq(batch.schema_ref(), &self.input_schema)
            && types(batch.schema_ref()) != types(&self.input_schema)
        {
            let error = ArrowError::SchemaError(format!("columns {:?}", types(batch.schema_ref())));
            return Err(refused(error));
        }
        let batch = detached(Rewrite::Compact.apply(&Rewrite::Unpack.apply(batch, &self.schema)?, &self.schema)?)?;
        self.check_rows_fit(&batch)?;
        Ok(batch)
    }

    /// WRT-3. It checks single rows only if the batch is large.
    fn check_rows_fit(&mut self, batch: &RecordBatch) -> Result<()> {
        // The bytes of a message beside its rows: for each field, a node and up to three padded buffers with their
        // positions.
        let fields = 1 + self.schema.flattened_fields().len() as u64;
        if batch.num_rows() == 0 || size_of(batch) + 1024 + 256 * fields <= self.max_plain_size {
            return Ok(());
        }
        if batch.num_rows() > 1 {
            let half = batch.num_rows() / 2;
            self.check_rows_fit(&batch.slice(0, half))?;
            return self.check_rows_fit(&batch.slice(half, batch.num_rows() - half));
        }
        let size = self.encoder.batch(&Rewrite::Compact.apply(batch, &self.schema)?)?.len() as u64;
        if size <= self.max_plain_size {
            return Ok(());
        }
        let expected = format!("rows whose message has at most {} bytes", self.max_plain_size);
        Err(Error::bare(ErrorCode::LimitExceeded, expected, size.to_string()))
    }

    /// Cuts a batch into pieces that fit into the buffer, if its rows do.
    fn pieces(&self, batch: &RecordBatch) -> Vec<RecordBatch> {
        let rows = batch.num_rows();
        let count = usize::try_from(cost_of(batch).div_ceil(self.buffer_size.max(1))).unwrap_or(rows);
        let step = rows.div_ceil(count.clamp(1, rows.max(1))).max(1);
        (0..rows)
            .step_by(step)
            .map(|at| batch.slice(at, step.min(rows - at)))
            .collect()
    }

    /// Asks for the memory of rows before any of them is taken: as much as waits at any time until all are taken.
    fn reserve(&mut self, costs: impl Iterator<Item = u64>) -> Result<()> {
        if !self.grants.has_budget() {
            return Ok(());
        }
        self.writer.begin_memory()?;
        let (total, largest) = costs.fold((0u64, 0), |(total, largest), cost| {
            (total.saturating_add(cost), cost.max(largest))
        });
        let most = self.buffer_size.max(largest);
        if self.grow_to(self.charged.saturating_add(total).min(most)) {
            return Ok(());
        }
        self.spill()?;
        let needed = total.min(most);
        match self.grow_to(needed) {
            true => Ok(()),
            false => Err(out_of_memory(needed)),
        }
    }

    fn grow_to(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.grants.held());
        more == 0 || self.grants.try_grow(more)
    }

    /// Closes the region if it has no room for `cost` more bytes (SRT-1).
    fn make_room(&mut self, cost: u64) -> Result<()> {
        if self.charged > 0 && self.charged.saturating_add(cost) > self.buffer_size {
            self.close_region()?;
        }
        self.charged = self.charged.saturating_add(cost);
        Ok(())
    }

    fn close_if_full(&mut self) -> Result<()> {
        if self.charged >= self.buffer_size {
            self.close_region()
        } else {
            Ok(())
        }
    }

    /// Closes the region, and gives its memory back.
    fn spill(&mut self) -> Result<()> {
        self.close_region()?;
        self.grants.shrink_to(0);
        Ok(())
    }

    fn close_region(&mut self) -> Result<()> {
        self.charged = 0;
        self.write_region().map_err(|error| self.fail(error))
    }

    /// Writes the rows of the buffer as a region (SRT-7, SRT-8).
    fn write_region(&mut self) -> Result<()> {
        if self.own.is_empty() && self.shared.is_empty() {
            return Ok(());
        }
        let (first, count, rotation) = (self.first_partition, self.partition_count, self.rotation);
        let slot = |named: usize, partition: u32| {
            let at = partition - first;
            let is_sparse = 2 * named as u64 + 1 < u64::from(count);
            if is_sparse { at } else { (at + count - rotation) % count }
        };
        let (schema, target) = (&self.schema, self.target);
        let own = std::mem::take(&mut self.own).sorted(schema, slot)?;
        let shared = std::mem::take(&mut self.shared);
        let mut region = self.writer.region_untold()?;
        let (encoder, limit) = (&mut self.encoder, self.max_plain_size);
        for (partition, rows) in own.extents() {
            own.cut(rows, schema, target, |batch| {
                put(&mut region, encoder, Some(partition), &batch, limit)
            })?;
        }
        for shared in shared {
            region.shared(shared.members.as_deref())?;
            shared.cut(schema, target, |batch| put(&mut region, encoder, None, &batch, limit))?;
        }
        region.commit()
    }
}

fn cost_of(batch: &RecordBatch) -> u64 {
    size_of(batch).saturating_add(ROW_COST * batch.num_rows() as u64)
}

/// Writes a batch as one block, or as several if one would be too large.
fn put(
    region: &mut RegionWriter<'_>,
    encoder: &mut Encoder,
    partition: Option<u32>,
    batch: &RecordBatch,
    limit: u64,
) -> Result<()> {
    let (rows, message) = (batch.num_rows(), encoder.batch(batch)?);
    if message.len() as u64 <= limit || rows == 1 {
        return region.block(partition, crate::block::DATA, &message, rows as u64);
    }
    drop(message);
    for half in [batch.slice(0, rows / 2), batch.slice(rows / 2, rows - rows / 2)] {
        put(
            region,
            encoder,
            partition,
            &Rewrite::Compact.apply(&half, &batch.schema())?,
            limit,
        )?;
    }
    Ok(())
}
