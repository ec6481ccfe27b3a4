package dev.faro.internal.message;

import java.util.Arrays;

/**
 * The footer's directories: where each region's message and data are, and where the dictionaries are. Grows with each
 * committed region.
 */
public final class Directory {
    private long[] messageOffsets = new long[4];
    private int[] messageSizes = new int[4];
    private long[] dataOffsets = new long[4];
    private long[] dataLengths = new long[4];
    private int count;
    private long[] dictionaryOffsets = new long[1];
    private int[] dictionarySizes = new int[1];
    private int dictionaries;

    /** Adds the next region. */
    public void add(long messageOffset, int messageSize, long dataOffset, long dataLength) {
        if (count == messageOffsets.length) {
            int capacity = 2 * count;
            messageOffsets = Arrays.copyOf(messageOffsets, capacity);
            messageSizes = Arrays.copyOf(messageSizes, capacity);
            dataOffsets = Arrays.copyOf(dataOffsets, capacity);
            dataLengths = Arrays.copyOf(dataLengths, capacity);
        }
        messageOffsets[count] = messageOffset;
        messageSizes[count] = messageSize;
        dataOffsets[count] = dataOffset;
        dataLengths[count++] = dataLength;
    }

    /** Adds the next dictionary. */
    public void addDictionary(long offset, int size) {
        if (dictionaries == dictionaryOffsets.length) {
            dictionaryOffsets = Arrays.copyOf(dictionaryOffsets, 2 * dictionaries);
            dictionarySizes = Arrays.copyOf(dictionarySizes, 2 * dictionaries);
        }
        dictionaryOffsets[dictionaries] = offset;
        dictionarySizes[dictionaries++] = size;
    }

    /** Keeps only the first {@code first} dictionaries. */
    public void keepDictionaries(int first) {
        dictionaries = Math.min(dictionaries, first);
    }

    /** Keeps only the first {@code first} regions. */
    public void keepRegions(int first) {
        count = Math.min(count, first);
    }

    /** The number of dictionaries. */
    public int dictionaryCount() {
        return dictionaries;
    }

    /** The offset of a dictionary's block. Indexes begin at 0, so an index is one less than the dictionary's number. */
    public long dictionaryOffset(int dictionary) {
        return dictionaryOffsets[dictionary];
    }

    /** The stored size of a dictionary in bytes. */
    public int dictionarySize(int dictionary) {
        return dictionarySizes[dictionary];
    }

    /** The number of dictionaries before an offset. */
    public int dictionariesBefore(long offset) {
        int at = Arrays.binarySearch(dictionaryOffsets, 0, dictionaries, offset);
        return at < 0 ? -at - 1 : at;
    }

    /** A copy that does not grow with this one. */
    public Directory copy() {
        Directory copy = new Directory();
        copy.messageOffsets = Arrays.copyOf(messageOffsets, Math.max(4, count));
        copy.messageSizes = Arrays.copyOf(messageSizes, Math.max(4, count));
        copy.dataOffsets = Arrays.copyOf(dataOffsets, Math.max(4, count));
        copy.dataLengths = Arrays.copyOf(dataLengths, Math.max(4, count));
        copy.count = count;
        copy.dictionaryOffsets = Arrays.copyOf(dictionaryOffsets, Math.max(1, dictionaries));
        copy.dictionarySizes = Arrays.copyOf(dictionarySizes, Math.max(1, dictionaries));
        copy.dictionaries = dictionaries;
        return copy;
    }

    /** The number of regions. */
    public int size() {
        return count;
    }

    /** The offset of the block with a region's message. */
    public long messageOffset(int region) {
        return messageOffsets[region];
    }

    /** The size of a region's message in bytes. */
    public int messageSize(int region) {
        return messageSizes[region];
    }

    /** The offset of a region's blocks. */
    public long dataOffset(int region) {
        return dataOffsets[region];
    }

    /** The size of a region's blocks in bytes. */
    public long dataLength(int region) {
        return dataLengths[region];
    }

    /** The offset after a region's blocks. */
    public long dataEnd(int region) {
        return dataOffsets[region] + dataLengths[region];
    }

    /** Whether both have the same regions and dictionaries. */
    public boolean same(Directory other) {
        return count == other.count
                && Arrays.equals(messageOffsets, 0, count, other.messageOffsets, 0, count)
                && Arrays.equals(messageSizes, 0, count, other.messageSizes, 0, count)
                && Arrays.equals(dataOffsets, 0, count, other.dataOffsets, 0, count)
                && Arrays.equals(dataLengths, 0, count, other.dataLengths, 0, count)
                && Arrays.equals(dictionaryOffsets, 0, dictionaries, other.dictionaryOffsets, 0, other.dictionaries)
                && Arrays.equals(dictionarySizes, 0, dictionaries, other.dictionarySizes, 0, other.dictionaries);
    }
}
