package dev.faro.merge;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;
import java.util.UUID;

/**
 * A file_id from the names of a shuffle (NAM-1). A reader that knows the names knows the file_id, and so that the bytes
 * are of the output that it asked for.
 */
public final class FileIds {
    private FileIds() {}

    /** The file_id of a producer's output. Producer and attempt are unsigned 64-bit values. */
    public static UUID output(String application, String shuffle, long producer, long attempt) {
        return of("output", application, shuffle, numbers(16).putLong(producer).putLong(attempt));
    }

    /** The file_id of a merged file of a generation, an unsigned 64-bit value, by its first partition. */
    public static UUID merged(String application, String shuffle, long generation, int firstPartition) {
        return of("merged", application, shuffle, numbers(12).putLong(generation).putInt(firstPartition));
    }

    private static ByteBuffer numbers(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static UUID of(String what, String application, String shuffle, ByteBuffer numbers) {
        Objects.requireNonNull(application, "application");
        Objects.requireNonNull(shuffle, "shuffle");
        MessageDigest hash = sha256();
        for (String text : new String[] {what, application, shuffle}) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            hash.update(numbers(4).putInt(utf8.length).array());
            hash.update(utf8);
        }
        hash.update(numbers.array());
        ByteBuffer digest = ByteBuffer.wrap(hash.digest());
        // A UUID of version 8.
        long high = digest.getLong() & ~0xF000L | 0x8000L;
        long low = digest.getLong() & ~(3L << 62) | 1L << 63;
        return new UUID(high, low);
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            // Every Java platform has it.
            throw new IllegalStateException(e);
        }
    }
}
