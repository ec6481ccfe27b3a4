package dev.faro.internal.index;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.message.Directory;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.message.MessagePieces;
import dev.faro.internal.message.TableProbe;
import dev.faro.internal.storage.InputFile;
import dev.faro.internal.storage.NotBrought;
import dev.faro.storage.RangeRead;
import dev.faro.storage.Wanted;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the extents of one partition without reading whole region messages (LKP-1 to LKP-3). It reads only the pieces
 * that say where the extents are: O(1) bytes of a dense region's message, O(log n) bytes of a sparse region's message,
 * and the list of shared extents. It does not verify checksums of region messages, and does not apply REG-10. Instead,
 * LKP-2 checks what it reads, and LKP-3 compares the sum of the extents with the footer's statistics, if there are any.
 * Keeps nothing between calls. Safe to share between threads.
 */
public final class DirectLookup {
    /** The number of regions whose first pieces are read with one request. */
    private static final int TOGETHER = 1024;

    private final InputFile file;
    private final FileHeader header;
    private final FooterMessage footer;
    private final long footerOffset;

    /**
     * Makes a lookup for a finished index file or single file.
     *
     * @param footerOffset the offset of the footer block
     */
    public DirectLookup(InputFile file, FileHeader header, FooterMessage footer, long footerOffset) {
        this.file = file;
        this.header = header;
        this.footer = footer;
        this.footerOffset = footerOffset;
    }

    private long messageOffset(int region) {
        return footer.directory().messageOffset(region) + BlockHeader.SIZE;
    }

    private long messageSize(int region) {
        return footer.directory().messageSize(region) & 0xFFFFFFFFL;
    }

    /** Reads the first piece of the messages of several regions with one request; empty if each is read alone. */
    private List<ByteBuffer> firstPieces(int from, int to) throws FaroException {
        List<ByteBuffer> pieces = new ArrayList<>();
        List<RangeRead> ranges = new ArrayList<>();
        for (int region = from; region < to; region++) {
            ByteBuffer piece = MessagePieces.firstPiece(messageSize(region));
            pieces.add(piece);
            ranges.add(new RangeRead(messageOffset(region), piece));
        }
        try {
            file.readRanges(ranges);
        } catch (FaroException e) {
            if (!NotBrought.wantedBy(e).isEmpty()) {
                throw e;
            }
            // Read alone, so that the fault of one region is not that of another.
            return List.of();
        }
        pieces.forEach(ByteBuffer::flip);
        return pieces;
    }

    /** The number of regions. */
    public int regions() {
        return footer.directory().size();
    }

    /**
     * Looks up a partition of the file in all regions.
     *
     * @throws FaroException {@code inconsistent-index} at the first byte of the first region message that violates
     *     LKP-2, or of the footer message if its statistics state another number of bytes (LKP-3); {@code truncated} or
     *     {@code io}
     */
    public FoundExtents find(int partition) throws FaroException {
        FoundExtents found = new FoundExtents();
        MessagePieces message = new MessagePieces(file);
        Directory directory = footer.directory();
        List<Wanted> wanted = new ArrayList<>();
        List<ByteBuffer> firstPieces = List.of();
        for (int number = 0; number < directory.size(); number++) {
            if (number % TOGETHER == 0) {
                firstPieces = firstPieces(number, Math.min(directory.size(), number + TOGETHER));
            }
            try {
                message.open(messageOffset(number), messageSize(number),
                        firstPieces.isEmpty() ? null : firstPieces.get(number % TOGETHER));
                new PartitionInRegion(message, number, partition).find(found);
            } catch (FaroException e) {
                List<Wanted> missing = NotBrought.wantedBy(e);
                if (missing.isEmpty() && wanted.isEmpty()) {
                    throw e;
                }
                if (missing.isEmpty()) {
                    break;
                }
                wanted.addAll(missing);
            }
        }
        if (!wanted.isEmpty()) {
            // What all regions lack is wanted at once. A fault after it is found when the lookup is repeated.
            throw file.io("bytes of region messages", new NotBrought(wanted));
        }
        FooterStatistics statistics = footer.statistics();
        if (statistics != null && statistics.stored(partition) != found.bytes()) {
            throw file.fault(ErrorCode.INCONSISTENT_INDEX, footerOffset + BlockHeader.SIZE,
                    Long.toUnsignedString(statistics.stored(partition)) + " bytes of partition " + partition
                            + " (LKP-3)",
                    found.bytes());
        }
        return found;
    }

    /**
     * One partition in one region. Lengths and offsets inside the region are in units of 8 bytes, as in the message,
     * where they have 32 bits.
     */
    private final class PartitionInRegion {
        private final MessagePieces message;
        private final TableProbe region;
        private final int number;
        private final int partition;
        private final long dataOffset;
        /** The size of the region's blocks in units. */
        private final long units;

        PartitionInRegion(MessagePieces message, int number, int partition) throws FaroException {
            this.message = message;
            this.region = TableProbe.root(message, MessageKind.REGION, header.newerMinor());
            this.number = number;
            this.partition = partition;
            this.dataOffset = footer.directory().dataOffset(number);
            long dataLength = footer.directory().dataLength(number);
            this.units = dataLength / 8;
            message.require(region.u32(Fields.REGION_SEQUENCE) == number, "REG-2: another sequence");
            message.require(region.u64(Fields.REGION_DATA_OFFSET) == dataOffset, "REG-3: another data_offset");
            message.require(region.u64(Fields.REGION_DATA_LENGTH) == dataLength, "REG-3: another data_length");
        }

        void find(FoundExtents found) throws FaroException {
            int count = header.partitionCount();
            long rotation = region.u32(Fields.REGION_ROTATION);
            message.require(rotation < count, "REG-5: rotation beyond the last partition");
            TableProbe.Vector partitions = region.vector(Fields.REGION_PARTITIONS);
            long slots = partitions == null ? count : partitions.count();
            message.require(slots <= count, "REG-5: more slots than partitions");
            TableProbe.Vector offsets = region.vector(Fields.REGION_OFFSETS);
            message.require(offsets != null && offsets.count() == slots + 1, "REG-4: a wrong number of offsets");
            long last = offsets.u32(slots);
            message.require(last <= units, "REG-6: own extents beyond the region");
            long slot = partitions == null ? denseSlot(rotation) : sparseSlot(partitions);
            if (slot >= 0) {
                long begin = offsets.u32(slot);
                long end = offsets.u32(slot + 1);
                message.require(begin <= end && end <= last, "REG-4: descending offsets");
                message.require(partitions == null || begin < end, "REG-5: an empty slot in a sparse region");
                if (begin < end) {
                    found.add(number, false, dataOffset + 8 * begin, end - begin, firstBlock(slot, slots));
                }
            }
            findShared(found, last);
        }

        private long denseSlot(long rotation) {
            long relative = partition - header.firstPartition();
            return relative >= rotation ? relative - rotation : relative + header.partitionCount() - rotation;
        }

        /**
         * The slot of the partition in a sparse region, or -1. Each number that the search reads must be between the
         * last ones that it read on the left and on the right; at first, between the bounds of the file's partitions.
         * This is REG-5 as far as the search sees it.
         */
        private long sparseSlot(TableProbe.Vector partitions) throws FaroException {
            long low = 0;
            long high = partitions.count();
            long below = header.firstPartition() - 1L;
            long above = (long) header.firstPartition() + header.partitionCount();
            while (low < high) {
                long middle = (low + high) >>> 1;
                long probed = partitions.u32(middle);
                message.require(below < probed && probed < above, "REG-5: partitions out of order");
                if (probed == partition) {
                    return middle;
                }
                if (probed < partition) {
                    low = middle + 1;
                    below = probed;
                } else {
                    high = middle;
                    above = probed;
                }
            }
            return -1;
        }

        /** In files with the feature {@code selective}, the sequence of the first block of a slot that is not empty. */
        private long firstBlock(long slot, long slots) throws FaroException {
            if (!header.selective()) {
                return 0;
            }
            TableProbe.Vector firstBlocks = region.vector(Fields.REGION_FIRST_BLOCK);
            message.require(firstBlocks != null && firstBlocks.count() == slots,
                    "REG-9: a wrong number of first blocks");
            return firstBlocks.u32(slot);
        }

        /**
         * Adds the shared extents, which begin at the unit {@code ownEnd}: REG-6, REG-7 (number of bytes) and REG-11.
         */
        private void findShared(FoundExtents found, long ownEnd) throws FaroException {
            TableProbe.Vector shared = region.vector(Fields.REGION_SHARED);
            long count = shared == null ? 0 : shared.count();
            long at = ownEnd;
            long before = -1;
            for (long i = 0; i < count; i++) {
                TableProbe extent = shared.table(i);
                long length = extent.u32(Fields.SHARED_LENGTH);
                // This also stops the walk over a vector with more entries than the region has room for.
                message.require(length >= 3 && length <= units - at, "REG-6: a shared extent of a wrong length");
                long firstBlock = extent.u32(Fields.SHARED_FIRST_BLOCK);
                message.require(firstBlock > before, "REG-11: first blocks out of order");
                if (isMember(extent.vector(Fields.SHARED_MEMBERS))) {
                    found.add(number, true, dataOffset + 8 * at, length, firstBlock);
                }
                at += length;
                before = firstBlock;
            }
            message.require(at == units, "REG-6: extents that do not fill the region");
        }

        /** Reads one byte of a bit set, whatever the length of the set. */
        private boolean isMember(TableProbe.Vector members) throws FaroException {
            if (members == null) {
                return true;
            }
            long bytes = (header.partitionCount() + 7L) / 8;
            message.require(members.count() == 0 || members.count() == bytes, "REG-7: a wrong number of member bytes");
            int relative = partition - header.firstPartition();
            return members.count() > 0 && (members.u8(relative / 8) >> relative % 8 & 1) != 0;
        }
    }
}
