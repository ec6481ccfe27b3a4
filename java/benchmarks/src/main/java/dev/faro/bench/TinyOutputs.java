package dev.faro.bench;

import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.writer.Finished;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.flink.runtime.io.network.api.StopMode;
import org.apache.flink.runtime.io.network.partition.ResultPartition;

/** Outputs with one record for each of two partitions: each is made, read and removed. */
final class TinyOutputs {
    static final int PARTITIONS = 2;
    /** The size of a record in bytes. */
    static final int RECORD = 50;
    /** What Flink's serializer puts before a record, in bytes. */
    private static final int LENGTH = 4;

    private final Path folder;
    private final Path name;
    private final FlinkPeer flink;
    private final ByteBuffer record = ByteBuffer.allocate(RECORD);
    private final ByteBuffer serialized = ByteBuffer.allocate(LENGTH + RECORD).putInt(0, RECORD);

    /** Makes outputs in a folder, those of Flink by a peer of two subpartitions. */
    TinyOutputs(Path folder, FlinkPeer flink) {
        this.folder = folder;
        this.name = folder.resolve("out");
        this.flink = flink;
    }

    /** The subjects. */
    enum Kind {
        /** A single file. */
        SINGLE("faro-single"),
        /** A data file and an index file. */
        PAIR("faro-pair"),
        /** The least that a file costs which gets its name when it is complete: no checksums, no index, no lock. */
        PLAIN("plain-file"),
        /** Flink's sort shuffle: a data file and an index file, without checksums. */
        FLINK("flink");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** Makes, reads and removes one output. */
    void one(Kind kind) throws IOException, InterruptedException {
        switch (kind) {
            case SINGLE -> faro(Layout.SINGLE);
            case PAIR -> faro(Layout.PAIRED);
            case PLAIN -> plain();
            case FLINK -> flink();
        }
    }

    private void faro(Layout layout) throws IOException {
        try (Writer writer = Writer.create(name, new WriterOptions(PARTITIONS).layout(layout))) {
            for (int i = 0; i < PARTITIONS; i++) {
                writer.write(i, record.put(0, (byte) i));
            }
            Finished finished = writer.finishAndOpen(ReaderOptions.DEFAULT);
            try (Reader reader = finished.reader()) {
                for (int i = 0; i < PARTITIONS; i++) {
                    try (RecordCursor records = reader.records(i)) {
                        int bytes = 0;
                        while (records.next()) {
                            bytes += records.record().remaining();
                        }
                        check(bytes, RECORD);
                    }
                }
            }
            for (Path file : finished.summary().files()) {
                Files.delete(file);
            }
        }
    }

    private void plain() throws IOException {
        Path temporary = folder.resolve("out.tmp");
        try (FileChannel file = FileChannel.open(
                temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(PARTITIONS * RECORD);
            check(file.write(bytes.put(RECORD, (byte) 1)), PARTITIONS * RECORD);
        }
        Files.move(temporary, name);
        try (FileChannel file = FileChannel.open(name, StandardOpenOption.READ)) {
            for (int i = 0; i < PARTITIONS; i++) {
                check(file.read(ByteBuffer.allocate(RECORD)), RECORD);
            }
        }
        Files.delete(name);
    }

    private void flink() throws IOException, InterruptedException {
        ResultPartition partition = flink.open(folder);
        for (int i = 0; i < PARTITIONS; i++) {
            partition.emitRecord(serialized.clear().put(LENGTH, (byte) i), i);
        }
        partition.notifyEndOfData(StopMode.DRAIN);
        partition.finish();
        flink.endOfTask(partition);
        long read = flink.read(partition, 1, (subpartition, piece) -> {});
        flink.release(partition);
        check(read, PARTITIONS * (LENGTH + RECORD));
    }

    private static void check(long bytes, int expected) throws IOException {
        if (bytes != expected) {
            throw new IOException(bytes + " bytes came back of " + expected);
        }
    }
}
