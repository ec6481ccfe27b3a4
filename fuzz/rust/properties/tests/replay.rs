//! Runs the committed corpus through every target with a stable compiler, so that findings do not come back.

use faro_fuzz_properties::TARGETS;
use faro_fuzz_properties::pack::inputs;
use faro_fuzz_properties::verdicts::sum;
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The limits for an input, from `fuzz/TARGETS.md`.
const MOST_BYTES: usize = 512 << 20;
const LONGEST: Duration = Duration::from_secs(10);

/// The system's allocator, with a count of the bytes in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes unchanged to the system's allocator, and counting does not touch its memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller keeps the rules of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` above with this layout, so from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The committed corpus, or another one by its path.
fn corpus() -> PathBuf {
    let named = std::env::var_os("FARO_FUZZ_CORPUS").map(PathBuf::from);
    named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus"))
}

/// The fault of a run on an input, if there is one.
fn fault(run: fn(&[u8]), input: &[u8]) -> Option<String> {
    PEAK.store(IN_USE.load(Relaxed), Relaxed);
    let before = IN_USE.load(Relaxed);
    let begun = Instant::now();
    if catch_unwind(AssertUnwindSafe(|| run(input))).is_err() {
        return Some("a property does not hold, see above".into());
    }
    let (took, bytes) = (begun.elapsed(), PEAK.load(Relaxed).saturating_sub(before));
    if bytes > MOST_BYTES {
        return Some(format!("{bytes} bytes of memory"));
    }
    (took > LONGEST).then(|| format!("{took:?}"))
}

#[test]
fn every_input_keeps_what_its_target_promises() {
    // The test of the measurement is here, because a separate test that runs at the same time would count too.
    let greedy: fn(&[u8]) = |_| drop(std::hint::black_box(vec![0u8; MOST_BYTES + 1]));
    assert!(fault(greedy, b"").is_some_and(|fault| fault.contains("bytes of memory")));
    assert!(fault(|_| panic!("as it should"), b"").is_some());

    let mut faults = Vec::new();
    for (target, run) in TARGETS {
        let inputs = inputs(&corpus(), target).unwrap_or_else(|error| panic!("the corpus of {target}: {error}"));
        let begun = Instant::now();
        assert!(inputs.len() >= 10, "the corpus of {target} has {} inputs", inputs.len());
        for input in &inputs {
            if let Some(fault) = fault(run, input) {
                faults.push(format!("{target}/{}: {fault}", sum(input)));
            }
        }
        println!("{target}: {} inputs in {:?}", inputs.len(), begun.elapsed());
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
