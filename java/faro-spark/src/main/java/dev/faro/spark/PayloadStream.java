package dev.faro.spark;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/** Plain payloads, one after another. */
abstract class PayloadStream extends InputStream {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private ByteBuffer payload = NOTHING;
    private boolean ended;

    /** The next payload, or null after the last. */
    abstract ByteBuffer nextPayload() throws IOException;

    @Override
    public final int read() throws IOException {
        return next() ? payload.get() & 0xFF : -1;
    }

    @Override
    public final int read(byte[] into, int at, int length) throws IOException {
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
    public final int available() {
        return payload.remaining();
    }

    /** Whether there is another byte. */
    private boolean next() throws IOException {
        while (!payload.hasRemaining()) {
            ByteBuffer following = ended ? null : nextPayload();
            if (following == null) {
                end();
                return false;
            }
            payload = following;
        }
        return true;
    }

    private void end() {
        ended = true;
        payload = NOTHING;
    }

    @Override
    public void close() throws IOException {
        end();
    }
}
