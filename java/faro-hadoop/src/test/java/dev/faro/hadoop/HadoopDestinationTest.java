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
import dev.faro.storage.DestinationCheck;
import dev.faro.storage.StoredFile;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Writing to the local file systems; {@link HdfsTest} makes the same checks with HDFS. */
@Timeout(120)
class HadoopDestinationTest {
    @TempDir
    java.nio.file.Path folder;

    private final Configuration configuration = new Configuration(false);
    private FileSystem local;

    @BeforeEach
    void open() throws IOException {
        local = FileSystem.getLocal(configuration);
    }

    static void checkAll(FileSystem files, Path folder) throws IOException {
        DestinationCheck.check(name -> new HadoopDestination(files, new Path(folder, name)),
                (name, role) -> find(files, new Path(folder, name), role));
        assertEquals(List.of(), names(files, folder));
    }

    private static StoredFile find(FileSystem files, Path name, FileRole role) throws IOException {
        Path path = name.suffix(role == FileRole.DATA ? ".data" : role == FileRole.INDEX ? ".index" : ".faro");
        return files.exists(path) ? new HadoopFile(files, path) : null;
    }

    static List<String> names(FileSystem files, Path folder) throws IOException {
        List<String> names = new ArrayList<>();
        for (FileStatus each : files.listStatus(folder)) {
            names.add(each.getPath().getName());
        }
        return names;
    }

    private static Writer written(FileSystem files, Path name) throws IOException {
        Writer writer = Writer.createIn(new HadoopDestination(files, name), new WriterOptions(4));
        for (int record = 0; record < 4000; record++) {
            writer.write(record % 4, ByteBuffer.allocate(100));
        }
        return writer;
    }

    /** Writes and reads an output; of a second one with the same name nothing is left, and a third is refused. */
    static void writeTwice(FileSystem files, Path name) throws IOException {
        try (Writer first = written(files, name); Writer second = written(files, name)) {
            first.finish();
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, second::finish).code());
        }
        FaroException taken = assertThrows(FaroException.class, () -> written(files, name));
        assertEquals(FileRole.DATA, taken.role());
        assertTrue(taken.getMessage().contains("no file with that name"), taken.getMessage());
        assertEquals(Optional.empty(), new HadoopDestination(files, name).taken(FileRole.SINGLE));
        assertEquals(List.of(name.getName() + ".data", name.getName() + ".index"),
                Stream.of(names(files, name.getParent())).flatMap(List::stream).sorted().toList());
        try (Reader reader = HadoopOutputs.open(files, name.toString(), ReaderOptions.DEFAULT)) {
            assertEquals(1, Check.check(reader, CheckLevel.DECODE).regions());
        }
    }

    @Test
    void keepsThePromises() throws Exception {
        checkAll(local, new Path(folder.toUri()));
    }

    @Test
    void oneOfTwoOutputsIsPublished() throws Exception {
        writeTwice(local, new Path(new Path(folder.toUri()), "orders"));
    }

    @Test
    void storesWithoutSuchARenameAreRefused() throws Exception {
        FileSystem store = new CountingFileSystem(((org.apache.hadoop.fs.LocalFileSystem) local).getRawFileSystem(),
                configuration);
        HadoopDestination destination = new HadoopDestination(store, new Path(folder.toString(), "orders"));
        assertThrows(IOException.class, () -> destination.create(FileRole.DATA));
        assertEquals(List.of(), names(local, new Path(folder.toUri())));
    }
}
