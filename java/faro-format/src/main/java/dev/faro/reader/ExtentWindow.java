package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.block.ByteSource;
import dev.faro.internal.storage.InputFile;
import dev.faro.plan.ReadPlan;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The extents of some partitions of an {@link ExtentTable}, all of them in memory: few reads in the order of the file,
 * to be delivered in another. For one thread.
 */
final class ExtentWindow implements ByteSource {
    /** Bytes of a window at most, without gaps. */
    static final int MOST = 4 << 20;
    /** A gap that takes less time to read than another call. */
    private static final int GAP = 4 << 10;
    private static final int LEAST = 64 << 10;

    private final InputFile file;
    private ByteBuffer buffer = ByteBuffer.allocateDirect(0);
    private long[] starts = new long[16];
    private long[] ends = new long[16];
    private int count;
    private ReadPlan reads;
    /** Where each read begins in the buffer. */
    private int[] places = new int[16];
    private int last;

    ExtentWindow(InputFile file) {
        this.file = file;
    }

    /**
     * How many partitions fit into one window.
     *
     * @param first of them, its number in the table
     * @return 0 if not even one fits
     */
    static int fits(ExtentTable table, int first) {
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
            if (bytes > MOST) {
                break;
            }
            index++;
        }
        return index - first;
    }

    /**
     * Reads the extents of the partitions from {@code from} to before {@code to}, by their numbers in the table.
     *
     * @throws FaroException {@code truncated} or {@code io}
     */
    void load(ExtentTable table, int from, int to) throws FaroException {
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
        reads = ReadPlan.of(starts, ends, count, GAP, MOST);
        if (reads.bytes() > 2L * MOST) {
            reads = ReadPlan.of(starts, ends, count, 0, MOST);
        }
        read((int) reads.bytes());
    }

    /** The own extents of a region in the order of the file: a rotation makes the numbers begin in the middle. */
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

    private void read(int bytes) throws FaroException {
        if (buffer.capacity() < bytes) {
            int size = Math.max(LEAST, Math.max(bytes, Math.min(MOST, Integer.highestOneBit(bytes) << 1)));
            buffer = ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
        }
        if (places.length < reads.size()) {
            places = new int[Math.max(reads.size(), 2 * places.length)];
        }
        int at = 0;
        for (int i = 0; i < reads.size(); i++) {
            places[i] = at;
            int length = (int) (reads.end(i) - reads.start(i));
            file.readFully(buffer.duplicate().limit(at + length).position(at), reads.start(i));
            at += length;
        }
        last = 0;
    }

    @Override
    public ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public int ensure(long offset, int bytes, long aheadEnd) {
        int read = last;
        if (!holds(read, offset)) {
            // The next region's extents are in the next read, as a rule.
            read++;
            if (read == reads.size() || !holds(read, offset)) {
                read = find(offset);
            }
            last = read;
        }
        if (offset + bytes > reads.end(read)) {
            throw new IllegalStateException("bytes beyond the extents of a window");
        }
        return places[read] + (int) (offset - reads.start(read));
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

    /** What a window has does not change. */
    @Override
    public void clear() {}
}
