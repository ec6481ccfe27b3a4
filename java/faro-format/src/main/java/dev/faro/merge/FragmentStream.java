package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.SortedSet;

/** A fragment as a stream: one part after another, each when it is wanted. */
final class FragmentStream extends InputStream {
    /** The part that is being read. */
    private static final class Part extends ByteArrayOutputStream {
        private int at;

        int take(byte[] into, int offset, int length) {
            int taken = Math.min(length, count - at);
            System.arraycopy(buf, at, into, offset, taken);
            at += taken;
            return taken;
        }

        boolean isUsed() {
            return at == count;
        }

        void clear() {
            at = 0;
            reset();
        }
    }

    private final Reader reader;
    private final FragmentParts fragment;
    private final Part part;
    private final int to;
    private int partition;
    private BlockCursor blocks;
    private long number;
    private long count;
    private boolean ended;
    private FaroException failure;

    private FragmentStream(Reader reader, int from, int to, SortedSet<Integer> named, Part part) {
        this.reader = reader;
        this.part = part;
        this.fragment = new FragmentParts(reader, part, from, to, named);
        this.partition = from;
        this.to = to;
    }

    static FragmentStream of(Reader reader, int from, int to) throws FaroException {
        SortedSet<Integer> named = FragmentParts.named(reader, from, to, 0, FragmentParts.ALL);
        return new FragmentStream(reader, from, to, named, new Part());
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        while (part.isUsed()) {
            if (ended) {
                return -1;
            }
            part.clear();
            if (failure != null) {
                throw failure;
            }
            try {
                next();
            } catch (FaroException e) {
                // Also of the next call: a fragment that is cut must not look like one that has ended.
                failure = e;
                throw e;
            }
        }
        return part.take(into, offset, length);
    }

    /** Makes the next part: a block, with what is before it, or the end. */
    private void next() throws FaroException {
        while (partition < to) {
            if (blocks == null) {
                blocks = reader.partition(partition);
                number = 0;
            }
            if (blocks.next()) {
                if (count++ == 0) {
                    fragment.begin();
                }
                fragment.block(partition, number++, blocks);
                return;
            }
            closeBlocks();
            partition++;
        }
        ended = true;
        if (count > 0) {
            fragment.end(count, true);
        }
    }

    private void closeBlocks() throws FaroException {
        if (blocks != null) {
            blocks.close();
            blocks = null;
        }
    }

    @Override
    public void close() throws FaroException {
        ended = true;
        part.clear();
        closeBlocks();
    }
}
