package dev.faro.spark.merge;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.merge.FileIds;
import dev.faro.merge.FragmentReader;
import dev.faro.merge.Fragments;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.server.BlockPushNonFatalFailure;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.network.shuffle.protocol.ExecutorShuffleInfo;
import org.apache.spark.network.shuffle.protocol.FinalizeShuffleMerge;
import org.apache.spark.network.shuffle.protocol.MergeStatuses;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;
import org.apache.spark.network.shuffle.protocol.RemoveShuffleMerge;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.roaringbitmap.RoaringBitmap;

class FaroMergeManagerTest {
    private static final String APPLICATION = "application_1";
    private static final int SHUFFLE = 3;
    private static final int ATTEMPT = 1;
    private static final ExecutorShuffleInfo NO_PUSH =
            new ExecutorShuffleInfo(new String[] {"/nowhere"}, 64, "dev.faro.spark.FaroShuffleManager");

    @TempDir
    private Path folder;

    private FaroMergeManager manager;

    @BeforeEach
    void start() throws IOException {
        TransportConf conf = new TransportConf("shuffle", new MapConfigProvider(
                Map.of("spark.shuffle.push.server.minChunkSizeInMergedShuffleFile", "4k")));
        manager = new FaroMergeManager(conf, folder.resolve("recovery").toFile());
    }

    @AfterEach
    void stop() {
        manager.close();
    }

    private void register(int attempt) throws IOException {
        Path blocks = folder.resolve("blockmgr");
        for (int i = 0; i < 4; i++) {
            Files.createDirectories(folder.resolve("merge_" + attempt).resolve(String.format("%02x", i)));
        }
        String meta = "dev.faro.spark.FaroShuffleManager:{\"mergeDir\": \"merge_" + attempt + "\", \"attemptId\": \""
                + attempt + "\"}";
        manager.registerExecutor(
                APPLICATION, new ExecutorShuffleInfo(new String[] {blocks.toString()}, 4, meta));
    }

    private static byte[] text(int map, int reduce, int size) {
        return ("map " + map + " reduce " + reduce + " ").repeat(size / 10 + 1).substring(0, size)
                .getBytes(StandardCharsets.UTF_8);
    }

    /** A block as a map task pushes it. */
    private byte[] block(int map, int reduce, long task, String application) throws IOException {
        Path name = Files.createTempDirectory(folder, "map").resolve("output");
        WriterOptions options = new WriterOptions(reduce + 1L).framing(Framing.OPAQUE).producer(map).attempt(task)
                .statistics(false).fileId(FileIds.output(application, String.valueOf(SHUFFLE), map, task));
        try (Writer writer = Writer.create(name, options)) {
            writer.write(reduce, ByteBuffer.wrap(text(map, reduce, 1500)));
            writer.finish();
        }
        ByteArrayOutputStream fragment = new ByteArrayOutputStream();
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
            Fragments.write(reader, reduce, reduce + 1, fragment);
        }
        return fragment.toByteArray();
    }

    private void push(int map, int reduce, int merge, byte[] bytes) throws IOException {
        push(ATTEMPT, map, reduce, merge, bytes);
    }

    /** In pieces, as they arrive. */
    private void push(int attempt, int map, int reduce, int merge, byte[] bytes) throws IOException {
        StreamCallbackWithID stream = manager.receiveBlockDataAsStream(
                new PushBlockStream(APPLICATION, attempt, SHUFFLE, merge, map, reduce, 0));
        for (int at = 0; at < bytes.length; at += 700) {
            stream.onData(stream.getID(), ByteBuffer.wrap(bytes, at, Math.min(700, bytes.length - at)));
        }
        stream.onComplete(stream.getID());
    }

    private String refused(int attempt, int map, int reduce, int merge) throws IOException {
        byte[] bytes = block(map, reduce, map, APPLICATION);
        return assertThrows(BlockPushNonFatalFailure.class, () -> push(attempt, map, reduce, merge, bytes)).getMessage();
    }

    private MergeStatuses finish(int merge) {
        return manager.finalizeShuffleMerge(new FinalizeShuffleMerge(APPLICATION, ATTEMPT, SHUFFLE, merge));
    }

    /** The map tasks of the chunks of a partition, from the chunks themselves. */
    private List<List<Long>> chunks(int reduce, int merge) throws IOException {
        MergedBlockMeta meta = manager.getMergedBlockMeta(APPLICATION, SHUFFLE, merge, reduce);
        RoaringBitmap[] maps = meta.readChunkBitmaps();
        assertEquals(meta.getNumChunks(), maps.length);
        List<List<Long>> found = new ArrayList<>();
        for (int chunk = 0; chunk < maps.length; chunk++) {
            List<Long> of = new ArrayList<>();
            try (FragmentReader fragments = new FragmentReader(
                    manager.getMergedBlockData(APPLICATION, SHUFFLE, merge, reduce, chunk).createInputStream(),
                    Limits.DEFAULT)) {
                while (fragments.nextFragment()) {
                    long map = fragments.header().producer();
                    assertTrue(fragments.nextBlock());
                    ByteBuffer payload = fragments.payload();
                    byte[] bytes = new byte[payload.remaining()];
                    payload.get(bytes);
                    assertArrayEquals(text((int) map, reduce, 1500), bytes);
                    assertFalse(fragments.nextBlock());
                    of.add(map);
                }
            }
            assertArrayEquals(maps[chunk].stream().asLongStream().toArray(),
                    of.stream().mapToLong(Long::longValue).sorted().toArray());
            found.add(of);
        }
        return found;
    }

    private static RoaringBitmap maps(int... maps) {
        return RoaringBitmap.bitmapOf(maps);
    }

    @Test
    void whatIsPushedIsServed() throws Exception {
        register(ATTEMPT);
        for (int map : new int[] {4, 1, 7, 0, 9}) {
            push(map, 2, 0, block(map, 2, 100 + map, APPLICATION));
        }
        push(1, 5, 0, block(1, 5, 101, APPLICATION));
        MergeStatuses statuses = finish(0);
        assertArrayEquals(new int[] {2, 5}, statuses.reduceIds);
        assertArrayEquals(new RoaringBitmap[] {maps(0, 1, 4, 7, 9), maps(1)}, statuses.bitmaps);
        assertEquals(List.of(List.of(4L, 1L, 7L), List.of(0L, 9L)), chunks(2, 0));
        assertEquals(List.of(List.of(1L)), chunks(5, 0));
        assertTrue(statuses.sizes[0] > 5 * 1500);
        // Asked again, it answers the same.
        assertArrayEquals(statuses.bitmaps, finish(0).bitmaps);
        assertThrows(RuntimeException.class, () -> chunks(3, 0));
        assertThrows(RuntimeException.class,
                () -> manager.getMergedBlockData(APPLICATION, SHUFFLE, 0, 2, 2));
    }

    /** More than keep their buffers. */
    @Test
    void manyPartitions() throws Exception {
        register(ATTEMPT);
        for (int map = 0; map < 3; map++) {
            for (int reduce = 0; reduce < 300; reduce++) {
                push(map, reduce, 0, block(map, reduce, map, APPLICATION));
            }
        }
        MergeStatuses statuses = finish(0);
        assertEquals(300, statuses.reduceIds.length);
        for (int reduce = 0; reduce < 300; reduce++) {
            assertEquals(List.of(List.of(0L, 1L, 2L)), chunks(reduce, 0));
        }
    }

    @Test
    void nothingIsMergedTwice() throws Exception {
        register(ATTEMPT);
        byte[] block = block(1, 2, 5, APPLICATION);
        push(1, 2, 0, block);
        push(1, 2, 0, block);
        // Another attempt of the map task.
        push(1, 2, 0, block(1, 2, 6, APPLICATION));
        finish(0);
        assertEquals(List.of(List.of(1L)), chunks(2, 0));
    }

    @Test
    void damageIsRefused() throws Exception {
        register(ATTEMPT);
        byte[] block = block(1, 2, 5, APPLICATION);
        for (int at : new int[] {20, 70, 90, 800, block.length - 10}) {
            byte[] damaged = block.clone();
            damaged[at] ^= 1;
            assertThrows(IOException.class, () -> push(1, 2, 0, damaged), "byte " + at);
        }
        byte[] cut = java.util.Arrays.copyOf(block, 900);
        assertThrows(IOException.class, () -> push(1, 2, 0, cut));
        // Whole, but not of this map task, partition or application.
        assertThrows(IOException.class, () -> push(2, 2, 0, block));
        assertThrows(IOException.class, () -> push(1, 3, 0, block));
        byte[] foreign = block(1, 2, 5, "application_2");
        assertThrows(IOException.class, () -> push(1, 2, 0, foreign));
        push(1, 2, 0, block);
        finish(0);
        assertEquals(List.of(List.of(1L)), chunks(2, 0));
    }

    @Test
    void theWordsOfRefusals() throws Exception {
        register(ATTEMPT);
        push(1, 2, 4, block(1, 2, 1, APPLICATION));
        assertTrue(refused(ATTEMPT, 2, 2, 3).contains("stale"));
        assertTrue(refused(0, 2, 2, 4).contains("older app attempt"));
        finish(4);
        assertTrue(refused(ATTEMPT, 2, 2, 4).contains("finalized"));
        assertTrue(refused(ATTEMPT, 2, 6, 4).contains("finalized"));
        assertThrows(RuntimeException.class, () -> finish(3));
        // The next merge begins anew, and the files of this one are gone.
        push(8, 2, 5, block(8, 2, 8, APPLICATION));
        finish(5);
        assertEquals(List.of(List.of(8L)), chunks(2, 5));
        while (files().size() > 2) {
            Thread.sleep(10);
        }
        assertThrows(RuntimeException.class, () -> chunks(2, 4));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder.resolve("merge_" + ATTEMPT))) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void aServiceStartsAgain() throws Exception {
        register(ATTEMPT);
        for (int map = 0; map < 8; map++) {
            push(map, 2, 0, block(map, 2, map, APPLICATION));
        }
        manager.close();
        start();
        // Three blocks are a chunk: the last two were not committed.
        push(8, 2, 0, block(8, 2, 8, APPLICATION));
        push(0, 2, 0, block(0, 2, 0, APPLICATION));
        MergeStatuses statuses = finish(0);
        assertArrayEquals(new RoaringBitmap[] {maps(0, 1, 2, 3, 4, 5, 8)}, statuses.bitmaps);
        assertEquals(List.of(List.of(0L, 1L, 2L), List.of(3L, 4L, 5L), List.of(8L)), chunks(2, 0));
        manager.close();
        start();
        // What is finalized is served, and stays so.
        assertEquals(3, chunks(2, 0).size());
        assertTrue(refused(ATTEMPT, 9, 2, 0).contains("finalized"));
        assertArrayEquals(statuses.bitmaps, finish(0).bitmaps);
    }

    @Test
    void aDamagedFileBeginsAnew() throws Exception {
        register(ATTEMPT);
        for (int map = 0; map < 4; map++) {
            push(map, 2, 0, block(map, 2, map, APPLICATION));
        }
        manager.close();
        Path index = files().stream().filter(file -> file.toString().endsWith(".index")).findAny().orElseThrow();
        byte[] bytes = Files.readAllBytes(index);
        bytes[40] ^= 1;
        Files.write(index, bytes);
        start();
        push(9, 2, 0, block(9, 2, 9, APPLICATION));
        finish(0);
        assertEquals(List.of(List.of(9L)), chunks(2, 0));
    }

    @Test
    void mergesAndApplicationsAreRemoved() throws Exception {
        register(ATTEMPT);
        push(1, 2, 0, block(1, 2, 1, APPLICATION));
        finish(0);
        manager.removeShuffleMerge(new RemoveShuffleMerge(APPLICATION, ATTEMPT, SHUFFLE, -1));
        while (!files().isEmpty()) {
            Thread.sleep(10);
        }
        push(1, 2, 1, block(1, 2, 1, APPLICATION));
        manager.applicationRemoved(APPLICATION, true);
        while (Files.exists(folder.resolve("merge_" + ATTEMPT))) {
            Thread.sleep(10);
        }
        assertThrows(IllegalArgumentException.class, () -> push(1, 2, 1, new byte[1]));
        manager.close();
        start();
        assertThrows(IllegalArgumentException.class, () -> manager.getMergedBlockDirs(APPLICATION));
    }

    @Test
    void aNewAttemptOfTheApplicationTakesOver() throws Exception {
        register(ATTEMPT);
        push(1, 2, 0, block(1, 2, 1, APPLICATION));
        register(ATTEMPT + 1);
        assertEquals(List.of(folder.resolve("merge_2").toString()), List.of(manager.getMergedBlockDirs(APPLICATION)));
        byte[] block = block(1, 2, 1, APPLICATION);
        assertThrows(BlockPushNonFatalFailure.class, () -> push(ATTEMPT, 1, 2, 0, block));
        push(ATTEMPT + 1, 1, 2, 0, block);
        assertThrows(IllegalArgumentException.class, () -> finish(0));
    }

    @Test
    void anExecutorThatDoesNotPushIsNotKnown() {
        manager.registerExecutor(APPLICATION, NO_PUSH);
        assertThrows(IllegalArgumentException.class, () -> manager.getMergedBlockDirs(APPLICATION));
    }
}
