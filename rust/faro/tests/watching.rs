//! A watch delivers what a reader of the finished output reads (spec, FOL-7).

mod common;

use common::{Place, code, options};
use faro::{Block, ErrorCode, Follower, Layout, ReaderOptions, Watch, Writer};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Write(u32, u8),
    Broadcast(u8),
    Multicast(u8),
    Flush,
    /// The watch of this partition takes at most this number of blocks.
    Take(u32, usize),
    Poll,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3u32, 0..200u8).prop_map(|(partition, length)| Step::Write(partition, length)),
        1 => (0..200u8).prop_map(Step::Broadcast),
        1 => (0..200u8).prop_map(Step::Multicast),
        3 => Just(Step::Flush),
        3 => (0..3u32, 0..6usize).prop_map(|(partition, most)| Step::Take(partition, most)),
        3 => Just(Step::Poll),
    ]
}

fn take(watch: &mut Watch, follower: &Follower, most: usize) -> Vec<(u64, Vec<u8>)> {
    std::iter::from_fn(|| watch.next(follower))
        .take(most)
        .map(|block| seen(&block.unwrap()))
        .collect()
}

fn seen(block: &Block) -> (u64, Vec<u8>) {
    (block.offset, block.payload.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn watches_deliver_what_a_reading_of_the_whole_delivers(
        steps in prop::collection::vec(step(), 0..60),
        paired in any::<bool>(),
    ) {
        let place = Place::new();
        let layout = if paired { Layout::Paired } else { Layout::Single };
        let mut writer = Writer::create(place.name(), options(layout, 3).block_size(64).follow(true)).unwrap();
        let mut follower = Follower::open(&place.output(layout), ReaderOptions::default()).unwrap();
        let mut watches: Vec<_> = (0..3).map(|partition| follower.watch(partition).unwrap()).collect();
        let mut found = vec![Vec::new(); 3];
        for step in steps {
            match step {
                Step::Write(partition, length) => writer.write(partition, &vec![length; length.into()]).unwrap(),
                Step::Broadcast(length) => writer.broadcast(&vec![length; length.into()]).unwrap(),
                Step::Multicast(length) => writer.multicast(&[0, 2], &vec![length; length.into()]).unwrap(),
                Step::Flush => writer.flush().unwrap(),
                Step::Take(partition, most) => {
                    let at = partition as usize;
                    found[at].extend(take(&mut watches[at], &follower, most));
                }
                Step::Poll => drop(follower.poll().unwrap()),
            }
        }
        writer.finish().unwrap();
        prop_assert!(follower.poll().unwrap().finished);
        for (partition, watch) in watches.iter_mut().enumerate() {
            found[partition].extend(take(watch, &follower, usize::MAX));
            prop_assert!(watch.next(&follower).is_none());
            let whole = follower.partition(partition as u32).unwrap();
            let expected: Vec<_> = whole.map(|block| seen(&block.unwrap())).collect();
            prop_assert_eq!(&found[partition], &expected);
        }
    }
}

#[test]
fn a_watch_is_of_one_follower() {
    let place = Place::new();
    let mut writer = Writer::create(place.name(), options(Layout::Paired, 3)).unwrap();
    writer.write(1, b"a record").unwrap();
    let files = writer.finish().unwrap().files;
    let mut one = Follower::open(&files, ReaderOptions::default()).unwrap();
    let other = Follower::open(&files, ReaderOptions::default()).unwrap();
    one.poll().unwrap();
    assert_eq!(code(one.watch(3)), ErrorCode::InvalidArgument);
    let mut watch = one.watch(1).unwrap();
    assert_eq!(code(watch.next(&other).unwrap()), ErrorCode::InvalidArgument);
    // The mistake changes nothing.
    assert_eq!(take(&mut watch, &one, 2).len(), 1);
}
