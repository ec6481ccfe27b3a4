//! Merges and their pushes: whose turn it is, and what becomes of each push (spec, MRG-4 to MRG-10).

use super::intake::{Intake, Kind};
use super::merged_file::MergedFile;
use super::names::Names;
use super::options::MergeOptions;
use super::resume;
use crate::bytes::{FileHeader, field};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::Limits;
use crate::message::Property;
use crate::reader::SCHEMA_OFFSET;
use crate::storage::{Files, Layout};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What became of a push (MRG-5). What is refused is not lost: the producer's own output has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The fragment is in the file.
    Merged,
    /// All of its blocks were in the file before. To its producer this is a success.
    Duplicate,
    /// The merge was finalized or closed before the push was committed.
    Late,
    /// The push is for another generation of the merge.
    Stale,
    /// The file has blocks of this producer of another attempt.
    OtherAttempt,
    /// The file does not have all blocks before one of the fragment.
    Gap,
    /// Another push has the turn, and there is no room to wait.
    Collision,
}

impl Outcome {
    /// The outcome as the conformance protocol spells it, for example `other-attempt`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Merged => "merged",
            Outcome::Duplicate => "duplicate",
            Outcome::Late => "late",
            Outcome::Stale => "stale",
            Outcome::OtherAttempt => "other-attempt",
            Outcome::Gap => "gap",
            Outcome::Collision => "collision",
        }
    }

    /// Whether the file has the blocks of the push.
    pub const fn is_success(self) -> bool {
        matches!(self, Outcome::Merged | Outcome::Duplicate)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The answer of [`Merge::begin`].
#[derive(Debug)]
pub enum Begun {
    /// The push may be written.
    Open(Box<Push>),
    /// The push is refused: [`Outcome::Late`] or [`Outcome::Stale`].
    Refused(Outcome),
}

/// What a merge has made (MRG-10).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeSummary {
    /// The files.
    pub files: Files,
    /// The number of regions.
    pub regions: u64,
    /// The number of runs: pushes that were merged, each counted once for each partition.
    pub runs: u64,
}

/// A merged file that is being made: the blocks of many producers, each exactly once. Any number of threads may push.
///
/// ```
/// use faro::merge::{Begun, Merge, MergeOptions, Outcome};
/// use faro::{Files, Reader, ReaderOptions, Writer, WriterOptions};
/// # fn main() -> faro::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let merge = Merge::create(folder.path().join("merged"), MergeOptions::new(4).generation(1))?;
/// for producer in 0..3 {
///     let name = folder.path().join(format!("map-{producer}"));
///     let mut writer = Writer::create(&name, WriterOptions::new(4).producer(producer))?;
///     writer.write(2, b"a record")?;
///     writer.finish()?;
///     // What goes over the network: the blocks of partition 2 as one fragment.
///     let output = Reader::open(&Files::paired(&name), ReaderOptions::default())?;
///     let mut fragment = Vec::new();
///     output.fragment(2..3, None, &mut fragment)?;
///
///     let Begun::Open(mut push) = merge.begin(producer, 1)? else { continue };
///     push.write(&fragment)?;
///     assert_eq!(push.commit()?, Outcome::Merged);
/// }
/// let merged = Reader::open(&merge.finalize()?.files, ReaderOptions::default())?;
/// assert_eq!(merged.records(2)?.count(), 3);
/// assert_eq!(merged.have(2)?.len(), 3);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Merge {
    shared: Arc<Shared>,
}

/// What the merge and its pushes share.
#[derive(Debug)]
struct Shared {
    header: FileHeader,
    files: Files,
    names: Option<Names>,
    schema: Option<Vec<u8>>,
    chunk_size: u64,
    max_waiting: u64,
    limits: Limits,
    created_by: Option<String>,
    properties: Vec<Property>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None once the merge was closed or removed.
    file: Option<MergedFile>,
    is_finished: bool,
    /// Whether pushes are late.
    is_over: bool,
    /// The push that appends.
    turn: Option<u64>,
    pushes: u64,
    /// The bytes of all pushes that wait.
    waiting: u64,
}

impl Merge {
    /// Creates the pair of files with this NAME, which grow from now on (MRG-4).
    ///
    /// # Errors
    /// `invalid-argument` for an option out of range; `io`; a file that exists is one reason.
    pub fn create(name: impl AsRef<Path>, options: MergeOptions) -> Result<Merge> {
        options.check()?;
        let files = Files::to_write(name, Some(Layout::Paired))?;
        let file = MergedFile::create(files, &options)?;
        Ok(Merge::new(file, options))
    }

    /// Goes on with a merge that was not finalized, from its last commit (MRG-4). What was not committed is cut off.
    ///
    /// # Errors
    /// `io` if a living writer has the files; `mismatched-pair` if the file is not what the options say;
    /// `invalid-argument` for a finished file; the faults that [`crate::repair`] reports. The files are as they were then.
    pub fn resume(name: impl AsRef<Path>, options: MergeOptions) -> Result<Merge> {
        options.check()?;
        let files = Files::to_write(name, Some(Layout::Paired))?;
        let file = resume::resume(files, &options)?;
        Ok(Merge::new(file, options))
    }

    fn new(file: MergedFile, options: MergeOptions) -> Merge {
        let properties = options.properties.into_iter();
        Merge {
            shared: Arc::new(Shared {
                header: file.header.clone(),
                files: file.files.clone(),
                names: options.names,
                schema: options.schema,
                chunk_size: options.chunk_size,
                max_waiting: options.max_waiting,
                limits: options.limits,
                created_by: options.created_by,
                properties: properties.map(|(key, value)| Property { key, value }).collect(),
                state: Mutex::new(State {
                    file: Some(file),
                    is_finished: false,
                    is_over: false,
                    turn: None,
                    pushes: 0,
                    waiting: 0,
                }),
            }),
        }
    }

    /// The header of the merged file.
    pub fn header(&self) -> &FileHeader {
        &self.shared.header
    }

    /// The files.
    pub fn files(&self) -> &Files {
        &self.shared.files
    }

    /// Begins a push of one fragment of a producer, for a generation of the merge.
    ///
    /// # Errors
    /// `invalid-argument` for the producer of merged files, `u64::MAX`.
    pub fn begin(&self, producer: u64, generation: u64) -> Result<Begun> {
        if producer == u64::MAX {
            return Err(Error::argument("a producer below 2^64 - 1", producer.to_string()));
        }
        let mut state = self.shared.lock();
        if state.is_over {
            return Ok(Begun::Refused(Outcome::Late));
        }
        if generation != self.shared.header.attempt {
            return Ok(Begun::Refused(Outcome::Stale));
        }
        state.pushes += 1;
        Ok(Begun::Open(Box::new(Push {
            shared: self.shared.clone(),
            own: PushState {
                number: state.pushes,
                producer,
                intake: Intake::new(self.shared.limits.clone()),
                waiting: Vec::new(),
                is_over: false,
            },
        })))
    }

    /// Ends the open region, so that followers see what was merged so far (MRG-10). If no push appends, this also gives
    /// the memory for appending back.
    ///
    /// # Errors
    /// `io`; `invalid-argument` after `finalize`, `close` or `remove`.
    pub fn flush(&self) -> Result<()> {
        let mut state = self.shared.lock();
        let file = state.open_file()?;
        file.end_region()?;
        file.release_buffer();
        Ok(())
    }

    /// Gives the memory for appending back, up to 512 KiB. What was appended is written first; no region ends. While a
    /// push appends, this does nothing. A service that has many merges calls it for those that wait for their next push.
    ///
    /// # Errors
    /// `io`; `invalid-argument` after `finalize`, `close` or `remove`.
    pub fn release(&self) -> Result<()> {
        let mut state = self.shared.lock();
        let is_appending = state.turn.is_some();
        let file = state.open_file()?;
        if !is_appending {
            file.write_buffer()?;
            file.release_buffer();
        }
        Ok(())
    }

    /// Ends the open region and finishes the file. Pushes that are open are late from now on. If it fails, the file
    /// stays unfinished, and this may be called again (MRG-10).
    ///
    /// # Errors
    /// `io`; `invalid-argument` after `finalize`, `close` or `remove`.
    pub fn finalize(&self) -> Result<MergeSummary> {
        let mut state = self.shared.lock();
        state.open_file()?;
        state.is_over = true;
        state.turn = None;
        let file = state.open_file()?;
        let runs = file.finish(&self.shared.properties, self.shared.created_by.as_ref())?;
        let regions = file.region_count() as u64;
        state.is_finished = true;
        state.file = None;
        Ok(MergeSummary {
            files: self.shared.files.clone(),
            regions,
            runs,
        })
    }

    /// Closes the files, unfinished, and cuts them at their last region. [`Merge::resume`] goes on from there.
    ///
    /// # Errors
    /// `io` if the system refuses the cut; `invalid-argument` after `finalize`, `close` or `remove`.
    pub fn close(&self) -> Result<()> {
        let mut state = self.shared.lock();
        let cut = state.open_file()?.cut();
        state.end();
        cut
    }

    /// Closes and removes the files.
    ///
    /// # Errors
    /// `io`; `invalid-argument` after `finalize`, `close` or `remove`.
    pub fn remove(&self) -> Result<()> {
        let mut state = self.shared.lock();
        let removed = state.open_file()?.remove();
        state.end();
        removed
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What a push left half done is taken back by the next call that has the turn.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open_file(&mut self) -> Result<&mut MergedFile> {
        let is_finished = self.is_finished;
        self.file.as_mut().ok_or_else(|| {
            let found = if is_finished {
                "one that is finalized"
            } else {
                "one that is closed"
            };
            Error::argument("a merge that is open", found)
        })
    }

    fn end(&mut self) {
        self.file = None;
        self.is_over = true;
        self.turn = None;
    }
}

/// A push of one fragment of a producer. Dropping it gives it up.
pub struct Push {
    shared: Arc<Shared>,
    own: PushState,
}

/// The state of a push, apart from what it shares with its merge.
struct PushState {
    number: u64,
    producer: u64,
    intake: Intake,
    /// The bytes that have waited for the turn.
    waiting: Vec<u8>,
    is_over: bool,
}

impl fmt::Debug for Push {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Push")
            .field("producer", &self.own.producer)
            .field("is_over", &self.own.is_over)
            .finish_non_exhaustive()
    }
}

impl Push {
    /// Takes the next bytes of the fragment. Returns an outcome if the push is refused, and over.
    ///
    /// # Errors
    /// The faults of FRG-4 and MRG-7, in the role `fragment`; `io`. The push is over then. `invalid-argument` for a push
    /// that is over.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Option<Outcome>> {
        let Push { shared, own } = self;
        own.check_open()?;
        let mut state = shared.lock();
        if state.is_over {
            return Ok(Some(own.ends(&mut state, Outcome::Late)));
        }
        if state.turn.is_some_and(|turn| turn != own.number) {
            let room = shared.max_waiting.saturating_sub(state.waiting);
            if bytes.len() as u64 > room {
                return Ok(Some(own.ends(&mut state, Outcome::Collision)));
            }
            state.waiting += bytes.len() as u64;
            own.waiting.extend_from_slice(bytes);
            return Ok(None);
        }
        own.append(shared, &mut state, bytes)
    }

    /// Ends the fragment, and commits the push.
    ///
    /// # Errors
    /// As [`Push::write`]; `truncated` for a fragment without its end. An `io` error of ending the region does not undo
    /// the push, which is in the open region then (MRG-9).
    pub fn commit(&mut self) -> Result<Outcome> {
        let Push { shared, own } = self;
        own.check_open()?;
        let mut state = shared.lock();
        if state.is_over {
            return Ok(own.ends(&mut state, Outcome::Late));
        }
        if state.turn.is_some_and(|turn| turn != own.number) {
            return Ok(own.ends(&mut state, Outcome::Collision));
        }
        if let Some(refused) = own.append(shared, &mut state, &[])? {
            return Ok(refused);
        }
        let last = match own.intake.check_ended() {
            Ok(end) => end.last,
            Err(error) => {
                own.ends(&mut state, Outcome::Late);
                return Err(error);
            }
        };
        let file = state.open_file()?;
        let is_new = file.commit_push(last);
        let is_full = is_new && file.open_bytes() >= shared.chunk_size;
        let ended = if is_full { file.end_region() } else { Ok(()) };
        own.ends(&mut state, Outcome::Merged);
        ended?;
        Ok(if is_new { Outcome::Merged } else { Outcome::Duplicate })
    }

    /// Gives the push up: nothing of it stays.
    pub fn abort(&mut self) {
        if !self.own.is_over {
            self.own.ends(&mut self.shared.lock(), Outcome::Late);
        }
    }
}

impl Drop for Push {
    fn drop(&mut self) {
        self.abort();
    }
}

impl PushState {
    fn check_open(&self) -> Result<()> {
        match self.is_over {
            true => Err(Error::argument("a push that is open", "one that is over")),
            false => Ok(()),
        }
    }

    /// Appends what has waited, and then these bytes. With an outcome or an error the push is over.
    fn append(&mut self, shared: &Shared, state: &mut State, bytes: &[u8]) -> Result<Option<Outcome>> {
        if state.turn.is_none() {
            state.turn = Some(self.number);
            state.open_file()?.begin_push();
        }
        let waiting = std::mem::take(&mut self.waiting);
        state.waiting -= waiting.len() as u64;
        let file = state.open_file()?;
        let taken = self.take(shared, file, &waiting).and_then(|refused| match refused {
            None => self.take(shared, file, bytes),
            refused => Ok(refused),
        });
        match taken {
            Ok(None) => Ok(None),
            Ok(Some(outcome)) => Ok(Some(self.ends(state, outcome))),
            Err(error) => {
                self.ends(state, Outcome::Late);
                Err(error)
            }
        }
    }

    /// Ends the push: what it appended and did not commit is taken back, and the turn given back.
    fn ends(&mut self, state: &mut State, outcome: Outcome) -> Outcome {
        self.is_over = true;
        state.waiting -= self.waiting.len() as u64;
        self.waiting = Vec::new();
        if state.turn == Some(self.number) {
            state.turn = None;
            if let Some(file) = &mut state.file {
                file.give_up_push();
            }
        }
        outcome
    }

    /// MRG-7 for bytes of the fragment.
    fn take(&mut self, shared: &Shared, file: &mut MergedFile, mut bytes: &[u8]) -> Result<Option<Outcome>> {
        while let Some(part) = self.intake.next(&mut bytes)? {
            let intake = &self.intake;
            let Some(header) = intake.header() else { continue };
            match part.kind {
                Kind::Header => {
                    check_header(header, self.producer, shared)?;
                    if file
                        .attempt(header.producer)
                        .is_some_and(|attempt| attempt != header.attempt)
                    {
                        return Ok(Some(Outcome::OtherAttempt));
                    }
                }
                Kind::Schema => check_schema(intake.schema(), shared.schema.as_deref())?,
                Kind::Dictionary => file.dictionary(part.block.dictionary, intake.stored(&part), part.at)?,
                Kind::Block => {
                    if !file.block(header, intake.seal(), &part.block, intake.rest(&part), part.at)? {
                        return Ok(Some(Outcome::Gap));
                    }
                }
                Kind::End => {}
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        // Only after its end a fragment leaves bytes.
        let found = format!("{} bytes", bytes.len());
        Err(Error::at(
            ErrorCode::MalformedBlock,
            self.intake.at(),
            "nothing after the end block",
            found,
        )
        .in_fragment())
    }
}

/// The checks of MRG-7 after check 4 of FRG-4.
fn check_header(header: &FileHeader, producer: u64, shared: &Shared) -> Result<()> {
    let of_file = &shared.header;
    let mismatch = |at: usize, expected: String, found: String| {
        Err(Error::at(ErrorCode::MismatchedPair, at as u64, expected, found).in_fragment())
    };
    if header.producer != producer {
        let expected = format!("producer {producer}, which pushes");
        return mismatch(field::PRODUCER, expected, header.producer.to_string());
    }
    if header.framing != of_file.framing {
        let expected = format!("framing {}, as in the merged file", of_file.framing.as_str());
        return mismatch(field::FRAMING, expected, header.framing.as_str().to_string());
    }
    let (own, all) = (header.partitions(), of_file.partitions());
    if own.start < all.start || own.end > all.end {
        let expected = format!("partitions from {} on and below {}", all.start, all.end);
        return mismatch(
            field::FIRST_PARTITION,
            expected,
            format!("{} to {}", own.start, own.end),
        );
    }
    if header.has_dictionaries() && !of_file.has_dictionaries() {
        let expected = "no dictionaries, as in the merged file".into();
        return mismatch(
            field::READER_FEATURES,
            expected,
            "the reader feature dictionaries".into(),
        );
    }
    let named = shared
        .names
        .as_ref()
        .map(|names| names.output_file_id(producer, header.attempt));
    if named.is_some_and(|named| named != header.file_id) {
        let expected = "the file_id that follows from the names".into();
        return mismatch(field::FILE_ID, expected, "another one".into());
    }
    Ok(())
}

fn check_schema(schema: Option<&[u8]>, of_file: Option<&[u8]>) -> Result<()> {
    match schema == of_file {
        true => Ok(()),
        false => {
            let expected = "the schema of the merged file";
            Err(Error::at(ErrorCode::MismatchedPair, SCHEMA_OFFSET, expected, "another one").in_fragment())
        }
    }
}
