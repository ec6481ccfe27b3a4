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

/**
 * Finds the extents of one partition without reading region messages whole (LKP-1 to LKP-3): of each only the pieces that
 * tell where they lie, O(1) bytes of a dense region's message, O(log n) of a sparse one's, and those of its shared
 * extents. Checksums of region messages are not verified and REG-10 is not applied: what is followed is checked by LKP-2,
 * and the sum of what is found against the footer's statistics, if there are any, by LKP-3. Keeps nothing between calls;
 * safe to share between threads.
 */
public final class DirectLookup {
    private final InputFile file;
    private final FileHeader header;
    private final FooterMessage footer;
    private final long footerOffset;

    /**
     * For a finished index or single file.
     *
     * @param footerOffset where the footer block begins
     */
    public DirectLookup(InputFile file, FileHeader header, FooterMessage footer, long footerOffset) {
        this.file = file;
        this.header = header;
        this.footer = footer;
        this.footerOffset = footerOffset;
    }

    /**
     * Looks a partition of the file up in all regions.
     *
     * @throws FaroException {@code inconsistent-index} at the first byte of the first region message that breaks LKP-2, or
     *     of the footer message if the extents' bytes are not as many as it says (LKP-3); {@code truncated} or {@code io}
     */
    public FoundExtents find(int partition) throws FaroException {
        FoundExtents found = new FoundExtents();
        MessagePieces message = new MessagePieces(file);
        Directory directory = footer.directory();
        for (int number = 0; number < directory.size(); number++) {
            message.open(directory.messageOffset(number) + BlockHeader.SIZE,
                    directory.messageSize(number) & 0xFFFFFFFFL);
            new Place(message, number, partition).find(found);
        }
        FooterStatistics statistics = footer.statistics();
        if (statistics != null && statistics.stored(partition) != found.bytes()) {
            throw file.fault(ErrorCode.INCONSISTENT_INDEX, footerOffset + BlockHeader.SIZE,
                    Long.toUnsignedString(statistics.stored(partition)) + " bytes of partition " + partition + " (LKP-3)",
                    found.bytes());
        }
        return found;
    }

    /** One partition in one region. Lengths and places are in units of 8 bytes, which have 32 bits in the message. */
    private final class Place {
        private final MessagePieces message;
        private final TableProbe region;
        private final int number;
        private final int partition;
        private final long dataOffset;
        /** Units of the region's blocks. */
        private final long units;

        Place(MessagePieces message, int number, int partition) throws FaroException {
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
            message.require(offsets != null && offsets.count() == slots + 1, "REG-4: another count of offsets");
            long last = offsets.u32(slots);
            message.require(last <= units, "REG-6: own extents beyond the region");
            long slot = partitions == null ? denseSlot(rotation) : sparseSlot(partitions);
            if (slot >= 0) {
                long begin = offsets.u32(slot);
                long end = offsets.u32(slot + 1);
                message.require(begin <= end && end <= last, "REG-4: offsets that descend");
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
         * The slot that a sparse region has for the partition, or -1. Each step must lead to a number between those that
         * the search met left and right of it, the first ones to partitions of the file: REG-5, as far as it is seen.
         */
        private long sparseSlot(TableProbe.Vector partitions) throws FaroException {
            long low = 0;
            long high = partitions.count();
            long below = header.firstPartition() - 1L;
            long above = (long) header.firstPartition() + header.partitionCount();
            while (low < high) {
                long middle = (low + high) >>> 1;
                long met = partitions.u32(middle);
                message.require(below < met && met < above, "REG-5: partitions that do not ascend");
                if (met == partition) {
                    return middle;
                }
                if (met < partition) {
                    low = middle + 1;
                    below = met;
                } else {
                    high = middle;
                    above = met;
                }
            }
            return -1;
        }

        /** In files with the feature {@code selective}, the sequence of the first block of a slot with blocks. */
        private long firstBlock(long slot, long slots) throws FaroException {
            if (!header.selective()) {
                return 0;
            }
            TableProbe.Vector firstBlocks = region.vector(Fields.REGION_FIRST_BLOCK);
            message.require(firstBlocks != null && firstBlocks.count() == slots, "REG-9: another count of first blocks");
            return firstBlocks.u32(slot);
        }

        /** The shared extents, from the unit at which the own ones end: REG-6, REG-7 (the count of bytes) and REG-11. */
        private void findShared(FoundExtents found, long ownEnd) throws FaroException {
            TableProbe.Vector shared = region.vector(Fields.REGION_SHARED);
            long count = shared == null ? 0 : shared.count();
            long at = ownEnd;
            long before = -1;
            for (long i = 0; i < count; i++) {
                TableProbe extent = shared.table(i);
                long length = extent.u32(Fields.SHARED_LENGTH);
                // Also ends the walk over a vector that is longer than the region has room for.
                message.require(length >= 3 && length <= units - at, "REG-6: a shared extent of another length");
                long firstBlock = extent.u32(Fields.SHARED_FIRST_BLOCK);
                message.require(firstBlock > before, "REG-11: first blocks that do not ascend");
                if (isMember(extent.vector(Fields.SHARED_MEMBERS))) {
                    found.add(number, true, dataOffset + 8 * at, length, firstBlock);
                }
                at += length;
                before = firstBlock;
            }
            message.require(at == units, "REG-6: extents that are not as long as the region");
        }

        /** Reads one byte of a bit set, whatever its length. */
        private boolean isMember(TableProbe.Vector members) throws FaroException {
            if (members == null) {
                return true;
            }
            long bytes = (header.partitionCount() + 7L) / 8;
            message.require(members.count() == 0 || members.count() == bytes, "REG-7: another count of members' bytes");
            int relative = partition - header.firstPartition();
            return members.count() > 0 && (members.u8(relative / 8) >> relative % 8 & 1) != 0;
        }
    }
}
