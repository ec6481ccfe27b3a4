//! What the write path needs of the machine and cannot say in safe Rust.

#![allow(unsafe_code)]

/// Bytes of a cache line, as prefetches count.
pub(crate) const LINE: usize = 64;

/// The longest that [`append`] copies by itself.
const SHORT: usize = 256;

/// Appends bytes, of which there are mostly about a hundred: for these a call of the library's costs more than the copy.
#[inline(always)]
pub(crate) fn append(to: &mut Vec<u8>, from: &[u8]) {
    let count = from.len();
    if count > SHORT {
        to.extend_from_slice(from);
        return;
    }
    if to.capacity() - to.len() < count {
        to.reserve(count);
    }
    // SAFETY: the vector has room for `count` bytes behind its length, which a shared slice cannot overlap; the copy
    // writes all of them, so that the new length ends behind initialised bytes.
    unsafe {
        copy_short(to.as_mut_ptr().add(to.len()), from.as_ptr(), count);
        to.set_len(to.len() + count);
    }
}

/// Appends bytes, fewer than 2^32, with their count before them.
#[inline(always)]
pub(crate) fn append_framed(to: &mut Vec<u8>, from: &[u8]) {
    let count = from.len();
    let length = (count as u32).to_le_bytes();
    if count > SHORT {
        to.extend_from_slice(&length);
        to.extend_from_slice(from);
        return;
    }
    if to.capacity() - to.len() < count + 4 {
        to.reserve(count + 4);
    }
    // SAFETY: as in `append`, with 4 bytes before the others, which are written too.
    unsafe {
        let end = to.as_mut_ptr().add(to.len());
        end.cast::<[u8; 4]>().write_unaligned(length);
        copy_short(end.add(4), from.as_ptr(), count);
        to.set_len(to.len() + 4 + count);
    }
}

/// Copies by pieces of a fixed size, the last of which overlaps the one before it.
///
/// # Safety
/// At most [`SHORT`] bytes; `from` is readable and `to` writable for `count` bytes, and they do not overlap.
#[inline(always)]
unsafe fn copy_short(to: *mut u8, from: *const u8, count: usize) {
    macro_rules! pieces {
        ($size:literal) => {{
            // SAFETY: `count` is at least the size, so that the pieces at the beginning and at the end are inside.
            unsafe {
                let last = count - $size;
                to.cast::<[u8; $size]>()
                    .write_unaligned(from.cast::<[u8; $size]>().read_unaligned());
                to.add(last)
                    .cast::<[u8; $size]>()
                    .write_unaligned(from.add(last).cast::<[u8; $size]>().read_unaligned());
            }
        }};
    }
    match count {
        0 => {}
        // SAFETY: there is one byte.
        1 => unsafe { to.write(from.read()) },
        2..4 => pieces!(2),
        4..8 => pieces!(4),
        8..16 => pieces!(8),
        16..32 => pieces!(16),
        32..=64 => pieces!(32),
        65..=128 => pieces!(64),
        _ => {
            // SAFETY: both halves are inside: the pieces above reach from the ends to 128 bytes at most.
            unsafe {
                to.cast::<[u8; 128]>()
                    .write_unaligned(from.cast::<[u8; 128]>().read_unaligned());
            }
            pieces!(128);
        }
    }
}

/// Asks for the cache line at a place to be there soon.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint: it has no effect that a program could see and no fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at).cast());
    }
    // Other architectures have none that is stable.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}

/// Asks for large pages where a vector will grow: far places are found through fewer entries of the page table. A hint:
/// what it answers does not matter.
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

/// Asks for room on the device for bytes of a file, without changing its size. What is refused may be there in part,
/// unless it is unsupported.
#[cfg(target_os = "linux")]
pub(crate) fn reserve_room(file: &std::fs::File, offset: u64, length: u64) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    let (Ok(offset), Ok(length)) = (i64::try_from(offset), i64::try_from(length)) else {
        return Err(std::io::ErrorKind::Unsupported.into());
    };
    // SAFETY: the descriptor is open as long as the file is borrowed; no memory is passed.
    let done = unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, offset, length) };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn reserve_room(_file: &std::fs::File, _offset: u64, _length: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_whole_and_nothing_else() {
        let from: Vec<u8> = (0..600).map(|at| (at * 7 + 1) as u8).collect();
        for count in 0..from.len() {
            for begins in [0, 1, 5] {
                let mut to = vec![0xEE; begins];
                append(&mut to, &from[..count]);
                assert_eq!(to[..begins], vec![0xEE; begins]);
                assert_eq!(to[begins..], from[..count], "{count}");
                to.truncate(begins);
                append_framed(&mut to, &from[..count]);
                assert_eq!(to[..begins], vec![0xEE; begins]);
                assert_eq!(to[begins..begins + 4], (count as u32).to_le_bytes());
                assert_eq!(to[begins + 4..], from[..count], "{count}");
            }
        }
    }

    #[test]
    fn hints_change_nothing() {
        let mut bytes = Vec::with_capacity(9 << 20);
        bytes.extend_from_slice(&[7; 100]);
        advise_large_pages(&mut bytes);
        prefetch(&bytes, 0);
        prefetch(&bytes, usize::MAX);
        assert_eq!(bytes, [7; 100]);
    }
}
