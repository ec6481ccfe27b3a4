//! The ops by name, and the followers, which stay open from one request to the next.

use crate::protocol::{Answer, Check, Clean, Failure, Follow, Recover, Repair, fields, invalid_argument};
use crate::storage::Storage;
use crate::{hybrid, merge, read, write};
use faro::{
    CheckLevel, CheckReport, CleanOptions, Follower, ReaderOptions, RebuildOptions, RecoverOptions, RepairReport,
    SharedPolicy, Watch,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

/// The state between requests.
pub(crate) struct Session {
    storage: Box<dyn Storage>,
    followers: HashMap<String, Follower>,
    /// The open watches, by handle and partition.
    watches: HashMap<(String, u32), Watch>,
}

impl Session {
    /// A session whose writing, reading and checking use `storage`. All other ops use paths.
    pub(crate) fn new(storage: Box<dyn Storage>) -> Session {
        Session {
            storage,
            followers: HashMap::new(),
            watches: HashMap::new(),
        }
    }

    /// Answers a request.
    pub(crate) fn answer(&mut self, op: &str, rest: Map<String, Value>) -> Answer {
        match op {
            "hello" => hello(&rest),
            "read" => read::read(&*self.storage, fields(rest)?),
            "write" => write::write(&*self.storage, fields(rest)?),
            "check" => check(&*self.storage, fields(rest)?),
            "repair" => repair(fields(rest)?),
            "recover" => recover(fields(rest)?),
            "clean" => clean(fields(rest)?),
            "follow" => self.follow(fields(rest)?),
            "hybrid" => hybrid::hybrid(fields(rest)?),
            "fragment" => merge::fragment(fields(rest)?),
            "region_fragments" => merge::region_fragments(fields(rest)?),
            "fragments" => merge::fragments(fields(rest)?),
            "merge" => merge::merge(fields(rest)?),
            "provenance" => merge::provenance(fields(rest)?),
            "read_merged" => merge::read_merged(fields(rest)?),
            "file_id" => merge::file_id(fields(rest)?),
            "plan_pushes" => merge::plan_pushes(fields(rest)?),
            "stop" => Ok(json!({})),
            other => Err(Failure::Unsupported(format!("the op {other:?}"))),
        }
    }

    fn follow(&mut self, request: Follow) -> Answer {
        let Follow {
            action,
            handle,
            paths,
            limits,
            partitions,
            partition,
        } = request;
        if action == "open" {
            let options = ReaderOptions::default().limits(limits.limits());
            let follower = Follower::open(&paths.files()?, options)?;
            self.close(&handle);
            self.followers.insert(handle, follower);
            return Ok(json!({}));
        }
        if action == "close" {
            self.close(&handle);
            return Ok(json!({}));
        }
        let unknown = || invalid_argument("the handle of an open follower", &handle);
        let follower = self.followers.get_mut(&handle).ok_or_else(unknown)?;
        match action.as_str() {
            "poll" => {
                let progress = follower.poll()?;
                Ok(json!({ "regions": progress.regions, "finished": progress.finished }))
            }
            "read" => read::with_partitions(follower, partitions),
            "watch" => {
                let partition = partition.ok_or_else(|| Failure::Unsupported("a watch of no partition".into()))?;
                let watch = match self.watches.entry((handle, partition)) {
                    Entry::Occupied(open) => open.into_mut(),
                    Entry::Vacant(free) => free.insert(follower.watch(partition)?),
                };
                Ok(read::watch(watch, follower)?)
            }
            other => Err(Failure::Unsupported(format!("the action {other:?}"))),
        }
    }
}

impl Session {
    fn close(&mut self, handle: &str) {
        self.followers.remove(handle);
        self.watches.retain(|(of, _), _| of != handle);
    }
}

fn hello(request: &Map<String, Value>) -> Answer {
    match request.get("protocol") {
        Some(version) if *version == 1 => Ok(json!({
            "name": "faro-rust",
            "version": env!("CARGO_PKG_VERSION"),
            "language": "Rust",
            "spec": "1.0-draft",
            "protocol": 1,
            "features": ["lz4", "zstd", "selective", "arrow", "dictionaries", "by-partition", "direct-lookup"],
            "operations": ["hello", "read", "write", "check", "repair", "recover", "clean", "follow", "hybrid", "fragment",
                "region_fragments", "fragments", "merge", "provenance", "read_merged", "file_id", "plan_pushes", "stop"],
        })),
        other => Err(Failure::Unsupported(format!("protocol {other:?}"))),
    }
}

fn check(storage: &dyn Storage, request: Check) -> Answer {
    let level = match request.level.as_str() {
        "structure" => CheckLevel::Structure,
        "checksums" => CheckLevel::Checksums,
        "decode" => CheckLevel::Decode,
        other => return Err(Failure::Unsupported(format!("the level {other:?}"))),
    };
    let CheckReport { regions, blocks, .. } = storage.check(
        &request.paths.files()?,
        &faro::CheckOptions::default()
            .level(level)
            .limits(request.limits.limits()),
    )?;
    Ok(json!({ "regions": regions, "blocks": blocks }))
}

fn repair(request: Repair) -> Answer {
    let files = request.paths.files()?;
    let limits = request.limits.limits();
    let shared = match request.shared.as_deref() {
        None | Some("none") => SharedPolicy::None,
        Some("all") => SharedPolicy::All,
        Some(other) => return Err(Failure::Unsupported(format!("shared blocks for {other:?}"))),
    };
    let report: RepairReport = match request.mode.as_str() {
        "last-commit" => faro::repair(
            &files,
            &faro::RepairOptions::default().limits(limits).dry_run(request.dry_run),
        )?,
        "rebuild" => {
            let options = RebuildOptions::default().shared(shared).dry_run(request.dry_run);
            faro::rebuild(&files, &options.limits(limits))?
        }
        other => return Err(Failure::Unsupported(format!("the mode {other:?}"))),
    };
    Ok(json!({
        "action": report.action.as_str(),
        "regions": report.regions,
        "data_cut": report.data_cut,
        "index_cut": report.index_cut,
        "orphaned": report.orphaned,
        "fault": report.fault.map(|fault| json!({
            "code": fault.code.as_str(),
            "file": fault.role.map(faro::FileRole::as_str),
            "offset": fault.offset,
        })),
    }))
}

fn recover(request: Recover) -> Answer {
    let mut options = RecoverOptions::default()
        .limits(request.limits.limits())
        .overwrite(request.overwrite)
        .dry_run(request.dry_run);
    options.file_id = request.file_id;
    let report = faro::recover(&request.path, &options)?;
    Ok(json!({ "action": report.action.as_str(), "file_id": report.file_id, "regions": report.regions }))
}

fn clean(request: Clean) -> Answer {
    let older_than = Duration::try_from_secs_f64(request.older_than)
        .map_err(|_| invalid_argument("older_than in seconds", request.older_than))?;
    let options = CleanOptions::default().older_than(older_than).dry_run(request.dry_run);
    let report = faro::clean(&request.folder, &options)?;
    let removed: Vec<_> = report.removed.iter().map(|file| &file.name).collect();
    let kept: Vec<_> = report
        .kept
        .iter()
        .map(|kept| json!({ "name": kept.file.name, "reason": kept.reason.as_str() }))
        .collect();
    Ok(json!({ "removed": removed, "kept": kept }))
}
