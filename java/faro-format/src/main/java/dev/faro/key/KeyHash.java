package dev.faro.key;

import dev.faro.FaroException;
import dev.faro.internal.bytes.Utf8;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;

/**
 * Encodes a key of one or more values, and hashes it to a partition (KEY). This is a convention for tools; files do not
 * depend on it. Not for several threads.
 *
 * <pre>{@code
 * KeyHash key = new KeyHash();
 * for (Row row : rows) {
 *     int partition = key.clear().add(row.country()).add(row.id()).partition(0, 64);
 *     writer.write(partition, row.bytes());
 * }
 * }</pre>
 */
public final class KeyHash {
    static final byte NULL = 0;
    static final byte BOOLEAN = 1;
    static final byte SIGNED = 2;
    static final byte UNSIGNED = 3;
    static final byte FLOAT = 4;
    static final byte TEXT = 5;
    static final byte BINARY = 6;
    static final byte DECIMAL = 7;

    private static final XXHash64 HASH = XXHashFactory.fastestInstance().hash64();
    private static final long NAN = 0x7FF8000000000000L;
    private static final BigInteger U64_END = BigInteger.ONE.shiftLeft(64);

    private ByteBuffer key = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);

    /** Makes an empty key. */
    public KeyHash() {}

    private ByteBuffer room(int size) {
        if (key.remaining() < size) {
            byte[] larger = Arrays.copyOf(key.array(), Math.max(2 * key.capacity(), key.position() + size));
            key = ByteBuffer.wrap(larger).order(ByteOrder.LITTLE_ENDIAN).position(key.position());
        }
        return key;
    }

    /** Starts a new key. */
    public KeyHash clear() {
        key.clear();
        return this;
    }

    /** Adds a null. */
    public KeyHash addNull() {
        room(1).put(NULL);
        return this;
    }

    /** Adds a boolean. */
    public KeyHash add(boolean value) {
        room(2).put(BOOLEAN).put((byte) (value ? 1 : 0));
        return this;
    }

    /** Adds an integer of any width, or the integer that represents a date or time. */
    public KeyHash add(long value) {
        room(9).put(SIGNED).putLong(value);
        return this;
    }

    /** Adds an integer, taken as an unsigned 64-bit value. */
    public KeyHash addUnsigned(long value) {
        room(9).put(value < 0 ? UNSIGNED : SIGNED).putLong(value);
        return this;
    }

    /**
     * Adds an integer.
     *
     * @throws FaroException {@code invalid-argument} below -2^63 and from 2^64 on
     */
    public KeyHash add(BigInteger value) throws FaroException {
        if (value.bitLength() > 63 && (value.signum() < 0 || value.compareTo(U64_END) >= 0)) {
            throw FaroException.invalidArgument("an integer from -2^63 to 2^64 - 1", value);
        }
        return value.signum() < 0 ? add(value.longValue()) : addUnsigned(value.longValue());
    }

    /** Adds a floating point number. All zeros are the same key, and so are all NaNs. */
    public KeyHash add(double value) {
        long bits = Double.isNaN(value) ? NAN : value == 0 ? 0 : Double.doubleToRawLongBits(value);
        room(9).put(FLOAT).putLong(bits);
        return this;
    }

    /**
     * Adds a text.
     *
     * @throws FaroException {@code invalid-argument} for an unpaired surrogate, which UTF-8 cannot represent (KEY-1)
     */
    public KeyHash add(String value) throws FaroException {
        return bytes(TEXT, Utf8.encode(value));
    }

    /** Adds bytes. */
    public KeyHash add(byte[] value) {
        return bytes(BINARY, value);
    }

    private KeyHash bytes(byte tag, byte[] value) {
        room(5 + value.length).put(tag).putInt(value.length).put(value);
        return this;
    }

    /**
     * Adds a decimal: {@code unscaled} / 10^{@code scale}.
     *
     * @throws FaroException {@code invalid-argument} if the unscaled value needs more than 128 bits, or the scale more
     *     than 8
     */
    public KeyHash addDecimal(BigInteger unscaled, int scale) throws FaroException {
        if (unscaled.bitLength() > 127 || scale != (byte) scale) {
            throw FaroException.invalidArgument(
                    "a decimal of at most 128 bits with a scale of at most 8 bits", unscaled + " / " + scale);
        }
        room(18).put(DECIMAL).putLong(unscaled.longValue()).putLong(unscaled.shiftRight(64).longValue());
        key.put((byte) scale);
        return this;
    }

    /** The encoding of the key (KEY-1). */
    public byte[] encoded() {
        return Arrays.copyOf(key.array(), key.position());
    }

    /** The hash of the key (KEY-2), an unsigned value. */
    public long hash() {
        return HASH.hash(key.array(), 0, key.position(), 0);
    }

    /**
     * The partition of the key in a file with the partitions from {@code firstPartition} to before
     * {@code firstPartition + partitionCount}; {@code partitionCount} is at least 1.
     */
    public int partition(int firstPartition, int partitionCount) {
        return firstPartition + (int) Long.remainderUnsigned(hash(), partitionCount);
    }
}
