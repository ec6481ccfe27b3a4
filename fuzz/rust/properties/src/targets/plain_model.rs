//! A model of the writer: which calls are refused, and what each partition must read (WRT, PRT-1).

use super::program::{Call, Item, Program, Whom};
use faro::{ErrorCode, Framing};
use std::collections::BTreeMap;

/// A piece of a partition's content. Consecutive data of framing opaque is one piece.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Piece {
    Data(Vec<u8>),
    Event(u8, Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Finished,
    Aborted,
}

/// The state of the model.
pub(crate) struct Model<'a> {
    program: &'a Program,
    state: State,
    /// The content of each partition, counted from the file's first.
    pub contents: Vec<Vec<Piece>>,
    /// Records by partition.
    pub records: Vec<u64>,
    pub properties: BTreeMap<String, String>,
}

impl<'a> Model<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let count = program.options.partition_count as usize;
        Model {
            program,
            state: State::Open,
            contents: vec![Vec::new(); count],
            records: vec![0; count],
            properties: BTreeMap::new(),
        }
    }

    /// Whether the files were published.
    pub(super) fn is_finished(&self) -> bool {
        self.state == State::Finished
    }

    /// Applies a call; returns the error that the writer must return.
    pub(super) fn call(&mut self, call: &Call) -> Result<(), ErrorCode> {
        if self.state != State::Open {
            return match call {
                Call::Abort => Ok(()),
                _ => Err(ErrorCode::InvalidArgument),
            };
        }
        match call {
            Call::Put { whom, kind, payload } => self.put(whom, *kind, payload)?,
            Call::Flush => {}
            Call::Property { key, value } => {
                if self.properties.contains_key(key) {
                    return Err(ErrorCode::InvalidArgument);
                }
                self.properties.insert(key.clone(), value.clone());
            }
            Call::Region(items) => self.region(items)?,
            Call::Finish => self.state = State::Finished,
            Call::Abort => self.state = State::Aborted,
        }
        Ok(())
    }

    fn places(&self, whom: &Whom) -> Result<Vec<usize>, ErrorCode> {
        let (first, count) = (self.program.options.first_partition, self.contents.len());
        let place = |partition: u32| (partition - first) as usize;
        let mut places = match whom {
            Whom::One(partition) => vec![place(*partition)],
            Whom::All => (0..count).collect(),
            Whom::These(partitions) => partitions.iter().map(|partition| place(*partition)).collect(),
        };
        places.sort_unstable();
        places.dedup();
        match places.last() {
            Some(last) if *last < count => Ok(places),
            _ => Err(ErrorCode::InvalidArgument),
        }
    }

    fn put(&mut self, whom: &Whom, kind: u8, payload: &[u8]) -> Result<(), ErrorCode> {
        if kind == 2 {
            return Err(ErrorCode::InvalidArgument);
        }
        let places = self.places(whom)?;
        let block = match (kind, self.program.options.framing) {
            (0, Framing::Opaque) => 0,
            (0, _) => payload.len() + 4,
            _ => payload.len(),
        };
        if block > self.program.options.max_plain_size as usize {
            return Err(ErrorCode::LimitExceeded);
        }
        for at in places {
            self.add(at, kind, payload);
            self.records[at] += u64::from(kind == 0);
        }
        Ok(())
    }

    fn add(&mut self, at: usize, kind: u8, payload: &[u8]) {
        let opaque = self.program.options.framing == Framing::Opaque;
        let pieces = &mut self.contents[at];
        match (kind, pieces.last_mut()) {
            (0, _) if opaque && payload.is_empty() => {}
            (0, Some(Piece::Data(data))) if opaque => data.extend_from_slice(payload),
            (0, _) => pieces.push(Piece::Data(payload.to_vec())),
            _ => pieces.push(Piece::Event(kind, payload.to_vec())),
        }
    }

    /// WRT-8: a region with a refused block leaves no trace.
    fn region(&mut self, items: &[Item]) -> Result<(), ErrorCode> {
        let options = &self.program.options;
        let (first, count) = (options.first_partition, options.partition_count);
        let mut members: Option<Vec<usize>> = None;
        let mut last_slot = 0;
        let mut blocks = Vec::new();
        for item in items {
            match item {
                Item::Shared { all } => members = Some(if *all { (0..count as usize).collect() } else { vec![0] }),
                Item::Block {
                    partition,
                    kind,
                    payload,
                    records,
                } => {
                    let size_fits = payload.len() <= options.max_plain_size as usize;
                    if !size_fits || (*kind == 0 && payload.is_empty()) {
                        return Err(ErrorCode::InvalidArgument);
                    }
                    let readers = match &members {
                        Some(members) => members.clone(),
                        None => {
                            let at = partition - first;
                            let slot = (at + count - options.rotation) % count;
                            if at >= count || slot < last_slot {
                                return Err(ErrorCode::InvalidArgument);
                            }
                            last_slot = slot;
                            vec![at as usize]
                        }
                    };
                    blocks.push((readers, *kind, payload, *records));
                }
            }
        }
        for (readers, kind, payload, records) in blocks {
            // With framing records, a payload is one record after its length.
            let framed = kind == 0 && options.framing == Framing::Records;
            let content = if framed { &payload[4..] } else { &payload[..] };
            for at in readers {
                self.add(at, kind, content);
                self.records[at] += if kind == 0 { records } else { 0 };
            }
        }
        Ok(())
    }
}

/// The content to compare when the order of the calls is not kept: the same bytes, or the same records and events.
pub(crate) fn without_order(pieces: Vec<Piece>, framing: Framing) -> Vec<Piece> {
    let mut bytes = Vec::new();
    let mut others = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Data(data) if framing == Framing::Opaque => bytes.extend(data),
            piece => others.push(piece),
        }
    }
    bytes.sort_unstable();
    others.sort_unstable();
    others.push(Piece::Data(bytes));
    others
}
