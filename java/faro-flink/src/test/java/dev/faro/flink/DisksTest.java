package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.faro.FaroException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several disks: each gets its part of the outputs, and one that fails gets no more. */
@Timeout(120)
class DisksTest {
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    Path folder;

    private final Map<String, Long> space = new HashMap<>();
    private long now;

    private Disks disks(String... names) throws IOException {
        String[] paths = new String[names.length];
        for (int i = 0; i < names.length; i++) {
            paths[i] = Files.createDirectories(folder.resolve(names[i])).toString();
        }
        return new Disks(paths, Runnable::run, made -> space.get(nameOf(made)), () -> now);
    }

    /** The name of the disk that a folder of Faro files is on. */
    private static String nameOf(Path made) {
        return made.getParent().getFileName().toString();
    }

    private static String next(Disks disks, int count) {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < count; i++) {
            names.append(nameOf(disks.next().folder()));
        }
        return names.toString();
    }

    private static int count(String names, char name) {
        return (int) names.chars().filter(each -> each == name).count();
    }

    @Test
    void outputsGoToDisksInProportionToTheirSpace() throws IOException {
        space.putAll(Map.of("a", 300L, "b", 100L, "c", 0L));
        try (Disks disks = disks("a", "b", "c")) {
            String names = next(disks, 400);
            assertTrue(Math.abs(count(names, 'a') - 300) <= 2, names);
            assertTrue(Math.abs(count(names, 'b') - 99) <= 2, names);
            assertFalse(names.contains("bb"), "in turns, not in runs");
            // The space is looked at again after a second.
            space.put("c", 300L);
            assertTrue(count(next(disks, 100), 'c') <= 1);
            now += SECOND;
            assertTrue(Math.abs(count(next(disks, 700), 'c') - 300) <= 3);
        }
    }

    @Test
    void aDiskThatFailsIsLeftOutUntilItWorksAgain() throws IOException {
        space.putAll(Map.of("a", 100L, "b", 100L));
        try (Disks disks = disks("a", "b")) {
            Disk a = Stream.of(disks.next(), disks.next()).filter(disk -> nameOf(disk.folder()).equals("a"))
                    .findAny().orElseThrow();
            a.suspect(new IOException("of something else"));
            assertFalse(a.hasFailed(), "a new file can be written");
            now += SECOND;
            breakDisk(a.folder());
            a.suspect(new InterruptedIOException());
            a.suspect(FaroException.invalidArgument("a right call", "a wrong one"));
            assertFalse(a.hasFailed(), "not failures of disks");
            a.suspect(new IOException("of the disk"));
            assertEquals("bbbb", next(disks, 4));
            Files.delete(a.folder());
            Files.createDirectory(a.folder());
            assertEquals("bbbb", next(disks, 4));
            now += 31 * SECOND;
            assertEquals(2, count(next(disks, 4), 'a'));
        }
    }

    @Test
    void ifAllHaveFailedOneIsTried() throws IOException {
        space.putAll(Map.of("a", 100L, "b", 100L));
        Set<Path> broken = new HashSet<>();
        try (Disks disks = disks("a", "b")) {
            for (int i = 0; i < 2; i++) {
                Disk disk = disks.next();
                breakDisk(disk.folder());
                broken.add(disk.folder());
                disk.suspect(new IOException("of the disk"));
            }
            assertEquals(2, broken.size());
            assertTrue(broken.contains(disks.next().folder()));
            for (Path path : broken) {
                Files.delete(path);
            }
        }
    }

    /** Removes a folder with all files, as if its disk were gone; a file takes its place. */
    private static void breakDisk(Path path) {
        JobsBenchmark.remove(path);
        try {
            Files.createFile(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One of two disks is gone when consumers begin: what was on it is produced again, on the other one. */
    @ParameterizedTest
    @ValueSource(strings = {"ALL_EXCHANGES_BLOCKING", "ALL_EXCHANGES_HYBRID_FULL", "ALL_EXCHANGES_HYBRID_SELECTIVE"})
    void outputsOfADiskThatIsGoneAreProducedAgain(String mode) throws Exception {
        List<Path> broken = new ArrayList<>();
        Runnable repair = () -> broken.forEach(each -> {
            try {
                Files.delete(each);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        List<String> results = whileADiskFails(folder, mode, temporary -> {
            for (Path each : folders(temporary)) {
                breakDisk(each);
                broken.add(each);
            }
        }, repair);
        assertEquals(expected(), results);
    }

    /**
     * The same, where the disk is there, and opening, reading, writing, syncing and removing files on it fail with EIO:
     * see conformance/faults/shim.c.
     */
    @ParameterizedTest
    @ValueSource(strings = {"ALL_EXCHANGES_BLOCKING", "ALL_EXCHANGES_HYBRID_FULL", "ALL_EXCHANGES_HYBRID_SELECTIVE"})
    void outputsOfADiskWithErrorsAreProducedAgain(String mode) throws Exception {
        String library = System.getProperty("faro.shim");
        assumeTrue(library != null, "not tried: -Dfaro.shim names out/faults/shim.so, which make builds");
        Path shim = Path.of(library);
        assertTrue(Files.exists(shim), library);
        Path control = folder.resolve("control");
        ByteBuffer empty = ByteBuffer.allocate(WithErrors.CONTROL_BYTES);
        Files.write(control, empty.array());
        ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g", "-cp", System.getProperty("java.class.path"), WithErrors.class.getName(), folder.toString(), mode);
        builder.environment().putAll(Map.of("LD_PRELOAD", shim.toString(), "FARO_FAULT_CONTROL", control.toString(),
                "FARO_FAULT_FOLDER", temporary(folder, "two").toString()));
        Path said = folder.resolve("said");
        Process process = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
        try {
            assertTrue(process.waitFor(100, TimeUnit.SECONDS), () -> text(said));
        } finally {
            process.destroyForcibly();
        }
        assertEquals(0, process.exitValue(), () -> text(said));
        assertEquals(expected(), Files.readAllLines(folder.resolve(WithErrors.RESULTS)));
        int calls = ByteBuffer.wrap(Files.readAllBytes(control)).order(ByteOrder.nativeOrder())
                .getInt(WithErrors.FIRED);
        assertTrue(calls > 0, "no call failed");
    }

    /** Runs the job in a process of its own, between which and the system the shim is. */
    static final class WithErrors {
        static final String RESULTS = "results";
        /** The size of the shim's {@code struct control}, and the offset of its {@code fired}. */
        static final int CONTROL_BYTES = 40 + 12 * 4 + 3 * 4096;
        static final int FIRED = 36;
        private static final int ANY = 11;
        private static final int ERRNO = 1;
        private static final int EIO = 5;

        private WithErrors() {}

        /** Takes a folder and the mode of exchanges. */
        public static void main(String[] arguments) throws Exception {
            Path folder = Path.of(arguments[0]);
            try (FileChannel channel = FileChannel.open(Path.of(System.getenv("FARO_FAULT_CONTROL")),
                    StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                ByteBuffer control = channel.map(FileChannel.MapMode.READ_WRITE, 0, CONTROL_BYTES)
                        .order(ByteOrder.nativeOrder());
                List<String> results = whileADiskFails(folder, arguments[1],
                        // Its kind, action, number, period, error, and armed: calls of all kinds, each from number 0 on.
                        temporary -> control.putInt(4, ANY).putInt(8, ERRNO).putInt(12, 0).putInt(16, 1)
                                .putInt(20, EIO).putInt(0, 1),
                        () -> control.putInt(0, 0));
                Files.write(folder.resolve(RESULTS), results);
            }
            // Threads of Flink may be left.
            System.exit(0);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> expected() throws Exception {
        try (Cluster stock = Cluster.stock(Files.createDirectory(folder.resolve("stock")), 2, Map.of())) {
            return stock.run(Jobs::wordCount, 4).results();
        }
    }

    private static Path temporary(Path folder, String disk) throws IOException {
        return Files.createDirectories(folder.resolve(disk));
    }

    /**
     * Runs a job on two disks, of which one fails when consumers begin.
     *
     * @param failing given the temporary folder on the disk, lets it fail
     * @param repair lets it work again
     * @return the job's results
     */
    private static List<String> whileADiskFails(Path folder, String mode, Consumer<Path> failing, Runnable repair)
            throws Exception {
        Path one = temporary(folder, "one");
        Path two = temporary(folder, "two");
        Map<String, String> options = Map.of("io.tmp.dirs", one + "," + two, "execution.batch-shuffle-mode", mode,
                "faro.hybrid.memory", "0b", "faro.open-outputs", "0",
                // Each task manager learns of the failure by a failure of an output of its own.
                "restart-strategy.fixed-delay.attempts", "100",
                // Consumers begin when producers have ended, so that there is something to lose.
                "jobmanager.partition.hybrid.partition-data-consume-constraint", "ONLY_FINISHED_PRODUCERS");
        AtomicBoolean fails = new AtomicBoolean();
        Set<String> before = Collections.synchronizedSet(new HashSet<>());
        try (Cluster faro = Cluster.faro(folder, 2, options)) {
            WatchedFactory.beforeReading = partitions -> {
                if (made().stream().filter(BatchPartition::isFinished).count() >= 4
                        && fails.compareAndSet(false, true)) {
                    made().forEach(partition -> before.add(partition.getPartitionId().toString()));
                    failing.accept(two);
                }
            };
            List<String> results = faro.run(Jobs::wordCount, 4).results();
            assertTrue(fails.get());
            assertTrue(made().stream().anyMatch(
                    partition -> !before.contains(partition.getPartitionId().toString())), "producers ran again");
            // What fell to the other disk from then on. A task manager without a failure of its own knows of none.
            for (Disk disk : made().stream().map(partition -> partition.settings().disk())
                    .filter(disk -> disk.folder().startsWith(two)).collect(Collectors.toSet())) {
                assertTrue(disk.hasFailed(), disk.folder() + " is known to have failed");
            }
            repair.run();
            return results;
        }
    }

    private static List<BatchPartition> made() {
        return Stream.<BatchPartition>concat(WatchedFactory.PARTITIONS.stream(), WatchedFactory.HYBRID.stream())
                .toList();
    }

    private static List<Path> folders(Path temporary) {
        try (Stream<Path> all = Files.list(temporary)) {
            return all.filter(each -> each.getFileName().toString().contains("faro-shuffle")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
