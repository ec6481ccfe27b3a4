package dev.faro.flink;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The least number of network buffers with which a task writes to many consumers. The tasks of the job run one after
 * another, in the only slot of one task manager, and its other tasks need few buffers: each reads one local channel.
 */
final class LeastMemory {
    private static final int BUFFER_KIB = 32;
    /** Flink's default, which the cluster of the tests lowers. */
    private static final String SORT_BUFFERS = "512";
    private static final int MOST = 1 << 13;
    /** Flink's hybrid outputs wait for buffers that they never get. A job that gets them takes a third of this, or less. */
    private static final int SECONDS = 60;

    private final Cluster.Factory factory;
    private final Map<String, String> options;

    /**
     * Begins without a run.
     *
     * @param factory starts a cluster
     * @param options of the cluster
     */
    LeastMemory(Cluster.Factory factory, Map<String, String> options) {
        this.factory = factory;
        this.options = options;
    }

    private static final class Text implements MapFunction<Long, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String map(Long number) {
            return number.toString();
        }
    }

    private static DataStream<String> job(StreamExecutionEnvironment environment, int consumers) {
        return environment.fromSequence(1, consumers).setParallelism(1)
                .rebalance().map(new Text()).setParallelism(consumers);
    }

    /**
     * The least number of buffers: with it the job ends; with one less Flink says that they are too few, or waits for more.
     *
     * @param guess a number that may be the answer
     */
    int buffers(Path folder, int consumers, int guess) throws Exception {
        int enough = guess;
        int tooFew = 0;
        for (int step = 1; !suffices(folder, consumers, enough); step *= 2) {
            tooFew = enough;
            enough += step;
            if (enough > MOST) {
                throw new IllegalStateException("the job fails even with " + tooFew + " buffers");
            }
        }
        for (int step = 1; tooFew == 0 && enough > step; step *= 2) {
            if (suffices(folder, consumers, enough - step)) {
                enough -= step;
            } else {
                tooFew = enough - step;
            }
        }
        while (enough - tooFew > 1) {
            int middle = (enough + tooFew) / 2;
            if (suffices(folder, consumers, middle)) {
                enough = middle;
            } else {
                tooFew = middle;
            }
        }
        return enough;
    }

    private boolean suffices(Path folder, int consumers, int buffers) throws Exception {
        Map<String, String> all = new HashMap<>(options);
        all.put("taskmanager.memory.network.min", buffers * BUFFER_KIB + "kb");
        all.put("taskmanager.memory.network.max", buffers * BUFFER_KIB + "kb");
        all.put("taskmanager.network.sort-shuffle.min-buffers", SORT_BUFFERS);
        all.put("restart-strategy.type", "none");
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Cluster cluster = factory.start(folder, 1, 1, all)) {
            Future<Cluster.Outcome> job =
                    executor.submit(() -> cluster.run(environment -> job(environment, consumers), consumers));
            int results = job.get(SECONDS, TimeUnit.SECONDS).results().size();
            if (results != consumers) {
                throw new IllegalStateException("expected " + consumers + " results, found " + results);
            }
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            if (saysTooFew(e)) {
                return false;
            }
            throw e;
        } finally {
            executor.shutdownNow();
        }
    }

    private static boolean saysTooFew(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains("Insufficient number of network buffers")) {
                return true;
            }
        }
        return false;
    }
}
