package dev.faro.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.runtime.io.network.partition.ResultPartition;

/** Flink's reader of its sorted files: up to 64 subpartitions at once, no checksums. */
public final class FlinkRead implements WriteSubject {
    private static final int AT_ONCE = 64;

    private final WriteCase writeCase;
    private final Path folder;
    private final FlinkPeer peer;
    private final ResultPartition partition;
    private long taken;

    /** Writes the data to a separate folder first. */
    public FlinkRead(WriteCase writeCase, Path folder) throws IOException {
        this.writeCase = writeCase;
        this.folder = Files.createDirectories(folder.resolve("flink-read"));
        this.peer = new FlinkPeer(
                FlinkPeer.Kind.SORT, writeCase.partitions(), (long) writeCase.bufferMib() << 20, writeCase.codec());
        this.partition = peer.open(this.folder);
        peer.write(partition, writeCase);
        peer.endOfTask(partition);
    }

    @Override
    public String name() {
        return "flink";
    }

    @Override
    public long plainBytes() {
        return writeCase.plainBytes();
    }

    @Override
    public Outcome write() throws Exception {
        taken = 0;
        long begin = System.nanoTime();
        long bytes = peer.read(partition, AT_ONCE, (subpartition, piece) -> taken += piece.remaining());
        long nanos = System.nanoTime() - begin;
        if (bytes != plainBytes() || taken != bytes) {
            throw new IOException("expected " + plainBytes() + " bytes as written, read " + bytes);
        }
        return new Outcome(nanos, 0, 0, 0);
    }

    @Override
    public void clear() {}

    @Override
    public void close() {
        try {
            peer.delete(partition, folder);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } finally {
            peer.close();
        }
    }
}
