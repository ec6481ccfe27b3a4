package dev.faro.internal.sortbuffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.Framing;
import dev.faro.internal.index.Members;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The buffer returns each partition's records in the order of their calls, however it sorts them. */
class SortBufferTest {
    private static final int EVENT = 64;

    private static FileHeader header(int partitions) {
        return header(partitions, Framing.RECORDS);
    }

    private static FileHeader header(int partitions, Framing framing) {
        return new FileHeader(FileKind.INDEX, 0, framing, partitions, 0, 0, 0, 0, 0, new UUID(1, 2));
    }

    /** The records that the buffer returned: for each partition, a line for each record. */
    private static final class Collected implements ExtentSink {
        final TreeMap<Integer, List<String>> partitions = new TreeMap<>();
        final List<Integer> order = new ArrayList<>();
        private List<String> extent;
        private int atOnce;

        @Override
        public void beginOwn(int partition) {
            order.add(partition);
            extent = partitions.computeIfAbsent(partition, any -> new ArrayList<>());
        }

        @Override
        public void beginShared(Members members) {
            beginOwn(-1);
        }

        @Override
        public void record(ByteBuffer source, int at, int length, int kind, long rows) {
            extent.add(line(source.slice(at, length), kind, rows));
        }

        @Override
        public void records(ByteBuffer source, int from, int to, int count) {
            int counted = 0;
            int length;
            for (int at = from; at < to; at += 4 + length) {
                length = source.getInt(at);
                record(source, at + 4, length, 0, 1);
                counted++;
            }
            assertEquals(counted, count);
            atOnce++;
        }

        @Override
        public void bytes(ByteBuffer source, int from, int to, int count) {
            throw new AssertionError("only with framing opaque");
        }

        @Override
        public void endExtent() {
            extent = null;
        }
    }

    /** The records of one partition, joined, and their number. */
    private static final class Stream {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long records;

        void add(ByteBuffer source, int at, int length, long count) {
            byte[] taken = new byte[length];
            source.get(at, taken);
            bytes.writeBytes(taken);
            records += count;
        }

        static List<String> lines(Map<Integer, Stream> streams) {
            return streams.entrySet().stream().map(entry -> entry.getKey() + ": " + entry.getValue().records + " "
                    + Arrays.hashCode(entry.getValue().bytes.toByteArray())).toList();
        }
    }

    /** Collects records without their ends. */
    private static final class Joined implements ExtentSink {
        final TreeMap<Integer, Stream> partitions = new TreeMap<>();
        final List<Integer> order = new ArrayList<>();
        private Stream extent;
        private int atOnce;

        @Override
        public void beginOwn(int partition) {
            order.add(partition);
            extent = partitions.computeIfAbsent(partition, any -> new Stream());
        }

        @Override
        public void beginShared(Members members) {
            throw new AssertionError("nothing is shared");
        }

        @Override
        public void record(ByteBuffer source, int at, int length, int kind, long rows) {
            extent.add(source, at, length, kind == 0 ? 1 : 0);
        }

        @Override
        public void bytes(ByteBuffer source, int from, int to, int count) {
            extent.add(source, from, to - from, count);
            atOnce++;
        }

        @Override
        public void endExtent() {
            extent = null;
        }
    }

    /** Takes everything. */
    private static final class Ignored implements ExtentSink {
        @Override
        public void beginOwn(int partition) {}

        @Override
        public void beginShared(Members members) {}

        @Override
        public void record(ByteBuffer source, int at, int length, int kind, long rows) {}

        @Override
        public void bytes(ByteBuffer source, int from, int to, int count) {}

        @Override
        public void addRecords(long records) {}

        @Override
        public void beginBlock(int size, int kind) {}

        @Override
        public void addToBlock(ByteBuffer source, int from, int length) {}

        @Override
        public void endBlock(int kind) {}

        @Override
        public void endExtent() {}
    }

    private static String line(ByteBuffer record, int kind, long rows) {
        return record.remaining() + " " + record.hashCode() + " " + kind + " " + rows;
    }

    private static ByteBuffer record(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private final TreeMap<Integer, List<String>> expected = new TreeMap<>();
    private final Random random = new Random(7);

    private void add(SortBuffer buffer, int partition, ByteBuffer record, int kind, long rows)
            throws FaroException {
        assertTrue(buffer.add(partition, record, kind, rows));
        expected.computeIfAbsent(partition, any -> new ArrayList<>()).add(line(record, kind, rows));
    }

    /**
     * Covers each way to sort: by counting; by comparing, with many partitions or few records; and of entries only.
     * With few partitions nothing is sorted until a large record.
     */
    @ParameterizedTest
    @CsvSource({"1, 50", "50, 50", "5000, 60", "100000, 300", "1000000, 100", "50, 0", "70, 9000", "3, 200000",
        "4, 300", "4, 512", "16, 530", "17, 300", "2, 0"})
    void givesEachPartitionItsRecords(int partitions, int maxLength) throws FaroException {
        SortBuffer buffer = new SortBuffer(header(partitions), 11 << 20, true);
        for (int region = 0; region < 2; region++) {
            expected.clear();
            ByteBuffer record = record(random, random.nextInt(maxLength + 1));
            for (int i = 0; i < 200_000 && buffer.fits(record.remaining(), null); i++) {
                add(buffer, random.nextInt(partitions), record, 0, 1);
                record = record(random, random.nextInt(maxLength + 1));
            }
            Collected collected = new Collected();
            buffer.drain(0, collected);
            assertTrue(expected.equals(collected.partitions), "each partition has its records in order");
            assertTrue(collected.atOnce > 0);
            assertTrue(buffer.isEmpty());
        }
    }

    /**
     * As above. Lengths are left out where they are not needed; parts with an event keep them. With few partitions
     * nothing is sorted until an event or a large record.
     */
    @ParameterizedTest
    @CsvSource({"1, 50", "50, 50", "5000, 60", "100000, 300", "1000000, 100", "50, 0", "70, 9000", "3, 200000",
        "4, 300", "4, 512", "16, 530", "17, 300", "2, 0"})
    void givesEachPartitionItsBytes(int partitions, int maxLength) throws FaroException {
        SortBuffer buffer = new SortBuffer(header(partitions, Framing.OPAQUE), 11 << 20, true);
        for (int region = 0; region < 2; region++) {
            TreeMap<Integer, Stream> wanted = new TreeMap<>();
            ByteBuffer record = record(random, random.nextInt(maxLength + 1));
            for (int i = 0; i < 200_000 && buffer.fits(record.remaining(), null); i++) {
                int partition = random.nextInt(partitions);
                int kind = region == 1 && i == 100 ? EVENT : 0;
                buffer.add(partition, record, kind, 1);
                wanted.computeIfAbsent(partition, any -> new Stream())
                        .add(record, 0, record.remaining(), kind == 0 ? 1 : 0);
                record = record(random, random.nextInt(maxLength + 1));
            }
            Joined previewed = new Joined();
            buffer.preview(previewed);
            Joined joined = new Joined();
            buffer.drain(0, joined);
            assertTrue(Stream.lines(wanted).equals(Stream.lines(previewed.partitions)), "each partition has its bytes");
            assertTrue(Stream.lines(wanted).equals(Stream.lines(joined.partitions)), "each partition has its bytes");
            assertEquals(maxLength < 9000, joined.atOnce > 0);
        }
    }

    /**
     * Memory for small records in one region is released when large records need memory in the next, and the reverse.
     */
    @ParameterizedTest
    @CsvSource({"4, OPAQUE", "16, OPAQUE", "4, RECORDS", "16, RECORDS"})
    void pilesAndPartsDoNotKeepMemoryAtTheSameTime(int partitions, Framing framing) throws FaroException {
        long size = 9 << 20;
        SortBuffer buffer = new SortBuffer(header(partitions, framing), size, true);
        long max = size + size / 127 + partitions * (64L << 10) + HeapParts.size(size, partitions);
        for (int region = 0; region < 6; region++) {
            int length = region % 2 == 0 ? 500 : 600;
            ByteBuffer record = record(random, length);
            for (int i = 0; buffer.fits(length, null); i++) {
                // First all records in one partition, then in all partitions.
                buffer.add(region < 3 ? 0 : i % partitions, record, 0, 1);
                assertTrue(buffer.capacity() <= max, () -> buffer.capacity() + " of " + max);
            }
            assertTrue(buffer.capacity() > size * 9 / 10);
            buffer.drain(0, framing == Framing.OPAQUE ? new Joined() : new Collected());
        }
        buffer.release();
        assertEquals(0, buffer.capacity());
    }

    /** Events and rows are in order among the records, and a record that is larger than a part has its own part. */
    @ParameterizedTest
    @CsvSource({"20", "4"})
    void keepsSpecialRecords(int partitions) throws FaroException {
        SortBuffer buffer = new SortBuffer(header(partitions), 24 << 20, true);
        for (int i = 0; i < 60_000; i++) {
            int kind = i > 20_000 && random.nextInt(100) == 0 ? EVENT + random.nextInt(64) : 0;
            long rows = i > 20_000 && kind == 0 && random.nextInt(50) == 0 ? random.nextLong() >>> 1 : 1;
            int length = i == 30_000 ? 5 << 20 : random.nextInt(200);
            add(buffer, random.nextInt(partitions), record(random, length), kind, rows);
        }
        Collected collected = new Collected();
        buffer.drain(0, collected);
        assertTrue(expected.equals(collected.partitions), "each partition has its records in order");
    }

    /** A preview returns the same records, and more records may follow it. */
    @ParameterizedTest
    @CsvSource({"30", "4"})
    void keepsRecordsAfterAPreview(int partitions) throws FaroException {
        SortBuffer buffer = new SortBuffer(header(partitions), 9 << 20, true);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 20_000; i++) {
                add(buffer, random.nextInt(partitions), record(random, random.nextInt(200)), 0, 1);
            }
            for (int look = 0; look < 2; look++) {
                Collected collected = new Collected();
                buffer.preview(collected);
                assertTrue(expected.equals(collected.partitions), "each partition has its records in order");
            }
        }
        Collected collected = new Collected();
        buffer.drain(0, collected);
        assertTrue(expected.equals(collected.partitions), "each partition has its records in order");
    }

    /** A dense region begins at the rotation, a sparse region at its lowest partition (SRT-8). */
    @Test
    void rotates() throws FaroException {
        SortBuffer buffer = new SortBuffer(header(10), 1 << 20, true);
        for (int partition : new int[] {9, 0, 4, 5, 7, 2}) {
            buffer.add(partition, record(random, 3), 0, 1);
        }
        Collected dense = new Collected();
        buffer.drain(5, dense);
        assertEquals(List.of(5, 7, 9, 0, 2, 4), dense.order);

        for (int partition : new int[] {9, 0, 5}) {
            buffer.add(partition, record(random, 3), 0, 1);
        }
        Collected sparse = new Collected();
        buffer.drain(5, sparse);
        assertEquals(List.of(0, 5, 9), sparse.order);
    }

    /** With framing opaque, empty records leave no block, and so do not make a region dense (WRT-2, SRT-8). */
    @Test
    void rotatesByExtentsWithBlocks() throws FaroException {
        SortBuffer buffer = new SortBuffer(header(10, Framing.OPAQUE), 1 << 20, true);
        for (int partition : new int[] {9, 0, 4, 5, 7, 2}) {
            buffer.add(partition, record(random, partition == 9 || partition == 5 ? 3 : 0), 0, 1);
        }
        Joined sparse = new Joined();
        buffer.drain(5, sparse);
        assertEquals(List.of(0, 2, 4, 5, 7, 9), sparse.order);
        assertTrue(sparse.atOnce > 0);

        for (int partition : new int[] {9, 0, 4, 5, 7, 2}) {
            buffer.add(partition, record(random, partition == 9 ? 0 : 3), 0, 1);
        }
        Joined dense = new Joined();
        buffer.drain(5, dense);
        assertEquals(List.of(5, 7, 9, 0, 2, 4), dense.order);
    }

    /** Without order, a shared extent may get records after other extents began; all of them come after own extents. */
    @Test
    void sharedExtentsFollow() throws FaroException {
        FileHeader header = header(10);
        SortBuffer buffer = new SortBuffer(header, 1 << 20, false);
        Members some = Members.of(header, new int[] {1, 3});
        ByteBuffer[] records = new ByteBuffer[5];
        Arrays.setAll(records, i -> record(random, 10 + i));
        buffer.add(Members.ALL, records[0], 0, 1);
        buffer.add(some, records[1], EVENT, 1);
        buffer.add(7, records[2], 0, 1);
        buffer.add(Members.ALL, records[3], 0, 1);
        Collected collected = new Collected();
        buffer.drain(0, collected);
        assertEquals(List.of(7, -1, -1), collected.order);
        assertEquals(
                List.of(line(records[0], 0, 1), line(records[3], 0, 1), line(records[1], EVENT, 1)),
                collected.partitions.get(-1));
    }

    /** Slots use the memory for sorting until a part needs it; memory of one region is not kept beside that of the next. */
    @Test
    void slotsUseTheMemoryForSorting() throws FaroException {
        FileHeader header = header(60);
        long size = 6 << 20;
        long sorting = SortBuffer.sortingBytes(header, size);
        SortMemory memory = new SortMemory(null, null);
        SortBuffer buffer = new SortBuffer(header, size, false, memory, SlotPlan.of(header, size, 1000));
        ByteBuffer record = record(random, 100);
        for (int region = 0; region < 6; region++) {
            boolean parts = false;
            for (int i = 0; buffer.fits(100 + 8, Members.ALL); i++) {
                // Records for all partitions: half a region of them, then none, then almost only these.
                if (buffer.charged() > (region % 3 == 0 ? size / 2 : region % 3 == 1 ? size : size / 8)) {
                    assertTrue(buffer.add(Members.ALL, record, 0, 1));
                    parts = true;
                } else {
                    assertTrue(buffer.addAtOnce(i % 60, record) || buffer.add(i % 60, record, 0, 1));
                }
                long lent = parts ? 0 : sorting;
                assertTrue(memory.granted() >= buffer.capacity() - lent, memory.granted() + " of " + buffer.capacity());
                assertTrue(buffer.capacity() <= size + 2 * sorting, () -> buffer.capacity() + " of " + size);
            }
            buffer.drain(0, new Ignored());
            buffer.regionEnded();
        }
        buffer.release();
        assertEquals(0, buffer.capacity());
        assertEquals(0, memory.granted());
    }

    /**
     * With many partitions only short records go into slots, whatever is broadcast beside them, and events count too.
     * Records that are in slots are added at once.
     */
    @ParameterizedTest
    @CsvSource({"64,100,1,true", "300,100,1,false", "300,50,1,true", "300,50,3,true", "300,60,3,false", "600,10,2,true"})
    void shortRecordsGoIntoSlots(int partitions, int length, int eventsForEach, boolean expected) throws FaroException {
        FileHeader header = header(partitions);
        long size = 4 << 20;
        SlotPlan plan = SlotPlan.of(header, size, 1000);
        SortBuffer buffer = new SortBuffer(header, size, false, new SortMemory(null, null), plan);
        ByteBuffer record = record(random, length);
        ByteBuffer large = record(random, 100_000);
        for (int region = 0; region < 3; region++) {
            for (int i = 0; i < 1000 || buffer.charged() < plan.from() + 1000; i++) {
                for (int event = 1; event < eventsForEach; event++) {
                    buffer.add(i % partitions, record, EVENT, 0);
                }
                buffer.add(i % partitions, record, 0, 1);
            }
            assertEquals(expected, buffer.addAtOnce(0, record), "region " + region);
            for (int i = 0; i < 10; i++) {
                buffer.add(Members.ALL, large, 0, 1);
            }
            buffer.drain(0, new Ignored());
            buffer.regionEnded();
            assertEquals(expected, buffer.add(0, record, 0, 1) && buffer.addAtOnce(0, record), "after " + region);
            buffer.drain(0, new Ignored());
            buffer.regionEnded();
        }
    }

    /** Parts share the size evenly. Each is an array of at most 2 or 4 MiB, with what the virtual machine adds. */
    @ParameterizedTest
    @CsvSource({
        "64,1,1", "64,100000,1", "64,2097152,2", "64,16777216,9", "5000,16777216,5", "64,1073741824,514",
        "64,5497558138880,2626591"
    })
    void partsShareTheSize(int partitions, long size, long parts) {
        long segment = HeapParts.size(size, partitions);
        assertEquals(0, segment % 8);
        assertTrue(segment + 16 <= (partitions == 64 ? 2 << 20 : 4 << 20));
        assertTrue(segment <= size + (4 << 10) + 8, "a small buffer takes no more than it needs");
        long share = segment - (4 << 10);
        assertEquals(parts, (size + share - 1) / share);
    }
}
