package dev.faro.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.scheduler.Injection.Kind;
import dev.faro.scheduler.Injection.Mode;
import dev.faro.scheduler.Injection.Place;
import dev.faro.scheduler.Injection.Plan;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rule 7 of docs/scheduler.md: whatever fails of what a caller or the system provides, at whichever call and in
 * whichever way, each consumer ends with its data or with the cause.
 */
@Timeout(120)
class NobodyWaitsTest {
    private static final int PARTITIONS = 4;
    private static final int REGIONS = 2;
    private static final int MAX_STEPS = 500;
    private static final Set<Kind> OF_POOLS = Set.of(Kind.EMPTY_BUFFER, Kind.NO_BUFFER);
    /** The kinds that may fail repeatedly. A pool that never has a buffer would be waited for. */
    private static final Set<Kind> LASTING = Set.of(Kind.UNCHECKED, Kind.MEMORY, Kind.EMPTY_BUFFER);

    private final RecordingFileSystem system = new RecordingFileSystem();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<ExecutorService> executors = new ArrayList<>();
    private volatile FailingRun current;

    @TempDir
    Path folder;

    @AfterEach
    void stop() {
        threads.shutdownNow();
        executors.forEach(ExecutorService::shutdownNow);
    }

    private Reader open(String output) throws FaroException {
        List<Path> files = Outputs.files(folder.resolve(output), Layout.PAIRED).stream().map(system::path).toList();
        return Reader.openPair(files.get(0), files.get(1), ReaderOptions.DEFAULT);
    }

    private ExecutorService executor(Mode mode) {
        ThreadFactory factory = task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((dead, e) -> current.surfaced(e));
            return thread;
        };
        ExecutorService executor = switch (mode) {
            case ONE_THREAD -> Executors.newFixedThreadPool(1, factory);
            case THREE_THREADS -> Executors.newFixedThreadPool(3, factory);
            default -> null;
        };
        if (executor != null) {
            executors.add(executor);
        }
        return executor;
    }

    private static List<Kind> kinds(Place place) {
        return Arrays.stream(Kind.values()).filter(kind -> place == Place.TAKE || !OF_POOLS.contains(kind)).toList();
    }

    @ParameterizedTest
    @EnumSource
    void whateverFails(Mode mode) throws Exception {
        Outputs.even(folder.resolve("whole"), PARTITIONS, REGIONS, 3000);
        Files.copy(folder.resolve("whole.index"), folder.resolve("cut.index"));
        ExecutorService executor = executor(mode);
        int failures = 0;
        for (Place place : Place.values()) {
            for (Kind kind : kinds(place)) {
                failures += failAtEachStep(mode, place, kind, false, executor);
                if (LASTING.contains(kind)) {
                    failures += failAtEachStep(mode, place, kind, true, executor);
                }
            }
        }
        assertTrue(failures > 300, failures + " failures");
    }

    /** Fails at the first call, then at the second, until there is no call left to fail at. */
    private int failAtEachStep(Mode mode, Place place, Kind kind, boolean lasting, ExecutorService executor)
            throws Exception {
        for (int step = 0; step < MAX_STEPS; step++) {
            if (!fails(new Plan(mode, place, kind, step, lasting), executor)) {
                assertEquals(step == 0, !isUsed(place, mode), place + " in " + mode);
                return step;
            }
        }
        throw new AssertionError(place + " is called without end");
    }

    private static boolean isUsed(Place place, Mode mode) {
        return place != Place.EXECUTE || mode == Mode.ONE_THREAD || mode == Mode.THREE_THREADS;
    }

    private boolean fails(Plan plan, ExecutorService executor) throws Exception {
        system.hook(call -> {});
        // A size is requested only if bytes are missing.
        boolean cut = plan.place() == Place.SIZE;
        if (cut) {
            Files.copy(folder.resolve("whole.data"), folder.resolve("cut.data"), StandardCopyOption.REPLACE_EXISTING);
        }
        // The second reader has no region in its cache.
        try (Reader whole = open(cut ? "cut" : "whole"); Reader reader = open(cut ? "cut" : "whole")) {
            if (cut) {
                truncate(whole.region(1).start(1));
            }
            List<List<String>> expected = new ArrayList<>();
            for (int i = 0; i < PARTITIONS; i++) {
                expected.add(Scrambled.transcript(whole.partition(i)));
            }
            current = new FailingRun(plan, reader, system, executor, threads);
            return current.run(expected);
        }
    }

    private void truncate(long size) throws IOException {
        try (FileChannel file = FileChannel.open(folder.resolve("cut.data"), StandardOpenOption.WRITE)) {
            file.truncate(size);
        }
    }
}
