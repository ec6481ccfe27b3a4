package dev.faro.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.io.network.partition.ResultPartition;

/** One of Flink's writers. */
public final class FlinkWrite implements WriteSubject {
    private final String name;
    private final WriteCase writeCase;
    private final Path folder;
    private final FlinkPeer peer;
    private ResultPartition written;

    /**
     * Makes a writer with its own folder.
     *
     * @param name the name of the subject
     * @param moreBytes memory in addition to that of the case, in bytes
     */
    public FlinkWrite(String name, FlinkPeer.Kind kind, WriteCase writeCase, long moreBytes, Path folder)
            throws IOException {
        this.name = name;
        this.writeCase = writeCase;
        this.folder = Files.createDirectories(folder.resolve(name));
        this.peer = new FlinkPeer(
                kind, writeCase.partitions(), ((long) writeCase.bufferMib() << 20) + moreBytes, writeCase.codec());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long plainBytes() {
        return writeCase.plainBytes();
    }

    @Override
    public Outcome write() throws IOException {
        written = peer.open(folder);
        long begin = System.nanoTime();
        peer.write(written, writeCase);
        long nanos = System.nanoTime() - begin;
        peer.endOfTask(written);
        return outcome(nanos);
    }

    private Outcome outcome(long nanos) throws IOException {
        long data = 0;
        long index = 0;
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(Files::isRegularFile).toList();
        }
        for (Path file : files) {
            long size = Files.size(file);
            if (file.toString().endsWith(".index")) {
                index += size;
            } else {
                data += size;
            }
        }
        return new Outcome(nanos, data, index, files.size());
    }

    @Override
    public void clear() throws IOException {
        if (written != null) {
            peer.delete(written, folder);
            written = null;
        }
    }

    @Override
    public void close() {
        peer.close();
    }
}
