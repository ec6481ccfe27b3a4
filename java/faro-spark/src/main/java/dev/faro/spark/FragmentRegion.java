package dev.faro.spark;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.apache.spark.network.util.AbstractFileRegion;

/** What Netty sends: a stream of known size, from its beginning to its end. */
final class FragmentRegion extends AbstractFileRegion {
    private static final int PIECE = 128 << 10;

    private final InputStream stream;
    private final long size;
    /** Many regions wait to be sent, so none takes memory before its first byte is. */
    private byte[] bytes = {};
    private ByteBuffer piece = ByteBuffer.wrap(bytes);
    private long transferred;

    FragmentRegion(InputStream stream, long size) {
        this.stream = stream;
        this.size = size;
    }

    @Override
    public long position() {
        return 0;
    }

    @Override
    public long transferred() {
        return transferred;
    }

    @Override
    public long count() {
        return size;
    }

    @Override
    public long transferTo(WritableByteChannel target, long position) throws IOException {
        if (position != transferred) {
            throw new IllegalArgumentException("position " + position + " after " + transferred);
        }
        long written = 0;
        while (transferred < size) {
            if (!piece.hasRemaining()) {
                fill();
            }
            int count = target.write(piece);
            if (count == 0) {
                break;
            }
            transferred += count;
            written += count;
        }
        return written;
    }

    /** A reader that waits for the rest sees the connection end if the output is damaged. */
    private void fill() throws IOException {
        if (bytes.length == 0) {
            bytes = new byte[(int) Math.min(PIECE, size)];
            piece = ByteBuffer.wrap(bytes);
        }
        int count = stream.read(bytes, 0, (int) Math.min(bytes.length, size - transferred));
        if (count < 0) {
            throw new EOFException("a fragment of " + transferred + " bytes, and not " + size);
        }
        piece.clear().limit(count);
    }

    @Override
    protected void deallocate() {
        try {
            stream.close();
        } catch (IOException e) {
            // It was only read from.
        }
    }
}
