package dev.faro.internal.block;

import dev.faro.FaroException;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A part of a file in memory. It moves forward by positioned reads, which read ahead. */
final class FileWindow implements ByteSource {
    private static final int MIN_CAPACITY = 4 << 10;

    private final InputFile file;
    private final boolean direct;
    private ByteBuffer buffer;
    private long start;
    private int length;

    FileWindow(InputFile file, boolean direct) {
        this.file = file;
        this.direct = direct;
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
            ByteBuffer larger = allocate(wanted);
            if (kept > 0) {
                larger.put(0, buffer, from, kept);
            }
            buffer = larger;
        } else if (kept > 0) {
            buffer.put(0, buffer, from, kept);
        }
        start = offset;
        length = kept;
        file.readFully(buffer.duplicate().limit(wanted).position(kept), offset + kept);
        length = wanted;
        return 0;
    }

    private ByteBuffer allocate(int wanted) {
        int capacity = Math.max(wanted, MIN_CAPACITY);
        ByteBuffer bytes = direct ? ByteBuffer.allocateDirect(capacity) : ByteBuffer.allocate(capacity);
        return bytes.order(ByteOrder.LITTLE_ENDIAN);
    }
}
