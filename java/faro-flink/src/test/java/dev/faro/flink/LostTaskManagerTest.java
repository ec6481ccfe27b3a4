package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A task manager that dies in the middle of a job loses its outputs; they are made again. */
class LostTaskManagerTest {
    private static final int PARALLELISM = 4;

    @TempDir
    Path folder;

    @Test
    void whileItsOutputsAreRead() throws Exception {
        List<String> expected = LongStream.rangeClosed(1, Jobs.PRODUCED).mapToObj(Jobs::shortened).sorted().toList();
        AtomicReference<CompletableFuture<Void>> lost = new AtomicReference<>();
        try (Cluster faro = Cluster.faro(folder, 2, Map.of())) {
            WatchedFactory.beforeReading = partitions -> {
                // The first of all consumers kills a task manager.
                if (lost.compareAndSet(null, new CompletableFuture<>())) {
                    CompletableFuture.runAsync(() -> faro.replaceTaskManager(0))
                            .whenComplete((done, fault) -> complete(lost.get(), fault));
                }
            };
            Jobs.PRODUCERS.set(0);
            Cluster.Outcome outcome = faro.run(Jobs::manyToMany, PARALLELISM);
            lost.get().join();
            assertEquals(expected, outcome.results());
        }
        assertTrue(Jobs.PRODUCERS.get() > PARALLELISM, () -> Jobs.PRODUCERS + " runs of producers");
    }

    private static void complete(CompletableFuture<Void> future, Throwable fault) {
        if (fault == null) {
            future.complete(null);
        } else {
            future.completeExceptionally(fault);
        }
    }
}
