package dev.faro.testee;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The hash of the blocks that were read, as the protocol defines it. */
final class Content {
    private final MessageDigest digest = newDigest();
    private final ByteBuffer head = ByteBuffer.allocate(9).order(ByteOrder.LITTLE_ENDIAN);
    private long blocks;

    /** Adds a block of a partition that is read by itself. */
    void add(int kind, ByteBuffer payload) {
        head.clear().put((byte) kind).putInt(payload.remaining());
        add(payload);
    }

    /**
     * Adds a block of a range.
     *
     * @param partition its number, or -1 for a shared block
     */
    void add(int partition, int kind, ByteBuffer payload) {
        head.clear().putInt(partition).put((byte) kind).putInt(payload.remaining());
        add(payload);
    }

    /** Adds the partition for which the next block is read. */
    void begin(int partition) {
        digest.update(head.clear().putInt(partition).flip());
    }

    private void add(ByteBuffer payload) {
        digest.update(head.flip());
        digest.update(payload.duplicate());
        blocks++;
    }

    long blocks() {
        return blocks;
    }

    /** The hash in hexadecimal. No block may be added after this. */
    String sha256() {
        return HexFormat.of().formatHex(digest.digest());
    }

    static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
