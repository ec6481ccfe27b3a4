package dev.faro.merge;

import dev.faro.FaroException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Objects;

/** A stream of parts that are made one after another, each when it is wanted. */
abstract class PartStream extends InputStream {
    /** The part that is being read. */
    private static final class Part extends ByteArrayOutputStream {
        private int at;

        int take(byte[] into, int offset, int length) {
            int taken = Math.min(length, count - at);
            System.arraycopy(buf, at, into, offset, taken);
            at += taken;
            return taken;
        }

        int giveTo(OutputStream target) throws IOException {
            int given = count - at;
            target.write(buf, at, given);
            at = count;
            return given;
        }

        boolean isUsed() {
            return at == count;
        }

        void clear() {
            at = 0;
            reset();
        }
    }

    private final Part part = new Part();
    private boolean ended;
    private FaroException failure;

    /** Where {@link #next} writes. */
    final OutputStream target() {
        return part;
    }

    /** Writes the next part, of which there may be no byte. Returns false if there is none. */
    abstract boolean next() throws FaroException;

    /** Gives back what the stream has in use. */
    abstract void release() throws FaroException;

    @Override
    public final int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public final int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        return fill() ? part.take(into, offset, length) : -1;
    }

    /** Makes parts until one has bytes. Returns false at the end. */
    private boolean fill() throws FaroException {
        while (part.isUsed()) {
            if (ended) {
                return false;
            }
            part.clear();
            if (failure != null) {
                throw failure;
            }
            try {
                ended = !next();
            } catch (FaroException e) {
                // Also of the next call: a fragment that is cut must not look like one that has ended.
                part.clear();
                failure = e;
                throw e;
            }
        }
        return true;
    }

    /** Hands on each part as a whole. */
    @Override
    public final long transferTo(OutputStream target) throws IOException {
        Objects.requireNonNull(target, "target");
        long sum = 0;
        while (fill()) {
            sum += part.giveTo(target);
        }
        return sum;
    }

    @Override
    public final void close() throws FaroException {
        ended = true;
        part.clear();
        release();
    }
}
