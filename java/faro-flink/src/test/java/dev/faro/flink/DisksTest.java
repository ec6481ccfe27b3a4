package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** One of two disks fails when consumers begin: what was on it is produced again, on the other one. */
    @ParameterizedTest
    @ValueSource(strings = {"ALL_EXCHANGES_BLOCKING", "ALL_EXCHANGES_HYBRID_FULL", "ALL_EXCHANGES_HYBRID_SELECTIVE"})
    void outputsOfAFailedDiskAreProducedAgain(String mode) throws Exception {
        List<Path> temporary = List.of(folder.resolve("one"), folder.resolve("two"));
        List<String> expected;
        try (Cluster stock = Cluster.stock(Files.createDirectory(folder.resolve("stock")), 2, Map.of())) {
            expected = stock.run(Jobs::wordCount, 4).results();
        }
        for (Path each : temporary) {
            Files.createDirectory(each);
        }
        Map<String, String> options = Map.of("io.tmp.dirs", String.join(",", temporary.get(0).toString(),
                temporary.get(1).toString()), "execution.batch-shuffle-mode", mode, "faro.hybrid.memory", "0b",
                "faro.open-outputs", "0",
                // Each task manager learns of the failure by a failure of an output of its own.
                "restart-strategy.fixed-delay.attempts", "100",
                // Consumers begin when producers have ended, so that there is something to lose.
                "jobmanager.partition.hybrid.partition-data-consume-constraint", "ONLY_FINISHED_PRODUCERS");
        AtomicBoolean broke = new AtomicBoolean();
        Set<String> before = Collections.synchronizedSet(new HashSet<>());
        List<Path> broken = Collections.synchronizedList(new ArrayList<>());
        try (Cluster faro = Cluster.faro(folder, 2, options)) {
            WatchedFactory.beforeReading = partitions -> {
                if (made().stream().filter(BatchPartition::isFinished).count() >= 4
                        && broke.compareAndSet(false, true)) {
                    made().forEach(partition -> before.add(partition.getPartitionId().toString()));
                    for (Path each : folders(temporary.get(1))) {
                        breakDisk(each);
                        broken.add(each);
                    }
                }
            };
            assertEquals(expected, faro.run(Jobs::wordCount, 4).results());
            assertTrue(broke.get());
            assertTrue(made().stream().anyMatch(
                    partition -> !before.contains(partition.getPartitionId().toString())), "producers ran again");
            // What fell to the other disk from then on. A task manager without a failure of its own knows of none.
            for (Disk disk : made().stream().map(partition -> partition.settings().disk())
                    .filter(disk -> disk.folder().startsWith(temporary.get(1))).collect(Collectors.toSet())) {
                assertTrue(disk.hasFailed(), disk.folder() + " is known to have failed");
            }
            for (Path each : broken) {
                Files.delete(each);
            }
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
