package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.codec.Codec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions.CompressionCodec;
import org.apache.flink.runtime.io.network.api.StopMode;
import org.apache.flink.runtime.io.network.buffer.Buffer.DataType;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A partition without a cluster: a reader of several subpartitions gets each as a whole. */
class RangeTest {
    private static final int SUBPARTITIONS = 6;
    private static final int BUFFER = 256;

    @TempDir
    Path folder;

    private final NetworkBufferPool network = new NetworkBufferPool(1024, BUFFER);
    private final ExecutorService executor = Executors.newFixedThreadPool(2);
    private FaroResultPartition partition;
    /** The number of records after which some are for all. A record for one then begins a region. */
    private int burst;

    private void write(long sortBuffer, int records) throws IOException {
        burst = records;
        OutputSettings settings = new OutputSettings(new Disk(folder, Runnable::run, System::nanoTime), folder.resolve("output"),
                Codec.LZ4, BUFFER, sortBuffer, 0, 0, Map.of());
        partition = new FaroResultPartition("test", 0, new ResultPartitionID(), ResultPartitionType.BLOCKING,
                SUBPARTITIONS, SUBPARTITIONS, new ResultPartitionManager(), () -> network.createBufferPool(1, 1024),
                settings,
                new OutputReads(executor, new ReadMemory(64 << 20), new Decoders(), true, new OpenOutputs(1)));
        partition.setup();
        for (int i = 0; i < 200; i++) {
            partition.emitRecord(record("own " + i, i * 13 % 700), i % SUBPARTITIONS);
            if (i % burst == burst - 1) {
                // Several in a row, some of which continue in the next block.
                for (int k = 0; k < 5; k++) {
                    partition.broadcastRecord(record("all " + i + "." + k, k * 150));
                }
            }
        }
        partition.notifyEndOfData(StopMode.DRAIN);
        partition.finish();
        partition.close();
    }

    @AfterEach
    void close() throws Exception {
        partition.release();
        // A task may still work for a released view.
        executor.shutdown();
        assertTrue(executor.awaitTermination(20, TimeUnit.SECONDS));
        assertEquals(List.of(), partition.files().paths());
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(0, files.count());
        }
        network.destroyAllBufferPools();
        network.destroy();
    }

    private static ByteBuffer record(String name, int more) {
        byte[] bytes = (name + " ".repeat(more)).getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(4 + bytes.length).putInt(bytes.length).put(bytes).flip();
    }

    /** The partition has many regions in a pair of files, or one that is in memory. */
    @ParameterizedTest
    @ValueSource(longs = {2_000, 1 << 20})
    void everyRange(long sortBuffer) throws Exception {
        write(sortBuffer, sortBuffer > 2_000 ? 200 : 50);
        assertEquals(sortBuffer > 2_000, partition.files().isInMemory());
        assertEquals(sortBuffer > 2_000 ? 1 : 2, partition.files().paths().size());
        for (int from = 0; from < SUBPARTITIONS; from++) {
            for (int to = from; to < SUBPARTITIONS; to++) {
                check(from, to);
            }
        }
    }

    @Test
    void bytesAreCountedPlain() throws IOException {
        write(2_000, 50);
        long[] bytes = partition.getResultPartitionBytes().createSnapshot().getSubpartitionBytes();
        assertEquals(SUBPARTITIONS, bytes.length);
        for (long each : bytes) {
            // Some 33 records of 350 bytes, 20 of 300, and two events. The stored bytes would be far fewer.
            assertTrue(each > 15_000 && each < 25_000, () -> "bytes " + each);
        }
    }

    private void check(int from, int to) throws Exception {
        int members = to - from + 1;
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        List<DataType> events = drain(from, to, data);
        assertEquals(2 * members, events.size());
        assertTrue(events.subList(0, members).stream().allMatch(type -> type == DataType.END_OF_DATA));
        assertTrue(events.subList(members, 2 * members).stream().allMatch(type -> type == DataType.END_OF_PARTITION));

        Map<String, Integer> found = new TreeMap<>();
        int[] last = new int[SUBPARTITIONS];
        ByteBuffer bytes = ByteBuffer.wrap(data.toByteArray());
        while (bytes.hasRemaining()) {
            byte[] record = new byte[bytes.getInt()];
            bytes.get(record);
            String name = new String(record, StandardCharsets.UTF_8).strip();
            found.merge(name, 1, Integer::sum);
            if (name.startsWith("own ")) {
                int number = Integer.parseInt(name.substring(4));
                assertTrue(number == 0 || number > last[number % SUBPARTITIONS], () -> name + " out of order");
                last[number % SUBPARTITIONS] = number;
            }
        }
        Map<String, Integer> expected = new TreeMap<>();
        for (int i = 0; i < 200; i++) {
            if (i % SUBPARTITIONS >= from && i % SUBPARTITIONS <= to) {
                expected.put("own " + i, 1);
            }
            for (int k = 0; i % burst == burst - 1 && k < 5; k++) {
                expected.put("all " + i + "." + k, members);
            }
        }
        assertEquals(expected, found);
    }

    /** Reads a range as a channel does; returns the types of its events. */
    private List<DataType> drain(int from, int to, ByteArrayOutputStream data) throws Exception {
        TestChannel channel = new TestChannel(partition, from, to, BUFFER, CompressionCodec.LZ4);
        List<DataType> events = new ArrayList<>();
        while (events.size() < 2 * (to - from + 1)) {
            channel.next(buffer -> {
                assertTrue(buffer.readableBytes() <= BUFFER);
                if (buffer.isBuffer()) {
                    assertTrue(events.isEmpty(), "data before events");
                    data.writeBytes(channel.bytes(buffer));
                } else {
                    events.add(buffer.getDataType());
                }
            });
        }
        channel.view().releaseAllResources();
        assertTrue(channel.view().isReleased());
        return events;
    }
}
