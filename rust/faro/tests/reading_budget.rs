//! What readers ask of a budget, what they do when it refuses, and that they give all of it back.

mod bringer;
mod budget;
mod common;

use bringer::{Bringer, Manner};
use budget::{Flaw, Limited, Probing};
use common::{Content, Place, content, is_out_of_memory, options, with_dictionary};
use faro::feed::FeedOptions;
use faro::{
    Block, ErrorCode, Files, Follower, Layout, Lookup, MemoryBudget, Reader, ReaderOptions, RegionCache, Result, Writer,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const PARTITIONS: u32 = 8;
const KIB: u64 = 1 << 10;

/// Uncompressed blocks in extents of some 100 KiB, with one block that is larger than a window.
fn plain(place: &Place) -> Files {
    let options = options(Layout::Paired, PARTITIONS).block_size(20_000);
    let mut writer = Writer::create(place.name(), options).unwrap();
    for region in 0..4u8 {
        for record in 0..600u32 {
            writer.write(record % PARTITIONS, &[region; 1_500]).unwrap();
        }
        writer.broadcast(&[region; 3_000]).unwrap();
        writer.write(5, &[9; 400_000]).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap().files
}

/// The ways to read everything.
const WAYS: [&str; 7] = [
    "all",
    "lent",
    "partitions",
    "direct",
    "by partition",
    "follower",
    "feed",
];

/// What comes before the first fault, and the fault.
fn until_fault(blocks: impl Iterator<Item = Result<Block>>, found: &mut Vec<Content>) -> Result<()> {
    let mut got = Content::new();
    let mut end = Ok(());
    for block in blocks {
        match block {
            Ok(block) => got.push((block.kind(), block.payload.to_vec())),
            Err(error) => end = Err(error),
        }
    }
    found.push(got);
    end
}

fn read(files: &Files, options: &ReaderOptions, way: &str, found: &mut Vec<Content>) -> Result<()> {
    let options = match way {
        "direct" => options.clone().lookup(Lookup::Direct),
        _ => options.clone(),
    };
    if way == "follower" {
        let mut follower = Follower::open(files, options)?;
        follower.poll()?;
        return until_fault(follower.range(0..PARTITIONS)?, found);
    }
    if way == "feed" {
        let mut bringer = Bringer::new(files, Manner::Whole);
        let reader = bringer.open(&FeedOptions::default().reader(options))?;
        let feed = reader.range(0..PARTITIONS)?;
        return until_fault(bringer.read(feed).into_iter(), found);
    }
    let reader = Reader::open(files, options)?;
    match way {
        "all" => until_fault(reader.all()?, found),
        "lent" => {
            let (mut blocks, mut got) = (reader.all()?, Content::new());
            let mut end = Ok(());
            while let Some(block) = blocks.next_borrowed() {
                match block {
                    Ok(block) => got.push((block.kind(), block.payload().to_vec())),
                    Err(error) => end = Err(error),
                }
            }
            found.push(got);
            end
        }
        "by partition" => until_fault(
            reader
                .by_partition(0..PARTITIONS)?
                .map(|found| found.map(|(_, block)| block)),
            found,
        ),
        _ => reader
            .partitions()
            .try_for_each(|partition| until_fault(reader.partition(partition)?, found)),
    }
}

/// What each way reads without a budget.
fn expected(files: &Files, way: &str) -> Vec<Content> {
    let mut found = Vec::new();
    read(files, &ReaderOptions::default(), way, &mut found).unwrap();
    assert!(found.iter().flatten().count() > 40, "{way}");
    found
}

fn is_beginning(found: &[Content], of: &[Content]) -> bool {
    let Some((last, whole)) = found.split_last() else {
        return true;
    };
    of.starts_with(whole) && of.get(whole.len()).is_some_and(|of| of.starts_with(last))
}

/// One or all requests refused, from the n-th on, for every n: the blocks are the same. Only a dictionary that is
/// refused is a fault.
#[test]
fn refusals_change_no_block() {
    for (make, has_dictionary) in [(plain as fn(&Place) -> Files, false), (with_dictionary, true)] {
        let place = Place::new();
        let files = make(&place);
        for way in WAYS {
            let expected = expected(&files, way);
            for flaw in [Flaw::RefusesOne, Flaw::RefusesFrom] {
                let mut faults = 0;
                for at in 0.. {
                    let budget = Limited::with_flaw(u64::MAX, Some((at, flaw)));
                    let options = ReaderOptions::default().memory_budget(budget.clone());
                    let mut found = Vec::new();
                    match read(&files, &options, way, &mut found) {
                        Ok(()) => assert!(found == expected, "{way}, {at}: other blocks"),
                        Err(error) => {
                            faults += 1;
                            assert!(has_dictionary && is_out_of_memory(&error), "{way}, {at}: {error}");
                            assert!(is_beginning(&found, &expected), "{way}, {at}: other blocks");
                        }
                    }
                    assert_eq!(budget.held(), 0, "{way}, {at}");
                    if at >= budget.calls() {
                        assert!(at > 1, "{way}: nothing is asked for");
                        break;
                    }
                }
                assert_eq!(faults > 0, has_dictionary, "{way}");
            }
        }
    }
}

/// A limit is kept, and what does not fit is read without it.
#[test]
fn a_limit_is_kept() {
    let place = Place::new();
    let files = plain(&place);
    for limit in [0, 1_000, 100 * KIB, 300 * KIB, 3 << 20] {
        for way in WAYS {
            let budget = Limited::new(limit);
            let options = ReaderOptions::default().memory_budget(budget.clone());
            let mut found = Vec::new();
            read(&files, &options, way, &mut found).unwrap();
            assert!(found == expected(&files, way), "{way}, {limit}: other blocks");
            assert!(budget.most() <= limit && budget.held() == 0, "{way}, {limit}");
        }
    }
}

/// Regions and dictionaries are held by the reader, windows by its iterators until their end.
#[test]
fn what_is_held_is_given_back_in_time() {
    let place = Place::new();
    let files = with_dictionary(&place);
    let budget = Limited::new(u64::MAX);
    let options = ReaderOptions::default().memory_budget(budget.clone());
    let reader = Reader::open(&files, options.clone()).unwrap();
    assert_eq!(budget.held(), 0, "opening asks for nothing");
    let mut blocks = reader.all().unwrap();
    let mut by_partition = reader.by_partition(0..PARTITIONS).unwrap();
    assert_eq!(budget.held(), 0);
    blocks.next().unwrap().unwrap();
    let one = budget.held() - reader.memory_used();
    assert!(one > 0 && one <= 4 << 20, "a window of {one} bytes");
    by_partition.next().unwrap().unwrap();
    assert!(budget.held() > reader.memory_used() + one);
    // At the end, before they are dropped.
    blocks.by_ref().for_each(|block| drop(block.unwrap()));
    by_partition.by_ref().for_each(|block| drop(block.unwrap()));
    assert_eq!(budget.held(), reader.memory_used());
    assert!(blocks.next().is_none() && by_partition.next().is_none());
    assert_eq!(budget.held(), reader.memory_used());
    drop((blocks, by_partition));
    // Dropped early, and with them the reader.
    let mut blocks = reader.all().unwrap();
    blocks.next().unwrap().unwrap();
    drop(blocks);
    assert_eq!(budget.held(), reader.memory_used());
    let block = reader.all().unwrap().next().unwrap().unwrap();
    drop(reader);
    assert!(budget.held() > 0, "a block keeps its output");
    drop(block);
    assert_eq!(budget.held(), 0);
}

/// A refused window makes more reads, and is asked for again later.
#[test]
fn refused_windows_make_more_reads() {
    let place = Place::new();
    let files = plain(&place);
    for by_partition in [false, true] {
        let requests = |budget: Arc<Limited>| {
            let options = ReaderOptions::default().memory_budget(budget.clone());
            let reader = Reader::open(&files, options).unwrap();
            match by_partition {
                false => assert!(reader.range(0..PARTITIONS).unwrap().all(|block| block.is_ok())),
                true => assert!(reader.by_partition(0..PARTITIONS).unwrap().all(|block| block.is_ok())),
            }
            assert_eq!(reader.figures().memory_refusals, budget.refusals());
            (reader.figures().reads, reader.figures().blocks)
        };
        let (few, blocks) = requests(Limited::new(u64::MAX));
        // No window: the header of each block, then the block.
        let (many, _) = requests(Limited::new(0));
        assert!(
            few < blocks && many > 2 * blocks,
            "{few}, {many} reads for {blocks} blocks"
        );
        // The first window, after the first region.
        let (some, _) = requests(Limited::with_flaw(u64::MAX, Some((1, Flaw::RefusesOne))));
        assert!(some < many / 2, "{few}, {some}, {many}");
        assert!(by_partition || some > few, "{few}, {some}, {many}");
    }
}

/// A budget that asks the reader for its figures, in the middle of each call: no lock is held.
#[test]
fn no_lock_is_held_while_the_budget_is_called() {
    common::in_time(|| {
        for (make, cache) in [(plain as fn(&Place) -> Files, 300), (with_dictionary, 1 << 20)] {
            let place = Place::new();
            let files = make(&place);
            let budget = Probing::new(u64::MAX);
            let shared = RegionCache::with_budget(cache, budget.clone());
            let options = ReaderOptions::default().memory_budget(budget.clone());
            for options in [
                options.clone().region_cache(shared.clone()),
                options.region_cache_bytes(cache),
            ] {
                let reader = Reader::open(&files, options).unwrap();
                let (probed, regions) = (reader.clone(), shared.clone());
                budget.set(move || {
                    assert_eq!(probed.figures().memory_used, probed.memory_used());
                    regions.memory_used();
                });
                for partition in reader.partitions() {
                    assert!(reader.partition(partition).unwrap().all(|block| block.is_ok()));
                }
                assert!(reader.by_partition(0..PARTITIONS).unwrap().all(|block| block.is_ok()));
                budget.unset();
            }
            assert!(budget.probes() > 10, "{}", budget.probes());
            assert_eq!(budget.held(), 0);
        }
    });
}

/// A shared cache asks its own budget, and the readers ask theirs for the rest.
#[test]
fn a_shared_cache_has_a_budget_of_its_own() {
    let place = Place::new();
    let files = plain(&place);
    let (of_cache, of_reader) = (Limited::new(u64::MAX), Limited::new(u64::MAX));
    let cache = RegionCache::with_budget(1 << 20, of_cache.clone());
    let options = ReaderOptions::default()
        .region_cache(cache.clone())
        .memory_budget(of_reader.clone());
    let readers = [(); 2].map(|()| Reader::open(&files, options.clone()).unwrap());
    for reader in &readers {
        assert!(reader.all().unwrap().all(|block| block.is_ok()));
    }
    assert_eq!(of_cache.held(), cache.memory_used());
    assert!(of_cache.held() > 0 && of_reader.held() == 0 && of_reader.most() > 0);
    drop(readers);
    assert_eq!(of_cache.held(), 0);
    // Evicted regions are given back.
    let size = of_cache.most() / 8;
    let cache = RegionCache::with_budget(2 * size + size / 2, of_cache.clone());
    let reader = Reader::open(&files, options.region_cache(cache.clone())).unwrap();
    for number in [0, 1, 2, 3, 2, 1, 0] {
        reader.region(number).unwrap();
        assert_eq!(
            (of_cache.held(), reader.memory_used()),
            (cache.memory_used(), of_cache.held())
        );
    }
    assert_eq!(cache.memory_used(), 2 * size);
    // After a refusal older regions make room.
    let refused = Limited::new(size);
    let cache = RegionCache::with_budget(1 << 20, refused.clone());
    let reader = Reader::open(&files, ReaderOptions::default().region_cache(cache.clone())).unwrap();
    for number in [0, 1, 2, 3] {
        reader.region(number).unwrap();
    }
    reader.region(3).unwrap();
    reader.region(0).unwrap();
    assert_eq!((cache.memory_used(), refused.most()), (size, size));
    assert_eq!((reader.figures().regions_read, reader.figures().regions_cached), (5, 1));
}

/// A budget that panics: the panic is passed on and the reading can go on, or it is a fault. All is given back.
#[test]
fn a_panic_of_the_budget_loses_no_block() {
    let place = Place::new();
    let files = with_dictionary(&place);
    let expected = expected(&files, "all").remove(0);
    let mut ends = [0, 0];
    for at in 0.. {
        let budget = Limited::with_flaw(u64::MAX, Some((at, Flaw::Panics)));
        let reader = Reader::open(&files, ReaderOptions::default().memory_budget(budget.clone())).unwrap();
        let mut blocks = reader.all().unwrap();
        let (mut found, mut panics, mut faults) = (Content::new(), 0, 0);
        loop {
            match catch_unwind(AssertUnwindSafe(|| blocks.next())) {
                Ok(Some(Ok(block))) => found.push((block.kind(), block.payload.to_vec())),
                Ok(Some(Err(error))) => {
                    assert_eq!(error.code, ErrorCode::Io);
                    faults += 1;
                }
                Ok(None) => break,
                Err(_) => panics += 1,
            }
        }
        assert_eq!(panics + faults, usize::from(at < budget.calls()), "{at}");
        assert!(expected.starts_with(&found), "{at}: other blocks");
        assert!(faults > 0 || found.len() == expected.len(), "{at}: blocks are missing");
        drop((blocks, reader));
        assert_eq!(budget.held(), 0, "{at}");
        ends[0] += panics;
        ends[1] += faults;
        if panics + faults == 0 {
            break;
        }
    }
    assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
}

/// Readers in several threads share a budget that is too small for all of them.
#[test]
fn readers_that_share_a_budget_stay_below_its_limit() {
    let place = Place::new();
    let files = with_dictionary(&place);
    let expected = expected(&files, "partitions");
    let budget = Limited::new(400 * KIB);
    let options = ReaderOptions::default().memory_budget(budget.clone());
    let reader = Reader::open(&files, options).unwrap();
    // The dictionary is there before others take all memory.
    assert!(reader.partition(0).unwrap().all(|block| block.is_ok()));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (reader, expected) = (reader.clone(), &expected);
            scope.spawn(move || {
                for round in 0..20 {
                    let partition = (thread + round) % PARTITIONS;
                    let found = content(reader.partition(partition).unwrap()).unwrap();
                    assert!(found == expected[partition as usize]);
                }
            });
        }
    });
    assert_eq!(budget.held(), reader.memory_used());
    drop(reader);
    assert_eq!(budget.held(), 0);
    assert!(budget.try_grow(400 * KIB) && !budget.try_grow(1));
}

/// Reading by partition keeps no region that the budget of a shared cache refused.
#[test]
fn reading_by_partition_keeps_no_refused_region() {
    let place = Place::new();
    let files = plain(&place);
    let read = |budget: Arc<Limited>| {
        let cache = RegionCache::with_budget(1 << 20, budget);
        let reader = Reader::open(&files, ReaderOptions::default().region_cache(cache)).unwrap();
        let blocks = reader.by_partition(0..PARTITIONS).unwrap().map(Result::unwrap).count();
        (blocks, reader.figures().regions_read)
    };
    let (blocks, once) = read(Limited::new(u64::MAX));
    let (same, often) = read(Limited::new(0));
    assert_eq!(same, blocks);
    // The four regions with shared extents are read for each partition.
    assert!(often >= once + 4 * u64::from(PARTITIONS), "{once} and {often}");
}
