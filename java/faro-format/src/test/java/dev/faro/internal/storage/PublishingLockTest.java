package dev.faro.internal.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.testing.OtherProcess;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Torment;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The publishing lock (PUB-5): between threads, class loaders and processes. */
@Timeout(120)
class PublishingLockTest {
    private static final Duration SHORT = Duration.ofMillis(150);

    @TempDir
    Path folder;

    private PublishingLock lock(Duration limit) {
        return new PublishingLock(FileRole.DATA, folder.resolve("n.faro-lock"), limit);
    }

    private void expectRefused() {
        boolean[] ran = {false};
        FaroException e = assertThrows(FaroException.class, () -> lock(SHORT).holding(() -> ran[0] = true));
        assertEquals(ErrorCode.IO, e.code());
        assertTrue(e.getMessage().contains("n.faro-lock"), e.getMessage());
        assertFalse(ran[0]);
    }

    private void expectFree() throws IOException {
        boolean[] ran = {false};
        lock(SHORT).holding(() -> {
            assertTrue(Files.exists(folder.resolve("n.faro-lock")));
            ran[0] = true;
        });
        assertTrue(ran[0]);
        assertEquals(List.of(), Outputs.names(folder));
    }

    @Test
    void aThreadWaitsForAnother() throws Exception {
        lock(SHORT).holding(this::expectRefused);
        expectFree();
        assertThrows(IOException.class, () -> lock(SHORT).holding(() -> {
            throw new IOException("the work failed");
        }));
        expectFree();
    }

    @Test
    void aProcessWaitsForAnotherAndNotForADeadOne() throws Exception {
        try (OtherProcess other = OtherProcess.start()) {
            assertEquals("held", other.ask("hold", folder.resolve("n.faro-lock")));
            expectRefused();
            expectRefused();
            assertEquals(List.of("n.faro-lock"), Outputs.names(folder));
            other.kill();
            assertEquals(List.of("n.faro-lock"), Outputs.names(folder));
            expectFree();
        }
    }

    @Test
    void theFileIsLockedWhileTheLockIsHeldAndEmpty() throws Exception {
        try (OtherProcess other = OtherProcess.start()) {
            lock(SHORT).holding(() -> {
                assertEquals("locked", other.ask("probe", folder.resolve("n.faro-lock")));
                assertEquals(0, Files.size(folder.resolve("n.faro-lock")));
            });
            expectFree();
        }
    }

    /** Each class loader has its own classes: they share only what belongs to the JVM. */
    @Test
    void aClassLoaderWaitsForAnother() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        try (OtherProcess process = OtherProcess.start(); URLClassLoader loader =
                new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
            Class<?> others = loader.loadClass(PublishingLock.class.getName());
            assertFalse(others == PublishingLock.class);
            Class<?> role = loader.loadClass(FileRole.class.getName());
            Object lock = others.getConstructor(role, Path.class, Duration.class)
                    .newInstance(role.getEnumConstants()[0], folder.resolve("n.faro-lock"), SHORT);
            Class<?> work = loader.loadClass(PublishingLock.Work.class.getName());
            boolean[] ran = {false};
            Object run = Proxy.newProxyInstance(loader, new Class<?>[] {work}, (proxy, method, arguments) -> {
                expectRefused();
                // The refused thread has not opened the file: closing it would have released the lock.
                assertEquals("locked", process.ask("probe", folder.resolve("n.faro-lock")));
                ran[0] = true;
                return null;
            });
            others.getMethod("holding", work).invoke(lock, run);
            assertTrue(ran[0]);
            expectFree();
        }
    }

    @Test
    void anInterruptEndsTheWaiting() throws Exception {
        lock(SHORT).holding(() -> {
            CountDownLatch begun = new CountDownLatch(1);
            Throwable[] thrown = {null};
            boolean[] interrupted = {false};
            Thread waiting = new Thread(() -> {
                begun.countDown();
                try {
                    lock(Duration.ofSeconds(60)).holding(() -> { });
                } catch (IOException e) {
                    thrown[0] = e;
                }
                interrupted[0] = Thread.currentThread().isInterrupted();
            });
            waiting.start();
            try {
                begun.await();
                waiting.interrupt();
                waiting.join();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            assertTrue(thrown[0].getCause() instanceof InterruptedIOException, String.valueOf(thrown[0]));
            assertTrue(interrupted[0]);
        });
        expectFree();
    }

    @Test
    void aFileThatIsNotRegularIsRefusedWithoutWaiting() throws Exception {
        Path path = folder.resolve("n.faro-lock");
        Path target = folder.resolve("target");
        Files.createSymbolicLink(path, target);
        expectRefused();
        assertFalse(Files.exists(target));
        Files.delete(path);
        Files.createDirectory(path);
        expectRefused();
        Files.delete(path);
        assertEquals(0, new ProcessBuilder("mkfifo", path.toString()).start().waitFor());
        expectRefused();
    }

    /**
     * A lock file that is replaced while it is opened, by one that gets the number of the first: the opened file is not
     * the one that has the name, though the name had that number before and after.
     */
    @Test
    void aFileNumberThatIsUsedAgainIsNotTaken() throws Exception {
        Path path = folder.resolve("n.faro-lock");
        RecordingFileSystem system = new RecordingFileSystem();
        try (OtherProcess other = OtherProcess.start()) {
            FileChannel first = FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
            Object number = FileKey.of(path);
            system.aroundOpening(() -> {
                Files.delete(path);
                Files.createFile(path);
            }, () -> {
                Files.delete(path);
                first.close();
                assertEquals("held", other.ask("hold", path));
            });
            PublishingLock lock = new PublishingLock(FileRole.DATA, system.path(path), SHORT);
            assertThrows(FaroException.class, () -> lock.holding(() -> { }));
            Assumptions.assumeTrue(number.equals(FileKey.of(path)), "this file system does not use numbers again");
        }
    }

    /** Threads and processes add to one number in a file. The sum would be too small if two had the lock at once. */
    @Test
    void oneAtATimeOfManyThreadsAndProcesses() throws Exception {
        Path file = Files.writeString(folder.resolve("number"), "0");
        int times = 150;
        List<OtherProcess> others = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) {
                others.add(OtherProcess.start());
            }
            for (OtherProcess other : others) {
                other.tell("count", file, times);
            }
            List<Callable<Void>> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                threads.add(() -> {
                    OtherProcess.count(file, times);
                    return null;
                });
            }
            Torment.runAll(threads);
            for (OtherProcess other : others) {
                assertEquals("counted", other.answer());
            }
        } finally {
            for (OtherProcess other : others) {
                other.close();
            }
        }
        assertEquals(Integer.toString(5 * times), Files.readString(file));
        assertEquals(List.of("number"), Outputs.names(folder));
    }
}
