//! Hints to the processor and the system about memory: cache lines and large pages.

#![allow(unsafe_code)]

/// The size of a cache line, in bytes.
pub(crate) const CACHE_LINE: usize = 64;

/// Prefetches the cache line of an address.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint: it has no visible effect and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at).cast());
    }
    // Stable Rust has no prefetch for other architectures.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}

/// Prefetches the cache line of an address that is written soon.
#[inline(always)]
pub(crate) fn prefetch_to_write(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint: it has no visible effect and cannot fault, whatever the address. Processors that
    // do not know this one ignore it.
    unsafe {
        let address = bytes.as_ptr().wrapping_add(at);
        std::arch::asm!("prefetchw [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}

/// Asks for large pages for the unused capacity of a vector: random access then needs fewer entries of the page table.
/// It is a hint; a failure does not matter.
pub(crate) fn advise_large_pages(vector: &mut Vec<u8>) {
    #[cfg(target_os = "linux")]
    {
        const LARGE: usize = 2 << 20;
        let begin = vector.as_mut_ptr() as usize;
        let first = (begin + vector.len()).next_multiple_of(LARGE);
        let end = (begin + vector.capacity()) / LARGE * LARGE;
        if first < end {
            // SAFETY: whole pages inside the vector's own allocation, whose content this advice does not change.
            unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = vector;
}

/// Frees a large vector, and gives its pages back to the system: an allocator may keep them for itself.
pub(crate) fn give_back<T: Copy>(mut vector: Vec<T>) {
    vector.clear();
    #[cfg(target_os = "linux")]
    {
        /// Whole pages of any size that systems have.
        const PAGE: usize = 64 << 10;
        let begin = vector.as_mut_ptr() as usize;
        let first = begin.next_multiple_of(PAGE);
        let end = (begin + vector.capacity() * size_of::<T>()) / PAGE * PAGE;
        if first < end {
            // SAFETY: whole pages inside the vector's own allocation, which has no content any more. The advice makes
            // their bytes zero, as any other write could.
            unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_DONTNEED) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_change_nothing() {
        let mut bytes = Vec::with_capacity(9 << 20);
        bytes.extend_from_slice(&[7; 100]);
        advise_large_pages(&mut bytes);
        prefetch(&bytes, 0);
        prefetch(&bytes, usize::MAX);
        prefetch_to_write(&bytes, 0);
        prefetch_to_write(&bytes, usize::MAX);
        assert_eq!(bytes, [7; 100]);
    }
}
