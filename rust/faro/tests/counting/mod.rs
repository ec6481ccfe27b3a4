//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. It tells by how many bytes the memory grows or shrinks; what it calls allocates nothing.
pub(crate) struct Counting(pub(crate) fn(isize));

// SAFETY: all calls go to the system's allocator, and the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Layout) -> *mut u8 {
        (self.0)(memory.size() as isize);
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.alloc(memory) }
    }

    unsafe fn dealloc(&self, at: *mut u8, memory: Layout) {
        (self.0)(-(memory.size() as isize));
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.dealloc(at, memory) }
    }

    // The system moves large pieces by their pages, and takes no memory twice for it.
    unsafe fn realloc(&self, at: *mut u8, memory: Layout, size: usize) -> *mut u8 {
        (self.0)(size as isize - memory.size() as isize);
        // SAFETY: the caller keeps the contract of the allocator.
        unsafe { System.realloc(at, memory, size) }
    }
}
