package dev.faro.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** The program of {@code script}, decoded from arbitrary bytes (TARGETS.md). */
final class Program {
    private static final int MAX_CALLS = 200;

    final boolean single;
    final boolean records;
    final int codec;
    final boolean ordered;
    final boolean statistics;
    final boolean follow;
    final int partitionCount;
    final int firstPartition;
    final int rotation;
    final int blockSize;
    final long maxPlainSize;
    final int bufferSize;
    final List<Call> calls = new ArrayList<>();

    private final byte[] input;
    private int at;

    /** One call of a writer. */
    sealed interface Call permits Put, Flush, Property, Handed, Finish, Abort {}

    /**
     * A record or an event.
     *
     * @param partitions the partitions that read it; null for all
     * @param one whether it is written to one partition by {@code write}
     */
    record Put(int[] partitions, boolean one, int kind, byte[] payload) implements Call {}

    /** Closes the region. */
    record Flush() implements Call {}

    /** A property of the footer. */
    record Property(String key, String value) implements Call {}

    /** A region that is written with the region writer. */
    record Handed(List<Item> items) implements Call {}

    /** Finishes the output. */
    record Finish() implements Call {}

    /** Aborts the output. */
    record Abort() implements Call {}

    /**
     * A block for the region writer, or the beginning of a shared extent.
     *
     * @param begins whether it begins a shared extent
     * @param all whether the shared extent is for all partitions; otherwise it is for the first
     */
    record Item(boolean begins, boolean all, int partition, int kind, byte[] payload, int records) {}

    private Program(byte[] input) {
        this.input = input;
        int options = next();
        single = (options & 1) != 0;
        records = (options & 2) != 0;
        codec = new int[] {0, 1, 2, 0}[options >> 3 & 3];
        ordered = (options & 0x20) == 0;
        statistics = (options & 0x40) == 0;
        follow = (options & 0x80) != 0;
        partitionCount = next() + 1;
        int numbers = next();
        firstPartition = numbers & 15;
        rotation = (numbers >> 4) % partitionCount;
        int sizes = next();
        blockSize = 16 << (sizes & 7);
        maxPlainSize = (sizes & 8) != 0 ? 256 : 64 << 20;
        bufferSize = 64 << (sizes >> 4 & 7);
    }

    static Program of(byte[] input) {
        Program program = new Program(input);
        boolean ended = false;
        for (int i = 0; i < MAX_CALLS && program.at < input.length; i++) {
            Call call = program.call();
            if (call != null) {
                program.calls.add(call);
                ended |= call instanceof Finish || call instanceof Abort;
            }
        }
        if (!ended) {
            program.calls.add(new Finish());
        }
        return program;
    }

    private int next() {
        return at < input.length ? input[at++] & 0xFF : 0;
    }

    private byte[] payload(int times) {
        int wanted = next();
        int length = Math.min(wanted, input.length - at);
        byte[] once = Arrays.copyOfRange(input, at, at + length);
        at += length;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < times; i++) {
            bytes.writeBytes(once);
        }
        return bytes.toByteArray();
    }

    private int[] partitions(int count) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = firstPartition + next();
        }
        return numbers;
    }

    private Call call() {
        int code = next();
        int h = code >> 4;
        int event = h == 0 ? 1 : h == 15 ? 2 : 64 + h;
        return switch (code & 15) {
            case 0, 1, 2 -> new Put(partitions(1), true, 0, payload(h + 1));
            case 3 -> new Put(partitions(1), true, event, payload(h + 1));
            case 4 -> new Put(null, false, 0, payload(h + 1));
            case 5 -> new Put(null, false, event, payload(h + 1));
            case 6 -> new Put(partitions(next() % 9), false, 0, payload(h + 1));
            case 7 -> new Put(partitions(next() % 9), false, event, payload(h + 1));
            case 8 -> new Flush();
            case 9 -> new Property("k" + h, HexFormat.of().formatHex(payload(1)));
            case 10 -> handed(h);
            case 11 -> new Finish();
            case 12 -> new Abort();
            default -> null;
        };
    }

    private Handed handed(int h) {
        List<Item> items = new ArrayList<>();
        for (int count = next() % 9; count > 0; count--) {
            int q = next();
            byte[] payload = payload(h + 1);
            if (q >= 254) {
                items.add(new Item(true, q == 254, 0, 0, payload, 0));
            } else {
                int kind = q >= 250 ? 1 : 0;
                boolean framed = records && kind == 0;
                byte[] content = framed ? framed(payload) : payload;
                items.add(new Item(false, false, firstPartition + q, kind, content, framed ? 1 : h));
            }
        }
        return new Handed(items);
    }

    private static byte[] framed(byte[] record) {
        return ByteBuffer.allocate(4 + record.length).order(ByteOrder.LITTLE_ENDIAN).putInt(record.length).put(record)
                .array();
    }
}
