package dev.faro.flink;

import dev.faro.reader.BlockCursor;
import dev.faro.reader.Feed;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.runtime.io.network.buffer.Buffer.DataType;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.NetworkBuffer;

/**
 * Makes Flink's buffers from the blocks of some subpartitions, region by region. Blocks arrive checked, and are copied
 * here. They stay compressed if they go over the network.
 *
 * <p>Blocks that are stored once for all subpartitions are repeated for each of them, because a channel expects the end
 * of each subpartition that it requested. A record may continue in the next block, so data is repeated as a whole: from
 * its first block to the next event, or to the end of the region's shared blocks. For one thread at a time.
 */
final class BufferReading implements Closeable {
    /** Takes buffers, which it has to recycle. */
    interface Sink {
        void add(Buffer buffer);
    }

    private final BlockSource source;
    private final int subpartitions;
    private final ReadMemory memory;
    private final Decoders decoders;
    private final boolean keepsCompressed;
    /** Shared data that was delivered once so far. */
    private final List<NetworkBuffer> run = new ArrayList<>();
    private int runRegion;

    BufferReading(
            BlockSource source, int subpartitions, ReadMemory memory, Decoders decoders, boolean keepsCompressed) {
        this.source = source;
        this.subpartitions = subpartitions;
        this.memory = memory;
        this.decoders = decoders;
        this.keepsCompressed = keepsCompressed;
    }

    /**
     * Delivers the next buffers, if their bytes have arrived.
     *
     * @throws IOException a {@link dev.faro.FaroException} that says what is wrong with the file
     */
    Feed.State next(Sink sink) throws IOException {
        Feed.State state = source.poll();
        switch (state) {
            case BLOCK -> block(source.block(), sink);
            case END -> repeatRun(sink);
            case NOT_YET -> {}
        }
        return state;
    }

    private void block(BlockCursor block, Sink sink) throws IOException {
        DataType type = Events.type(block.kind());
        boolean repeated = subpartitions > 1 && block.isShared();
        if (!repeated || !type.isBuffer() || block.region() != runRegion) {
            repeatRun(sink);
        }
        if (!repeated) {
            sink.add(keepsCompressed && FlinkCompression.canFrame(block) ? framed(block, type) : plain(block, type));
            return;
        }
        NetworkBuffer buffer = plain(block, type);
        run.add(buffer);
        runRegion = block.region();
        sink.add(again(buffer));
        if (!type.isBuffer()) {
            repeatRun(sink);
        }
    }

    private NetworkBuffer plain(BlockCursor block, DataType type) throws IOException {
        MemorySegment segment = memory.take(block.plainSize());
        NetworkBuffer buffer = new NetworkBuffer(segment, memory, type, segment.size());
        try {
            decoders.decode(block, ByteBuffer.wrap(segment.getArray()));
        } catch (IOException | RuntimeException e) {
            buffer.recycleBuffer();
            throw e;
        }
        return buffer;
    }

    private NetworkBuffer framed(BlockCursor block, DataType type) {
        MemorySegment segment = memory.take(FlinkCompression.framedSize(block));
        FlinkCompression.frame(block, ByteBuffer.wrap(segment.getArray()));
        return new NetworkBuffer(segment, memory, type, true, segment.size());
    }

    /** The same bytes for another receiver, with its own reader index. */
    private static Buffer again(NetworkBuffer buffer) {
        return buffer.retainBuffer().readOnlySlice(0, buffer.getSize());
    }

    private void repeatRun(Sink sink) {
        for (int i = 1; i < subpartitions && !run.isEmpty(); i++) {
            run.forEach(buffer -> sink.add(again(buffer)));
        }
        dropRun();
    }

    private void dropRun() {
        run.forEach(NetworkBuffer::recycleBuffer);
        run.clear();
    }

    /** Sets a listener, which is called when {@link #next} may have a buffer after it had none. */
    void listener(Runnable called) {
        source.onReady(called);
    }

    @Override
    public void close() {
        dropRun();
        source.close();
    }
}
