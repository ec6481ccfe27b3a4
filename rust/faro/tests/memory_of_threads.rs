//! How much memory a writer takes whose blocks several threads compress. The count is of the whole process, so there is one
//! test here.

mod common;
mod counting;

use common::{Place, options};
use counting::Counting;
use faro::{Codec, Layout, Writer};
use std::sync::atomic::{AtomicIsize, Ordering};

static TAKEN: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

fn count(bytes: isize) {
    let taken = TAKEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(taken, Ordering::Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(count);

/// The rows of [`faro::WriterOptions::working_memory`] for several threads and two buffers: the peak is at most 5 % above
/// them.
#[test]
fn threads_take_no_more_than_the_formula() {
    for (codec, threads, partitions, block, double_buffer) in [
        (Codec::Lz4, 4, 64, 64 << 10, false),
        (Codec::Zstd, 4, 64, 64 << 10, false),
        (Codec::Zstd, 2, 3, 1 << 20, false),
        (Codec::Lz4, 8, 10_000, 64 << 10, false),
        (Codec::None, 1, 64, 64 << 10, true),
        (Codec::None, 1, 10_000, 64 << 10, true),
        (Codec::Lz4, 2, 64, 64 << 10, true),
        (Codec::Lz4, 2, 10_000, 64 << 10, true),
    ] {
        let place = Place::new();
        let options = options(Layout::Paired, partitions)
            .codec(codec)
            .compress_threads(threads)
            .block_size(block)
            .double_buffer(double_buffer)
            .buffer_size(16 << 20);
        let buffers = if double_buffer { 2 } else { 1 };
        let most = buffers * options.buffer_size + options.working_memory();
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
        assert!(
            peak <= most + most / 20,
            "{codec:?}, {threads}, {partitions}, {double_buffer}: {peak} of {most}"
        );
        assert!(peak > buffers * (15 << 20), "{peak}");
        // The contexts are free, though the writer is still there.
        let held = TAKEN.load(Ordering::Relaxed) - before;
        assert!(held < 4 << 20, "{codec:?}, {threads}: {held} after finish");
        drop(writer);
    }
}
