package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.codec.Codec;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockSeal;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions.CompressionCodec;
import org.apache.flink.runtime.io.network.api.StopMode;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;
import org.apache.flink.runtime.io.network.partition.PartitionNotFoundException;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reading in limited memory, without a cluster. */
@Timeout(30)
class ReadingTest {
    private static final int BUFFER = 4 << 10;
    private static final int RECORD = 1000;

    @TempDir
    Path folder;

    private final NetworkBufferPool network = new NetworkBufferPool(64, BUFFER);
    private final ExecutorService executor = Executors.newFixedThreadPool(2);
    private final List<FaroResultPartition> partitions = new ArrayList<>();

    @AfterEach
    void close() throws InterruptedException {
        partitions.forEach(FaroResultPartition::release);
        executor.shutdown();
        assertTrue(executor.awaitTermination(20, TimeUnit.SECONDS));
        network.destroyAllBufferPools();
        network.destroy();
    }

    /** Reads outputs from their files. */
    private OutputReads reads(ReadMemory memory, boolean consumersDecompress) {
        return new OutputReads(executor, memory, new Decoders(), consumersDecompress, new OpenOutputs(0));
    }

    /** Writes a partition and finishes it; its bytes do not shrink unless {@code texts} is true. */
    private FaroResultPartition write(Codec codec, int subpartitions, int records, boolean texts, OutputReads reads)
            throws IOException {
        return write(codec, subpartitions, records, texts ? records : 0, reads);
    }

    /** Writes a partition and finishes it; the first {@code texts} of its records shrink. */
    private FaroResultPartition write(Codec codec, int subpartitions, int records, int texts, OutputReads reads)
            throws IOException {
        OutputSettings settings = new OutputSettings(new Disk(folder, Runnable::run, System::nanoTime),
                folder.resolve("output" + partitions.size()), codec, BUFFER, 1 << 20, 0, 0, Map.of());
        FaroResultPartition partition = new FaroResultPartition("test", 0, new ResultPartitionID(),
                ResultPartitionType.BLOCKING, subpartitions, subpartitions, new ResultPartitionManager(),
                () -> network.createBufferPool(1, 64), settings, reads);
        partitions.add(partition);
        partition.setup();
        Random random = new Random(1);
        byte[] record = new byte[RECORD];
        for (int i = 0; i < records; i++) {
            if (i >= texts) {
                random.nextBytes(record);
            }
            partition.emitRecord(ByteBuffer.wrap(record), i % subpartitions);
        }
        partition.notifyEndOfData(StopMode.DRAIN);
        partition.finish();
        partition.close();
        return partition;
    }

    private static TestChannel open(FaroResultPartition partition, int subpartition) throws IOException {
        return new TestChannel(partition, subpartition, subpartition, BUFFER, CompressionCodec.LZ4);
    }

    /** Reads to the end of a subpartition; returns the number of bytes of data. */
    private static long drain(TestChannel channel) throws IOException, InterruptedException {
        long[] bytes = new long[1];
        boolean[] ended = new boolean[1];
        while (!ended[0]) {
            channel.next(buffer -> {
                bytes[0] += buffer.isBuffer() ? channel.bytes(buffer).length : 0;
                ended[0] = buffer.getDataType() == Buffer.DataType.END_OF_PARTITION;
            });
        }
        channel.view().releaseAllResources();
        return bytes[0];
    }

    /** All memory holds the data that two tasks read later; the data that they read first is served nevertheless. */
    @Test
    void twoTasksReadTheSameTwoInOppositeOrder() throws Exception {
        OutputReads reads = reads(new ReadMemory(96 << 10), true);
        FaroResultPartition a = write(Codec.NONE, 2, 1000, false, reads);
        FaroResultPartition b = write(Codec.NONE, 2, 1000, false, reads);
        TestChannel a1 = open(a, 1);
        TestChannel b0 = open(b, 0);
        while (!a1.hasNews() || !b0.hasNews()) {
            Thread.sleep(1);
        }
        TestChannel a0 = open(a, 0);
        TestChannel b1 = open(b, 1);
        ExecutorService tasks = Executors.newFixedThreadPool(2);
        try {
            Future<Long> first = tasks.submit(() -> drain(a0) + drain(b0));
            Future<Long> second = tasks.submit(() -> drain(b1) + drain(a1));
            assertEquals(1000L * RECORD, first.get(30, TimeUnit.SECONDS));
            assertEquals(1000L * RECORD, second.get(30, TimeUnit.SECONDS));
        } finally {
            tasks.shutdownNow();
        }
    }

    /** Consumers that take nothing hold as much as the memory allows, and a buffer each. */
    @Test
    void buffersOfManyConsumersAreBounded() throws Exception {
        int consumers = 100;
        long bytes = 160 << 10;
        ReadMemory memory = new ReadMemory(bytes);
        OutputReads reads = reads(memory, true);
        FaroResultPartition partition = write(Codec.NONE, consumers, 40 * consumers, false, reads);
        List<TestChannel> channels = new ArrayList<>();
        for (int i = 0; i < consumers; i++) {
            channels.add(open(partition, i));
        }
        for (TestChannel channel : channels) {
            assertEquals(40L * RECORD, drain(channel));
        }
        assertTrue(memory.mostReady() > BUFFER * consumers / 2, () -> "most " + memory.mostReady());
        assertTrue(memory.mostReady() <= bytes / 2 + (long) BUFFER * (consumers + 2),
                () -> "most " + memory.mostReady());
        assertTrue(memory.hasRoom() && memory.isUnused(), "all was given back");
    }

    @Test
    void aReleasedPartitionIsNotFound() throws Exception {
        OutputReads reads = reads(new ReadMemory(1 << 20), true);
        FaroResultPartition partition = write(Codec.LZ4, 2, 10, true, reads);
        TestChannel channel = open(partition, 0);
        partition.release();
        assertTrue(channel.view().isReleased());
        assertInstanceOf(PartitionNotFoundException.class, channel.view().getFailureCause().getCause());
        assertThrows(PartitionNotFoundException.class, () -> open(partition, 0));
    }

    /** The output is released after the view was made and before its files are opened. */
    @Test
    void anOutputThatIsReleasedBeforeItIsOpenedIsNotFound() {
        OutputReads reads = reads(new ReadMemory(1 << 20), true);
        FinishedOutput output = new FinishedOutput(
                new ResultPartitionID(), "a task", new PartitionFiles(new Disk(folder, Runnable::run, System::nanoTime), folder.resolve("none")), 100, reads);
        output.release();
        IOException failure = assertThrows(IOException.class, () -> output.open(0, 1, false));
        assertInstanceOf(PartitionNotFoundException.class, failure.getCause());
    }

    /** One of two outputs stays open, and the other is opened again; what was released is closed and deleted. */
    @Test
    void theLastOutputsStayOpen() throws Exception {
        OutputReads reads =
                new OutputReads(Runnable::run, new ReadMemory(1 << 20), new Decoders(), true, new OpenOutputs(1));
        FaroResultPartition first = write(Codec.NONE, 2, 10, false, reads);
        FaroResultPartition second = write(Codec.NONE, 2, 10, false, reads);
        for (FaroResultPartition partition : List.of(second, first, second, first)) {
            assertTrue(partition.files().isInMemory());
            assertEquals(5L * RECORD, drain(open(partition, 0)));
            assertEquals(5L * RECORD, drain(open(partition, 1)));
        }
        // The second one was closed when the first one was read, so its file is needed.
        Path file = second.files().paths().get(0);
        Files.delete(file);
        Throwable failure = open(second, 0).waitForFailure();
        assertInstanceOf(PartitionNotFoundException.class, failure.getCause());
        // The first one is in memory.
        Files.delete(first.files().paths().get(0));
        assertEquals(5L * RECORD, drain(open(first, 0)));
        first.release();
        assertThrows(PartitionNotFoundException.class, () -> open(first, 0));
        assertEquals(List.of(), first.files().paths());
    }

    /** Partitions that are written at the same time sort in their shares of the network memory. */
    @Test
    void sortBuffersAreSharesOfTheNetworkMemory() throws Exception {
        OutputReads reads = reads(new ReadMemory(1 << 20), true);
        // There are 64 buffers, of which the partition gets all, then half, then a quarter.
        List<Integer> regions = new ArrayList<>();
        List<BufferPool> others = new ArrayList<>();
        for (int pools = 0; pools < 3; pools++) {
            FaroResultPartition partition = write(Codec.NONE, 2, 400, false, reads);
            try (Reader reader = partition.files().open(ReaderOptions.DEFAULT)) {
                regions.add(reader.regionCount());
            }
            for (int i = 0; i <= pools; i++) {
                others.add(network.createBufferPool(1, 64));
            }
        }
        others.forEach(BufferPool::lazyDestroy);
        assertEquals(List.of(2, 4, 7), regions);
    }

    /** Flink's decompressor reads buffers that stay compressed. */
    @ParameterizedTest
    @EnumSource(value = Codec.class, names = {"LZ4", "ZSTD"})
    void compressedBlocksAreHandedOn(Codec codec) throws Exception {
        OutputReads reads = reads(new ReadMemory(1 << 20), true);
        FaroResultPartition partition = write(codec, 1, 30, true, reads);
        TestChannel channel = new TestChannel(partition, 0, 0, BUFFER, CompressionCodec.valueOf(codec.name()));
        int[] left = {30 * RECORD};
        while (left[0] > 0) {
            channel.next(buffer -> {
                assertTrue(buffer.isCompressed() && buffer.readableBytes() < BUFFER / 4);
                byte[] plain = channel.bytes(buffer);
                for (byte each : plain) {
                    assertEquals(0, each);
                }
                left[0] -= plain.length;
            });
        }
        assertEquals(0, left[0]);
        channel.view().releaseAllResources();
    }

    /** As in Flink's own shuffle, if it has messages of several buffers. */
    @Test
    void smallBuffersGoTogether() throws Exception {
        assertEquals(EnvironmentInformation.getVersion().startsWith("2."), Message.canHoldSeveral());
        OutputReads reads = reads(new ReadMemory(1 << 20), true);
        // Eight blocks that shrink to little, and two events.
        TestChannel small = open(write(Codec.LZ4, 1, 30, true, reads), 0);
        // The same number, but each fills a buffer, except the last.
        TestChannel full = open(write(Codec.NONE, 1, 30, false, reads), 0);
        // Two blocks that shrink, and a short one that does not.
        TestChannel mixed = open(write(Codec.LZ4, 1, 9, 8, reads), 0);
        while (!small.hasNews() || !full.hasNews() || !mixed.hasNews()) {
            Thread.sleep(1);
        }
        assertTrue(small.queuedWhenNotified() > 1 || !Message.canHoldSeveral(), "notified when a message is full");
        assertEquals(30L * RECORD, drain(small));
        assertEquals(Message.canHoldSeveral() ? 1 + 2 : 8 + 2, small.messages());
        assertEquals(30L * RECORD, drain(full));
        assertEquals(8 + 2, full.messages());
        assertEquals(9L * RECORD, drain(mixed));
        assertEquals(Message.canHoldSeveral() ? 2 + 2 : 3 + 2, mixed.messages());
    }

    /** A block with the right checksum that its codec cannot decode: not damage, but a fault of the writer. */
    @Test
    void blocksThatDoNotDecompressAreNotFound() throws Exception {
        for (boolean consumersDecompress : new boolean[] {false, true}) {
            OutputReads reads = reads(new ReadMemory(1 << 20), consumersDecompress);
            FaroResultPartition partition = write(Codec.ZSTD, 1, 30, true, reads);
            spoilFirstBlock(partition.files());
            TestChannel channel = new TestChannel(partition, 0, 0, BUFFER, CompressionCodec.ZSTD);
            if (consumersDecompress) {
                // Over the network it is sent as it is: Flink's decompressor at the consumer finds the fault.
                channel.next(buffer -> assertThrows(RuntimeException.class, () -> channel.bytes(buffer)));
            } else {
                assertTrue(channel.waitForFailure().getMessage().contains("malformed-block in single file"),
                        () -> "" + channel.view().getFailureCause());
                assertInstanceOf(PartitionNotFoundException.class, channel.view().getFailureCause().getCause());
            }
            channel.view().releaseAllResources();
        }
    }

    /** Inverts a block's payload, and makes its checksum fit. */
    private static void spoilFirstBlock(PartitionFiles files) throws IOException {
        try (Reader reader = files.open(ReaderOptions.DEFAULT);
                BlockCursor block = reader.partition(0);
                FileChannel file = FileChannel.open(files.paths().get(0), StandardOpenOption.WRITE)) {
            assertTrue(block.next());
            ByteBuffer payload = block.storedPayload();
            int stored = payload.remaining();
            ByteBuffer bytes = ByteBuffer.allocate((int) BlockHeader.sizeInFile(stored)).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < stored; i++) {
                bytes.put(BlockHeader.SIZE + i, (byte) ~payload.get());
            }
            new BlockSeal(reader.header().fileId()).seal(bytes, 0, stored, block.plainSize(), block.partition(),
                    block.sequence(), block.kind(), block.codec(), block.dictionary());
            file.write(bytes, block.offset());
        }
    }

    /** With LZO in Flink's options, its decompressor cannot read LZ4. */
    @Test
    void blocksAreDecompressedWhereConsumersCannot() throws Exception {
        OutputReads reads = reads(new ReadMemory(1 << 20), false);
        TestChannel channel = open(write(Codec.LZ4, 1, 30, true, reads), 0);
        channel.next(buffer -> assertTrue(!buffer.isCompressed() && buffer.readableBytes() == BUFFER));
        channel.view().releaseAllResources();
    }
}
