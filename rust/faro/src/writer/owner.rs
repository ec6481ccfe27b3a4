//! Which partitions read an extent.

use std::sync::Arc;

/// A set of partitions as the members of a shared extent, one bit each; `None` for every partition.
pub(crate) type MemberBits = Option<Arc<[u8]>>;

/// The owner of an extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A partition, counted from the file's first.
    Own(u32),
    Shared(MemberBits),
}
