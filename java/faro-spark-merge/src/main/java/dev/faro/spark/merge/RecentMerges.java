package dev.faro.spark.merge;

import dev.faro.FaroException;
import dev.faro.merge.Merge;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What merges keep in memory of the last pushes, so that small pushes to thousands of partitions become few writes, and
 * do not take much memory. A merge that is given back writes what it has appended.
 */
final class RecentMerges {
    /** The pushed bytes that may wait in memory. A buffer has up to four times the size of what waits in it. */
    private static final long MOST_BYTES = 32 << 20;
    /** What one merge keeps of its pushes at most, in bytes: it writes what is more. */
    private static final long MOST_OF_ONE = 512 << 10;

    /** The bytes that each merge keeps, at most; the one that was used last is the last. */
    private final Map<Merge, Long> recent = new LinkedHashMap<>(16, 0.75f, true);
    private final long mostBytes;
    private long bytes;

    RecentMerges() {
        this(MOST_BYTES);
    }

    /** Keeps this many bytes. */
    RecentMerges(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** A push of this many bytes was merged. */
    void used(Merge merge, long pushed) {
        for (Merge each : exceeding(merge, pushed)) {
            try {
                each.release();
            } catch (FaroException e) {
                // It was finished meanwhile, or the disk is full: the next push to it reports that.
            }
        }
    }

    /** The merges that are to give their memory back: those that have waited longest for a push. */
    private synchronized List<Merge> exceeding(Merge used, long pushed) {
        long before = recent.getOrDefault(used, 0L);
        long own = Math.min(MOST_OF_ONE, before + pushed);
        recent.put(used, own);
        bytes += own - before;
        List<Merge> exceeding = new ArrayList<>();
        Iterator<Map.Entry<Merge, Long>> oldest = recent.entrySet().iterator();
        while (bytes > mostBytes && oldest.hasNext()) {
            Map.Entry<Merge, Long> each = oldest.next();
            bytes -= each.getValue();
            oldest.remove();
            exceeding.add(each.getKey());
        }
        return exceeding;
    }

    /** A merge that is over. */
    synchronized void forget(Merge merge) {
        Long own = recent.remove(merge);
        bytes -= own == null ? 0 : own;
    }
}
