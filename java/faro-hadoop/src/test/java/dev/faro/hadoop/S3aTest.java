package dev.faro.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import dev.faro.storage.NewFile;
import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** S3A and a server of S3 with a bucket {@code faro}; {@code make conformance-stores} runs this. */
@EnabledIfEnvironmentVariable(named = "FARO_S3_ENDPOINT", matches = ".+")
@Timeout(300)
class S3aTest {
    private static final String SERVER = System.getenv("FARO_S3_ENDPOINT");
    private static final int PART = 5 << 20;

    private final Path folder = new Path("s3a://faro/s3a-test/" + System.nanoTime());
    private LossyProxy proxy;
    private FileSystem files;

    private static Configuration configuration(String endpoint) {
        Configuration configuration = new Configuration(false);
        configuration.set("fs.s3a.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem");
        configuration.set("fs.s3a.endpoint", endpoint);
        configuration.set("fs.s3a.endpoint.region", "us-east-1");
        configuration.set("fs.s3a.access.key", "faro");
        configuration.set("fs.s3a.secret.key", "faro");
        configuration.set("fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider");
        configuration.setBoolean("fs.s3a.path.style.access", true);
        configuration.setBoolean("fs.s3a.connection.ssl.enabled", false);
        configuration.set("fs.s3a.fast.upload.buffer", "bytebuffer");
        configuration.setInt("fs.s3a.multipart.size", PART);
        configuration.setInt("fs.s3a.multipart.threshold", PART);
        return configuration;
    }

    @BeforeEach
    void open() throws IOException {
        proxy = new LossyProxy(SERVER);
        files = FileSystem.newInstance(folder.toUri(), configuration(proxy.address()));
    }

    @AfterEach
    void close() throws IOException {
        files.close();
        proxy.close();
    }

    private static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private NewFile written(String name, byte[] bytes) throws IOException {
        return written(name, bytes, false);
    }

    private NewFile written(String name, byte[] bytes, boolean replace) throws IOException {
        NewFile file = new HadoopDestination(files, new Path(folder, name)).create(FileRole.DATA, replace);
        file.append(ByteBuffer.wrap(bytes));
        return file;
    }

    private static void assertContent(byte[] expected, StoredFile file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(expected.length + 1);
        file.readRanges(List.of(new RangeRead(0, bytes)));
        assertEquals(ByteBuffer.wrap(expected), bytes.flip());
    }

    /** Whether parts are stored of an object that is not complete. */
    private boolean hasOpenUploads(String name) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(SERVER + "/faro?uploads")).build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode());
        String key = new Path(folder, name + ".data").toUri().getPath().substring(1);
        return answer.body().contains("<Key>" + key + "</Key>");
    }

    @Test
    void keepsThePromises() throws Exception {
        // Thousands of requests, so without the proxy.
        try (FileSystem direct = FileSystem.newInstance(folder.toUri(), configuration(SERVER))) {
            direct.mkdirs(folder);
            HadoopDestinationTest.checkAll(direct, folder);
        }
    }

    @Test
    void oneOfTwoOutputsIsPublished() throws Exception {
        HadoopDestinationTest.writeTwice(files, new Path(folder, "orders"));
    }

    @Test
    void oneOfTwoObjectsInPartsIsPublished() throws Exception {
        byte[] bytes = bytes(2 * PART + 12345);
        try (NewFile first = written("large", bytes); NewFile second = written("large", bytes(3 * PART))) {
            assertFalse(files.exists(new Path(folder, "large.data")));
            assertTrue(hasOpenUploads("large"));
            first.publish(false);
            assertThrows(FileAlreadyExistsException.class, () -> second.publish(false));
            second.remove();
            assertFalse(hasOpenUploads("large"));
            try (var file = first.open()) {
                assertContent(bytes, file);
            }
        }
    }

    @Test
    void nothingStaysOfAnObjectThatIsGivenUp() throws Exception {
        NewFile file = written("given-up", bytes(2 * PART));
        assertTrue(hasOpenUploads("given-up"));
        file.close();
        assertFalse(hasOpenUploads("given-up"));
        assertFalse(files.exists(new Path(folder, "given-up.data")));
    }

    /** The client repeats the request, which is refused then: the name is taken, by the first one. */
    @Test
    void anAnswerThatIsLostIsNoFailure() throws Exception {
        for (int size : new int[] {1000, 2 * PART}) {
            for (boolean replace : new boolean[] {false, true}) {
                String name = "lost-" + size + replace;
                try (NewFile file = written(name, bytes(size), replace)) {
                    String method = size < PART ? "PUT" : "POST";
                    proxy.loseNext(request -> request.startsWith(method + " ") && request.contains(name));
                    file.publish(replace);
                    assertTrue(proxy.hasLost());
                    try (var found = file.open()) {
                        assertContent(bytes(size), found);
                    }
                    file.remove();
                    assertFalse(files.exists(new Path(folder, name + ".data")));
                }
            }
        }
    }

    /** The client refuses all requests of a thread that is interrupted; nothing stays, and the thread stays interrupted. */
    @Test
    void anInterruptLeavesNothing() throws Exception {
        for (int size : new int[] {1000, 2 * PART}) {
            for (boolean published : new boolean[] {false, true}) {
                String name = "interrupted-" + size + published;
                NewFile file = written(name, bytes(size));
                if (published) {
                    file.publish(false);
                }
                Thread.currentThread().interrupt();
                try {
                    if (!published) {
                        assertThrows(IOException.class, () -> file.publish(false));
                        assertTrue(Thread.currentThread().isInterrupted());
                    }
                    file.remove();
                } finally {
                    assertTrue(Thread.interrupted(), name);
                }
                assertFalse(files.exists(new Path(folder, name + ".data")), name);
                assertFalse(hasOpenUploads(name), name);
            }
        }
    }

    /** The data object is published before the index is refused. */
    @Test
    void nothingStaysOfAPairWhoseIndexIsRefused() throws Exception {
        Path name = new Path(folder, "half");
        try (Writer writer = Writer.createIn(new HadoopDestination(files, name), new WriterOptions(1))) {
            writer.write(0, ByteBuffer.wrap(bytes(1000)));
            files.create(name.suffix(".index")).close();
            FaroException refused = assertThrows(FaroException.class, writer::finish);
            assertEquals(FileRole.INDEX, refused.role());
        }
        assertFalse(files.exists(name.suffix(".data")));
        assertEquals(0, files.getFileStatus(name.suffix(".index")).getLen());
    }

    @Test
    void aFileIsPublishedAsItWasMade() throws Exception {
        HadoopDestination destination = new HadoopDestination(files, new Path(folder, "replaced"));
        try (NewFile careful = destination.create(FileRole.DATA, false)) {
            IOException e = assertThrows(IOException.class, () -> careful.publish(true));
            assertTrue(e.getMessage().contains("not to replace"), e.getMessage());
        }
        try (NewFile replacing = destination.create(FileRole.DATA, true)) {
            IOException e = assertThrows(IOException.class, () -> replacing.publish(false));
            assertTrue(e.getMessage().contains("was made to replace"), e.getMessage());
        }
        assertFalse(files.exists(new Path(folder, "replaced.data")));
    }

    /** A whole output of several parts replaces another, and is read from the server. */
    @Test
    void anOutputIsReplacedAndRead() throws Exception {
        Path name = new Path(folder, "output");
        byte[] record = bytes(100_000);
        for (int turn = 0; turn < 2; turn++) {
            WriterOptions options = new WriterOptions(4).overwrite(turn > 0).bufferSize(4 << 20);
            try (Writer writer = Writer.createIn(new HadoopDestination(files, name), options)) {
                for (int i = 0; i < 150 + turn; i++) {
                    writer.write(i % 4, ByteBuffer.wrap(record));
                }
                writer.finish();
            }
        }
        try (Reader reader = HadoopOutputs.open(files, name.toString(), ReaderOptions.DEFAULT)) {
            Check.check(reader, CheckLevel.DECODE);
            int records = 0;
            for (int partition = 0; partition < 4; partition++) {
                try (RecordCursor cursor = reader.records(partition)) {
                    while (cursor.next()) {
                        assertEquals(ByteBuffer.wrap(record), cursor.record());
                        records++;
                    }
                }
            }
            assertEquals(151, records);
        }
        FaroException taken = assertThrows(FaroException.class,
                () -> Writer.createIn(new HadoopDestination(files, name), new WriterOptions(4)));
        assertEquals(ErrorCode.IO, taken.code());
    }

    @Test
    void storesWithoutTheConditionAreRefused() throws Exception {
        Configuration configuration = configuration(SERVER);
        configuration.setBoolean("fs.s3a.create.conditional.enabled", false);
        try (FileSystem other = FileSystem.newInstance(folder.toUri(), configuration)) {
            HadoopDestination destination = new HadoopDestination(other, new Path(folder, "orders"));
            for (boolean replace : new boolean[] {false, true}) {
                IOException e = assertThrows(IOException.class, () -> destination.create(FileRole.DATA, replace));
                assertTrue(e.getMessage().startsWith("writing needs HDFS"), e.getMessage());
            }
        }
    }
}
