//! The same work for many outputs, in a few threads.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many results of a thread may wait for those before them.
const AHEAD: usize = 16;
/// The most threads: more wait for the same disk.
const MOST_THREADS: usize = 8;

/// Calls `work` for each item in a few threads, as many as the processor has but at most 8, and `take` for each result
/// in the order of the items, in the caller's thread. A `Break` of `take` ends it: items that were begun are finished, and
/// their results are dropped. Only a few results are in memory at a time.
///
/// ```
/// use std::ops::ControlFlow;
/// let mut squares = Vec::new();
/// faro::shuffle::in_order(&[1, 2, 3], |number| number * number, |_, square| {
///     squares.push(square);
///     ControlFlow::Continue(())
/// });
/// assert_eq!(squares, [1, 4, 9]);
/// ```
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(usize, R) -> ControlFlow<()>,
) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(MOST_THREADS).min(items.len());
    if threads < 2 {
        for (at, item) in items.iter().enumerate() {
            if take(at, work(item)).is_break() {
                return;
            }
        }
        return;
    }
    std::thread::scope(|scope| {
        let work = &work;
        // Each thread does every n-th item, so the next result always comes from the next thread.
        let lanes: Vec<Receiver<R>> = (0..threads)
            .map(|lane| {
                let (results, lane_results) = sync_channel(AHEAD);
                scope.spawn(move || run_lane(items.iter().skip(lane).step_by(threads), work, &results));
                lane_results
            })
            .collect();
        for at in 0..items.len() {
            // A thread that panicked sends nothing more; the scope passes its panic on.
            let Ok(result) = lanes[at % threads].recv() else { return };
            if take(at, result).is_break() {
                return;
            }
        }
    });
}

fn run_lane<'a, T: 'a, R>(
    items: impl Iterator<Item = &'a T>,
    work: &(impl Fn(&T) -> R + Sync),
    results: &SyncSender<R>,
) {
    for item in items {
        if results.send(work(item)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let items: Vec<u64> = (0..1000).collect();
        let uneven = |item: &u64| {
            if item.is_multiple_of(97) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            item * 2
        };
        let mut seen = Vec::new();
        in_order(&items, uneven, |at, doubled| {
            seen.push((at as u64, doubled));
            ControlFlow::Continue(())
        });
        assert_eq!(seen, items.iter().map(|item| (*item, item * 2)).collect::<Vec<_>>());
    }

    #[test]
    fn a_break_ends_it() {
        let items: Vec<u64> = (0..1000).collect();
        let mut taken = 0;
        in_order(
            &items,
            |item| *item,
            |_, _| {
                taken += 1;
                if taken == 3 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        assert_eq!(taken, 3);
        in_order(&[0; 0], |item: &u64| *item, |_, _| unreachable!());
    }
}
