package dev.faro.internal.index;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import java.util.Arrays;
import java.util.Objects;

/** The partitions that read a shared extent: all, or a set. Immutable; equality is by contents. */
public final class Members {
    /** Every partition of the file. */
    public static final Members ALL = new Members(null);
    /** No partition: the members of shared blocks in a rebuilt index (REP-6). */
    public static final Members NONE = new Members(new byte[0]);

    private final byte[] bits;

    private Members(byte[] bits) {
        this.bits = bits;
    }

    /**
     * The members of a set of partitions, in any order, with or without repetitions. A set of all partitions is
     * {@link #ALL} (SRT-5).
     *
     * @throws FaroException {@code invalid-argument} if the set is empty, or has a partition that is not in the file
     */
    public static Members of(FileHeader header, int... partitions) throws FaroException {
        Objects.requireNonNull(partitions, "partitions");
        if (partitions.length == 0) {
            throw FaroException.invalidArgument("a set of at least one partition", "an empty set");
        }
        for (int partition : partitions) {
            if (!header.has(partition)) {
                throw FaroException.invalidArgument("partitions of the file", Integer.toUnsignedString(partition));
            }
        }
        byte[] bits = new byte[(header.partitionCount() + 7) / 8];
        int count = 0;
        for (int partition : partitions) {
            int relative = partition - header.firstPartition();
            int bit = 1 << relative % 8;
            if ((bits[relative / 8] & bit) == 0) {
                bits[relative / 8] |= (byte) bit;
                count++;
            }
        }
        return count == header.partitionCount() ? ALL : new Members(bits);
    }

    /** The bit set of the region message, or null for all; must not be changed. */
    byte[] bits() {
        return bits;
    }

    /** Whether this is all partitions. */
    public boolean isAll() {
        return bits == null;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Members members && Arrays.equals(bits, members.bits);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bits);
    }
}
