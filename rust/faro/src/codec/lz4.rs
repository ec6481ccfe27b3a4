//! LZ4 blocks (spec, COD-2).

/// Compresses `plain` into `target`; none when the result does not fit.
pub(super) fn compress(plain: &[u8], target: &mut [u8]) -> Option<usize> {
    lzzzz::lz4::compress(plain, target, lzzzz::lz4::ACC_LEVEL_DEFAULT).ok()
}

/// Decompresses `stored`, and returns how many plain bytes that gives, or what is wrong with the block.
pub(super) fn decompress(stored: &[u8], plain: &mut [u8]) -> Result<usize, String> {
    // The C library counts in ints, so it cannot have made a block of this size.
    if plain.len() > i32::MAX as usize {
        return Err("larger than an LZ4 block can be".into());
    }
    lzzzz::lz4::decompress(stored, plain).map_err(|error| error.to_string())
}
