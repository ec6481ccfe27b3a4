package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.internal.index.Members;
import dev.faro.internal.sortbuffer.ExtentSink;
import java.nio.ByteBuffer;

/**
 * Packs the records and events of an extent into blocks (SRT-6), and compresses a block if that makes it smaller
 * (BLK-6).
 */
final class BlockBuilder implements ExtentSink {
    private final RegionBuilder output;
    private final Framing framing;
    private final int blockSize;
    /** The index in the output's target where the open block's payload begins, if there is an open block. */
    private int at;
    private int filled;
    private boolean open;

    BlockBuilder(RegionBuilder output, Framing framing, int blockSize) {
        this.output = output;
        this.framing = framing;
        this.blockSize = blockSize;
    }

    @Override
    public void beginOwn(int partition) {
        output.beginOwn(partition);
    }

    @Override
    public void beginShared(Members members) {
        output.beginShared(members);
    }

    @Override
    public void record(ByteBuffer source, int from, int length, int kind, long rows) throws FaroException {
        if (kind != BlockKind.DATA) {
            close(BlockKind.DATA);
            whole(source, from, length, kind);
            return;
        }
        output.addRecords(rows);
        switch (framing) {
            case OPAQUE -> opaque(source, from, length);
            case RECORDS -> oneFramed(source, from, length);
            case ARROW -> whole(source, from, length, BlockKind.DATA);
        }
    }

    @Override
    public void records(ByteBuffer source, int from, int to, int count) throws FaroException {
        if (framing == Framing.RECORDS) {
            output.addRecords(count);
            framed(source, from, to);
        } else {
            ExtentSink.super.records(source, from, to, count);
        }
    }

    @Override
    public void bytes(ByteBuffer source, int from, int to, int count) throws FaroException {
        output.addRecords(count);
        opaque(source, from, to - from);
    }

    /** Adds framed records, as many at once as fit into a block. */
    private void framed(ByteBuffer source, int from, int to) throws FaroException {
        int at = from;
        while (at < to) {
            int end = open ? fitting(source, at, to, blockSize - filled) : fitting(source, at, to, blockSize);
            if (end == at && open) {
                close(BlockKind.DATA);
                continue;
            }
            if (end == at) {
                // The record is larger than a block, so it gets one of its own.
                end = at + 4 + source.getInt(at);
            }
            if (!open) {
                open(Math.max(blockSize, end - at), BlockKind.DATA);
            }
            put(source, at, end - at);
            at = end;
        }
    }

    /** The index after the first records that have at most {@code max} bytes together. */
    private static int fitting(ByteBuffer source, int from, int to, int max) {
        if (to - from <= max) {
            return to;
        }
        int end = from;
        while (true) {
            int size = 4 + source.getInt(end);
            if (size > max - (end - from)) {
                return end;
            }
            end += size;
        }
    }

    private void whole(ByteBuffer source, int from, int length, int kind) throws FaroException {
        open(length, kind);
        put(source, from, length);
        close(kind);
    }

    /** Adds bytes, which are cut wherever a block is full. */
    private void opaque(ByteBuffer source, int from, int length) throws FaroException {
        int done = 0;
        while (done < length) {
            if (!open) {
                open(blockSize, BlockKind.DATA);
            }
            int part = Math.min(length - done, blockSize - filled);
            put(source, from + done, part);
            done += part;
            if (filled == blockSize) {
                close(BlockKind.DATA);
            }
        }
    }

    private void oneFramed(ByteBuffer source, int from, int length) throws FaroException {
        int size = 4 + length;
        if (open && size > blockSize - filled) {
            close(BlockKind.DATA);
        }
        if (!open) {
            open(Math.max(blockSize, size), BlockKind.DATA);
        }
        output.target().putInt(at + filled, length);
        filled += 4;
        put(source, from, length);
    }

    private void open(int max, int kind) throws FaroException {
        at = output.begin(max, kind);
        filled = 0;
        open = true;
    }

    private void put(ByteBuffer source, int from, int length) {
        output.target().put(at + filled, source, from, length);
        filled += length;
    }

    private void close(int kind) throws FaroException {
        if (open) {
            open = false;
            output.end(filled, kind);
        }
    }

    @Override
    public void addRecords(long records) {
        output.addRecords(records);
    }

    @Override
    public void beginBlock(int size, int kind) throws FaroException {
        open(size, kind);
    }

    @Override
    public void addToBlock(ByteBuffer source, int from, int length) {
        put(source, from, length);
    }

    @Override
    public void endBlock(int kind) throws FaroException {
        close(kind);
    }

    @Override
    public void endExtent() throws FaroException {
        close(BlockKind.DATA);
    }
}
