package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileKind;
import dev.faro.FileRole;
import dev.faro.testing.Outputs;
import dev.faro.testing.Script;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The layout that a writer decides late (WRT-13). */
class SingleBelowTest {
    private static final byte[] DICTIONARY = {0x37, (byte) 0xA4, 0x30, (byte) 0xEC, 1, 2, 3, 4};

    @TempDir
    Path folder;

    private static WriterOptions options(long singleBelow) {
        return new WriterOptions(3).singleBelow(singleBelow).dictionaries(true).fileId(new UUID(4, 4));
    }

    private interface Calls {
        void on(Writer writer) throws FaroException;
    }

    /** Writes, and compares the bytes with those of an output whose layout is chosen from the start. */
    private Layout layoutOf(String name, long singleBelow, Calls calls) throws Exception {
        Path path = folder.resolve(name);
        Summary summary;
        try (Writer writer = Writer.create(path, options(singleBelow))) {
            assertEquals(List.of(), Outputs.names(folder), "no file before the decision");
            calls.on(writer);
            summary = writer.finish();
            FileKind kind = summary.layout() == Layout.SINGLE ? FileKind.SINGLE : FileKind.INDEX;
            assertEquals(kind, writer.header().kind());
        }
        assertEquals(Outputs.files(path, summary.layout()), summary.files());
        Path chosen = folder.resolve("chosen");
        try (Writer writer = Writer.create(chosen, options(0).layout(summary.layout()))) {
            calls.on(writer);
            writer.finish();
        }
        for (int i = 0; i < summary.files().size(); i++) {
            assertArrayEquals(Files.readAllBytes(Outputs.files(chosen, summary.layout()).get(i)),
                    Files.readAllBytes(summary.files().get(i)));
        }
        int files = summary.files().size();
        assertEquals(2 * files, Outputs.names(folder).size(), Outputs.names(folder).toString());
        for (String file : Outputs.names(folder)) {
            Files.delete(folder.resolve(file));
        }
        return summary.layout();
    }

    @Test
    void theChargesOfTheRecordsDecide() throws Exception {
        Calls two = writer -> {
            writer.write(0, Outputs.bytes("1234"));
            writer.broadcast(Outputs.bytes("12345678"));
        };
        assertEquals(Layout.SINGLE, layoutOf("equal", 4 + 8 + 2 * 12, two));
        assertEquals(Layout.PAIRED, layoutOf("less", 4 + 8 + 2 * 12 - 1, two));
        assertEquals(Layout.SINGLE, layoutOf("empty", 1, writer -> { }));
    }

    @Test
    void aRegionBeforeFinishOrADictionaryMakesAPair() throws Exception {
        Calls one = writer -> writer.write(0, Outputs.bytes("1"));
        assertEquals(Layout.SINGLE, layoutOf("one", 1 << 20, one));
        assertEquals(Layout.PAIRED, layoutOf("flush", 1 << 20, writer -> {
            one.on(writer);
            writer.flush();
        }));
        // Ordered, so that the second record ends the region.
        assertEquals(Layout.PAIRED, layoutOf("ordered", 1 << 20, writer -> {
            writer.broadcast(Outputs.bytes("1"));
            one.on(writer);
        }));
        assertEquals(Layout.PAIRED, layoutOf("dictionary", 1 << 20, writer -> writer.dictionary(DICTIONARY)));
        assertEquals(Layout.PAIRED, layoutOf("region", 1 << 20, writer -> {
            try (RegionWriter region = writer.region()) {
                region.block(0, 0, Outputs.bytes("1"), 1);
                region.end();
            }
        }));
        // Nothing ends, because there is no region.
        assertEquals(Layout.SINGLE, layoutOf("empty", 1 << 20, Writer::flush));
        // A refused dictionary decides nothing.
        assertEquals(Layout.SINGLE, layoutOf("refused", 1 << 20, writer -> {
            assertThrows(FaroException.class, () -> writer.dictionary(new byte[3]));
            one.on(writer);
        }));
    }

    @Test
    void randomScripts() throws Exception {
        for (long seed = 1; seed <= 60; seed++) {
            Script script = new Script(seed);
            WriterOptions options = script.options.layout(null).follow(false).bufferSize(1 << 16).singleBelow(1 << 13);
            Path name = folder.resolve("s" + seed);
            try (Writer writer = Writer.create(name, options)) {
                script.run(writer, script.random.nextInt(30));
                Finished finished = writer.finishAndOpen(dev.faro.reader.ReaderOptions.DEFAULT);
                SummaryTest.compare(finished.summary(), name, "seed " + seed);
                for (int p = script.first; p < script.first + script.partitions; p++) {
                    assertEquals(script.expected(p), script.read(finished.reader(), p), "seed " + seed);
                }
                finished.reader().close();
            }
        }
        List<String> names = Outputs.names(folder);
        assertTrue(names.stream().anyMatch(name -> name.endsWith(".faro")));
        assertTrue(names.stream().anyMatch(name -> name.endsWith(".data")));
    }

    private static void refused(ErrorCode code, Executable call) {
        assertEquals(code, assertThrows(FaroException.class, call).code());
    }

    @Test
    void optionsThatContradict() throws Exception {
        Path name = folder.resolve("out");
        for (WriterOptions options : List.of(options(-1), options((1L << 33) + 1), options(5).layout(Layout.PAIRED),
                options(5).layout(Layout.SINGLE), options(5).overwrite(true), options(5).follow(true))) {
            refused(ErrorCode.INVALID_ARGUMENT, () -> Writer.create(name, options));
        }
        for (String ending : List.of(".faro", ".data", ".index")) {
            refused(ErrorCode.INVALID_ARGUMENT, () -> Writer.create(Outputs.file(name, ending), options(5)));
        }
        refused(ErrorCode.INVALID_ARGUMENT, () -> Writer.createPair(name, folder.resolve("index"), options(5)));
        Writer.create(name, options(1L << 33)).abort();
        assertEquals(List.of(), Outputs.names(folder));
    }

    /** A file of either layout, before the writer is made or while it collects records. */
    @Test
    void existingFiles() throws Exception {
        for (String ending : List.of(".faro", ".data", ".index")) {
            for (boolean paired : new boolean[] {false, true}) {
                for (boolean before : new boolean[] {true, false}) {
                    existing(folder.resolve("out"), ending, paired, before);
                }
            }
        }
    }

    private void existing(Path name, String ending, boolean paired, boolean before) throws Exception {
        Path taken = Outputs.file(name, ending);
        FaroException e;
        if (before) {
            Files.writeString(taken, "other");
            e = assertThrows(FaroException.class, () -> Writer.create(name, options(1 << 20)));
        } else {
            try (Writer writer = Writer.create(name, options(1 << 20))) {
                writer.write(0, Outputs.bytes("1"));
                Files.writeString(taken, "other");
                e = assertThrows(FaroException.class, paired ? writer::flush : writer::finish);
                assertEquals(e.getMessage(), assertThrows(FaroException.class, writer::finish).getMessage());
            }
        }
        assertEquals(ErrorCode.IO, e.code());
        assertEquals(taken, e.file());
        assertEquals(ending.equals(".faro") ? FileRole.SINGLE : ending.equals(".data") ? FileRole.DATA : FileRole.INDEX,
                e.role());
        assertEquals("other", Files.readString(taken));
        Files.delete(taken);
        assertEquals(List.of(), Outputs.names(folder));
    }
}
