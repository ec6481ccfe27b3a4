package dev.faro.spark.merge;

import dev.faro.FaroException;
import dev.faro.merge.Merge;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The merges that were used last. They keep their buffers, of up to 256 KiB each; others give theirs back, so that
 * thousands of partitions do not take much memory.
 */
final class RecentMerges {
    private static final int MOST = 256;

    private final Map<Merge, Boolean> recent = new LinkedHashMap<>(16, 0.75f, true);

    /** A push to a merge has ended. */
    void used(Merge merge) {
        Merge oldest = null;
        synchronized (this) {
            recent.put(merge, true);
            if (recent.size() > MOST) {
                Iterator<Merge> all = recent.keySet().iterator();
                oldest = all.next();
                all.remove();
            }
        }
        if (oldest != null) {
            try {
                oldest.release();
            } catch (FaroException e) {
                // It was finished meanwhile, or the disk is full: the next push to it reports that.
            }
        }
    }

    /** A merge that is over. */
    synchronized void forget(Merge merge) {
        recent.remove(merge);
    }
}
