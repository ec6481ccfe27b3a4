package dev.faro.key;

import dev.faro.FaroException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Assigns keys to partitions by range (KEY-3). This is a convention for tools; files do not depend on it. Immutable.
 */
public final class KeyRanges {
    private final List<byte[]> bounds = new ArrayList<>();

    /**
     * Makes the ranges between bounds.
     *
     * @param bounds encoded keys ({@link KeyHash#encoded}), ascending; one fewer than partitions
     * @throws FaroException {@code invalid-argument} if the bounds are not in ascending order
     */
    public KeyRanges(List<byte[]> bounds) throws FaroException {
        for (byte[] bound : bounds) {
            this.bounds.add(bound.clone());
        }
        for (int i = 1; i < bounds.size(); i++) {
            if (compare(this.bounds.get(i - 1), this.bounds.get(i)) > 0) {
                throw FaroException.invalidArgument(
                        "bounds in ascending order", "bound " + i + " below the one before it");
            }
        }
    }

    /** The partition of an encoded key: {@code firstPartition} plus the number of bounds that are not above the key. */
    public int partition(byte[] key, int firstPartition) {
        int low = 0;
        int high = bounds.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (compare(bounds.get(middle), key) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return firstPartition + low;
    }

    /**
     * Compares two encoded keys by the first value that differs. If one key begins with the other, the shorter one is
     * lower.
     */
    public static int compare(byte[] left, byte[] right) {
        ByteBuffer a = ByteBuffer.wrap(left).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer b = ByteBuffer.wrap(right).order(ByteOrder.LITTLE_ENDIAN);
        while (a.hasRemaining() && b.hasRemaining()) {
            int order = compareValues(a, b);
            if (order != 0) {
                return order;
            }
        }
        return Boolean.compare(a.hasRemaining(), b.hasRemaining());
    }

    private static int compareValues(ByteBuffer a, ByteBuffer b) {
        byte tag = a.get();
        int order = Byte.compare(tag, b.get());
        if (order != 0) {
            return order;
        }
        switch (tag) {
            case KeyHash.NULL:
                return 0;
            case KeyHash.BOOLEAN:
                return Byte.compare(a.get(), b.get());
            case KeyHash.SIGNED:
                return Long.compare(a.getLong(), b.getLong());
            case KeyHash.UNSIGNED:
                return Long.compareUnsigned(a.getLong(), b.getLong());
            case KeyHash.FLOAT:
                // The encoding has one zero, and one NaN, which is above every other number.
                return Double.compare(a.getDouble(), b.getDouble());
            case KeyHash.TEXT:
            case KeyHash.BINARY:
                return compareBytes(a, b);
            default:
                return decimal(a).compareTo(decimal(b));
        }
    }

    private static int compareBytes(ByteBuffer a, ByteBuffer b) {
        byte[] left = new byte[a.getInt()];
        byte[] right = new byte[b.getInt()];
        a.get(left);
        b.get(right);
        return Arrays.compareUnsigned(left, right);
    }

    private static BigDecimal decimal(ByteBuffer bytes) {
        BigInteger low = new BigInteger(Long.toUnsignedString(bytes.getLong()));
        BigInteger unscaled = BigInteger.valueOf(bytes.getLong()).shiftLeft(64).or(low);
        return new BigDecimal(unscaled, bytes.get());
    }
}
