package dev.faro.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Outputs by NAME, and the requests that opening needs. */
@Timeout(60)
class HadoopOutputsTest {
    private static final ReaderOptions OPTIONS = ReaderOptions.DEFAULT;

    @TempDir
    java.nio.file.Path folder;

    private CountingFileSystem files;

    @BeforeEach
    void makeFileSystem() throws IOException {
        Configuration configuration = new Configuration(false);
        files = new CountingFileSystem(FileSystem.getLocal(configuration).getRawFileSystem(), configuration);
    }

    private void write(String name, Layout layout, int recordSize) throws FaroException {
        try (Writer writer = Writer.create(folder.resolve(name), new WriterOptions(2).layout(layout))) {
            writer.write(1, ByteBuffer.allocate(recordSize));
            writer.finish();
        }
    }

    private Reader open(String name) throws FaroException {
        files.requests.clear();
        return HadoopOutputs.open(files, folder + "/" + name, OPTIONS);
    }

    private void expectRequests(String name, List<String> expected) throws FaroException {
        try (Reader reader = open(name)) {
            assertEquals(expected, files.requests);
            assertEquals(1, Check.check(reader, CheckLevel.DECODE).regions());
            try (RecordCursor records = reader.records(1)) {
                assertTrue(records.next());
            }
        }
    }

    @Test
    void fewRequests() throws Exception {
        write("pair", Layout.PAIRED, 1000);
        expectRequests("pair.data", List.of("status pair.index", "read pair.index", "status pair.data",
                "read pair.data"));
        expectRequests("pair/", List.of("status pair.faro", "status pair.data", "status pair.index",
                "read pair.index", "read pair.data"));
        write("single", Layout.SINGLE, 1000);
        expectRequests("single.faro", List.of("status single.faro", "read single.faro"));
        expectRequests("single", List.of("status single.faro", "status single.data", "status single.index",
                "read single.faro"));
        write("large", Layout.SINGLE, 100_000);
        expectRequests("large.faro", List.of("status large.faro", "read large.faro", "read large.faro"));
        Files.move(folder.resolve("single.faro"), folder.resolve("itself"), StandardCopyOption.ATOMIC_MOVE);
        open("itself").close();
    }

    private FaroException expect(ErrorCode code, String name) {
        FaroException e = assertThrows(FaroException.class, () -> open(name));
        assertEquals(code, e.code(), e.getMessage());
        return e;
    }

    @Test
    void namesThatAreRefused() throws Exception {
        write("both", Layout.PAIRED, 10);
        write("both", Layout.SINGLE, 10);
        expect(ErrorCode.INVALID_ARGUMENT, "both");
        open("both.faro").close();
        open("both.index").close();
        for (String name : List.of("..", ".faro", ".data", "a/../..")) {
            expect(ErrorCode.INVALID_ARGUMENT, name);
        }
        assertThrows(FaroException.class, () -> HadoopOutputs.open(files, "", OPTIONS));
        assertThrows(FaroException.class, () -> HadoopOutputs.open(files, ":x", OPTIONS));
        expect(ErrorCode.IO, "none");
        Files.createDirectory(folder.resolve("folder"));
        expect(ErrorCode.IO, "folder");
    }

    /** The index is opened first, as with local files. */
    @Test
    void whatIsMissing() throws Exception {
        write("pair", Layout.PAIRED, 10);
        Files.delete(folder.resolve("pair.data"));
        assertEquals(FileRole.DATA, expect(ErrorCode.IO, "pair").role());
        Files.delete(folder.resolve("pair.index"));
        assertEquals(FileRole.INDEX, expect(ErrorCode.IO, "pair.data").role());
    }
}
