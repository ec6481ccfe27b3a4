package dev.faro.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.codec.Codec;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.writer.Writer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The measured subjects work: each returns the same records. */
class SmokeTest {
    @TempDir
    private Path folder;

    /** The expected contents of each partition: records, each after its length. */
    private static byte[][] expected(WriteCase writeCase) {
        Records source = writeCase.source();
        SplitMix numbers = WriteCase.partitionNumbers();
        ByteArrayOutputStream[] partitions = new ByteArrayOutputStream[writeCase.partitions()];
        Arrays.setAll(partitions, i -> new ByteArrayOutputStream());
        for (int i = 0; i < writeCase.records(); i++) {
            int record = i % source.count();
            partitions[writeCase.partition(numbers)].write(
                    source.array(), source.start(record) - 4, 4 + source.length(record));
        }
        return Arrays.stream(partitions).map(ByteArrayOutputStream::toByteArray).toArray(byte[][]::new);
    }

    @ParameterizedTest
    @CsvSource({"text, 100, NONE", "skewed, 16, NONE", "text, 70000, NONE", "text, 100, LZ4", "text, 100, ZSTD"})
    void eachSubjectReturnsTheRecords(String data, int recordBytes, Codec codec) throws Exception {
        WriteCase writeCase = WriteBenchmark.make(data, recordBytes, 50, 2, codec.name(), 6);
        byte[][] expected = expected(writeCase);

        assertArrayEquals(expected, readByFaro(writeCase));
        assertArrayEquals(expected, readByFlink(FlinkPeer.Kind.SORT, writeCase, 8));
        assertArrayEquals(expected, readByFlink(FlinkPeer.Kind.HASH, writeCase, 50));
        try (var left = Files.walk(folder)) {
            assertEquals(0, left.filter(Files::isRegularFile).count());
        }
    }

    private byte[][] readByFaro(WriteCase writeCase) throws Exception {
        Path data = folder.resolve("f.data");
        Path index = folder.resolve("f.index");
        try (Writer writer = Writer.createPair(data, index, FaroWrite.options(writeCase))) {
            FaroWrite.records(writeCase, writer);
            writer.finish();
        }
        byte[][] found = new byte[writeCase.partitions()][];
        try (Reader reader = Reader.openPair(data, index, ReaderOptions.DEFAULT)) {
            for (int i = 0; i < found.length; i++) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                try (RecordCursor cursor = reader.records(i)) {
                    while (cursor.next()) {
                        byte[] record = new byte[cursor.record().remaining()];
                        cursor.record().get(0, record);
                        bytes.writeBytes(ByteBuffer.allocate(4).putInt(record.length).array());
                        bytes.writeBytes(record);
                    }
                }
                found[i] = bytes.toByteArray();
            }
        }
        Files.delete(data);
        Files.delete(index);
        return found;
    }

    private byte[][] readByFlink(FlinkPeer.Kind kind, WriteCase writeCase, int atOnce)
            throws IOException, InterruptedException {
        ByteArrayOutputStream[] found = new ByteArrayOutputStream[writeCase.partitions()];
        Arrays.setAll(found, i -> new ByteArrayOutputStream());
        try (FlinkPeer peer =
                new FlinkPeer(kind, writeCase.partitions(), (long) writeCase.bufferMib() << 20, writeCase.codec())) {
            ResultPartition partition = peer.open(folder);
            peer.write(partition, writeCase);
            peer.endOfTask(partition);
            long read = peer.read(partition, atOnce, (subpartition, piece) -> {
                byte[] bytes = new byte[piece.remaining()];
                piece.get(bytes);
                found[subpartition].writeBytes(bytes);
            });
            assertEquals(writeCase.plainBytes(), read);
            peer.delete(partition, folder);
        }
        return Arrays.stream(found).map(ByteArrayOutputStream::toByteArray).toArray(byte[][]::new);
    }

    @Test
    void inARoundEachSubjectWrites() throws Exception {
        Path out = folder.resolve("out");
        WriteBenchmark benchmark = new WriteBenchmark();
        benchmark.part = "write";
        benchmark.data = "text";
        benchmark.recordBytes = 100;
        benchmark.partitions = 64;
        benchmark.bufferMib = 1;
        benchmark.codec = "LZ4";
        benchmark.plainMib = 3;
        benchmark.curve = "data_mib";
        benchmark.subjects = "faro,flink,flink-8-more,flink-hash,raw-write,codec";
        benchmark.folder = folder.resolve("files").toString();
        benchmark.out = out.toString();
        benchmark.open();
        benchmark.measured(true);
        benchmark.round();
        benchmark.round();
        benchmark.close();

        var lines = Files.readAllLines(out);
        assertEquals(6, lines.size());
        for (String line : lines) {
            var json = Results.parse(line);
            assertEquals(2, json.get("seconds").size());
            assertEquals(3, json.get("case").get("data_mib").asInt());
            if (json.get("subject").asText().equals("faro")) {
                assertEquals(12 << 20, json.get("figures").get("peak_bytes").asLong(), 11 << 20);
            }
            long plain = json.get("plain_bytes").asLong();
            long stored = json.get("stored_bytes").asLong();
            boolean raw = json.get("subject").asText().equals("raw-write");
            assertEquals(3L << 20, plain, 104);
            assertTrue(raw ? stored == plain : stored < plain * 3 / 4, line);
        }
    }

    @Test
    void dataIsTheSameInAllLanguages() {
        Records records = Records.text(100);
        assertEquals(1 << 16, records.count());
        assertEquals("910a2dec8902|", new String(records.array(), 4, 13, StandardCharsets.US_ASCII));
        SplitMix numbers = new SplitMix(0);
        assertEquals(0xE220A8397B1DCDAFL, numbers.next());
    }
}
