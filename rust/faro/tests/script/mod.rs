//! Random scripts of calls, and the writer that makes them.

// Each test file is a crate and uses only a part.
#![allow(dead_code)]

use faro::block::DATA;
use faro::{Codec, Files, Framing, Layout, To, Writer, WriterOptions};
use proptest::prelude::*;

/// One call of a writer. Partitions count from the file's first, and wrap around.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Put {
        to: Target,
        kind: u8,
        bytes: Vec<u8>,
    },
    Flush,
    /// A region of a region writer: blocks in slot order.
    Region {
        own: Vec<(u32, Vec<u8>)>,
        shared: Option<(Option<Vec<u32>>, Vec<u8>)>,
        given_up: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    One(u32),
    All,
    These(Vec<u32>),
}

impl Target {
    pub(crate) fn reads(&self, partition: u32) -> bool {
        match self {
            Target::One(one) => *one == partition,
            Target::All => true,
            Target::These(set) => set.contains(&partition),
        }
    }
}

pub(crate) fn call() -> impl Strategy<Value = Call> {
    let target = prop_oneof![
        6 => any::<u32>().prop_map(Target::One),
        1 => Just(Target::All),
        1 => prop::collection::vec(any::<u32>(), 1..4).prop_map(Target::These),
    ];
    let kind = prop_oneof![6 => Just(DATA), 1 => Just(1u8), 1 => 64u8..=127];
    let bytes = prop::collection::vec(0u8..4, 0..60);
    let block = prop::collection::vec(0u8..4, 1..60);
    let own = prop::collection::vec((any::<u32>(), block.clone()), 0..4);
    let members = prop::option::of(prop::collection::vec(any::<u32>(), 1..4));
    prop_oneof![
        20 => (target, kind, bytes).prop_map(|(to, kind, bytes)| Call::Put { to, kind, bytes }),
        1 => Just(Call::Flush),
        1 => (own, prop::option::of((members, block)), any::<bool>())
            .prop_map(|(own, shared, given_up)| Call::Region { own, shared, given_up }),
    ]
}

prop_compose! {
    pub(crate) fn options()(
        partitions in 1u32..20,
        first in 0u32..3,
        layout in prop_oneof![Just(Layout::Paired), Just(Layout::Single)],
        framing in prop_oneof![Just(Framing::Records), Just(Framing::Opaque)],
        codec in prop_oneof![Just(Codec::None), Just(Codec::Lz4), Just(Codec::Zstd)],
        block_size in 1u32..150,
        buffer_size in 1u64..1500,
        ordered in any::<bool>(),
        rotation in any::<u32>(),
        follow in any::<bool>(),
    ) -> WriterOptions {
        WriterOptions::new(partitions)
            .first_partition(first)
            .layout(layout)
            .framing(framing)
            .codec(codec)
            .block_size(block_size)
            .buffer_size(buffer_size)
            .ordered(ordered)
            .rotation(rotation % partitions)
            .follow(follow)
    }
}

/// Maps the partitions of a script to those of the file.
pub(crate) fn fit(calls: &mut [Call], options: &WriterOptions) {
    let place = |partition: &mut u32| *partition = options.first_partition + *partition % options.partition_count;
    for call in calls {
        match call {
            Call::Put {
                to: Target::One(partition),
                ..
            } => place(partition),
            Call::Put {
                to: Target::These(set), ..
            } => set.iter_mut().for_each(place),
            Call::Put { to: Target::All, .. } | Call::Flush => {}
            Call::Region { own, shared, .. } => {
                own.iter_mut().for_each(|(partition, _)| place(partition));
                let slot = |partition: u32| {
                    (partition - options.first_partition + options.partition_count - options.rotation)
                        % options.partition_count
                };
                own.sort_by_key(|(partition, _)| slot(*partition));
                if let Some((Some(set), _)) = shared {
                    set.iter_mut().for_each(place);
                }
            }
        }
    }
}

/// The plain payload of a block for a region writer.
pub(crate) fn framed(framing: Framing, bytes: &[u8]) -> Vec<u8> {
    match framing {
        Framing::Records => [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat(),
        _ => bytes.to_vec(),
    }
}

pub(crate) fn write(name: &std::path::Path, options: &WriterOptions, calls: &[Call]) -> faro::Result<Files> {
    Ok(unfinished(name, options, calls)?.finish()?.files)
}

/// The writer after the calls.
pub(crate) fn unfinished(name: &std::path::Path, options: &WriterOptions, calls: &[Call]) -> faro::Result<Writer> {
    let mut writer = Writer::create(name, options.clone())?;
    make(&mut writer, options, calls)?;
    Ok(writer)
}

/// Makes the calls.
pub(crate) fn make(writer: &mut Writer, options: &WriterOptions, calls: &[Call]) -> faro::Result<()> {
    for call in calls {
        match call {
            Call::Put { to, kind, bytes } => {
                let to = match to {
                    Target::One(partition) => To::One(*partition),
                    Target::All => To::All,
                    Target::These(set) => To::These(set),
                };
                writer.put(to, *kind, bytes, 1)?;
            }
            Call::Flush => writer.flush()?,
            Call::Region { own, shared, given_up } => {
                let mut region = writer.region()?;
                for (partition, bytes) in own {
                    region.block(Some(*partition), DATA, &framed(options.framing, bytes), 1)?;
                }
                if let Some((members, bytes)) = shared {
                    region.shared(members.as_deref())?;
                    region.block(None, DATA, &framed(options.framing, bytes), 1)?;
                }
                if !given_up {
                    region.end()?;
                }
            }
        }
    }
    Ok(())
}
