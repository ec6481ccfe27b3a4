package dev.faro.fuzz;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.codec.Codec;
import dev.faro.index.Statistics;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Layout;
import dev.faro.writer.RegionWriter;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** {@code script}: a program of writer calls is executed twice, and its output is checked. */
final class ScriptTarget implements Target {
    private static final UUID FILE_ID = new UUID(0x4646464646464646L, 0x4646464646464646L);

    @Override
    public void run(byte[] input, Folder folder, Transcript transcript) throws IOException {
        Program program = Program.of(input);
        WriterModel model = new WriterModel(program);
        List<ErrorCode> expected = new ArrayList<>();
        program.calls.forEach(call -> expected.add(model.call(call)));
        List<byte[]> first = write(program, folder, expected);
        List<byte[]> second = write(program, folder, expected);
        for (int i = 0; i < expected.size(); i++) {
            if (expected.get(i) != null) {
                transcript.line("call", i, expected.get(i));
                transcript.note(expected.get(i) + "@-:-");
            }
        }
        for (int i = 0; i < first.size(); i++) {
            Broken.unless(Arrays.equals(first.get(i), second.get(i)), "two runs write the same bytes");
        }
        if (!model.isFinished()) {
            Broken.unless(folder.count() == 0, "an aborted writer leaves nothing");
            return;
        }
        Broken.unless(folder.count() == (program.single ? 1 : 2), "the output has its files and no others");
        if (program.codec == 0) {
            List<String> roles = program.single ? List.of("single") : List.of("data", "index");
            for (int i = 0; i < roles.size(); i++) {
                transcript.line("file", roles.get(i), first.get(i).length, Sums.of(first.get(i)));
            }
        }
        try (Reader reader = program.single
                ? Reader.openSingle(folder.path(FilesInput.SINGLE), ReaderOptions.DEFAULT)
                : Reader.openPair(folder.path(FilesInput.DATA), folder.path(FilesInput.INDEX), ReaderOptions.DEFAULT)) {
            Check.check(reader, CheckLevel.DECODE);
            compare(program, model, reader);
            for (int partition : Content.partitions(reader.header())) {
                Content.ofPartition(reader, partition, program.maxPlainSize)
                        .print(transcript, "partition", partition);
            }
        } catch (FaroException e) {
            throw new Broken("a written output passes a check: " + e);
        }
    }

    /** Executes the program; returns the bytes of its files, the data file of a pair first. */
    private static List<byte[]> write(Program program, Folder folder, List<ErrorCode> expected) throws IOException {
        folder.clear();
        try (Writer writer = Writer.create(folder.path("out"), options(program))) {
            for (int i = 0; i < expected.size(); i++) {
                ErrorCode found = null;
                try {
                    call(writer, program, program.calls.get(i));
                } catch (FaroException e) {
                    found = e.code();
                }
                String property = "call " + i + " returned " + found + ", expected " + expected.get(i);
                Broken.unless(found == expected.get(i), property);
            }
        }
        List<byte[]> files = new ArrayList<>();
        for (String name : new String[] {FilesInput.DATA, FilesInput.INDEX, FilesInput.SINGLE}) {
            byte[] bytes = folder.read(name);
            if (bytes != null) {
                files.add(bytes);
            }
        }
        return files;
    }

    private static WriterOptions options(Program program) {
        return new WriterOptions(program.partitionCount)
                .layout(program.single ? Layout.SINGLE : Layout.PAIRED)
                .framing(program.records ? Framing.RECORDS : Framing.OPAQUE)
                .codec(Codec.of(program.codec))
                .ordered(program.ordered)
                .statistics(program.statistics)
                .follow(program.follow)
                .fileId(FILE_ID)
                .firstPartition(program.firstPartition)
                .rotation(program.rotation)
                .blockSize(program.blockSize)
                .maxPlainSize(program.maxPlainSize)
                .bufferSize(program.bufferSize);
    }

    private static void record(Writer writer, Program.Put put, ByteBuffer payload) throws FaroException {
        if (put.one()) {
            writer.write(put.partitions()[0], payload);
        } else if (put.partitions() == null) {
            writer.broadcast(payload);
        } else {
            writer.multicast(put.partitions(), payload);
        }
    }

    private static void event(Writer writer, Program.Put put, ByteBuffer payload) throws FaroException {
        if (put.one()) {
            writer.writeEvent(put.partitions()[0], put.kind(), payload);
        } else if (put.partitions() == null) {
            writer.broadcastEvent(put.kind(), payload);
        } else {
            writer.multicastEvent(put.partitions(), put.kind(), payload);
        }
    }

    private static void call(Writer writer, Program program, Program.Call call) throws FaroException {
        if (call instanceof Program.Put put) {
            if (put.kind() == BlockKind.DATA) {
                record(writer, put, ByteBuffer.wrap(put.payload()));
            } else {
                event(writer, put, ByteBuffer.wrap(put.payload()));
            }
        } else if (call instanceof Program.Property property) {
            writer.property(property.key(), property.value());
        } else if (call instanceof Program.Handed handed) {
            region(writer, program, handed);
        } else if (call instanceof Program.Flush) {
            writer.flush();
        } else if (call instanceof Program.Finish) {
            writer.finish();
        } else {
            writer.abort();
        }
    }

    private static void region(Writer writer, Program program, Program.Handed handed) throws FaroException {
        boolean shared = false;
        try (RegionWriter region = writer.region()) {
            for (Program.Item item : handed.items()) {
                ByteBuffer payload = ByteBuffer.wrap(item.payload());
                if (item.begins()) {
                    shared = true;
                    if (item.all()) {
                        region.sharedAll();
                    } else {
                        region.shared(program.firstPartition);
                    }
                } else if (shared) {
                    region.block(item.kind(), payload, item.records());
                } else {
                    region.block(item.partition(), item.kind(), payload, item.records());
                }
            }
            region.end();
        }
    }

    private static void compare(Program program, WriterModel model, Reader reader) throws FaroException {
        Broken.unless(reader.footer().properties().equals(model.properties()), "the footer has the given properties");
        Statistics statistics = reader.footer().statistics();
        Broken.unless((statistics != null) == program.statistics, "statistics exist if they were requested");
        for (int i = 0; i < program.partitionCount; i++) {
            int partition = program.firstPartition + i;
            Pieces read = new Pieces(program.records);
            try (BlockCursor blocks = reader.partition(partition)) {
                while (blocks.next()) {
                    read.addBlock(blocks.kind(), blocks.payload());
                }
            }
            Broken.unless(read.normal(program.ordered).equals(model.content(i).normal(program.ordered)),
                    "partition " + partition + " reads the written contents");
            Broken.unless(statistics == null || statistics.records(partition) == model.records(i),
                    "the number of records of partition " + partition);
        }
    }
}
