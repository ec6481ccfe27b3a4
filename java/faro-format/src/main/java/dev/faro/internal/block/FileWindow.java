package dev.faro.internal.block;

import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.internal.bytes.Grant;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A part of a file in memory. It moves forward by positioned reads, which read ahead as far as a budget grants memory
 * for it. What is needed at once is not asked for.
 */
final class FileWindow implements ByteSource {
    private static final int MIN_CAPACITY = 4 << 10;

    private final InputFile file;
    private final boolean direct;
    private final Grant grant;
    private ByteBuffer buffer;
    private long start;
    private int length;

    /** @param budget null if everything is granted */
    FileWindow(InputFile file, boolean direct, MemoryBudget budget) {
        this.file = file;
        this.direct = direct;
        this.grant = new Grant(budget);
    }

    @Override
    public ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public void clear() {
        length = 0;
    }

    @Override
    public void release() {
        length = 0;
        buffer = null;
        grant.settle(0);
    }

    @Override
    public int ensure(long offset, int count, long aheadEnd) throws FaroException {
        if (offset >= start && offset + count <= start + length) {
            return (int) (offset - start);
        }
        long ahead = Math.max(offset + count, aheadEnd) - offset;
        int wanted = (int) Math.max(count, Math.min(file.aheadBytes(), ahead));
        int kept = 0;
        if (offset >= start && offset < start + length) {
            kept = (int) (start + length - offset);
        }
        int from = (int) (offset - start);
        if (buffer == null || buffer.capacity() < wanted) {
            wanted = enlarge(count, wanted, from, kept);
        } else if (kept > 0) {
            buffer.put(0, buffer, from, kept);
        }
        start = offset;
        length = kept;
        file.readFully(buffer.duplicate().limit(wanted).position(kept), offset + kept);
        length = wanted;
        return 0;
    }

    /**
     * Takes larger memory, and moves what is kept to its beginning.
     *
     * @return how many bytes to have: those that are wanted, or fewer if the memory for them is refused
     */
    private int enlarge(int count, int wanted, int from, int kept) throws FaroException {
        boolean asked = wanted > count && wanted > MIN_CAPACITY;
        if (asked && !grant.tryGrow(wanted)) {
            int there = buffer == null ? MIN_CAPACITY : buffer.capacity();
            int possible = Math.max(count, Math.min(wanted, there));
            replace(possible, from, kept);
            return possible;
        }
        long before = asked ? grant.bytes() - wanted : grant.bytes();
        boolean done = false;
        try {
            replace(wanted, from, kept);
            done = true;
        } finally {
            grant.settle(asked && done ? wanted : before);
        }
        return wanted;
    }

    private void replace(int wanted, int from, int kept) {
        ByteBuffer target = buffer == null || buffer.capacity() < wanted ? allocate(wanted) : buffer;
        if (kept > 0) {
            target.put(0, buffer, from, kept);
        }
        buffer = target;
    }

    private ByteBuffer allocate(int wanted) {
        int capacity = Math.max(wanted, MIN_CAPACITY);
        ByteBuffer bytes = direct ? ByteBuffer.allocateDirect(capacity) : ByteBuffer.allocate(capacity);
        return bytes.order(ByteOrder.LITTLE_ENDIAN);
    }
}
