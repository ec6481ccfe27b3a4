package dev.faro.block;

import java.nio.ByteBuffer;
import java.util.UUID;

/** Writes the header and the padding around a payload that stands in its place. One per owner. */
public final class BlockSeal {
    private final BlockChecksum checksum;

    /** For the blocks of one file. */
    public BlockSeal(UUID fileId) {
        checksum = new BlockChecksum(fileId);
    }

    /**
     * Makes a block of the payload that stands at {@code at + 24} in a little-endian buffer, which has room for the
     * padding.
     *
     * @param dictionary the number of the block's dictionary, or 0
     * @return the block's bytes in the file
     */
    public int seal(ByteBuffer bytes, int at, int storedSize, int plainSize, int partition, long sequence, int kind,
            int codec, int dictionary) {
        bytes.putInt(at, storedSize).putInt(at + 4, plainSize).putInt(at + 8, partition).putInt(at + 12, (int) sequence);
        bytes.put(at + 16, (byte) kind).put(at + 17, (byte) codec).putShort(at + 18, (short) dictionary);
        int size = (int) BlockReader.sizeInFile(storedSize);
        for (int i = BlockReader.HEADER + storedSize; i < size; i++) {
            bytes.put(at + i, (byte) 0);
        }
        bytes.putInt(at + 20, checksum.of(bytes, at, storedSize));
        return size;
    }
}
