//! How much memory a writer takes whose blocks several threads compress. The count is of the whole process, so there is one
//! test here.

mod common;

use common::{Place, options};
use faro::{Codec, Layout, Writer};
use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::atomic::{AtomicIsize, Ordering};

/// The system's allocator, with a count.
struct Counting;

static TAKEN: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

fn count(bytes: isize) {
    let taken = TAKEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(taken, Ordering::Relaxed);
}

// SAFETY: all calls go to the system's allocator, and the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        count(memory.size() as isize);
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.alloc(memory) }
    }

    unsafe fn dealloc(&self, at: *mut u8, memory: Memory) {
        count(-(memory.size() as isize));
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.dealloc(at, memory) }
    }

    // The system moves large pieces by their pages, and takes no memory twice for it.
    unsafe fn realloc(&self, at: *mut u8, memory: Memory, size: usize) -> *mut u8 {
        count(size as isize - memory.size() as isize);
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.realloc(at, memory, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The row of [`faro::WriterOptions::working_memory`] for several threads: the peak is at most 5 % above it.
#[test]
fn threads_take_no_more_than_the_formula() {
    for (codec, threads, partitions, block) in [
        (Codec::Lz4, 4, 64, 64 << 10),
        (Codec::Zstd, 4, 64, 64 << 10),
        (Codec::Zstd, 2, 3, 1 << 20),
        (Codec::Lz4, 8, 10_000, 64 << 10),
    ] {
        let place = Place::new();
        let options = options(Layout::Paired, partitions)
            .codec(codec)
            .compress_threads(threads)
            .block_size(block)
            .buffer_size(16 << 20);
        let most = options.buffer_size + options.working_memory();
        let before = TAKEN.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let mut writer = Writer::create(place.name(), options).unwrap();
        for number in 0..400_000u32 {
            writer
                .write(
                    number.wrapping_mul(0x9E37_79B9) % partitions,
                    &number.to_le_bytes().repeat(25),
                )
                .unwrap();
        }
        writer.finish().unwrap();
        let peak = u64::try_from(PEAK.load(Ordering::Relaxed) - before).unwrap();
        assert!(peak <= most + most / 20, "{codec:?}, {threads}: {peak} of {most}");
        assert!(peak > 16 << 20, "{peak}");
        // The contexts are free, though the writer is still there.
        let held = TAKEN.load(Ordering::Relaxed) - before;
        assert!(held < 4 << 20, "{codec:?}, {threads}: {held} after finish");
        drop(writer);
    }
}
