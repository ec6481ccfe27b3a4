package dev.faro.testing;

import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.scheduler.Consumer;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/** Outputs with random contents, damage to them, and what each partition reads, with the fault at its end. */
public final class Scrambled {
    private static final int[] PARTITIONS = {1, 2, 9, 40, 300};

    public final Path name;
    public final Layout layout;
    public final int first;
    public final int partitions;

    private Scrambled(Path name, Layout layout, int first, int partitions) {
        this.name = name;
        this.layout = layout;
        this.first = first;
        this.partitions = partitions;
    }

    /** Writes an output, with records of up to {@code maxRecord} bytes. */
    public static Scrambled write(Path name, Random random, int maxRecord) throws FaroException {
        Layout layout = random.nextBoolean() ? Layout.PAIRED : Layout.SINGLE;
        int partitions = PARTITIONS[random.nextInt(PARTITIONS.length)];
        int first = random.nextInt(3) * 100;
        Codec codec = Codec.values()[random.nextInt(Codec.values().length)];
        WriterOptions options = new WriterOptions(partitions).firstPartition(first).layout(layout).codec(codec)
                .rotation(random.nextInt(partitions)).blockSize(64L << random.nextInt(8)).overwrite(true)
                .statistics(random.nextBoolean()).ordered(random.nextBoolean());
        try (Writer writer = Writer.create(name, options)) {
            for (int region = random.nextInt(7); region > 0; region--) {
                writeRegion(writer, random, first, partitions, maxRecord);
                writer.flush();
            }
            writer.finish();
        }
        return new Scrambled(name, layout, first, partitions);
    }

    private static void writeRegion(Writer writer, Random random, int first, int partitions, int maxRecord)
            throws FaroException {
        int few = random.nextBoolean() ? partitions : 1 + random.nextInt(partitions);
        for (int i = random.nextInt(200); i > 0; i--) {
            byte[] record = new byte[1 + random.nextInt(maxRecord)];
            if (random.nextBoolean()) {
                random.nextBytes(record);
            }
            ByteBuffer bytes = ByteBuffer.wrap(record);
            int partition = first + random.nextInt(few);
            switch (random.nextInt(20)) {
                case 0 -> writer.broadcast(bytes);
                case 1 -> writer.multicast(new int[] {partition, first + random.nextInt(partitions)}, bytes);
                case 2 -> writer.writeEvent(partition, 64 + random.nextInt(64), bytes);
                default -> writer.write(partition, bytes);
            }
        }
    }

    /** Changes some bytes of the files, mostly of the data file; headers stay as they are. */
    public void damage(Random random) throws IOException {
        List<Path> files = Outputs.files(name, layout);
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            Path file = files.get(random.nextInt(4) == 0 ? files.size() - 1 : 0);
            byte[] bytes = Files.readAllBytes(file);
            if (bytes.length > 64) {
                bytes[64 + random.nextInt(bytes.length - 64)] ^= (byte) (1 << random.nextInt(8));
                Files.write(file, bytes);
            }
        }
    }

    public Reader open(ReaderOptions options) throws FaroException {
        List<Path> files = Outputs.files(name, layout);
        return layout == Layout.SINGLE ? Reader.openSingle(files.get(0), options)
                : Reader.openPair(files.get(0), files.get(1), options);
    }

    /** Describes a block: everything that a cursor tells about it. */
    public static String describe(BlockCursor blocks) throws FaroException {
        byte[] payload = new byte[blocks.plainSize()];
        blocks.payload().get(0, payload);
        int hash = java.util.Arrays.hashCode(payload);
        return blocks.region() + "@" + blocks.offset() + " " + blocks.partition() + "#" + blocks.sequence()
                + " kind " + blocks.kind() + " codec " + blocks.codec() + " " + payload.length + " "
                + HexFormat.of().toHexDigits(hash);
    }

    /** Everything that a cursor reads, and the fault at its end. */
    public static List<String> transcript(BlockCursor blocks) {
        List<String> transcript = new ArrayList<>();
        try (blocks) {
            while (blocks.next()) {
                transcript.add(describe(blocks));
            }
        } catch (FaroException e) {
            transcript.add(e.getMessage());
        }
        return transcript;
    }

    /** The transcripts of all partitions, read one by one. */
    public List<List<String>> transcripts(PartitionReader reader) throws FaroException {
        List<List<String>> transcripts = new ArrayList<>();
        for (int partition = first; partition < first + partitions; partition++) {
            transcripts.add(transcript(reader.partition(partition)));
        }
        return transcripts;
    }

    /** Everything that a consumer reads, and the fault at its end. */
    public static List<String> transcript(Consumer consumer) {
        List<String> transcript = new ArrayList<>();
        try (consumer) {
            while (consumer.next()) {
                transcript.add(describe(consumer.block()));
            }
        } catch (FaroException e) {
            transcript.add(e.getMessage());
        }
        return transcript;
    }
}
