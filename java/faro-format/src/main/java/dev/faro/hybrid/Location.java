package dev.faro.hybrid;

import java.util.TreeMap;

/** Where the bytes of a part of an image are in a file. Immutable once it is shared. */
final class Location {
    /** The bytes are where they are in the image. */
    static final Location SAME = new Location();

    private record Stretch(long end, long inFile) {}

    private final TreeMap<Long, Stretch> stretches = new TreeMap<>();

    /** Adds bytes of the image, from {@code start} to {@code end}, that begin at {@code inFile}. */
    void add(long start, long end, long inFile) {
        stretches.put(start, new Stretch(end, inFile));
    }

    /** The offset in the file of a byte of the image, or -1 if it is not there. */
    long find(long offset) {
        if (this == SAME) {
            return offset;
        }
        var found = stretches.floorEntry(offset);
        return found == null || offset >= found.getValue().end ? -1
                : found.getValue().inFile + offset - found.getKey();
    }

    /** The number of bytes from an offset on that are together in the file, if it is there. */
    long together(long offset, long most) {
        return this == SAME ? most : Math.min(most, stretches.floorEntry(offset).getValue().end - offset);
    }
}
