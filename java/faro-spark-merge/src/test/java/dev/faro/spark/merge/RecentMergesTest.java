package dev.faro.spark.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.merge.Fragments;
import dev.faro.merge.Merge;
import dev.faro.merge.MergeOptions;
import dev.faro.merge.Outcome;
import dev.faro.merge.Push;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small pushes go round many merges: what waits in memory stays within the bound, and is written in large pieces. */
class RecentMergesTest {
    private static final int MERGES = 40;
    private static final int PUSHES = 100;
    private static final int MOST = 64 << 10;
    private static final int BESIDE_BLOCK = 64 + 24 + 16;

    @TempDir
    private Path folder;

    private byte[] fragment(long producer) throws IOException {
        Path name = folder.resolve("output-" + producer);
        try (Writer writer = Writer.create(name, new WriterOptions(1).framing(Framing.OPAQUE).producer(producer))) {
            writer.write(0, ByteBuffer.allocate(20));
            writer.finish();
        }
        ByteArrayOutputStream fragment = new ByteArrayOutputStream();
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
            Fragments.write(reader, 0, 1, fragment);
        }
        return fragment.toByteArray();
    }

    private Path name(int merge) {
        return folder.resolve("merged-" + merge);
    }

    private long size(int merge) throws IOException {
        return Files.size(MergedPartition.data(name(merge)).toPath());
    }

    private static void push(Merge merge, long producer, byte[] fragment) throws FaroException {
        Push push = merge.begin(producer, 0).push();
        push.write(ByteBuffer.wrap(fragment));
        assertEquals(Outcome.MERGED, push.commit());
    }

    @Test
    void smallPushesToManyMergesAreWrittenInLargePieces() throws IOException {
        RecentMerges recent = new RecentMerges(MOST);
        List<Merge> merges = new ArrayList<>();
        for (int i = 0; i < MERGES; i++) {
            merges.add(Merge.create(name(i), new MergeOptions(1).framing(Framing.OPAQUE)));
        }
        long header = size(0);
        long[] written = new long[MERGES];
        int writes = 0;
        long block = 0;
        for (int producer = 0; producer < PUSHES; producer++) {
            byte[] fragment = fragment(producer);
            // A fragment is a header, the block, and an end.
            block = fragment.length - BESIDE_BLOCK;
            for (int i = 0; i < MERGES; i++) {
                ReceivedPush push = ReceivedPush.into(
                        merges.get(i), new PushBlockStream("application", 0, 0, 0, producer, 0, 0), recent);
                push.onData("stream", ByteBuffer.wrap(fragment, 0, 50));
                push.onData("stream", ByteBuffer.wrap(fragment, 50, fragment.length - 50));
                push.onComplete("stream");
                writes += size(i) > written[i] ? 1 : 0;
                written[i] = size(i);
            }
            long kept = 0;
            for (int i = 0; i < MERGES; i++) {
                kept += (producer + 1) * block - (size(i) - header);
            }
            assertTrue(kept >= 0 && kept <= MOST, "kept " + kept);
        }
        int least = MOST / MERGES / (fragment(PUSHES).length);
        assertTrue(least >= 5, "the share of a merge has several pushes");
        assertTrue(writes > 0 && writes <= PUSHES * MERGES / least, writes + " writes");
        for (int i = 0; i < MERGES; i++) {
            merges.get(i).flush();
            assertEquals(header + PUSHES * block, size(i));
            recent.forget(merges.get(i));
            merges.get(i).finish();
        }
    }

    @Test
    void theMergeThatWaitedLongestGivesItsMemoryBack() throws IOException {
        RecentMerges recent = new RecentMerges(1000);
        try (Merge idle = Merge.create(name(0), new MergeOptions(1).framing(Framing.OPAQUE));
                Merge busy = Merge.create(name(1), new MergeOptions(1).framing(Framing.OPAQUE))) {
            byte[] fragment = fragment(0);
            long header = size(0);
            push(idle, 0, fragment);
            push(busy, 0, fragment);
            recent.used(idle, fragment.length);
            recent.used(busy, 1000 - fragment.length);
            assertEquals(header, size(0), "all is within the bound");
            recent.used(busy, fragment.length);
            assertTrue(size(0) > header);
            assertEquals(header, size(1));
            recent.used(busy, 1);
            assertTrue(size(1) > header, "one alone can exceed the bound");
        }
    }
}
