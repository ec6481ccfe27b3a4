package dev.faro.internal.index;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.internal.message.MessageBuilder;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A region that is being written: its extents in the order of the file, and what each adds to the statistics. An extent
 * without blocks is counted here, but left out of the message.
 */
public final class RegionDraft {
    /** The maximum size of a region in bytes (REG-3). */
    public static final long MOST_BYTES = 8 * 0xFFFFFFFFL;

    private final FileHeader header;
    private int[] partitions = new int[16];
    private int[] blocks = new int[16];
    private int[] first = new int[16];
    /** One more than the sequence of the last block, as unsigned numbers. */
    private int[] next = new int[16];
    private long[] counts = new long[16 * FIELDS];
    private Members[] members = new Members[0];
    private int extents;
    private int own;
    private long bytes;
    private boolean wrapped;

    private static final int BYTES = 0;
    private static final int PLAIN = 1;
    private static final int RECORDS = 2;
    private static final int FIELDS = 3;

    /** An empty region. */
    public RegionDraft(FileHeader header) {
        this.header = header;
    }

    /** Removes all extents. */
    public void clear() {
        extents = 0;
        own = 0;
        bytes = 0;
        wrapped = false;
        members = new Members[0];
    }

    /** Removes all extents, and releases the memory of shared ones: there may be many more of them than partitions. */
    public void release() {
        clear();
        if (partitions.length > Math.max(16, header.partitionCount())) {
            partitions = new int[16];
            blocks = new int[16];
            first = new int[16];
            next = new int[16];
            counts = new long[16 * FIELDS];
        }
    }

    /** Begins the own extent of a partition. The caller calls this in slot order. */
    public void beginOwn(int partition) {
        grow();
        if (own > 0 && partition < partitions[own - 1]) {
            wrapped = true;
        }
        partitions[extents++] = partition;
        own = extents;
    }

    /** Begins a shared extent. No own extent may follow. */
    public void beginShared(Members extentMembers) {
        grow();
        partitions[extents++] = -1;
        int shared = extents - own;
        if (shared > members.length) {
            members = Arrays.copyOf(members, Math.max(4, 2 * shared));
        }
        members[shared - 1] = extentMembers;
    }

    private void grow() {
        if (extents == partitions.length) {
            int count = header.partitionCount();
            int capacity = extents < count ? Math.min(2 * extents, count) : 2 * extents;
            partitions = Arrays.copyOf(partitions, capacity);
            blocks = Arrays.copyOf(blocks, capacity);
            first = Arrays.copyOf(first, capacity);
            next = Arrays.copyOf(next, capacity);
            counts = Arrays.copyOf(counts, capacity * FIELDS);
        }
        blocks[extents] = 0;
        Arrays.fill(counts, extents * FIELDS, (extents + 1) * FIELDS, 0);
    }

    /** Adds a block to the last extent, with its size in the file and the plain size of its data. */
    public void addBlock(long bytesInFile, long plainBytes, long sequence) {
        int extent = extents - 1;
        if (blocks[extent]++ == 0) {
            first[extent] = (int) sequence;
        }
        next[extent] = (int) (sequence + 1);
        counts[extent * FIELDS + BYTES] += bytesInFile;
        counts[extent * FIELDS + PLAIN] += plainBytes;
        bytes += bytesInFile;
    }

    /** Adds to the number of records in the last extent. */
    public void addRecords(long records) {
        counts[(extents - 1) * FIELDS + RECORDS] += records;
    }

    /** The size of all blocks in bytes. */
    public long bytes() {
        return bytes;
    }

    /** The number of extents. The shared ones are last. */
    public int extents() {
        return extents;
    }

    /** The number of own extents. */
    public int ownExtents() {
        return own;
    }

    /** The partition of an own extent. */
    public int partition(int extent) {
        return partitions[extent];
    }

    /** The members of a shared extent. */
    public Members members(int extent) {
        return members[extent - own];
    }

    private long count(int extent, int field) {
        return counts[extent * FIELDS + field];
    }

    /** The number of blocks in an extent. */
    public long blocks(int extent) {
        return blocks[extent];
    }

    /** One more than the sequence of an extent's last block. */
    public long next(int extent) {
        return Integer.toUnsignedLong(next[extent]);
    }

    /** The size of an extent's blocks in bytes, with headers and padding. */
    public long bytes(int extent) {
        return count(extent, BYTES);
    }

    /** The plain size of an extent's data blocks in bytes. */
    public long plain(int extent) {
        return count(extent, PLAIN);
    }

    /** The number of records in an extent's data blocks. */
    public long records(int extent) {
        return count(extent, RECORDS);
    }

    /** Whether a region with this number of own extents is sparse (SRT-8). */
    public static boolean isSparse(long ownExtents, int partitionCount) {
        return 2 * ownExtents + 1 < partitionCount;
    }

    /**
     * Builds the region's message in its canonical form (SRT-8).
     *
     * @param rotation the rotation of a dense region
     * @throws FaroException {@code limit-exceeded} if the message would be too large for a buffer
     */
    public ByteBuffer message(long sequence, long dataOffset, int rotation) throws FaroException {
        int filled = 0;
        for (int i = 0; i < own; i++) {
            filled += blocks(i) > 0 ? 1 : 0;
        }
        boolean sparse = !wrapped && isSparse(filled, header.partitionCount());
        int slots = sparse ? filled : header.partitionCount();
        int[] offsets = new int[slots + 1];
        int[] named = sparse ? new int[slots] : null;
        int[] firstBlocks = header.selective() ? new int[slots] : null;
        long units = 0;
        int slot = 0;
        for (int i = 0; i < own; i++) {
            if (blocks(i) == 0) {
                continue;
            }
            if (sparse) {
                named[slot] = partitions[i];
            } else {
                int target = slotOf(partitions[i], rotation);
                Arrays.fill(offsets, slot, target, (int) units);
                slot = target;
            }
            if (firstBlocks != null) {
                firstBlocks[slot] = first[i];
            }
            offsets[slot++] = (int) units;
            units += bytes(i) / 8;
        }
        Arrays.fill(offsets, slot, slots + 1, (int) units);
        return MessageBuilder.region(
                sequence, dataOffset, bytes, offsets, sparse ? 0 : rotation, named, shared(), firstBlocks);
    }

    private int slotOf(int partition, int rotation) {
        int relative = partition - header.firstPartition();
        return relative >= rotation ? relative - rotation : relative + header.partitionCount() - rotation;
    }

    private List<MessageBuilder.Shared> shared() {
        List<MessageBuilder.Shared> shared = new ArrayList<>();
        for (int i = own; i < extents; i++) {
            if (blocks(i) > 0) {
                shared.add(new MessageBuilder.Shared(
                        (int) (bytes(i) / 8), members(i).bits(), first[i]));
            }
        }
        return shared;
    }
}
