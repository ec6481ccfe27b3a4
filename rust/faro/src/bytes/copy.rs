//! Short copies to the end of a vector, faster than those of the standard library.

#![allow(unsafe_code)]

/// The longest copy, in bytes, that [`append`] does itself.
const SHORT: usize = 256;

/// Appends bytes. Most records have about a hundred; for these, calling the standard library costs more than the copy.
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
    // SAFETY: the vector has room for `count` bytes after its length, and a shared slice cannot overlap that room. The
    // copy writes all of them, so all bytes up to the new length are initialised.
    unsafe {
        copy_short(to.as_mut_ptr().add(to.len()), from.as_ptr(), count);
        to.set_len(to.len() + count);
    }
}

/// Appends the count of the bytes, a u32, and the bytes. There are fewer than 2^32.
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
    // SAFETY: as in `append`; the 4 bytes before the others are written too.
    unsafe {
        let end = to.as_mut_ptr().add(to.len());
        end.cast::<[u8; 4]>().write_unaligned(length);
        copy_short(end.add(4), from.as_ptr(), count);
        to.set_len(to.len() + 4 + count);
    }
}

/// Writes the count of the bytes, a u32, and the bytes to where they fill `to`. There are fewer than 2^32.
///
/// # Panics
/// If `to` has another size.
#[inline(always)]
pub(crate) fn write_framed(to: &mut [u8], from: &[u8]) {
    let count = from.len();
    assert_eq!(to.len(), 4 + count);
    let length = (count as u32).to_le_bytes();
    if count > SHORT {
        to[..4].copy_from_slice(&length);
        to[4..].copy_from_slice(from);
        return;
    }
    // SAFETY: there is room for the 4 bytes and the others, by the check above, and a unique slice cannot overlap another.
    unsafe {
        let begin = to.as_mut_ptr();
        begin.cast::<[u8; 4]>().write_unaligned(length);
        copy_short(begin.add(4), from.as_ptr(), count);
    }
}

/// Copies in pieces of a fixed size; the last piece may overlap the one before it.
///
/// # Safety
/// At most [`SHORT`] bytes; `from` is readable and `to` writable for `count` bytes, and they do not overlap.
#[inline(always)]
unsafe fn copy_short(to: *mut u8, from: *const u8, count: usize) {
    macro_rules! pieces {
        ($size:literal) => {{
            // SAFETY: `count` is at least the size, so the first and the last piece are inside.
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
    // Longer copies first, since records of 16 bytes and more are the most frequent.
    if count > 128 {
        // SAFETY: both halves are inside, since the pieces cover up to 128 bytes from each end.
        unsafe {
            to.cast::<[u8; 128]>()
                .write_unaligned(from.cast::<[u8; 128]>().read_unaligned());
        }
        pieces!(128);
    } else if count > 64 {
        pieces!(64);
    } else if count > 32 {
        pieces!(32);
    } else if count >= 16 {
        pieces!(16);
    } else if count >= 8 {
        pieces!(8);
    } else if count >= 4 {
        pieces!(4);
    } else if count >= 2 {
        pieces!(2);
    } else if count == 1 {
        // SAFETY: there is one byte.
        unsafe { to.write(from.read()) }
    }
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
                let mut around = vec![0xEE; begins + 4 + count + 1];
                write_framed(&mut around[begins..begins + 4 + count], &from[..count]);
                assert_eq!(around[..begins + 4 + count], to[..]);
                assert_eq!(around[begins + 4 + count], 0xEE);
            }
        }
    }
}
