package dev.faro.testing;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.RecordCursor;
import dev.faro.writer.Layout;
import dev.faro.writer.RegionWriter;
import dev.faro.writer.StoredBlock;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** Random calls of a writer, and a simple model of what each partition must read afterwards. */
public final class Script {
    public static final byte[] ARROW = arrow(new byte[] {1, 2, 3});

    public final Random random;
    public final Framing framing;
    public final boolean ordered;
    public final Layout layout;
    public final int partitions;
    public final int first;
    public final WriterOptions options;
    /**
     * For each partition, a text for each record or event; with framing opaque, the bytes between events are joined.
     */
    public final List<List<String>> model = new ArrayList<>();

    public Script(long seed) {
        random = new Random(seed);
        framing = Framing.values()[random.nextInt(3)];
        ordered = random.nextBoolean();
        layout = random.nextBoolean() ? Layout.SINGLE : Layout.PAIRED;
        partitions = 1 + random.nextInt(random.nextBoolean() ? 4 : 40);
        first = random.nextInt(3) * 100;
        options = new WriterOptions(partitions).layout(layout).firstPartition(first).framing(framing).ordered(ordered)
                .codec(Codec.values()[random.nextInt(3)]).level(1 + random.nextInt(3))
                .blockSize(1 + random.nextInt(300))
                .bufferSize(1 + random.nextInt(3000)).rotation(random.nextInt(partitions)).producer(seed)
                .follow(random.nextBoolean()).fileId(new UUID(seed, 4711)).statistics(random.nextInt(4) != 0)
                .schema(framing == Framing.ARROW ? ARROW : null);
        for (int i = 0; i < partitions; i++) {
            model.add(new ArrayList<>());
        }
    }

    /** Makes calls, and records their effect in the model. */
    public void run(Writer writer, int calls) throws FaroException {
        for (int i = 0; i < calls; i++) {
            int kind = random.nextInt(10) > 0 ? 0 : random.nextBoolean() ? 1 : 64 + random.nextInt(64);
            byte[] record = record(kind);
            ByteBuffer bytes = random.nextBoolean() ? ByteBuffer.wrap(record)
                    : ByteBuffer.allocateDirect(record.length).put(record).flip();
            switch (random.nextInt(20)) {
                case 0 -> {
                    if (kind == 0) {
                        writer.broadcast(bytes);
                    } else {
                        writer.broadcastEvent(kind, bytes);
                    }
                    model.forEach(list -> list.add(text(kind, record)));
                }
                case 1, 2 -> {
                    int[] members = random.ints(1 + random.nextInt(3), 0, partitions).map(p -> first + p).toArray();
                    if (kind == 0) {
                        writer.multicast(members, bytes);
                    } else {
                        writer.multicastEvent(members, kind, bytes);
                    }
                    Arrays.stream(members).distinct().forEach(p -> model.get(p - first).add(text(kind, record)));
                }
                case 3 -> writer.flush();
                case 4 -> region(writer);
                default -> {
                    int partition = random.nextInt(partitions);
                    if (kind == 0) {
                        writer.write(first + partition, bytes);
                    } else {
                        writer.writeEvent(first + partition, kind, bytes);
                    }
                    model.get(partition).add(text(kind, record));
                }
            }
        }
    }

    private void region(Writer writer) throws FaroException {
        boolean keep = random.nextInt(4) > 0;
        try (RegionWriter region = writer.region()) {
            int partition = random.nextInt(partitions);
            byte[] record = record(0);
            byte[] payload = framing == Framing.RECORDS ? framed(record) : record;
            if (payload.length > 0) {
                region.block(first + partition, 0, ByteBuffer.wrap(payload), 1);
                region.sharedAll();
                region.storedBlock(
                        StoredBlock.of(BlockKind.DATA, Codec.NONE, payload.length, ByteBuffer.wrap(payload)), 1);
                if (keep) {
                    region.end();
                    model.get(partition).add(text(0, record));
                    model.forEach(list -> list.add(text(0, record)));
                }
            }
        }
    }

    private byte[] record(int kind) {
        byte[] bytes = new byte[random.nextInt(20) == 0 ? random.nextInt(2000) : random.nextInt(60)];
        if (random.nextBoolean()) {
            random.nextBytes(bytes);
        } else {
            Arrays.fill(bytes, (byte) random.nextInt(4));
        }
        return kind == 0 && framing == Framing.ARROW ? arrow(bytes) : bytes;
    }

    public static byte[] framed(byte[] record) {
        return ByteBuffer.allocate(4 + record.length).order(ByteOrder.LITTLE_ENDIAN).putInt(record.length).put(record)
                .array();
    }

    public static byte[] arrow(byte[] body) {
        return ByteBuffer.allocate(16 + body.length).order(ByteOrder.LITTLE_ENDIAN).putInt(-1).putInt(8).putLong(0)
                .put(body).array();
    }

    private static String text(int kind, byte[] record) {
        return kind + Arrays.toString(record);
    }

    /** What a partition must read, comparable with {@link #read}. */
    public List<String> expected(int partition) {
        return normal(model.get(partition - first));
    }

    /** What a partition reads. */
    public List<String> read(PartitionReader reader, int partition) throws FaroException {
        List<String> texts = new ArrayList<>();
        if (framing != Framing.OPAQUE) {
            try (RecordCursor records = reader.records(partition)) {
                while (records.next()) {
                    texts.add(text(records.kind(), bytes(records.record())));
                }
            }
        } else {
            try (BlockCursor blocks = reader.partition(partition)) {
                while (blocks.next()) {
                    texts.add(text(blocks.kind(), bytes(blocks.payload())));
                }
            }
        }
        return normal(texts);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(buffer.position(), bytes);
        return bytes;
    }

    /** Joins what framing opaque joins. Without order, the contents count but not their order. */
    private List<String> normal(List<String> texts) {
        List<String> result = new ArrayList<>();
        if (framing != Framing.OPAQUE) {
            result.addAll(texts);
        } else {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            for (String text : texts) {
                if (text.startsWith("0[")) {
                    stream.writeBytes(text.substring(2, text.length() - 1).replace(" ", "").concat(",").getBytes());
                    continue;
                }
                result.add(stream.toString().replace(",,", ","));
                stream.reset();
                result.add(text);
            }
            result.add(stream.toString().replaceAll(",+", ","));
            result.replaceAll(text -> text.replaceAll(",+", ",").replaceAll("^,", ""));
        }
        if (!ordered) {
            List<String> loose = new ArrayList<>();
            for (String text : result) {
                if (framing == Framing.OPAQUE && !text.contains("[")) {
                    loose.addAll(Arrays.asList(text.split(",")));
                } else {
                    loose.add(text);
                }
            }
            loose.removeIf(String::isEmpty);
            Collections.sort(loose);
            return loose;
        }
        return result;
    }
}
