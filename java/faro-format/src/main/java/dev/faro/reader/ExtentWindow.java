package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.internal.block.ByteSource;
import dev.faro.internal.bytes.Grant;
import dev.faro.internal.storage.InputFile;
import dev.faro.plan.ReadPlan;
import dev.faro.storage.RangeRead;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The extents of some partitions of an {@link ExtentTable}, all in memory. They are read by few reads in the order of
 * the file, and delivered in another order. For one thread.
 */
final class ExtentWindow implements ByteSource {
    /** The largest gap that is faster to read than another system call, in bytes. */
    private static final int GAP = 4 << 10;
    private static final int MIN_CAPACITY = 64 << 10;
    private static final ByteBuffer EMPTY = ByteBuffer.allocateDirect(0);

    private final InputFile file;
    /** The maximum size of a window in bytes, without gaps. */
    private final int maxBytes;
    private final Grant grant;
    private ByteBuffer buffer = EMPTY;
    private long[] starts = new long[16];
    private long[] ends = new long[16];
    private int count;
    private ReadPlan reads;
    /** The index of each read's first byte in the buffer. */
    private int[] bufferOffsets = new int[16];
    private int last;

    /** @param budget null if everything is granted */
    ExtentWindow(InputFile file, MemoryBudget budget) {
        this.file = file;
        this.grant = new Grant(budget);
        this.maxBytes = file.windowBytes();
    }

    /**
     * The number of partitions that fit into one window.
     *
     * @param first the index of the first partition in the table
     * @return 0 if not even one partition fits
     */
    int fits(ExtentTable table, int first) {
        int sharedCount = table.sharedBegin(table.regions());
        BitSet taken = new BitSet(sharedCount);
        long bytes = 0;
        int index = first;
        while (index < table.count()) {
            bytes += table.ownBytes(index);
            for (int i = 0; i < sharedCount; i++) {
                if (!taken.get(i) && table.shared(i).isFor(index)) {
                    taken.set(i);
                    bytes += table.shared(i).end() - table.shared(i).start();
                }
            }
            if (bytes > maxBytes) {
                break;
            }
            index++;
        }
        return index - first;
    }

    /**
     * Reads the extents of the partitions in [from, to), which are indexes in the table.
     *
     * @return false if the memory for them was refused
     * @throws FaroException {@code truncated} or {@code io}
     */
    boolean load(ExtentTable table, int from, int to) throws FaroException {
        count = 0;
        for (int region = 0; region < table.regions(); region++) {
            addOwn(table, region, from, to);
            for (int i = table.sharedBegin(region); i < table.sharedBegin(region + 1); i++) {
                ExtentTable.Shared shared = table.shared(i);
                boolean read = shared.members() == null;
                int member = read ? from : shared.members().nextSetBit(from);
                if (member >= 0 && member < to) {
                    add(shared.start(), shared.end());
                }
            }
        }
        reads = ReadPlan.of(starts, ends, count, GAP, maxBytes);
        if (reads.bytes() > 2L * maxBytes) {
            reads = ReadPlan.of(starts, ends, count, 0, maxBytes);
        }
        return read((int) reads.bytes());
    }

    /**
     * Adds the own extents of a region in the order of the file, where a rotation can put the first partition in the
     * middle.
     */
    private void addOwn(ExtentTable table, int region, int from, int to) {
        int turn = from;
        long before = 0;
        for (int i = from; i < to && turn == from; i++) {
            if (table.bytes(region, i) > 0) {
                if (table.start(region, i) < before) {
                    turn = i;
                }
                before = table.start(region, i);
            }
        }
        for (int i = turn; i < to; i++) {
            addOwn(table, region, i);
        }
        for (int i = from; i < turn; i++) {
            addOwn(table, region, i);
        }
    }

    private void addOwn(ExtentTable table, int region, int index) {
        long bytes = table.bytes(region, index);
        if (bytes > 0) {
            add(table.start(region, index), table.start(region, index) + bytes);
        }
    }

    private void add(long start, long end) {
        if (count > 0 && ends[count - 1] == start) {
            ends[count - 1] = end;
            return;
        }
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
            ends = Arrays.copyOf(ends, 2 * count);
        }
        starts[count] = start;
        ends[count++] = end;
    }

    private boolean read(int bytes) throws FaroException {
        if (buffer.capacity() < bytes) {
            int size = Math.max(MIN_CAPACITY, Math.max(bytes, Math.min(maxBytes, Integer.highestOneBit(bytes) << 1)));
            if (!grant.tryGrow(size)) {
                return false;
            }
            try {
                buffer = ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
            } finally {
                grant.settle(grant.asks() ? buffer.capacity() : 0);
            }
        }
        if (bufferOffsets.length < reads.size()) {
            bufferOffsets = new int[Math.max(reads.size(), 2 * bufferOffsets.length)];
        }
        List<RangeRead> ranges = new ArrayList<>(reads.size());
        int at = 0;
        for (int i = 0; i < reads.size(); i++) {
            bufferOffsets[i] = at;
            int length = (int) (reads.end(i) - reads.start(i));
            ranges.add(new RangeRead(reads.start(i), buffer.duplicate().limit(at + length).position(at)));
            at += length;
        }
        file.readRanges(ranges);
        last = 0;
        return true;
    }

    @Override
    public ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public int ensure(long offset, int bytes, long aheadEnd) {
        int read = last;
        if (!holds(read, offset)) {
            // The extents of the next region are usually in the next read.
            read++;
            if (read == reads.size() || !holds(read, offset)) {
                read = find(offset);
            }
            last = read;
        }
        if (offset + bytes > reads.end(read)) {
            throw new IllegalStateException("bytes beyond the extents of a window");
        }
        return bufferOffsets[read] + (int) (offset - reads.start(read));
    }

    private boolean holds(int read, long offset) {
        return offset >= reads.start(read) && offset < reads.end(read);
    }

    private int find(long offset) {
        int low = 0;
        int high = reads.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (reads.start(middle) <= offset) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** The bytes of a window do not change. */
    @Override
    public void clear() {}

    @Override
    public void release() {
        buffer = EMPTY;
        grant.settle(0);
    }
}
