package dev.faro.hybrid;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Bytes of an image's file that come and go together. The lock of the memory guards it. */
final class ImagePart {
    final long start;
    private long end;
    /** Null once they have left the memory. Chunks are never changed. */
    private List<byte[]> chunks = new ArrayList<>();
    /** Where the bytes are in the files; null if they are not. */
    Location location;

    ImagePart(long start) {
        this.start = start;
        this.end = start;
    }

    long end() {
        return end;
    }

    void append(byte[] chunk) {
        chunks.add(chunk);
        end += chunk.length;
    }

    /** The bytes, or null; valid without the lock too. */
    List<byte[]> chunks() {
        return chunks;
    }

    /** Drops the bytes; returns how many were in memory. */
    long drop() {
        long dropped = chunks == null ? 0 : end - start;
        chunks = null;
        return dropped;
    }

    /** Copies bytes from an offset in the part on, as many as there are and fit. */
    static int copy(List<byte[]> chunks, long from, ByteBuffer target) {
        int before = target.position();
        long at = 0;
        for (byte[] chunk : chunks) {
            long next = at + chunk.length;
            if (from < next && target.hasRemaining()) {
                int begin = (int) Math.max(0, from - at);
                target.put(chunk, begin, Math.min(chunk.length - begin, target.remaining()));
            }
            at = next;
        }
        return target.position() - before;
    }
}
