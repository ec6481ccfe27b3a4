package dev.faro.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import dev.faro.storage.StoredFileCheck;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files over the local file systems, and over one with vectored reads. */
@Timeout(60)
class HadoopFileTest {
    @TempDir
    java.nio.file.Path folder;

    private final Configuration configuration = new Configuration(false);
    private final byte[] bytes = new byte[300_000];
    private java.nio.file.Path local;
    private Path path;
    private LocalFileSystem checked;

    private static final class Tagged extends FileStatus implements EtagSource {
        private static final long serialVersionUID = 1;

        Tagged(FileStatus status) throws IOException {
            super(status);
        }

        @Override
        public String getEtag() {
            return "tag";
        }
    }

    @BeforeEach
    void write() throws Exception {
        new Random(1).nextBytes(bytes);
        local = Files.write(folder.resolve("file"), bytes);
        path = new Path(local.toUri());
        checked = FileSystem.getLocal(configuration);
    }

    private List<FileSystem> fileSystems() {
        FileSystem raw = checked.getRawFileSystem();
        return List.of(checked, raw, new CountingFileSystem(raw, configuration));
    }

    @Test
    void keepsThePromises() throws Exception {
        for (FileSystem each : fileSystems()) {
            try (HadoopFile file = new HadoopFile(each, path)) {
                StoredFileCheck.check(file, ByteBuffer.wrap(bytes));
            }
            try (StoredFile file = new LastBytes(new HadoopFile(each, path), 1000)) {
                StoredFileCheck.check(file, ByteBuffer.wrap(bytes));
            }
            try (StoredFile file = new LastBytes(new HadoopFile(each, path), 1 << 20)) {
                StoredFileCheck.check(file, ByteBuffer.wrap(bytes));
            }
        }
        Files.write(local, new byte[0]);
        try (StoredFile file = new LastBytes(new HadoopFile(checked, path), 1000)) {
            StoredFileCheck.check(file, ByteBuffer.allocate(0));
        }
    }

    private static RangeRead range(long offset, int length) {
        return new RangeRead(offset, ByteBuffer.allocate(length));
    }

    @Test
    void severalRangesAreOneVectoredRead() throws Exception {
        CountingFileSystem counting = new CountingFileSystem(checked.getRawFileSystem(), configuration);
        try (HadoopFile file = new HadoopFile(counting, path)) {
            file.readRanges(List.of(range(200_000, 10), range(0, 10), range(299_995, 10), range(400_000, 4)));
            assertEquals(1, counting.requests.stream().filter(each -> each.startsWith("vectored")).count());
            counting.breaksVectored = true;
            assertThrows(IOException.class, () -> file.readRanges(List.of(range(0, 10), range(50, 10))));
            counting.failure = new IOException("no");
            assertThrows(IOException.class, () -> file.readRanges(List.of(range(0, 10), range(50, 10))));
        }
    }

    @Test
    void versionsNameTheContent() throws Exception {
        HadoopFile file = new HadoopFile(checked, path);
        String version = file.version().orElseThrow();
        Files.setLastModifiedTime(local, FileTime.fromMillis(1_000_000));
        assertEquals(version, file.version().orElseThrow());
        assertNotEquals(version, new HadoopFile(checked, path).version().orElseThrow());
        FileStatus status = checked.getFileStatus(path);
        assertEquals("tag", new HadoopFile(checked, new Tagged(status)).version().orElseThrow());
        assertTrue(new HadoopFile(checked, new Path("/does/not/exist")).version().isEmpty());
    }

    @Test
    void missingFilesFoldersAndClosedFiles() throws Exception {
        assertThrows(FileNotFoundException.class, new HadoopFile(checked, new Path("/does/not/exist"))::size);
        IOException folderFailure = assertThrows(IOException.class,
                () -> new HadoopFile(checked, path.getParent()).read(0, ByteBuffer.allocate(1)));
        assertEquals("not a regular file", folderFailure.getMessage());
        java.nio.file.Path pipe = folder.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        assertThrows(IOException.class, () -> new HadoopFile(checked, new Path(pipe.toUri())).read(0,
                ByteBuffer.allocate(1)));
        HadoopFile file = new HadoopFile(checked, path);
        assertEquals(1, file.read(7, ByteBuffer.allocate(1)));
        file.close();
        file.close();
        assertThrows(IOException.class, () -> file.read(7, ByteBuffer.allocate(1)));
    }

    /** The file became shorter than its status says. */
    @Test
    void aFileThatWasCut() throws Exception {
        try (HadoopFile file = new HadoopFile(checked, path)) {
            assertEquals(bytes.length, file.size());
            Files.write(local, new byte[10]);
            assertThrows(IOException.class, () -> file.read(100, ByteBuffer.allocate(1)));
        }
    }

    /** An interrupt closes the channel below. Only the call of the interrupted thread fails. */
    @Test
    void interrupts() throws Exception {
        try (HadoopFile file = new HadoopFile(checked.getRawFileSystem(), path)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            assertEquals(1, file.read(0, one));
            for (int i = 0; i < 200; i++) {
                int delay = i;
                Thread reader = new Thread(() -> readUntilInterrupted(file));
                reader.start();
                Thread.sleep(0, 1000 * delay);
                reader.interrupt();
                assertEquals(1, file.read(i, one.clear()));
                assertEquals(bytes[i], one.get(0));
                reader.join();
            }
            assertEquals(null, failure);
        }
    }

    private volatile Throwable failure;

    private void readUntilInterrupted(StoredFile file) {
        ByteBuffer target = ByteBuffer.allocateDirect(100_000);
        try {
            while (true) {
                file.read(0, target.clear());
            }
        } catch (IOException e) {
            if (!(e instanceof InterruptedIOException) || !Thread.currentThread().isInterrupted()) {
                failure = e;
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    @Test
    void aReplacedFileIsNoticedAfterAnInterrupt() throws Exception {
        try (HadoopFile file = new HadoopFile(checked.getRawFileSystem(), path)) {
            assertEquals(1, file.read(0, ByteBuffer.allocate(1)));
            Files.delete(local);
            Files.write(local, new byte[bytes.length]);
            Files.setLastModifiedTime(local, FileTime.fromMillis(1_000_000));
            // The stream stays with the file that it opened.
            ByteBuffer one = ByteBuffer.allocate(1);
            file.read(5, one);
            assertEquals(bytes[5], one.get(0));
            boolean closed = false;
            while (!closed) {
                Thread reader = new Thread(() -> readUntilInterrupted(file));
                reader.start();
                Thread.sleep(1);
                reader.interrupt();
                reader.join();
                closed = isReplaced(file, bytes[5]);
            }
        }
    }

    private static boolean isReplaced(StoredFile file, byte expected) throws IOException {
        try {
            ByteBuffer one = ByteBuffer.allocate(1);
            file.read(5, one);
            assertEquals(expected, one.get(0));
            return false;
        } catch (FileNotFoundException e) {
            return true;
        }
    }
}
