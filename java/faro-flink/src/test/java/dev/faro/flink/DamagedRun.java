package dev.faro.flink;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.flink.runtime.clusterframework.types.ResourceID;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.ArchivedExecution;

/**
 * A job of one producer and two consumers, one of them in the producer's task manager. When the producer has finished,
 * its files are damaged. Then one of the consumers begins, and the other one later.
 *
 * @param local whether the consumer that meets the damage is in the producer's task manager
 */
record DamagedRun(Shuffle shuffle, Damage damage, boolean compressed, boolean local) {
    /** A run without damage takes about 3 seconds. */
    private static final int LIMIT_SECONDS = 30;
    /** A job counts as stuck if no task does anything for this long. */
    private static final int STILL_SECONDS = 5;
    private static final int CONSUMERS = 2;
    private static final long HEAD_START_MILLIS = 1_000;
    /** Less than the time for which Flink waits for the answer of a task manager. */
    private static final long PATIENCE_MILLIS = 8_000;
    private static final List<String> RIGHT = LongStream.rangeClosed(1, 4_000)
            .mapToObj(number -> ("record " + number + " xxxx").substring(0, 12)).sorted().toList();

    /** How the job ended. */
    sealed interface Ending {
        /**
         * The job ended with a result.
         *
         * @param producers the number of runs of the producer
         * @param failures the failures of attempts of tasks
         */
        record Finished(boolean right, int producers, List<String> failures) implements Ending {}

        /**
         * The job failed.
         *
         * @param restarts the number of restarts of consumers
         * @param cause the first cause
         * @param messages the messages of the cause and of all errors that it caused
         */
        record Failed(int restarts, Throwable cause, String messages) implements Ending {}

        /**
         * The job did not end within the time limit.
         *
         * @param active whether a task still does something
         */
        record Endless(boolean active) implements Ending {}
    }

    /** Damages the files once, when the consumer that is to meet the damage is set up. */
    private final class Injection implements ObservedFactory.Observer {
        private final Path folder;
        private final AtomicInteger consumers = new AtomicInteger();
        private ResourceID producer;
        private final CountDownLatch done = new CountDownLatch(1);
        private volatile IOException failure;

        Injection(Path folder) {
            this.folder = folder;
        }

        @Override
        public synchronized void producer(ResourceID taskManager) {
            producer = taskManager;
        }

        @Override
        public void consumer(ResourceID taskManager, int subtask) {
            boolean first = consumers.incrementAndGet() <= CONSUMERS;
            if (meetsDamage(taskManager)) {
                damageOnce(subtask);
            } else if (first) {
                startOtherConsumer();
            }
        }

        private synchronized boolean meetsDamage(ResourceID taskManager) {
            return local == taskManager.equals(producer);
        }

        private synchronized void damageOnce(int subtask) {
            if (done.getCount() == 0) {
                return;
            }
            try {
                damage.to(WrittenOutput.find(shuffle, folder, subtask, CONSUMERS), compressed);
            } catch (IOException e) {
                failure = e;
            }
            done.countDown();
        }

        private void startOtherConsumer() {
            try {
                if (done.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                    Thread.sleep(HEAD_START_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Makes the run in a new cluster, with more options than the run needs. */
    Ending run(Path folder, Map<String, String> more) throws Exception {
        Injection injection = new Injection(folder);
        ObservedFactory.observer = injection;
        Jobs.PRODUCERS.set(0);
        Map<String, String> options = new HashMap<>(Map.of("shuffle-service-factory.class", shuffle.factory()));
        if (!compressed) {
            options.put("taskmanager.network.compression.codec", "NONE");
        }
        // A pair of files that a consumer opens; a small output would be in memory.
        options.put(FaroOptions.OPEN_OUTPUTS.key(), "0");
        options.put(FaroOptions.SORT_BUFFER_SIZE.key(), "32kb");
        options.putAll(more);
        Cluster cluster = Cluster.stock(folder, 1, options);
        Ending ending;
        try {
            ending = end(cluster, injection);
        } finally {
            close(cluster);
        }
        if (injection.failure != null) {
            throw injection.failure;
        }
        if (injection.done.getCount() > 0) {
            throw new IllegalStateException(
                    "expected consumers in both task managers, found none that could meet the damage");
        }
        return ending;
    }

    private static Ending end(Cluster cluster, Injection injection) throws Exception {
        CompletableFuture<Cluster.Outcome> outcome = CompletableFuture.supplyAsync(() -> {
            try {
                return cluster.run(Jobs::fewToMany, CONSUMERS);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, task -> new Thread(task, "damaged run").start());
        try {
            return waitFor(outcome, cluster, injection);
        } catch (ExecutionException e) {
            return new Ending.Failed(injection.consumers.get() - CONSUMERS, first(e), messages(e));
        }
    }

    private static Ending waitFor(CompletableFuture<Cluster.Outcome> outcome, Cluster cluster, Injection injection)
            throws Exception {
        int still = 0;
        for (int seconds = 0; seconds < LIMIT_SECONDS && still < STILL_SECONDS; seconds++) {
            try {
                Cluster.Outcome found = outcome.get(1, TimeUnit.SECONDS);
                return new Ending.Finished(
                        found.results().equals(RIGHT), Jobs.PRODUCERS.get(), failures(found.graph()));
            } catch (TimeoutException e) {
                still = injection.consumers.get() == 0 || cluster.isActive() ? 0 : still + 1;
            }
        }
        return new Ending.Endless(still < STILL_SECONDS);
    }

    private static Throwable first(Throwable failure) {
        return failure.getCause() == null ? failure : first(failure.getCause());
    }

    private static String messages(Throwable failure) {
        return failure.getCause() == null ? failure.toString() : failure + "\n" + messages(failure.getCause());
    }

    private static List<String> failures(AccessExecutionGraph graph) {
        List<String> found = new ArrayList<>();
        graph.getAllExecutionVertices().forEach(vertex -> {
            for (ArchivedExecution attempt : vertex.getExecutionHistory().getHistoricalExecutions()) {
                attempt.getFailureInfo().ifPresent(failure -> found.add(failure.getExceptionAsString()));
            }
        });
        return found;
    }

    /** A task that reads without end keeps its task manager from ending. */
    private static void close(Cluster cluster) throws InterruptedException {
        Thread closing = new Thread(cluster::close, "closing");
        closing.setDaemon(true);
        closing.start();
        closing.join(TimeUnit.SECONDS.toMillis(20));
    }
}
