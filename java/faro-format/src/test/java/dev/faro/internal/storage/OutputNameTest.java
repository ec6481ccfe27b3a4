package dev.faro.internal.storage;

import static dev.faro.testing.Errors.expect;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.follow.Follower;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files that the NAME of an output means (PUB-1). */
class OutputNameTest {
    @TempDir
    Path folder;

    private void write(String name, Layout layout) throws FaroException {
        Outputs.small(folder.resolve(name), new WriterOptions(3).layout(layout));
    }

    private String read(String name) throws FaroException {
        String contents;
        try (Reader reader = Reader.open(folder.resolve(name), ReaderOptions.DEFAULT)) {
            contents = Outputs.contents(reader);
        }
        try (PartitionReader follower = Follower.open(folder.resolve(name), ReaderOptions.DEFAULT)) {
            assertTrue(((Follower) follower).poll());
            assertEquals(contents, Outputs.contents(follower));
        }
        return contents;
    }

    @Test
    void separatorsAtTheEndAreNotPartOfAName() throws Exception {
        write("a/", null);
        assertEquals(List.of("a.data", "a.index"), Outputs.names(folder));
    }

    @Test
    void somePathsAreNotNames() {
        for (String name : List.of(
                "", "/", ".", "..", "f/.", "f/..", ".faro", "f/.data", ".index", "..faro", "f/...data")) {
            Path path = Path.of(name);
            expect(ErrorCode.INVALID_ARGUMENT, () -> Writer.create(path, new WriterOptions(3)));
            expect(ErrorCode.INVALID_ARGUMENT, () -> Reader.open(path, ReaderOptions.DEFAULT));
        }
    }

    @Test
    void whatAWriterMakes() throws Exception {
        record Row(String name, Layout option, List<String> files) {}
        List<String> pair = List.of("a.data", "a.index");
        List<Row> rows = List.of(
                new Row("a", null, pair), new Row("a", Layout.PAIRED, pair),
                new Row("a", Layout.SINGLE, List.of("a.faro")),
                new Row("a.data", null, pair), new Row("a.index", null, pair), new Row("a.data", Layout.PAIRED, pair),
                new Row("a.faro", null, List.of("a.faro")), new Row("a.faro", Layout.SINGLE, List.of("a.faro")),
                new Row("a.b", null, List.of("a.b.data", "a.b.index")),
                new Row("a.faro.data", null, List.of("a.faro.data", "a.faro.index")));
        for (Row row : rows) {
            write(row.name(), row.option());
            assertEquals(row.files(), Outputs.names(folder), row.toString());
            assertTrue(read(row.name()).length() > 10);
            for (String file : row.files()) {
                Files.delete(folder.resolve(file));
            }
        }
        for (String name : List.of("a.data", "a.index", "a.faro")) {
            Layout other = name.endsWith("faro") ? Layout.PAIRED : Layout.SINGLE;
            expect(ErrorCode.INVALID_ARGUMENT, () -> write(name, other));
            assertEquals(List.of(), Outputs.names(folder));
        }
    }

    @Test
    void whatAReaderOpens() throws Exception {
        write("a", Layout.PAIRED);
        String pair = read("a");
        assertEquals(pair, read("a.data"));
        assertEquals(pair, read("a.index"));
        expect(ErrorCode.IO, () -> read("a.faro"));
        write("a", Layout.SINGLE);
        FaroException both = expect(ErrorCode.INVALID_ARGUMENT, () -> read("a"));
        assertTrue(both.getMessage().contains("add .faro or .data"), both.getMessage());
        assertEquals(pair, read("a.faro"));
        assertEquals(pair, read("a.data"));
        // One file of the other layout exists as well.
        Files.delete(folder.resolve("a.data"));
        expect(ErrorCode.INVALID_ARGUMENT, () -> read("a"));
        Files.delete(folder.resolve("a.index"));
        assertEquals(pair, read("a"));
        Files.move(folder.resolve("a.faro"), folder.resolve("plain"));
        assertEquals(pair, read("plain"));
        FaroException none = expect(ErrorCode.IO, () -> read("nosuch"));
        assertTrue(none.getMessage().contains("nosuch.faro") && none.getMessage().contains("nosuch.index"),
                none.getMessage());
        // With only one file of a pair, opening reports the missing one.
        Files.createFile(folder.resolve("half.data"));
        assertEquals(FileRole.INDEX, expect(ErrorCode.IO, () -> read("half")).role());
    }
}
