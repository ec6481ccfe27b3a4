package dev.faro.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.StoredFileCheck;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An HDFS with one data node, in this process. */
@Timeout(120)
class HdfsTest {
    @TempDir
    static java.nio.file.Path folder;

    private static MiniDFSCluster cluster;
    private static FileSystem files;

    @BeforeAll
    static void start() throws Exception {
        Configuration configuration = new Configuration();
        configuration.setLong("dfs.blocksize", 1 << 20);
        cluster = new MiniDFSCluster.Builder(configuration, folder.toFile()).numDataNodes(1).build();
        files = cluster.getFileSystem();
    }

    @AfterAll
    static void stop() throws Exception {
        files.close();
        cluster.shutdown();
    }

    private static void put(byte[] bytes, String name) throws Exception {
        try (FSDataOutputStream out = files.create(new Path(name))) {
            out.write(bytes);
        }
    }

    @Test
    void keepsThePromises() throws Exception {
        byte[] bytes = new byte[(3 << 20) + 17];
        new Random(2).nextBytes(bytes);
        put(bytes, "/file");
        try (HadoopFile file = new HadoopFile(files, new Path("/file"))) {
            StoredFileCheck.check(file, ByteBuffer.wrap(bytes));
            assertTrue(file.version().isPresent());
        }
    }

    @Test
    void readsAndChecksAnOutput() throws Exception {
        java.nio.file.Path local = folder.resolve("local");
        try (Writer writer = Writer.create(local, new WriterOptions(8))) {
            byte[] record = new byte[1000];
            Random random = new Random(3);
            for (int i = 0; i < 4000; i++) {
                random.nextBytes(record);
                writer.write(i % 8, ByteBuffer.wrap(record));
            }
            writer.finish();
        }
        put(Files.readAllBytes(folder.resolve("local.data")), "/orders.data");
        put(Files.readAllBytes(folder.resolve("local.index")), "/orders.index");
        try (Reader there = HadoopOutputs.open(files, "/orders", ReaderOptions.DEFAULT);
                Reader here = Reader.open(local, ReaderOptions.DEFAULT)) {
            assertEquals(Check.check(here, CheckLevel.DECODE), Check.check(there, CheckLevel.DECODE));
        }
    }

    @Test
    void writes() throws Exception {
        files.mkdirs(new Path("/check"));
        HadoopDestinationTest.checkAll(files, new Path("/check"));
        HadoopDestinationTest.writeTwice(files, new Path("/written/orders"));
    }
}
