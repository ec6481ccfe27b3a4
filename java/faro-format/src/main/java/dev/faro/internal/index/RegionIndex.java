package dev.faro.internal.index;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.index.Region;
import dev.faro.index.Run;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.message.TableView;
import dev.faro.internal.message.Verifier;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;

/**
 * One committed region: where the extents of its partitions are. A view of the region's message, without objects for
 * partitions. Immutable, and safe to share between threads. Offsets are absolute, in bytes.
 */
public final class RegionIndex implements Region {
    private static final long U32 = 0xFFFFFFFFL;
    /** In {@link #sharedMembers}: every partition is a member. */
    private static final int ALL_MEMBERS = -1;
    private static final int NO_MEMBERS = -2;

    private final ByteBuffer message;
    private final int firstPartition;
    private final int partitionCount;
    private final int sequence;
    private final long dataOffset;
    private final long dataLength;
    private final IntBuffer offsets;
    private final int rotation;
    private final IntBuffer partitions;
    private final IntBuffer firstBlock;
    /** The runs of a merged file, or null. */
    private final ByteBuffer runs;
    private final long[] sharedStarts;
    private final int[] sharedMembers;
    private final int[] sharedFirstBlocks;

    private RegionIndex(ByteBuffer message, FileHeader header, TableView table) {
        this.message = message;
        this.firstPartition = header.firstPartition();
        this.partitionCount = header.partitionCount();
        this.sequence = (int) table.u32(Fields.REGION_SEQUENCE);
        this.dataOffset = table.u64(Fields.REGION_DATA_OFFSET);
        this.dataLength = table.u64(Fields.REGION_DATA_LENGTH);
        this.offsets = table.bytes(Fields.REGION_OFFSETS, 4).asIntBuffer();
        this.rotation = (int) table.u32(Fields.REGION_ROTATION);
        ByteBuffer sparse = table.bytes(Fields.REGION_PARTITIONS, 4);
        this.partitions = sparse == null ? null : sparse.asIntBuffer();
        ByteBuffer first = table.bytes(Fields.REGION_FIRST_BLOCK, 4);
        this.firstBlock = first == null ? null : first.asIntBuffer();
        this.runs = table.bytes(Fields.REGION_RUNS, Runs.SIZE);
        int shared = table.length(Fields.REGION_SHARED);
        this.sharedStarts = new long[shared + 1];
        this.sharedMembers = new int[shared];
        this.sharedFirstBlocks = new int[shared];
    }

    /**
     * What the reader already knows about a region.
     *
     * @param sequence the number of the region
     * @param dataOffset where the blocks must begin
     * @param orLater whether the blocks may begin later, after dictionaries (DIC-5)
     * @param dataLength the size of the blocks in bytes, or -1 if it is not known
     */
    public record Expected(int sequence, long dataOffset, boolean orLater, long dataLength) {
        /** Expects blocks that begin at exactly this offset. */
        public Expected(int sequence, long dataOffset, long dataLength) {
            this(sequence, dataOffset, false, dataLength);
        }

        private boolean begins(long offset) {
            return offset == dataOffset || orLater && Long.compareUnsigned(offset, dataOffset) > 0;
        }
    }

    /**
     * Checks a region message, by MSG-13, REG-2 to REG-9 and REG-11.
     *
     * @param message little-endian, read from 0 to its limit; the region keeps it
     * @param offset the offset of the message's first byte in the file
     * @throws FaroException {@code malformed-message} or {@code inconsistent-index} at that offset
     */
    public static RegionIndex parse(
            ByteBuffer message, FileHeader header, Expected expected, InputFile file, long offset)
            throws FaroException {
        Verifier.check(message, MessageKind.REGION, header.newerMinor(), file, offset);
        TableView table = TableView.root(message);
        try {
            RegionIndex.check(table, header, expected);
            RegionIndex region = new RegionIndex(message, header, table);
            region.checkShared(table);
            region.checkRuns(header);
            return region;
        } catch (Fault e) {
            throw file.fault(ErrorCode.INCONSISTENT_INDEX, offset, "a region that obeys REG-2 to REG-9 and REG-11",
                    e.getMessage());
        }
    }

    /** A violated rule. It has no stack trace, because it never leaves this class. */
    private static final class Fault extends Exception {
        private static final long serialVersionUID = 1;

        Fault(String message) {
            super(message, null, false, false);
        }
    }

    private static void require(boolean holds, String fault) throws Fault {
        if (!holds) {
            throw new Fault(fault);
        }
    }

    private static void check(TableView table, FileHeader header, Expected expected) throws Fault {
        long sequence = table.u32(Fields.REGION_SEQUENCE);
        require(sequence == expected.sequence, "REG-2: sequence " + sequence);
        long length = table.u64(Fields.REGION_DATA_LENGTH);
        require(length >= 24 && length % 8 == 0 && length <= 8 * U32, "REG-3: data_length " + length);
        long dataOffset = table.u64(Fields.REGION_DATA_OFFSET);
        require(expected.begins(dataOffset), "REG-3: data_offset " + dataOffset);
        require(expected.dataLength < 0 || length == expected.dataLength, "REG-3: data_length " + length);
        boolean sparse = table.has(Fields.REGION_PARTITIONS);
        int slots = sparse ? table.length(Fields.REGION_PARTITIONS) : header.partitionCount();
        int offsetCount = table.length(Fields.REGION_OFFSETS);
        require(offsetCount == slots + 1L, "REG-4: " + offsetCount + " offsets");
        IntBuffer offsets = table.bytes(Fields.REGION_OFFSETS, 4).asIntBuffer();
        require(offsets.get(0) == 0, "REG-4: a first offset that is not 0");
        long before = 0;
        // Texts are made only for a fault: there may be millions of slots.
        for (int i = 1; i <= slots; i++) {
            long next = offsets.get(i) & U32;
            if (next < before) {
                throw new Fault("REG-4: descending offsets at slot " + (i - 1));
            }
            if (sparse && next == before) {
                throw new Fault("REG-5: an empty slot in a sparse region");
            }
            before = next;
        }
        if (sparse) {
            checkPartitions(table.bytes(Fields.REGION_PARTITIONS, 4).asIntBuffer(), header);
        }
        long rotation = table.u32(Fields.REGION_ROTATION);
        require(rotation < (sparse ? 1 : header.partitionCount()), "REG-5: rotation " + rotation);
        boolean named = table.has(Fields.REGION_FIRST_BLOCK);
        // The vector is absent in a region without slots (CAN-3).
        require(
                header.selective() ? named || slots == 0 : !named,
                named ? "REG-9: a first_block vector" : "REG-9: no first_block vector");
        if (named) {
            int firstBlocks = table.length(Fields.REGION_FIRST_BLOCK);
            require(firstBlocks == slots, "REG-9: " + firstBlocks + " first blocks");
            IntBuffer firstBlock = table.bytes(Fields.REGION_FIRST_BLOCK, 4).asIntBuffer();
            for (int i = 0; i < slots; i++) {
                require(offsets.get(i) != offsets.get(i + 1) || firstBlock.get(i) == 0,
                        "REG-9: a first block of an empty slot");
            }
        }
    }

    private static void checkPartitions(IntBuffer partitions, FileHeader header) throws Fault {
        long before = header.firstPartition() - 1L;
        for (int i = 0; i < partitions.limit(); i++) {
            long next = partitions.get(i) & U32;
            if (next <= before) {
                throw new Fault("REG-5: partitions out of order at slot " + i);
            }
            before = next;
        }
        require(before < (long) header.firstPartition() + header.partitionCount(), "REG-5: partition " + before);
    }

    /** Checks REG-6, REG-7 and REG-11; notes the offset and the members of each shared extent. */
    private void checkShared(TableView table) throws Fault {
        long units = offsets.get(slots()) & U32;
        int bytes = (partitionCount + 7) / 8;
        long before = -1;
        for (int i = 0; i < sharedMembers.length; i++) {
            TableView extent = table.table(Fields.REGION_SHARED, i);
            long length = extent.u32(Fields.SHARED_LENGTH);
            if (length < 3) {
                throw new Fault("REG-6: a shared extent of " + length + " units");
            }
            sharedStarts[i] = dataOffset + 8 * units;
            units += length;
            long first = extent.u32(Fields.SHARED_FIRST_BLOCK);
            if (first <= before) {
                throw new Fault("REG-11: first blocks out of order at shared extent " + i);
            }
            sharedFirstBlocks[i] = (int) first;
            before = first;
            int members = extent.vectorAt(Fields.SHARED_MEMBERS);
            int given = members < 0 ? 0 : extent.length(Fields.SHARED_MEMBERS);
            sharedMembers[i] = members < 0 ? ALL_MEMBERS : given == 0 ? NO_MEMBERS : members;
            if (given > 0) {
                require(given == bytes, "REG-7: " + given + " bytes of members");
                int spare = 8 * bytes - partitionCount;
                require((message.get(members + bytes - 1) & 0xFF) >> (8 - spare) == 0,
                        "REG-7: members beyond the last partition");
            }
        }
        sharedStarts[sharedMembers.length] = dataOffset + 8 * units;
        require(units == dataLength / 8, "REG-6: extents of " + units + " units");
    }

    /** Checks REG-8. */
    private void checkRuns(FileHeader header) throws Fault {
        if (runs == null) {
            return;
        }
        require(header.isMerged(), "REG-8: runs in a file that is not merged");
        require(sharedCount() == 0, "REG-8: runs in a region with shared extents");
        int next = 0;
        for (int slot = 0; slot < slots(); slot++) {
            long left = start(slot + 1) - start(slot);
            while (left > 0) {
                require(next < runs.limit(), "REG-8: too few runs");
                left -= checkRun(runs, next);
                require(left >= 0, "REG-8: a run that crosses extents");
                next += Runs.SIZE;
            }
        }
        require(next == runs.limit(), "REG-8: too many runs");
    }

    /** Checks what REG-8 says of a run by itself; its bytes, at least those of one block. */
    private static long checkRun(ByteBuffer runs, int at) throws Fault {
        long first = runs.getInt(at + Runs.FIRST_BLOCK) & U32;
        long blocks = runs.getInt(at + Runs.BLOCKS) & U32;
        long units = runs.getInt(at + Runs.LENGTH) & U32;
        require(blocks >= 1 && blocks <= units / 3, "REG-8: a run of " + blocks + " blocks in " + units + " units");
        require(first + blocks <= U32 + 1, "REG-8: a run of " + blocks + " blocks from " + first + " on");
        int flags = runs.getInt(at + Runs.FLAGS);
        require((flags & ~Runs.LAST) == 0, "REG-8: a run with flags " + Integer.toHexString(flags));
        return 8 * units;
    }

    /** Takes the runs of a region. */
    public interface RunVisitor {
        /** Takes a run, with its partition, and the offset of its first byte in the data file. */
        void run(int partition, long offset, Run run);
    }

    /** Passes each run with its partition, in slot order (REG-8). */
    public void forEachRun(RunVisitor visitor) {
        int slot = 0;
        long at = dataOffset;
        for (int i = 0; i < runCount(); i++) {
            while (start(slot + 1) <= at) {
                slot++;
            }
            Run run = run(i);
            visitor.run(partitionOf(slot), at, run);
            at += run.length();
        }
    }

    /** The number of runs; 0 in a file that is not merged. */
    public int runCount() {
        return runs == null ? 0 : runs.limit() / Runs.SIZE;
    }

    /** A run of a merged file, by its position in the message. */
    public Run run(int number) {
        int at = number * Runs.SIZE;
        return new Run(runs.getLong(at), runs.getLong(at + Runs.ATTEMPT), runs.getInt(at + Runs.FIRST_BLOCK) & U32,
                runs.getInt(at + Runs.BLOCKS) & U32, 8 * (runs.getInt(at + Runs.LENGTH) & U32),
                runs.getInt(at + Runs.FLAGS) == Runs.LAST);
    }

    @Override
    public int sequence() {
        return sequence;
    }

    @Override
    public long dataOffset() {
        return dataOffset;
    }

    @Override
    public long dataEnd() {
        return dataOffset + dataLength;
    }

    /** The memory that the region takes, approximately, in bytes. */
    long memory() {
        return message.capacity() + 16L * sharedMembers.length + 256;
    }

    @Override
    public int slots() {
        return offsets.limit() - 1;
    }

    @Override
    public long start(int slot) {
        return dataOffset + 8 * (offsets.get(slot) & U32);
    }

    @Override
    public int partitionOf(int slot) {
        if (partitions != null) {
            return partitions.get(slot);
        }
        int rest = partitionCount - rotation;
        return firstPartition + (slot < rest ? slot + rotation : slot - rest);
    }

    @Override
    public int slotOf(int partition) {
        if (partitions == null) {
            int relative = partition - firstPartition;
            return relative >= rotation ? relative - rotation : relative + partitionCount - rotation;
        }
        int slot = lowerBound(partition);
        return slot < slots() && partitions.get(slot) == partition ? slot : -1;
    }

    /** In a sparse region, the first slot with a partition of this number or above. */
    private int lowerBound(int partition) {
        int low = 0;
        int high = slots();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (partitions.get(middle) < partition) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /**
     * The slots of the partitions in [from, to), as one or two ranges in slot order.
     *
     * @return begin and end of each range
     */
    public int[] slotsOf(int from, int to) {
        if (partitions != null) {
            return new int[] {lowerBound(from), lowerBound(to)};
        }
        int turn = firstPartition + rotation;
        int rest = partitionCount - rotation;
        int[] high = {Math.max(from, turn) - turn, Math.max(to, turn) - turn};
        int[] low = {Math.min(from, turn) - firstPartition + rest, Math.min(to, turn) - firstPartition + rest};
        return new int[] {high[0], high[1], low[0], low[1]};
    }

    @Override
    public long firstBlock(int slot) {
        return firstBlock.get(slot) & U32;
    }

    @Override
    public int sharedCount() {
        return sharedMembers.length;
    }

    @Override
    public long sharedStart(int shared) {
        return sharedStarts[shared];
    }

    @Override
    public long sharedEnd(int shared) {
        return sharedStarts[shared + 1];
    }

    @Override
    public long sharedFirstBlock(int shared) {
        return sharedFirstBlocks[shared] & U32;
    }

    @Override
    public boolean isForAll(int shared) {
        return sharedMembers[shared] == ALL_MEMBERS;
    }

    @Override
    public boolean isMember(int shared, int partition) {
        int relative = partition - firstPartition;
        int members = sharedMembers[shared];
        return members == ALL_MEMBERS
                || members != NO_MEMBERS && (message.get(members + relative / 8) >> relative % 8 & 1) != 0;
    }

    @Override
    public int nextMember(int shared, int from, int to) {
        if (sharedMembers[shared] == NO_MEMBERS) {
            return -1;
        }
        int partition = from;
        while (partition < to) {
            int relative = partition - firstPartition;
            if (!isForAll(shared) && relative % 8 == 0 && message.get(sharedMembers[shared] + relative / 8) == 0) {
                partition += 8;
            } else if (isMember(shared, partition)) {
                return partition;
            } else {
                partition++;
            }
        }
        return -1;
    }

    @Override
    public long storedBytes(int partition) {
        int slot = slotOf(partition);
        long bytes = slot < 0 ? 0 : start(slot + 1) - start(slot);
        for (int i = 0; i < sharedMembers.length; i++) {
            if (isMember(i, partition)) {
                bytes += sharedEnd(i) - sharedStart(i);
            }
        }
        return bytes;
    }
}
