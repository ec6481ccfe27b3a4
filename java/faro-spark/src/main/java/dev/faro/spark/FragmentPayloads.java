package dev.faro.spark;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Limits;
import dev.faro.merge.FileIds;
import dev.faro.merge.FragmentReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The plain payloads of a fragment, one after another. Each block is checked before a byte of it is delivered, and the
 * fragment has to be of the output that was asked for, with all blocks of the partitions that were asked for.
 */
final class FragmentPayloads extends InputStream {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final FragmentReader fragments;
    private final String application;
    private final int shuffleId;
    private final long mapId;
    private final int firstPartition;
    private final int partitionCount;
    private ByteBuffer payload = NOTHING;
    private boolean begun;
    private boolean ended;

    FragmentPayloads(InputStream stream, String application, int shuffleId, long mapId, int firstPartition,
            int partitionCount) {
        this.fragments = new FragmentReader(stream, Limits.DEFAULT);
        this.application = application;
        this.shuffleId = shuffleId;
        this.mapId = mapId;
        this.firstPartition = firstPartition;
        this.partitionCount = partitionCount;
    }

    @Override
    public int read() throws IOException {
        return next() ? payload.get() & 0xFF : -1;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
        Objects.checkFromIndexSize(at, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (!next()) {
            return -1;
        }
        int taken = Math.min(length, payload.remaining());
        payload.get(into, at, taken);
        return taken;
    }

    @Override
    public int available() {
        return payload.remaining();
    }

    /** Whether there is another byte. */
    private boolean next() throws IOException {
        while (!payload.hasRemaining()) {
            if (ended || !nextBlock()) {
                return false;
            }
        }
        return true;
    }

    private boolean nextBlock() throws IOException {
        if (!begun) {
            begun = true;
            if (!fragments.nextFragment()) {
                throw new IOException(what() + " has no bytes");
            }
            check(fragments.header());
        }
        if (fragments.nextBlock()) {
            payload = fragments.payload();
            return true;
        }
        payload = NOTHING;
        ended = true;
        if (!fragments.isLast() || fragments.nextFragment()) {
            throw new IOException(what() + " is not one fragment with all blocks of its partitions");
        }
        return false;
    }

    private void check(FileHeader header) throws IOException {
        boolean whole = header.firstPartition() == firstPartition && header.partitionCount() == partitionCount;
        boolean own = header.attempt() == mapId && header.fileId().equals(
                FileIds.output(application, String.valueOf(shuffleId), header.producer(), mapId));
        if (!whole || !own) {
            throw new IOException(what() + " is a fragment of another output, or of other partitions");
        }
    }

    private String what() {
        return "the block of shuffle " + shuffleId + ", map task " + mapId + ", partition " + firstPartition;
    }

    @Override
    public void close() throws FaroException {
        ended = true;
        payload = NOTHING;
        fragments.close();
    }
}
