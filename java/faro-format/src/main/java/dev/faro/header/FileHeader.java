package dev.faro.header;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.file.Checksum;
import dev.faro.file.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * The 64 bytes at the start of every file (HDR-1 to HDR-5). What has no meaning yet is written as zero (INT-5).
 *
 * @param kind what the file is
 * @param versionMinor which fields its messages may have
 * @param framing what plain payloads are
 * @param partitionCount P, 1 to 2^28
 * @param firstPartition number of the first partition
 * @param readerFeatures bits that a reader must know; only known ones
 * @param writerFeatures bits that who rewrites the file must know
 * @param producer the producer's number, an unsigned 64-bit value
 * @param attempt the producer's attempt, an unsigned 32-bit value
 * @param fileId 16 bytes, the same in both files of a pair
 */
public record FileHeader(
        FileKind kind,
        int versionMinor,
        Framing framing,
        int partitionCount,
        int firstPartition,
        int readerFeatures,
        int writerFeatures,
        long producer,
        int attempt,
        UUID fileId) {
    /** Bytes of a header. */
    public static final int SIZE = 64;
    /** The most partitions, and the bound of their numbers. */
    public static final int MAX_PARTITIONS = 1 << 28;
    /** Reader feature: sequences may have gaps. */
    public static final int SELECTIVE = 1;
    /** Reader feature: blocks may be compressed with dictionaries, which stand in the file. */
    public static final int DICTIONARIES = 2;
    /** The magic as a little-endian number. */
    public static final long MAGIC = 0x1A0A0D4F52414689L;

    private static final int MAJOR = 1;
    private static final int MINOR = 0;
    private static final int MANIFEST = 4;

    /**
     * Reads and checks the header of a file in the order of HDR-1.
     *
     * @throws FaroException the first check that fails, or {@code io}
     */
    public static FileHeader read(InputFile file) throws FaroException {
        long size = file.size();
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(size, SIZE)).order(ByteOrder.LITTLE_ENDIAN);
        file.readFully(bytes, 0);
        checkMagic(file, bytes);
        if (size < SIZE) {
            throw file.fault(ErrorCode.TRUNCATED, size, "a header of 64 bytes", size + " bytes");
        }
        int checksum = new Checksum().add(bytes.clear(), 0, 60).value();
        if (checksum != bytes.getInt(60)) {
            throw file.fault(
                    ErrorCode.CHECKSUM, 0, Checksum.stored(bytes.getInt(60)), Checksum.computed(checksum));
        }
        file.identify(bytes);
        return parse(file, bytes);
    }

    private static void checkMagic(InputFile file, ByteBuffer bytes) throws FaroException {
        int given = Math.min(bytes.capacity(), 8);
        for (int i = 0; i < given; i++) {
            if (bytes.get(i) != (byte) (MAGIC >>> (8 * i))) {
                // The first four bytes alone: whatever follows them looks like a text-mode transfer.
                String found = i > 4 ? "line ends changed, as by a text-mode transfer" : "byte " + i + " differs";
                throw file.fault(ErrorCode.NOT_FARO, 0, "the magic 89 46 41 52 4F 0D 0A 1A", found);
            }
        }
    }

    private static FileHeader parse(InputFile file, ByteBuffer bytes) throws FaroException {
        int major = bytes.get(9) & 0xFF;
        check(major == MAJOR, file, ErrorCode.UNSUPPORTED_VERSION, 9, "version 1", major);
        int readerFeatures = bytes.getInt(16);
        check((readerFeatures & ~(SELECTIVE | DICTIONARIES)) == 0, file, ErrorCode.UNSUPPORTED_FEATURE, 16,
                "no reader feature but selective and dictionaries", hex(readerFeatures));
        int number = bytes.get(8) & 0xFF;
        check(number != MANIFEST, file, ErrorCode.UNSUPPORTED_FEATURE, 8, "kind 1, 2 or 3", "a manifest");
        FileKind kind = FileKind.of(number);
        check(kind != null, file, ErrorCode.MALFORMED_HEADER, 8, "kind 1, 2 or 3", number);
        int framing = bytes.get(11) & 0xFF;
        check(Framing.isKnown(framing), file, ErrorCode.MALFORMED_HEADER, 11, "framing 0, 1 or 2", framing);
        long count = bytes.getInt(12) & 0xFFFFFFFFL;
        check(count >= 1 && count <= MAX_PARTITIONS, file, ErrorCode.MALFORMED_HEADER, 12, "1 to 2^28", count);
        long first = bytes.getInt(36) & 0xFFFFFFFFL;
        check(first + count <= MAX_PARTITIONS, file, ErrorCode.MALFORMED_HEADER, 36,
                "at most 2^28 less " + count, first);
        check(bytes.getInt(56) == 0, file, ErrorCode.MALFORMED_HEADER, 56, "zero", hex(bytes.getInt(56)));
        bytes.order(ByteOrder.BIG_ENDIAN);
        UUID fileId = new UUID(bytes.getLong(40), bytes.getLong(48));
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        return new FileHeader(kind, bytes.get(10) & 0xFF, Framing.of(framing), (int) count, (int) first, readerFeatures,
                bytes.getInt(20), bytes.getLong(24), bytes.getInt(32), fileId);
    }

    private static void check(
            boolean holds, InputFile file, ErrorCode code, long offset, String expected, Object found)
            throws FaroException {
        if (!holds) {
            throw file.fault(code, offset, expected, found);
        }
    }

    /** The 64 bytes, ready to be read, little-endian. */
    public ByteBuffer encode() {
        ByteBuffer bytes = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(0, MAGIC).put(8, (byte) kind.number()).put(9, (byte) MAJOR).put(10, (byte) versionMinor);
        bytes.put(11, (byte) framing.number()).putInt(12, partitionCount).putInt(16, readerFeatures);
        bytes.putInt(20, writerFeatures).putLong(24, producer).putInt(32, attempt).putInt(36, firstPartition);
        bytes.order(ByteOrder.BIG_ENDIAN);
        bytes.putLong(40, fileId.getMostSignificantBits()).putLong(48, fileId.getLeastSignificantBits());
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        return bytes.putInt(60, new Checksum().add(bytes, 0, 60).value());
    }

    /** The same header for another file of the output. */
    public FileHeader withKind(FileKind other) {
        return new FileHeader(other, versionMinor, framing, partitionCount, firstPartition, readerFeatures,
                writerFeatures, producer, attempt, fileId);
    }

    /** Whether sequences may have gaps. */
    public boolean selective() {
        return (readerFeatures & SELECTIVE) != 0;
    }

    /** Whether blocks may be compressed with dictionaries. */
    public boolean hasDictionaries() {
        return (readerFeatures & DICTIONARIES) != 0;
    }

    /** Whether messages may have fields that this reader does not know (MSG-12). */
    public boolean newerMinor() {
        return versionMinor > MINOR;
    }

    /** Whether a number is one of the file's partitions. */
    public boolean has(int partition) {
        return partition >= firstPartition && partition - firstPartition < partitionCount;
    }

    /**
     * Refuses a writer feature that this library does not know; it knows none (HDR-4).
     *
     * @throws FaroException {@code unsupported-feature} at 20
     */
    public void checkRewritable(InputFile file) throws FaroException {
        check(writerFeatures == 0, file, ErrorCode.UNSUPPORTED_FEATURE, 20, "no writer feature", hex(writerFeatures));
    }

    /**
     * Checks that two headers are of one output (FIL-3).
     *
     * @param dataFile the data file, whose header this is
     * @throws FaroException {@code mismatched-pair} in the data file, at the field that differs
     */
    public void checkPair(InputFile dataFile, FileHeader index) throws FaroException {
        same(dataFile, 40, digits(fileId), digits(index.fileId));
        same(dataFile, 12, partitionCount, index.partitionCount);
        same(dataFile, 36, firstPartition, index.firstPartition);
        same(dataFile, 24, Long.toUnsignedString(producer), Long.toUnsignedString(index.producer));
        same(dataFile, 32, Integer.toUnsignedString(attempt), Integer.toUnsignedString(index.attempt));
        same(dataFile, 11, framing, index.framing);
        same(dataFile, 16, hex(readerFeatures), hex(index.readerFeatures));
        same(dataFile, 20, hex(writerFeatures), hex(index.writerFeatures));
        same(dataFile, 10, versionMinor, index.versionMinor);
    }

    private static void same(InputFile file, long offset, Object data, Object index) throws FaroException {
        check(data.equals(index), file, ErrorCode.MISMATCHED_PAIR, offset, index + " as in the index", data);
    }

    private static String digits(UUID id) {
        return id.toString().replace("-", "");
    }

    private static String hex(int value) {
        return String.format("%08x", value);
    }
}
