package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.shuffle.RemoteBlockPushResolver;
import org.apache.spark.network.shuffle.protocol.ExecutorShuffleInfo;
import org.apache.spark.network.shuffle.protocol.FinalizeShuffleMerge;
import org.apache.spark.network.shuffle.protocol.MergeStatuses;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * Spark's own merge manager: each block is a push of its own to one partition. It gets blocks without headers, checks
 * nothing, and writes each piece as it comes.
 */
final class MergeSpark implements WriteSubject {
    private static final String APPLICATION = "application";
    private static final int FOLDERS = 64;

    static {
        // Spark's classes ask Log4j for a factory of messages. Without a provider it complains once.
        System.setProperty("log4j2.loggerContextFactory", "org.apache.logging.log4j.simple.SimpleLoggerContextFactory");
    }

    private final PushedBlocks pushed;
    private final Path folder;
    private long indexBytes;

    MergeSpark(PushedBlocks pushed) {
        this.pushed = pushed;
        this.folder = pushed.folder().resolve("spark");
    }

    @Override
    public String name() {
        return "spark";
    }

    @Override
    public long plainBytes() {
        return pushed.plainBytes();
    }

    /** Pushes each block to a resolver. */
    private static final class Service implements PushedBlocks.Service {
        private final RemoteBlockPushResolver resolver;
        private StreamCallbackWithID push;
        private int next;

        Service(RemoteBlockPushResolver resolver) {
            this.resolver = resolver;
        }

        @Override
        public void begin() {
            push = resolver.receiveBlockDataAsStream(new PushBlockStream(APPLICATION, -1, 0, 0, next, 0, next));
            next++;
        }

        @Override
        public void take(ByteBuffer bytes) throws IOException {
            push.onData(push.getID(), bytes);
        }

        @Override
        public void commit() throws IOException {
            push.onComplete(push.getID());
        }
    }

    @Override
    public Outcome write() throws Exception {
        Path mergeFolder = folder.resolve("merge_manager");
        for (int i = 0; i < FOLDERS; i++) {
            Files.createDirectories(mergeFolder.resolve(String.format("%02x", i)));
        }
        RemoteBlockPushResolver resolver = new RemoteBlockPushResolver(
                new TransportConf("shuffle", new MapConfigProvider(Map.of())), null);
        try {
            resolver.registerExecutor(APPLICATION, new ExecutorShuffleInfo(
                    new String[] {folder.resolve("blockmgr").toString()}, FOLDERS,
                    "org.apache.spark.shuffle.sort.SortShuffleManager:{\"mergeDir\": \"merge_manager\"}"));
            long begin = System.nanoTime();
            PushedBlocks.eachPush(pushed.plain(), pushed.blockBytes(), new Service(resolver));
            MergeStatuses merged = resolver.finalizeShuffleMerge(new FinalizeShuffleMerge(APPLICATION, -1, 0, 0));
            long nanos = System.nanoTime() - begin;
            int blocks = merged.bitmaps[0].getCardinality();
            if (blocks != pushed.blocks() || merged.sizes[0] != plainBytes()) {
                throw new IOException(blocks + " blocks of " + pushed.blocks());
            }
            indexBytes = size(".index") + size(".meta");
            return new Outcome(nanos, size(".data"), indexBytes, 3);
        } finally {
            resolver.close();
        }
    }

    private long size(String ending) throws IOException {
        return files().stream().map(Path::toFile).filter(file -> file.getName().endsWith(ending)).mapToLong(File::length)
                .sum();
    }

    private List<Path> files() throws IOException {
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (var files = Files.walk(folder)) {
            return files.sorted(Comparator.reverseOrder()).toList();
        }
    }

    @Override
    public ObjectNode figures() {
        return JsonNodeFactory.instance.objectNode().put("index_bytes_each", (double) indexBytes / pushed.blocks());
    }

    @Override
    public void clear() throws IOException {
        for (Path file : files()) {
            Files.delete(file);
        }
    }
}
