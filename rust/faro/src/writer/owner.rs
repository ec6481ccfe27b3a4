//! Which partitions read an extent.

use std::sync::Arc;

/// A set of partitions as the bits of a shared extent's members; `None`: every partition.
pub(crate) type MemberBits = Option<Arc<[u8]>>;

/// Whose extent it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A partition, counted from the file's first.
    Own(u32),
    Shared(MemberBits),
}
