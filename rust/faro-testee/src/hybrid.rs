//! The op `hybrid`: stores of one memory, and their consumers (protocol, "What `hybrid` takes and answers").

use crate::protocol::{Answer, Call, Failure, Hybrid, fields, invalid_argument};
use crate::read::add_block;
use crate::write::{bytes, many, number, options, partitions, word};
use faro::To;
use faro::hybrid::{HybridConsumer, HybridMemory, HybridMode, HybridOptions, HybridStore};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// The calls that a writer does not have.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
enum OwnCall {
    Open {
        consumer: String,
        partition: i64,
        after: Option<String>,
    },
    Take {
        consumer: String,
        blocks: u64,
    },
    CloseConsumer {
        consumer: String,
    },
    Figures {},
    Close {},
    Release {},
}

struct Script {
    memory: HybridMemory,
    /// None once it was closed.
    stores: Vec<Option<HybridStore>>,
    consumers: HashMap<(usize, String), HybridConsumer>,
    taken: Vec<Value>,
    figures: Vec<Value>,
}

/// Makes the stores and the calls.
pub(crate) fn hybrid(request: Hybrid) -> Answer {
    let memory = HybridMemory::new(request.memory);
    let mut script = Script {
        memory: memory.clone(),
        stores: Vec::new(),
        consumers: HashMap::new(),
        taken: Vec::new(),
        figures: Vec::new(),
    };
    for (at, store) in request.stores.into_iter().enumerate() {
        let known = [("full", HybridMode::Full), ("selective", HybridMode::Selective)];
        let mode = word("mode", &store.mode, &known)?;
        let name = match at {
            0 => request.path.clone(),
            _ => PathBuf::from(format!("{}-{at}", request.path.display())),
        };
        let hybrid = HybridOptions::new(memory.clone(), mode).delay(Duration::MAX);
        script
            .stores
            .push(Some(HybridStore::create(name, options(store.options)?, hybrid)?));
    }
    let mut errors = Vec::new();
    for (at, call) in request.calls.into_iter().enumerate() {
        match script.call(call) {
            Ok(()) => {}
            Err(Failure::Refused(error)) => errors.push(json!({ "call": at, "code": error.code })),
            Err(unsupported) => return Err(unsupported),
        }
    }
    Ok(json!({ "errors": errors, "taken": script.taken, "figures": script.figures }))
}

impl Script {
    fn call(&mut self, mut call: Map<String, Value>) -> Result<(), Failure> {
        let at = call.remove("store").and_then(|at| at.as_u64()).unwrap_or(0) as usize;
        let own = ["open", "take", "close_consumer", "figures", "close", "release"];
        match call.get("call").and_then(Value::as_str) {
            Some(name) if own.contains(&name) => self.own(at, fields(call)?),
            _ => produce(self.store(at)?, fields(call)?),
        }
    }

    fn store(&mut self, at: usize) -> Result<&mut HybridStore, Failure> {
        let store = self.stores.get_mut(at).and_then(Option::as_mut);
        store.ok_or_else(|| invalid_argument("an open store", at))
    }

    fn own(&mut self, at: usize, call: OwnCall) -> Result<(), Failure> {
        match call {
            OwnCall::Open {
                consumer,
                partition,
                after,
            } => {
                let from = match after {
                    Some(after) => self.consumer(at, after)?.position(),
                    None => Default::default(),
                };
                let opened = self.store(at)?.open_at(number("a partition", partition)?, from, None)?;
                self.consumers.insert((at, consumer), opened);
            }
            OwnCall::Take { consumer, blocks } => {
                let consumer = self.consumer(at, consumer)?;
                let (mut taken, mut hash) = (0, Sha256::new());
                while taken < blocks
                    && let Some(block) = consumer.next_block()
                {
                    add_block(&mut hash, &block?);
                    taken += 1;
                }
                let sha256 = crate::payload::to_hex(&hash.finalize());
                let finished = consumer.is_finished();
                self.taken
                    .push(json!({ "blocks": taken, "sha256": sha256, "finished": finished }));
            }
            OwnCall::CloseConsumer { consumer } => {
                self.consumers.remove(&(at, consumer));
            }
            OwnCall::Figures {} => {
                let figures = self.store(at)?.figures();
                self.figures.push(json!({
                    "regions": figures.regions, "bytes": figures.bytes, "in_memory": figures.in_memory,
                    "written": figures.written, "used": self.memory.used(),
                }));
            }
            OwnCall::Close {} => {
                if let Some(store) = self.stores.get_mut(at).and_then(Option::take) {
                    store.close();
                }
            }
            OwnCall::Release {} => {
                if let Some(store) = self.stores.get_mut(at).and_then(Option::take) {
                    store.release();
                }
            }
        }
        Ok(())
    }

    fn consumer(&mut self, at: usize, name: String) -> Result<&mut HybridConsumer, Failure> {
        let unknown = invalid_argument("an open consumer", &name);
        self.consumers.get_mut(&(at, name)).ok_or(unknown)
    }
}

fn produce(store: &mut HybridStore, call: Call) -> Result<(), Failure> {
    match call {
        Call::Write {
            partition,
            payload,
            kind,
        } => {
            let to = To::One(number("a partition", partition)?);
            store.put(to, number("a kind", kind)?, &bytes(&payload)?, 1)?;
        }
        Call::Broadcast { payload, kind } => store.put(To::All, number("a kind", kind)?, &bytes(&payload)?, 1)?,
        Call::Multicast {
            partitions: to,
            payload,
            kind,
        } => {
            let to = partitions(&to)?;
            store.put(To::These(&to), number("a kind", kind)?, &bytes(&payload)?, 1)?;
        }
        Call::Many {
            count,
            seed,
            partitions,
            length,
            content,
        } => {
            let write = |partition, record: &[u8]| store.write(partition, record);
            many(write, count, seed, partitions, length, content)?;
        }
        Call::Flush {} => store.flush()?,
        Call::Finish {} => store.finish()?,
        Call::Property { key, value } => store.property(key, value)?,
        other => return Err(Failure::Unsupported(format!("the call {other:?}"))),
    }
    Ok(())
}
