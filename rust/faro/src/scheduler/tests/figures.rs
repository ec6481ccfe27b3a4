//! What the figures count.

use super::common::{collect, reader};
use crate::Writer;
use crate::scheduler::{Scheduler, SchedulerOptions};
use crate::storage::Files;
use std::task::Poll;

fn three_partitions(folder: &std::path::Path) -> Files {
    let mut writer = Writer::create(folder.join("out"), crate::WriterOptions::new(3)).unwrap();
    (0..3).for_each(|partition| writer.write(partition, &[1; 1000]).unwrap());
    writer.finish().unwrap().files
}

#[test]
fn requests_gaps_and_waits_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader(&three_partitions(folder.path()));
    let between = reader.stored_bytes(1).unwrap();
    let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
    let mut consumers = [0, 2].map(|partition| scheduler.partition(&reader, partition).unwrap());
    for (waits, consumer) in (1..).zip(&mut consumers) {
        assert!(matches!(consumer.poll(), Poll::Pending));
        assert_eq!(scheduler.figures().waits, waits);
    }
    while scheduler.serve() {}
    for (partition, consumer) in [0, 2].into_iter().zip(consumers) {
        assert_eq!(collect(consumer), collect(reader.partition(partition).unwrap()));
    }
    let figures = scheduler.figures();
    assert_eq!((figures.reads, figures.requests), (1, 2), "{figures:?}");
    assert_eq!(figures.gap_bytes, between);
    assert_eq!(figures.read_bytes, figures.given_bytes + between);
}

#[test]
fn requests_for_the_same_bytes_make_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader(&three_partitions(folder.path()));
    let scheduler = Scheduler::new(SchedulerOptions::default()).unwrap();
    let mut consumers = [1, 1, 1].map(|partition| scheduler.partition(&reader, partition).unwrap());
    for consumer in &mut consumers {
        assert!(consumer.poll().is_pending());
    }
    while scheduler.serve() {}
    let figures = scheduler.figures();
    assert_eq!(
        (figures.reads, figures.requests, figures.gap_bytes),
        (1, 3, 0),
        "{figures:?}"
    );
}
