package dev.faro.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
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
 * Drains the subpartitions of a finished result partition as Flink's network thread does: views say when they have
 * buffers, one thread takes them, its I/O thread reads ahead. Buffers are decompressed here, where Flink does it at the
 * consumer.
 */
public final class FlinkReading {
    /** Takes the plain bytes of a subpartition, piece by piece: records with their lengths before them. */
    public interface Sink {
        /** Takes what remains of a buffer, which is the sink's for the time of the call. */
        void bytes(int subpartition, ByteBuffer piece);
    }

    private final ResultPartition partition;
    private final BufferDecompressor decompressor;
    private final Sink sink;
    private final BlockingQueue<Consumer> ready = new LinkedBlockingQueue<>();
    /** Where what was read in pieces is put together before it is decompressed. */
    private final MemorySegment joined = MemorySegmentFactory.allocateUnpooledSegment(FlinkPeer.SEGMENT);
    private long read;

    FlinkReading(ResultPartition partition, BufferDecompressor decompressor, Sink sink) {
        this.partition = partition;
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

        /** Some views have buffers from the start and say nothing. */
        void announce() {
            ready.add(this);
        }

        @Override
        public void notifyDataAvailable(ResultSubpartitionView available) {
            ready.add(this);
        }

        /** Takes what is there; says whether that was all for good. */
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
                throw new IOException("Flink gave a view up", view.getFailureCause());
            }
            return false;
        }
    }

    /** The plain bytes that subpartitions 0 to {@code count} - 1 had, so many of them read at once. */
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

    /** Takes a buffer and gives its memory back; says whether it ends the subpartition. */
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
                pieces.getPartialBuffers().forEach(piece -> hand(subpartition, piece));
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
            hand(subpartition, part);
            return false;
        }
        Buffer plain = decompressor.decompressToIntermediateBuffer(part);
        try {
            hand(subpartition, plain);
        } finally {
            plain.recycleBuffer();
        }
        return false;
    }

    private void hand(int subpartition, Buffer plain) {
        ByteBuffer piece = plain.getNioBufferReadable();
        read += piece.remaining();
        sink.bytes(subpartition, piece);
    }
}
