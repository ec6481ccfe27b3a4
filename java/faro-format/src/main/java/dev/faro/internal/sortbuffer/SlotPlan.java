package dev.faro.internal.sortbuffer;

import dev.faro.FileHeader;
import dev.faro.Framing;

/**
 * Whether and when records go into slots. It depends on the options, and with many partitions on the length of records:
 * of the first ones of a region or, after a region in slots, of all of that.
 *
 * @param slotSize the size of a slot in bytes
 * @param blockSize the target for the plain size of a block in bytes
 * @param from the charges at which the records of a region move into slots, in bytes; those of smaller regions never do
 * @param mostCharge the mean charge of records and events up to which they go into slots, in bytes
 */
public record SlotPlan(int slotSize, int blockSize, long from, long mostCharge) {
    /**
     * Up to this many partitions, records that are not longer than a slot go into slots, with buffers of any size. By
     * machine and buffer slots gain up to a third or lose up to a tenth. Longer records are faster in parts (64 KiB by
     * 7 to 14 % on an EPYC).
     */
    private static final int FEW = 64;
    /**
     * Up to this many, slots are faster for short records with buffers of at most {@link #SMALL_SIZE}. Longer records
     * are faster in parts: a slot of a few KiB often ends within a record (benchmark write, 1,000 partitions: by a
     * quarter with 100 bytes and with 1 KiB; with 16 bytes slots are faster by two fifths).
     */
    private static final int MANY = 1 << 10;
    /** The most that a short record is charged, in bytes. */
    private static final long SHORT = 64;
    private static final long SMALL_SIZE = 16 << 20;
    /** The smallest buffer with slots, in bytes: what the slots take when the first records move fits into it. */
    private static final long MIN_SIZE = 2 << 20;
    private static final int LARGEST = 32 << 10;
    private static final int SMALLEST = 2 << 10;
    private static final long MAX_FROM = 1 << 20;

    /**
     * The plan for a writer whose blocks are not compressed.
     *
     * @param size the size of the sort buffer in bytes
     * @return null if slots would not be faster, or would need too much memory
     */
    public static SlotPlan of(FileHeader header, long size, int blockSize) {
        boolean few = header.partitionCount() <= FEW || header.partitionCount() <= MANY && size <= SMALL_SIZE;
        if (!few || size < MIN_SIZE) {
            return null;
        }
        int slotSize = LARGEST;
        while (slotSize >= SMALLEST && unfilled(header, slotSize) > HeapParts.sortingBytes(size, header.partitionCount())) {
            slotSize /= 2;
        }
        long mostCharge = header.partitionCount() <= FEW ? slotSize : SHORT;
        return slotSize < SMALLEST ? null : of(header, size, blockSize, slotSize, mostCharge);
    }

    /** The plan with slots of a given size for records of any length; null if records cannot go into slots. */
    public static SlotPlan of(FileHeader header, long size, int blockSize, int slotSize) {
        return of(header, size, blockSize, slotSize, Long.MAX_VALUE);
    }

    private static SlotPlan of(FileHeader header, long size, int blockSize, int slotSize, long mostCharge) {
        return slotSize == 0 || header.framing() != Framing.RECORDS ? null
                : new SlotPlan(slotSize, blockSize, Math.min(MAX_FROM, size / 16), mostCharge);
    }

    /** Whether slots are for records and events of this number, with these charges in all. */
    boolean isFor(long entries, long charged) {
        return charged / Math.max(1, entries) <= mostCharge;
    }

    /** The size of the slots of partitions that are not full, and of an area, in bytes. */
    private static long unfilled(FileHeader header, int slotSize) {
        return (long) header.partitionCount() * (slotSize + Slots.PARTITION) + Arena.areaBytes(slotSize);
    }

    /** The number of slots for records with these charges, which are not less than what the records take. */
    int slotsFor(int partitions, long charged) {
        // A slot may end with 7 bytes that are not used.
        return (int) (charged / (slotSize - 7)) + 1 + partitions;
    }
}
