package dev.faro.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferDecompressor;
import org.apache.flink.runtime.io.network.buffer.CompositeBuffer;
import org.apache.flink.runtime.io.network.buffer.FullyFilledBuffer;
import org.apache.flink.runtime.io.network.partition.BufferAvailabilityListener;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultSubpartition.BufferAndBacklog;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;

/**
 * Reads the subpartitions of a finished result partition as Flink's network thread does: views announce buffers, one
 * thread takes them, and an I/O thread of Flink reads ahead. Buffers are decompressed here; Flink does that at the
 * consumer.
 */
public final class FlinkReading {
    /** Takes the plain bytes of a subpartition, piece by piece: records, each after its length. */
    public interface Sink {
        /** Takes the bytes from a buffer's position to its limit. They are valid only during the call. */
        void bytes(int subpartition, ByteBuffer piece);
    }

    private final ResultPartition partition;
    private final BufferDecompressor decompressor;
    private final Sink sink;
    private final BlockingQueue<Consumer> ready = new LinkedBlockingQueue<>();
    /** Memory to join the parts of a buffer before it is decompressed. */
    private final MemorySegment joined;
    private long read;

    FlinkReading(ResultPartition partition, BufferDecompressor decompressor, MemorySegment joined, Sink sink) {
        this.partition = partition;
        this.joined = joined;
        this.decompressor = decompressor;
        this.sink = sink;
    }

    private final class Consumer implements BufferAvailabilityListener {
        private final int subpartition;
        private ResultSubpartitionView view;

        Consumer(int subpartition) throws IOException {
            this.subpartition = subpartition;
            view = partition.createSubpartitionView(new ResultSubpartitionIndexSet(subpartition), this);
        }

        /** Some views have buffers from the beginning, and do not announce them. */
        void announce() {
            ready.add(this);
        }

        @Override
        public void notifyDataAvailable(ResultSubpartitionView available) {
            ready.add(this);
        }

        /** Takes the available buffers; returns whether the subpartition has ended. */
        boolean drain() throws IOException {
            if (view == null) {
                return false;
            }
            for (BufferAndBacklog next = view.getNextBuffer(); next != null; next = view.getNextBuffer()) {
                if (take(subpartition, next.buffer())) {
                    view.releaseAllResources();
                    view = null;
                    return true;
                }
            }
            if (view.isReleased()) {
                throw new IOException("Flink released a view", view.getFailureCause());
            }
            return false;
        }
    }

    /** Reads subpartitions 0 to {@code count} - 1, {@code atOnce} at a time; returns the number of plain bytes. */
    long run(int count, int atOnce) throws IOException, InterruptedException {
        int opened = 0;
        while (opened < Math.min(count, atOnce)) {
            new Consumer(opened++).announce();
        }
        for (int done = 0; done < count;) {
            if (ready.take().drain()) {
                done++;
                if (opened < count) {
                    new Consumer(opened++).announce();
                }
            }
        }
        return read;
    }

    /** Takes a buffer and releases its memory; returns whether it ends the subpartition. */
    private boolean take(int subpartition, Buffer buffer) throws IOException {
        if (!(buffer instanceof FullyFilledBuffer full)) {
            return takePart(subpartition, buffer);
        }
        boolean ends = false;
        for (Buffer part : full.getPartialBuffers()) {
            ends |= takePart(subpartition, part);
        }
        return ends;
    }

    private boolean takePart(int subpartition, Buffer part) throws IOException {
        Buffer whole = part;
        if (part instanceof CompositeBuffer pieces) {
            if (part.isBuffer() && !part.isCompressed()) {
                pieces.getPartialBuffers().forEach(piece -> deliver(subpartition, piece));
                part.recycleBuffer();
                return false;
            }
            whole = pieces.getFullBufferData(joined);
        }
        try {
            return whole.isBuffer() ? data(subpartition, whole) : ends(whole);
        } finally {
            whole.recycleBuffer();
        }
    }

    private boolean ends(Buffer event) throws IOException {
        return EventSerializer.fromBuffer(event, getClass().getClassLoader()) instanceof EndOfPartitionEvent;
    }

    private boolean data(int subpartition, Buffer part) {
        if (!part.isCompressed()) {
            deliver(subpartition, part);
            return false;
        }
        Buffer plain = decompressor.decompressToIntermediateBuffer(part);
        try {
            deliver(subpartition, plain);
        } finally {
            plain.recycleBuffer();
        }
        return false;
    }

    private void deliver(int subpartition, Buffer plain) {
        ByteBuffer piece = plain.getNioBufferReadable();
        read += piece.remaining();
        sink.bytes(subpartition, piece);
    }
}
