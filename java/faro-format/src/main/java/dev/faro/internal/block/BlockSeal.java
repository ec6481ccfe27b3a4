package dev.faro.internal.block;

import dev.faro.codec.Codec;
import java.nio.ByteBuffer;
import java.util.UUID;

/** Writes the header and the padding around a payload that is already in the buffer. Not for several threads. */
public final class BlockSeal {
    private final BlockChecksum checksum;

    /** Makes a seal for the blocks of one file. */
    public BlockSeal(UUID fileId) {
        checksum = new BlockChecksum(fileId);
    }

    /** Writes sequence and dictionary to the header of a block. */
    public static void place(ByteBuffer bytes, int at, long sequence, int dictionary) {
        bytes.putInt(at + BlockHeader.SEQUENCE, (int) sequence);
        bytes.putShort(at + BlockHeader.DICTIONARY, (short) dictionary);
    }

    /** Writes partition and sequence to the header of a block. */
    public static void number(ByteBuffer bytes, int at, int partition, long sequence) {
        bytes.putInt(at + BlockHeader.PARTITION, partition).putInt(at + BlockHeader.SEQUENCE, (int) sequence);
    }

    /** Writes a checksum to the header of a block. */
    public static void checksum(ByteBuffer bytes, int at, int checksum) {
        bytes.putInt(at + BlockHeader.CHECKSUM, checksum);
    }

    int moved(BlockChecksum other, ByteBuffer from, int fromAt, ByteBuffer to, int toAt, int given, int stored) {
        return checksum.moved(other, from, fromAt, to, toAt, given, stored);
    }

    /**
     * Makes a block of the payload at {@code at + 24} in a little-endian buffer, which must have room for the padding.
     *
     * @param dictionary the number of the block's dictionary, or 0
     * @return the size of the block in the file, in bytes
     */
    public int seal(ByteBuffer bytes, int at, int storedSize, int plainSize, int partition, long sequence, int kind,
            Codec codec, int dictionary) {
        bytes.putInt(at + BlockHeader.STORED_SIZE, storedSize).putInt(at + BlockHeader.PLAIN_SIZE, plainSize);
        bytes.putInt(at + BlockHeader.PARTITION, partition).putInt(at + BlockHeader.SEQUENCE, (int) sequence);
        bytes.put(at + BlockHeader.KIND, (byte) kind).put(at + BlockHeader.CODEC, (byte) codec.number());
        bytes.putShort(at + BlockHeader.DICTIONARY, (short) dictionary);
        int size = (int) BlockHeader.sizeInFile(storedSize);
        for (int i = BlockHeader.SIZE + storedSize; i < size; i++) {
            bytes.put(at + i, (byte) 0);
        }
        bytes.putInt(at + BlockHeader.CHECKSUM, checksum.of(bytes, at, storedSize));
        return size;
    }
}
