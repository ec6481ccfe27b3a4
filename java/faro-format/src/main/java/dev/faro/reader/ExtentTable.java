package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.bytes.Grant;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.index.Regions;
import dev.faro.internal.message.Directory;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The extents of consecutive partitions in all regions. When partitions are read one after another, this keeps what
 * they need of region messages, so that each message is read once for many partitions (LIM-2).
 */
final class ExtentTable {
    /** The maximum size of a table in bytes, unless one partition needs more. */
    private static final int MAX_BYTES = 4 << 20;
    private static final int ENTRY = 16;

    private final int from;
    private final int count;
    private final int regions;
    /** RegionIndex by region. */
    private final long[] starts;
    private final int[] units;
    private final int[] firstBlocks;
    private final long[] ownBytes;
    private final List<Shared> shared = new ArrayList<>();
    /** For each region, the index of its first shared extent; and the number of all shared extents at the end. */
    private final int[] sharedBegins;

    /**
     * A shared extent that at least one partition of the table reads.
     *
     * @param members numbers relative to the first partition; null for all
     */
    record Shared(long start, long end, long firstBlock, BitSet members) {
        boolean isFor(int index) {
            return members == null || members.get(index);
        }
    }

    private ExtentTable(int from, int count, int regions, boolean selective) {
        this.from = from;
        this.count = count;
        this.regions = regions;
        this.starts = new long[count * regions];
        this.units = new int[count * regions];
        this.firstBlocks = selective ? new int[count * regions] : null;
        this.ownBytes = new long[count];
        this.sharedBegins = new int[regions + 1];
    }

    /**
     * Looks up the extents of partitions, from {@code from} on, as many as fit into a table of limited size.
     *
     * @param grant is asked for the memory of the table
     * @return null if their shared extents do not fit, or the memory was refused; what was granted then stays granted
     * @throws FaroException the first check of a region message that fails, or {@code io}
     */
    static ExtentTable of(Regions regions, Directory directory, int from, int to, Grant grant)
            throws FaroException {
        int max = MAX_BYTES / ENTRY / Math.max(1, directory.size());
        int count = Math.min(to - from, Math.max(1, max));
        boolean selective = regions.header().selective();
        if (!grant.tryGrow(bytes(count, directory.size(), selective))) {
            return null;
        }
        ExtentTable table = new ExtentTable(from, count, directory.size(), selective);
        long room = MAX_BYTES;
        for (int number = 0; number < directory.size(); number++) {
            RegionIndex region = regions.get(directory, number);
            long shared = table.sharedBytes(region);
            room -= shared;
            if (room < 0 || !grant.tryGrow(shared)) {
                return null;
            }
            table.add(number, region);
        }
        return table;
    }

    /** The size of a table without shared extents, approximately, in bytes. */
    private static long bytes(long count, long regions, boolean selective) {
        return count * regions * (selective ? ENTRY : ENTRY - 4) + 8 * count + 4 * regions;
    }

    /** The size of a region's shared extents in the table, in bytes. */
    private long sharedBytes(RegionIndex region) {
        long bytes = 0;
        for (int i = 0; i < region.sharedCount(); i++) {
            if (region.nextMember(i, from, from + count) >= 0) {
                bytes += 64 + (region.isForAll(i) ? 0 : count / 8);
            }
        }
        return bytes;
    }

    private void add(int number, RegionIndex region) {
        for (int i = 0; i < count; i++) {
            int slot = region.slotOf(from + i);
            if (slot >= 0) {
                int at = number * count + i;
                starts[at] = region.start(slot);
                long bytes = region.start(slot + 1) - starts[at];
                units[at] = (int) (bytes >>> 3);
                ownBytes[i] += bytes;
                if (firstBlocks != null) {
                    firstBlocks[at] = (int) region.firstBlock(slot);
                }
            }
        }
        for (int i = 0; i < region.sharedCount(); i++) {
            int member = region.nextMember(i, from, from + count);
            if (member >= 0) {
                BitSet members = region.isForAll(i) ? null : members(region, i, member);
                shared.add(new Shared(region.sharedStart(i), region.sharedEnd(i), region.sharedFirstBlock(i), members));
            }
        }
        sharedBegins[number + 1] = shared.size();
    }

    private BitSet members(RegionIndex region, int extent, int first) {
        BitSet members = new BitSet(count);
        for (int member = first; member >= 0; member = region.nextMember(extent, member + 1, from + count)) {
            members.set(member - from);
        }
        return members;
    }

    /** The first partition. */
    int from() {
        return from;
    }

    /** The number of partitions. */
    int count() {
        return count;
    }

    /** The number of regions. */
    int regions() {
        return regions;
    }

    /** The offset of a partition's own extent in a region; any value if it has none. */
    long start(int region, int index) {
        return starts[region * count + index];
    }

    /** The size of a partition's own extent in a region, in bytes. */
    long bytes(int region, int index) {
        return (units[region * count + index] & 0xFFFFFFFFL) << 3;
    }

    /** The sequence of the first block of an own extent; -1 unless {@code selective}. */
    long firstBlock(int region, int index) {
        return firstBlocks == null ? -1 : firstBlocks[region * count + index] & 0xFFFFFFFFL;
    }

    /** The size of a partition's own extents in all regions, in bytes. */
    long ownBytes(int index) {
        return ownBytes[index];
    }

    /** The index of a region's first shared extent; after the last region, the number of shared extents. */
    int sharedBegin(int region) {
        return sharedBegins[region];
    }

    /** A shared extent, by its index over all regions. */
    Shared shared(int number) {
        return shared.get(number);
    }
}
