package dev.faro.internal.block;

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
        bytes.putInt(at + BlockHeader.STORED_SIZE, storedSize).putInt(at + BlockHeader.PLAIN_SIZE, plainSize);
        bytes.putInt(at + BlockHeader.PARTITION, partition).putInt(at + BlockHeader.SEQUENCE, (int) sequence);
        bytes.put(at + BlockHeader.KIND, (byte) kind).put(at + BlockHeader.CODEC, (byte) codec);
        bytes.putShort(at + BlockHeader.DICTIONARY, (short) dictionary);
        int size = (int) BlockHeader.sizeInFile(storedSize);
        for (int i = BlockHeader.SIZE + storedSize; i < size; i++) {
            bytes.put(at + i, (byte) 0);
        }
        bytes.putInt(at + BlockHeader.CHECKSUM, checksum.of(bytes, at, storedSize));
        return size;
    }
}
