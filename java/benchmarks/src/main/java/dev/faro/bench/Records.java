package dev.faro.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The records of a benchmark. They are made before the clock starts, and used again and again. Each follows its length
 * (4 bytes, big-endian), because Flink takes records in this form.
 */
public final class Records {
    private static final int MAX_COUNT = 1 << 16;
    private static final int MAX_BYTES = 1 << 26;

    private final ByteBuffer bytes;
    /** The offset of each record, after its length; and the offset of the next one after the last. */
    private final int[] starts;

    private Records(List<byte[]> records) {
        int size = records.stream().mapToInt(record -> 4 + record.length).sum();
        bytes = ByteBuffer.allocate(size);
        starts = new int[records.size() + 1];
        for (int i = 0; i < records.size(); i++) {
            bytes.putInt(records.get(i).length);
            starts[i] = bytes.position();
            bytes.put(records.get(i));
        }
        starts[records.size()] = size + 4;
    }

    /** Makes text-like records of a length. */
    public static Records text(int length) {
        byte[][] words = words();
        SplitMix numbers = new SplitMix(1);
        int count = Math.min(MAX_COUNT, MAX_BYTES / length);
        List<byte[]> records = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            records.add(record(numbers, words, length));
        }
        return new Records(records);
    }

    private static byte[] record(SplitMix numbers, byte[][] words, int length) {
        long id = numbers.next() >>> 16;
        long amount = Long.remainderUnsigned(numbers.next(), 100_000);
        byte[] begin = String.format(Locale.ROOT, "%012x|%d|", id, amount).getBytes(StandardCharsets.US_ASCII);
        ByteBuffer record = ByteBuffer.allocate(length);
        record.put(begin, 0, Math.min(begin.length, length));
        while (record.hasRemaining()) {
            byte[] word = words[(int) Long.remainderUnsigned(numbers.next(), words.length)];
            record.put(word, 0, Math.min(word.length, record.remaining()));
            if (record.hasRemaining()) {
                record.put((byte) ' ');
            }
        }
        return record.array();
    }

    private static byte[][] words() {
        try (InputStream in = Records.class.getResourceAsStream("/words.txt")) {
            String text = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
            return text.lines().map(word -> word.getBytes(StandardCharsets.US_ASCII)).toArray(byte[][]::new);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The first lines of a text file, without their line ends, up to 64 MiB. */
    public static Records lines(Path file) throws IOException {
        List<byte[]> records = new ArrayList<>();
        long size = 0;
        try (var reader = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            for (String line = reader.readLine(); line != null && size < MAX_BYTES; line = reader.readLine()) {
                records.add(line.getBytes(StandardCharsets.ISO_8859_1));
                size += 4 + line.length();
            }
        }
        return new Records(records);
    }

    /** The number of records. */
    public int count() {
        return starts.length - 1;
    }

    /** The array of all records, each after its length. */
    public byte[] array() {
        return bytes.array();
    }

    /** The offset of a record, after its length. */
    public int start(int record) {
        return starts[record];
    }

    /** The size of a record in bytes. */
    public int length(int record) {
        return starts[record + 1] - starts[record] - 4;
    }

    /**
     * The largest number of records, taken in turn, with at most this many plain bytes, with their lengths; at least
     * one.
     */
    public long countFor(long plainBytes) {
        long round = starts[count()] - 4;
        long whole = plainBytes / round;
        long left = plainBytes - whole * round;
        long records = whole * count();
        for (int i = 0; i < count() && 4L + length(i) <= left; i++) {
            left -= 4L + length(i);
            records++;
        }
        return Math.max(1, records);
    }

    /** The plain size in bytes of this many records, taken in turn, with their lengths. */
    public long plainBytes(long records) {
        long round = starts[count()] - 4;
        return records / count() * round + starts[(int) (records % count())] - 4;
    }
}
