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
    /** The number of reads after a refusal before the next request to the budget. */
    private static final int READS_WITHOUT = 64;

    private final InputFile file;
    private final boolean direct;
    private final Grant grant;
    private ByteBuffer buffer;
    private long start;
    private int length;
    private int readsWithout;

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
        long before = grant.bytes();
        int possible = granted(count, wanted);
        long after = before;
        try {
            prepare(possible, (int) (offset - start), kept);
            after = grant.bytes() > before ? possible : before;
        } finally {
            grant.settle(after);
        }
        wanted = possible;
        start = offset;
        length = kept;
        file.readFully(buffer.duplicate().limit(wanted).position(kept), offset + kept);
        length = wanted;
        return 0;
    }

    /**
     * Asks for the memory of what is read ahead, beside the memory that is there already.
     *
     * @return how many bytes to have: those that are wanted, or fewer if the memory for them is refused
     */
    private int granted(int count, int wanted) {
        if (!grant.asks() || wanted <= Math.max(count, MIN_CAPACITY) || wanted <= grant.bytes()) {
            return wanted;
        }
        if (readsWithout > 0) {
            readsWithout--;
        } else if (grant.tryGrow(wanted)) {
            return wanted;
        } else {
            readsWithout = READS_WITHOUT;
        }
        return (int) Math.max(count, Math.min(wanted, Math.max(MIN_CAPACITY, grant.bytes())));
    }

    /** Makes room for some bytes, and moves what is kept to the beginning. */
    private void prepare(int wanted, int from, int kept) {
        ByteBuffer target = buffer;
        if (target == null || target.capacity() < wanted || isTooLarge(wanted)) {
            target = allocate(wanted);
        }
        if (kept > 0) {
            target.put(0, buffer, from, kept);
        }
        buffer = target;
    }

    /** Whether the memory is that of a large block, without a grant. */
    private boolean isTooLarge(int wanted) {
        return grant.asks() && buffer.capacity() > Math.max(wanted, Math.max(file.aheadBytes(), grant.bytes()));
    }

    private ByteBuffer allocate(int wanted) {
        int capacity = Math.max(wanted, MIN_CAPACITY);
        ByteBuffer bytes = direct ? ByteBuffer.allocateDirect(capacity) : ByteBuffer.allocate(capacity);
        return bytes.order(ByteOrder.LITTLE_ENDIAN);
    }
}
