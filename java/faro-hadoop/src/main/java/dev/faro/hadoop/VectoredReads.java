package dev.faro.hadoop;

import dev.faro.storage.RangeRead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;

/** Several ranges of a file as Hadoop reads them at once: sorted, inside the file, and none over another. */
final class VectoredReads {
    private final List<RangeRead> ranges = new ArrayList<>();
    private final List<FileRange> reads = new ArrayList<>();

    /** Leaves out ranges that overlap one before them, or are empty. */
    VectoredReads(List<RangeRead> wanted, long size) {
        List<RangeRead> sorted = new ArrayList<>(wanted);
        sorted.sort(Comparator.comparingLong(RangeRead::next));
        long end = 0;
        for (RangeRead range : sorted) {
            long start = range.next();
            int length = (int) Math.max(0, Math.min(range.target().remaining(), size - start));
            if (length > 0 && start >= end) {
                ranges.add(range);
                reads.add(FileRange.createFileRange(start, length));
                end = start + length;
            }
        }
    }

    /**
     * Reads the ranges into memory of its own, so that nothing is written to after a failure, and copies them.
     *
     * @return true
     */
    boolean read(FSDataInputStream in) throws IOException {
        if (!reads.isEmpty()) {
            in.readVectored(reads, ByteBuffer::allocate);
        }
        for (int i = 0; i < reads.size(); i++) {
            ByteBuffer bytes = HadoopFile.await(reads.get(i).getData());
            int length = reads.get(i).getLength();
            if (bytes.remaining() < length) {
                throw new IOException("a vectored read of " + length + " bytes returned " + bytes.remaining());
            }
            ranges.get(i).target().put(bytes.slice().limit(length));
        }
        return true;
    }
}
