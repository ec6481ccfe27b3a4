package dev.faro.spark;

import dev.faro.FaroException;
import dev.faro.merge.Fragments;
import dev.faro.reader.Reader;
import dev.faro.spark.merge.MergedPartition;
import dev.faro.spark.merge.OpenOutputs;
import io.netty.handler.stream.ChunkedStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;

/** Fragments of an output, or of a chunk of a merged file, which are made while they are read. */
final class FragmentBuffer extends ManagedBuffer {
    /**
     * The largest fragment that is read when it is asked for, in bytes. It costs less than opening its output once more. A
     * reduce task asks for one from each map task, before it reads any.
     */
    private static final int MOST_AT_ONCE = 2 << 10;

    private final OpenOutputs outputs;
    private final File data;
    private final File index;
    private final Source source;
    private final long size;
    private final List<Opened> streams = new ArrayList<>();
    private int users;

    /** Makes the bytes from the open output. */
    private interface Source {
        InputStream open(Reader output) throws FaroException;
    }

    private FragmentBuffer(OpenOutputs outputs, File data, File index, Source source, long size) {
        this.outputs = outputs;
        this.data = data;
        this.index = index;
        this.source = source;
        this.size = size;
    }

    /** The blocks of some partitions of an output. Those of a small one are read at once. */
    static ManagedBuffer of(OpenOutputs outputs, File data, File index, int from, int to) {
        try (OpenOutputs.Lease output = outputs.open(data, index)) {
            long size = size(output.reader(), from, to);
            if (size > MOST_AT_ONCE) {
                return new FragmentBuffer(outputs, data, index, reader -> Fragments.stream(reader, from, to), size);
            }
            try (InputStream fragment = Fragments.stream(output.reader(), from, to)) {
                return new NioManagedBuffer(ByteBuffer.wrap(fragment.readNBytes((int) size)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The chunks of a merged file. */
    static List<ManagedBuffer> chunks(OpenOutputs outputs, File data, File index, MergedPartition partition) {
        try (OpenOutputs.Lease merged = outputs.open(data, index)) {
            long[] sizes = partition.chunkSizes(merged.reader());
            List<ManagedBuffer> chunks = new ArrayList<>();
            for (int i = 0; i < sizes.length; i++) {
                int chunk = i;
                chunks.add(new FragmentBuffer(
                        outputs, data, index, reader -> partition.stream(reader, chunk), sizes[i]));
            }
            return chunks;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The size of the fragment of these partitions in bytes; 0 without blocks. */
    static long size(Reader reader, int from, int to) throws FaroException {
        long blocks = 0;
        for (int partition = from; partition < to; partition++) {
            blocks += reader.storedBytes(partition);
        }
        return blocks == 0 ? 0 : blocks + Fragments.FRAME;
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public ByteBuffer nioByteBuffer() throws IOException {
        try (InputStream stream = createInputStream()) {
            return ByteBuffer.wrap(stream.readAllBytes());
        }
    }

    /** Opens the output at the first read: Spark does not expect this call to fail. */
    @Override
    public synchronized InputStream createInputStream() {
        Opened stream = new Opened();
        streams.add(stream);
        return stream;
    }

    /** A stream of the fragment. It has the output in use from the first read until it is closed. */
    private final class Opened extends InputStream {
        private OpenOutputs.Lease output;
        private InputStream fragment;
        private boolean closed;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int at, int length) throws IOException {
            if (closed) {
                throw new IOException("the stream is closed");
            }
            if (fragment == null) {
                output = outputs.open(data, index);
                fragment = source.open(output.reader());
            }
            return fragment.read(into, at, length);
        }

        @Override
        public void close() throws IOException {
            closed = true;
            try {
                if (fragment != null) {
                    fragment.close();
                }
            } finally {
                if (output != null) {
                    output.close();
                    output = null;
                }
            }
        }
    }

    @Override
    public synchronized ManagedBuffer retain() {
        users++;
        return this;
    }

    /** A task that fails releases its buffers, and does not close their streams. */
    @Override
    public synchronized ManagedBuffer release() {
        users--;
        if (users <= 0) {
            for (Opened stream : streams) {
                try {
                    stream.close();
                } catch (IOException e) {
                    // It was only read from.
                }
            }
            streams.clear();
        }
        return this;
    }

    @Override
    public Object convertToNetty() {
        return new FragmentRegion(createInputStream(), size);
    }

    /** For encrypted connections, since Spark 4.0. */
    public Object convertToNettyForSsl() {
        return new ChunkedStream(createInputStream());
    }
}
