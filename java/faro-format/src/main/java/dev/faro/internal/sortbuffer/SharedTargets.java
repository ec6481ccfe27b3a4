package dev.faro.internal.sortbuffer;

import dev.faro.FileHeader;
import dev.faro.internal.index.Members;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The shared extents of the records in a sort buffer: their members, and the memory that they take (SRT-4). */
final class SharedTargets {
    /** What a shared extent takes besides its members, in bytes. */
    private static final int EXTENT = 400;
    /** How often the members are in memory when the message is written. */
    private static final int COPIES = 5;

    private final FileHeader header;
    private final boolean ordered;
    private final List<Members> extents = new ArrayList<>();
    private final Map<Members, Integer> numbers = new HashMap<>();
    private long bytes;

    /** @param ordered whether other members than the last ones begin a shared extent */
    SharedTargets(FileHeader header, boolean ordered) {
        this.header = header;
        this.ordered = ordered;
    }

    /** The number of the shared extent for a record with these members, or -1. */
    int find(Members members) {
        if (ordered) {
            int last = extents.size() - 1;
            return last >= 0 && extents.get(last).equals(members) ? last : -1;
        }
        return numbers.getOrDefault(members, -1);
    }

    /** Begins the next shared extent, whose memory was {@linkplain #grow counted}. */
    void begin(Members members) {
        numbers.put(members, extents.size());
        extents.add(members);
    }

    Members get(int number) {
        return extents.get(number);
    }

    /** The number of shared extents. */
    int size() {
        return extents.size();
    }

    /** What a shared extent takes until its region has ended, in bytes: here, in the region, and in its message. */
    long bytesOf(Members members) {
        return EXTENT + (members.isAll() ? 0 : COPIES * ((header.partitionCount() + 7L) / 8));
    }

    /** What the shared extents take, also those that were removed and whose region has not ended, in bytes. */
    long bytes() {
        return bytes;
    }

    /** Counts memory that was granted, or is not used after all. */
    void grow(long more) {
        bytes += more;
    }

    /** Removes all extents. Their memory is still in use. */
    void clear() {
        extents.clear();
        numbers.clear();
    }

    /** The region has ended, and with it the memory. */
    void regionEnded() {
        bytes = 0;
    }
}
