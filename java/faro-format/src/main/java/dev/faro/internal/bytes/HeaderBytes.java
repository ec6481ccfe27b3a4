package dev.faro.internal.bytes;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.Framing;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.UUID;

/**
 * The bytes of a {@link FileHeader}: parsing, encoding, and the checks of its fields (HDR-1 to HDR-5, FIL-3). Fields
 * without a meaning are written as zero (INT-5).
 */
public final class HeaderBytes {
    private static final long MAGIC = 0x1A0A0D4F52414689L;
    /** The magic of a tail: the complement of the header's magic. */
    static final long TAIL_MAGIC = ~MAGIC;
    private static final int MAJOR = 1;
    private static final int MANIFEST = 4;

    // The offsets of the fields (HDR-1); the magic is at 0.
    private static final int KIND = 8;
    private static final int VERSION_MAJOR = 9;
    private static final int VERSION_MINOR = 10;
    private static final int FRAMING = 11;
    private static final int PARTITION_COUNT = 12;
    private static final int READER_FEATURES = 16;
    private static final int WRITER_FEATURES = 20;
    private static final int PRODUCER = 24;
    private static final int ATTEMPT = 32;
    private static final int FILE_ID = 40;
    private static final int FIRST_PARTITION = 56;
    private static final int CHECKSUM = 60;

    private HeaderBytes() {}

    /**
     * Checks and parses a header, in the order of HDR-1.
     *
     * @param start the first 64 bytes of the file, or the whole file if it is shorter; little-endian, read from 0 to
     *     its limit
     * @throws FaroException the first check that fails
     */
    public static FileHeader parse(ByteBuffer start, Faults faults) throws FaroException {
        checkMagic(start, faults);
        int size = start.limit();
        if (size < FileHeader.SIZE) {
            throw faults.fault(ErrorCode.TRUNCATED, size, "a header of 64 bytes", size + " bytes");
        }
        int stored = start.getInt(CHECKSUM);
        int computed = new Checksum().add(start, 0, CHECKSUM).value();
        if (stored != computed) {
            throw faults.fault(ErrorCode.CHECKSUM, 0, Checksum.stored(stored), Checksum.computed(computed));
        }
        return parseFields(start, faults);
    }

    private static void checkMagic(ByteBuffer start, Faults faults) throws FaroException {
        int given = Math.min(start.limit(), 8);
        for (int i = 0; i < given; i++) {
            if (start.get(i) != (byte) (MAGIC >>> (8 * i))) {
                // If the first five bytes are right, a transfer in text mode probably changed line ends.
                String found = i > 4 ? "line ends changed, as by a text-mode transfer" : shown(start, given);
                throw faults.fault(ErrorCode.NOT_FARO, 0, "the magic 89 46 41 52 4F 0D 0A 1A", found);
            }
        }
    }

    private static String shown(ByteBuffer bytes, int size) {
        byte[] found = new byte[size];
        bytes.get(0, found);
        return HexFormat.ofDelimiter(" ").withUpperCase().formatHex(found);
    }

    private static FileHeader parseFields(ByteBuffer bytes, Faults faults) throws FaroException {
        int major = bytes.get(VERSION_MAJOR) & 0xFF;
        check(major == MAJOR, faults, ErrorCode.UNSUPPORTED_VERSION, VERSION_MAJOR, "version 1", major);
        int readerFeatures = bytes.getInt(READER_FEATURES);
        check((readerFeatures & ~(FileHeader.SELECTIVE | FileHeader.DICTIONARIES)) == 0, faults,
                ErrorCode.UNSUPPORTED_FEATURE, READER_FEATURES, "no reader features except selective and dictionaries",
                hex(readerFeatures));
        int number = bytes.get(KIND) & 0xFF;
        check(number != MANIFEST, faults, ErrorCode.UNSUPPORTED_FEATURE, KIND, "kind 1, 2, 3 or 5", "a manifest");
        FileKind kind = FileKind.of(number);
        check(kind != null, faults, ErrorCode.MALFORMED_HEADER, KIND, "kind 1, 2, 3 or 5", number);
        Framing framing = Framing.of(bytes.get(FRAMING) & 0xFF);
        check(framing != null, faults, ErrorCode.MALFORMED_HEADER, FRAMING, "framing 0, 1 or 2",
                bytes.get(FRAMING) & 0xFF);
        long count = bytes.getInt(PARTITION_COUNT) & 0xFFFFFFFFL;
        check(count >= 1 && count <= FileHeader.MAX_PARTITIONS, faults, ErrorCode.MALFORMED_HEADER, PARTITION_COUNT,
                "1 to 2^28", count);
        long first = bytes.getInt(FIRST_PARTITION) & 0xFFFFFFFFL;
        check(first + count <= FileHeader.MAX_PARTITIONS, faults, ErrorCode.MALFORMED_HEADER, FIRST_PARTITION,
                "at most 2^28 - " + count, first);
        ByteBuffer id = bytes.duplicate().order(ByteOrder.BIG_ENDIAN);
        UUID fileId = new UUID(id.getLong(FILE_ID), id.getLong(FILE_ID + 8));
        return new FileHeader(kind, bytes.get(VERSION_MINOR) & 0xFF, framing, (int) count, (int) first, readerFeatures,
                bytes.getInt(WRITER_FEATURES), bytes.getLong(PRODUCER), bytes.getLong(ATTEMPT), fileId);
    }

    private static void check(
            boolean holds, Faults faults, ErrorCode code, long offset, String expected, Object found)
            throws FaroException {
        if (!holds) {
            throw faults.fault(code, offset, expected, found);
        }
    }

    /** The 64 bytes of a header with its checksum, from 0 to the limit; little-endian. */
    public static ByteBuffer encode(FileHeader header) {
        ByteBuffer bytes = ByteBuffer.allocate(FileHeader.SIZE).order(ByteOrder.BIG_ENDIAN);
        bytes.putLong(FILE_ID, header.fileId().getMostSignificantBits());
        bytes.putLong(FILE_ID + 8, header.fileId().getLeastSignificantBits());
        bytes.order(ByteOrder.LITTLE_ENDIAN).putLong(0, MAGIC);
        bytes.put(KIND, (byte) header.kind().number()).put(VERSION_MAJOR, (byte) MAJOR);
        bytes.put(VERSION_MINOR, (byte) header.versionMinor()).put(FRAMING, (byte) header.framing().number());
        bytes.putInt(PARTITION_COUNT, header.partitionCount()).putInt(READER_FEATURES, header.readerFeatures());
        bytes.putInt(WRITER_FEATURES, header.writerFeatures()).putLong(PRODUCER, header.producer());
        bytes.putLong(ATTEMPT, header.attempt()).putInt(FIRST_PARTITION, header.firstPartition());
        return bytes.putInt(CHECKSUM, new Checksum().add(bytes, 0, CHECKSUM).value());
    }

    /**
     * Whether the bytes begin with the magic and have the size of a header, which may be damaged.
     *
     * @param start the first bytes of a file; little-endian
     */
    public static boolean looksLike(ByteBuffer start) {
        return start.limit() >= FileHeader.SIZE && start.getLong(0) == MAGIC;
    }

    /** The first four bytes of the file_id, as a big-endian number, of bytes that {@link #looksLike} accepts. */
    public static int fileIdStart(ByteBuffer start) {
        return Integer.reverseBytes(start.getInt(FILE_ID));
    }

    /**
     * Checks that two headers belong to one output (FIL-3).
     *
     * @param dataFile makes the faults of the data file
     * @throws FaroException {@code mismatched-pair} in the data file, at the field that differs
     */
    public static void checkPair(FileHeader data, FileHeader index, Faults dataFile) throws FaroException {
        same(dataFile, FILE_ID, digits(data.fileId()), digits(index.fileId()));
        same(dataFile, PARTITION_COUNT, data.partitionCount(), index.partitionCount());
        same(dataFile, FIRST_PARTITION, data.firstPartition(), index.firstPartition());
        same(dataFile, PRODUCER, Long.toUnsignedString(data.producer()), Long.toUnsignedString(index.producer()));
        same(dataFile, ATTEMPT, Long.toUnsignedString(data.attempt()), Long.toUnsignedString(index.attempt()));
        same(dataFile, FRAMING, data.framing(), index.framing());
        same(dataFile, READER_FEATURES, hex(data.readerFeatures()), hex(index.readerFeatures()));
        same(dataFile, WRITER_FEATURES, hex(data.writerFeatures()), hex(index.writerFeatures()));
        same(dataFile, VERSION_MINOR, data.versionMinor(), index.versionMinor());
    }

    private static void same(Faults dataFile, long offset, Object data, Object index) throws FaroException {
        if (!data.equals(index)) {
            // The texts are made for a fault only: headers are read for each fragment.
            check(false, dataFile, ErrorCode.MISMATCHED_PAIR, offset, index + ", as in the index file", data);
        }
    }

    /**
     * Checks that a file is of the expected kind (OPN-1).
     *
     * @throws FaroException {@code mismatched-pair} at offset 8
     */
    public static void checkKind(FileHeader header, FileKind kind, Faults faults) throws FaroException {
        check(header.kind() == kind, faults, ErrorCode.MISMATCHED_PAIR, KIND, "kind " + kind.number(),
                header.kind().number());
    }

    /**
     * Checks the features of a fragment: checks 3 and 4 of FRG-4.
     *
     * @throws FaroException {@code unsupported-feature} at offset 16 or 20
     */
    public static void checkOfFragment(FileHeader header, Faults faults) throws FaroException {
        check((header.readerFeatures() & ~FileHeader.DICTIONARIES) == 0, faults, ErrorCode.UNSUPPORTED_FEATURE,
                READER_FEATURES, "no reader feature except dictionaries", hex(header.readerFeatures()));
        checkRewritable(header, faults);
    }

    /**
     * Checks that a header is that of a merged file, as the options of a merge say (MRG-4, step 3).
     *
     * @param wanted the header that the options make
     * @param sameId whether the file_id must be equal
     * @throws FaroException {@code mismatched-pair} at the first field that differs
     */
    public static void checkMerged(FileHeader header, FileHeader wanted, boolean sameId, Faults faults)
            throws FaroException {
        equal(header.producer() == wanted.producer(), PRODUCER, "a merged file", faults);
        equal(header.partitionCount() == wanted.partitionCount(), PARTITION_COUNT, "the partition_count", faults);
        equal(header.firstPartition() == wanted.firstPartition(), FIRST_PARTITION, "the first_partition", faults);
        equal(header.framing() == wanted.framing(), FRAMING, "the framing", faults);
        equal(header.attempt() == wanted.attempt(), ATTEMPT, "the generation", faults);
        equal(!sameId || header.fileId().equals(wanted.fileId()), FILE_ID, "the file_id", faults);
        equal(header.readerFeatures() == wanted.readerFeatures(), READER_FEATURES, "the features", faults);
    }

    /**
     * Checks that the header of a fragment fits a push to a merged file (MRG-7).
     *
     * @param fileId the file_id that it has to have
     * @throws FaroException {@code mismatched-pair} at the first field that does not
     */
    public static void checkPush(FileHeader header, long producer, FileHeader merged, UUID fileId, Faults faults)
            throws FaroException {
        equal(header.producer() == producer, PRODUCER, "the producer that pushes", faults);
        equal(header.framing() == merged.framing(), FRAMING, "the framing of the merged file", faults);
        int end = header.firstPartition() + header.partitionCount();
        boolean inside = header.firstPartition() >= merged.firstPartition()
                && end <= merged.firstPartition() + merged.partitionCount();
        equal(inside, FIRST_PARTITION, "partitions of the merged file", faults);
        equal(merged.hasDictionaries() || !header.hasDictionaries(), READER_FEATURES,
                "no dictionaries, as in the merged file", faults);
        equal(header.fileId().equals(fileId), FILE_ID, "the file_id that follows from the names", faults);
    }

    private static void equal(boolean holds, long offset, String expected, Faults faults) throws FaroException {
        check(holds, faults, ErrorCode.MISMATCHED_PAIR, offset, expected, "another value");
    }

    /**
     * Refuses to rewrite a file with a writer feature that this library does not know. It knows none (HDR-4).
     *
     * @throws FaroException {@code unsupported-feature} at offset 20
     */
    public static void checkRewritable(FileHeader header, Faults faults) throws FaroException {
        check(header.writerFeatures() == 0, faults, ErrorCode.UNSUPPORTED_FEATURE, WRITER_FEATURES,
                "no writer feature", hex(header.writerFeatures()));
    }

    private static Digits digits(UUID id) {
        return new Digits(id);
    }

    private static Hex hex(int value) {
        return new Hex(value);
    }

    /** A file_id as an error shows it. */
    private record Digits(UUID id) {
        @Override
        public String toString() {
            return id.toString().replace("-", "");
        }
    }

    /** Features as an error shows them. */
    private record Hex(int value) {
        @Override
        public String toString() {
            return String.format("%08x", value);
        }
    }
}
