//! LZ4 blocks (spec, COD-2).

/// Appends the compressed `plain` to `to`, if the result is smaller. Otherwise `to` stays as it was.
pub(super) fn compress_onto(plain: &[u8], to: &mut Vec<u8>) -> bool {
    let before = to.len();
    let appended = lzzzz::lz4::compress_to_vec(plain, to, lzzzz::lz4::ACC_LEVEL_DEFAULT);
    let is_smaller = appended.is_ok_and(|size| size < plain.len());
    if !is_smaller {
        to.truncate(before);
    }
    is_smaller
}

/// Decompresses `stored`, and returns how many plain bytes that gives, or what is wrong with the block.
pub(super) fn decompress(stored: &[u8], plain: &mut [u8]) -> Result<usize, String> {
    // The C library counts in ints, so it cannot have made a block of this size.
    if plain.len() > i32::MAX as usize {
        return Err("larger than an LZ4 block can be".into());
    }
    lzzzz::lz4::decompress(stored, plain).map_err(|error| error.to_string())
}
