package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.faro.FaroException;
import dev.faro.codec.Codec;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The heap memory that writing needs, as the JVM counts it for a thread. */
class WriterMemoryTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int PARTITIONS = 100;
    private static final int RECORDS = 50_000;
    private static final int SORT_BUFFER = 16 << 20;

    @TempDir
    private Path folder;

    private static long allocated() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    private static void write(Writer writer, ByteBuffer record, int partitions, int count) throws FaroException {
        for (int i = 0; i < count; i++) {
            writer.write((i * 31 & 0x7FFFFFFF) % partitions, record);
        }
    }

    /** No memory for each record or block: a second region of the same size needs only the memory of its message. */
    @ParameterizedTest
    @EnumSource(Codec.class)
    void needsNoMemoryForEachRecord(Codec codec) throws FaroException {
        ByteBuffer record = ByteBuffer.allocate(100);
        // A region is full after this many records, and the next begins.
        WriterOptions options = new WriterOptions(PARTITIONS).bufferSize(RECORDS * 112).codec(codec);
        try (Writer writer = Writer.create(folder.resolve("w"), options)) {
            write(writer, record, PARTITIONS, 2 * RECORDS + 1);
            long before = allocated();
            write(writer, record, PARTITIONS, RECORDS - 1);
            assertEquals(0, allocated() - before, 1000);
            write(writer, record, PARTITIONS, 1);
            long forRegion = allocated() - before;
            assertTrue(forRegion < 20_000, forRegion + " bytes for a region");
            writer.finish();
        }
    }

    private static long used() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** A writer that is kept but idle or ended has released its sort buffer. */
    @ParameterizedTest
    @ValueSource(strings = {"flush", "abort", "finish"})
    void releasesTheSortBuffer(String call) throws FaroException {
        ByteBuffer record = ByteBuffer.allocate(1000);
        WriterOptions options = new WriterOptions(PARTITIONS);
        try (Writer writer = Writer.create(folder.resolve("w"), options)) {
            long before = used();
            write(writer, record, PARTITIONS, RECORDS);
            assertTrue(used() - before > 40_000_000, "the sort buffer is full");
            switch (call) {
                case "flush" -> writer.flush();
                case "abort" -> writer.abort();
                default -> writer.finish();
            }
            long kept = used() - before;
            assertTrue(kept < 2_000_000, kept + " bytes after " + call);
            if (call.equals("flush")) {
                write(writer, record, PARTITIONS, 10);
                writer.finish();
            }
        }
    }

    /** A small output needs little memory, however large the sort buffer may become. */
    @Test
    void aSmallOutputNeedsLittleMemory() throws FaroException {
        ByteBuffer record = ByteBuffer.allocate(100);
        WriterOptions options = new WriterOptions(PARTITIONS).bufferSize(SORT_BUFFER);
        // The first output of a JVM loads classes too.
        writeLittle("first", options, record);
        long before = allocated();
        writeLittle("second", options, record);
        long taken = allocated() - before;
        assertTrue(taken < 400_000, taken + " bytes for 30,000 of records");
    }

    private void writeLittle(String name, WriterOptions options, ByteBuffer record) throws FaroException {
        try (Writer writer = Writer.create(folder.resolve(name), options)) {
            write(writer, record, PARTITIONS, 300);
            writer.finish();
        }
    }

    /** Fills a sort buffer twice, in the JVM with little memory. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws FaroException {
            int partitions = Integer.parseInt(arguments[1]);
            try (Writer writer = Writer.create(
                    Path.of(arguments[0]), new WriterOptions(partitions).bufferSize(SORT_BUFFER))) {
                write(writer, ByteBuffer.allocate(100), partitions, 2 * SORT_BUFFER / 112);
                writer.finish();
            }
            System.out.println("written");
        }
    }

    /**
     * The memory is that of the sort buffer and 16 MiB, whatever the number of partitions. One MiB is for direct
     * memory. The memory for a large footer is allocated after the sort buffer was released.
     */
    @ParameterizedTest
    @ValueSource(ints = {10, 100_000})
    void takesTheSortBufferAndSixteenMebibytes(int partitions) throws Exception {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC", "-Xmn1m",
                "-Xmx" + (SORT_BUFFER / (1 << 20) + 15) + "m", "-XX:MaxDirectMemorySize=3m", "-cp",
                System.getProperty("java.class.path"), Child.class.getName(), folder.resolve("w").toString(),
                Integer.toString(partitions));
        Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(child.waitFor(60, TimeUnit.SECONDS), "it ends");
        assertEquals("written\n", output);
    }

    /** All blocks of a region use one buffer, however large they are. */
    @Test
    void largeBlocksUseOneBuffer() throws FaroException {
        BufferPoolMXBean direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).findFirst().orElseThrow();
        ByteBuffer record = ByteBuffer.allocate(1_000_000);
        WriterOptions options = new WriterOptions(PARTITIONS).blockSize(1 << 20).bufferSize(64 << 20);
        try (Writer writer = Writer.create(folder.resolve("w"), options)) {
            write(writer, record, PARTITIONS, 40);
            long before = direct.getMemoryUsed();
            writer.finish();
            // Also what was released and not collected yet.
            assertTrue(direct.getMemoryUsed() - before < 4 << 20, direct.getMemoryUsed() - before + " bytes");
        }
    }

    @Test
    void allocationsAreCounted() {
        long before = allocated();
        byte[] bytes = new byte[1 << 20];
        assertTrue(allocated() - before >= bytes.length);
    }
}
