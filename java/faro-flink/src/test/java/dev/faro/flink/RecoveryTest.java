package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.block.BlockReader;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.ArchivedExecution;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damage makes Flink run the producer again, and the job has the right result, whoever meets the damage. */
class RecoveryTest {
    private static final int CONSUMERS = 2;
    private static final int MOST_RUNS = 20;
    private static final String REMOTE = "RemoteTransportException";
    private static final List<String> RIGHT = LongStream.rangeClosed(1, 4_000)
            .mapToObj(number -> ("record " + number + " xxxx").substring(0, 12)).sorted().toList();

    @TempDir
    Path folder;

    private interface Damage {
        void to(OutputSettings output, int subpartition) throws IOException;
    }

    @AfterEach
    void forget() {
        WatchedFactory.reset();
    }

    @Test
    void flippedBit() throws Exception {
        localAndRemote("checksum", (output, subpartition) -> {
            long at = payload(output, subpartition);
            try (FileChannel file = FileChannel.open(output.data(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                ByteBuffer one = ByteBuffer.allocate(1);
                file.read(one, at);
                file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), at);
            }
        });
    }

    @Test
    void zeroedStretch() throws Exception {
        localAndRemote("data file", (output, subpartition) -> {
            long at = payload(output, subpartition) - BlockReader.HEADER;
            try (FileChannel file = FileChannel.open(output.data(), StandardOpenOption.WRITE)) {
                file.write(ByteBuffer.allocate(200), at);
            }
        });
    }

    @Test
    void cutFile() throws Exception {
        anyConsumer("truncated", (output, subpartition) -> {
            try (FileChannel file = FileChannel.open(output.data(), StandardOpenOption.WRITE)) {
                file.truncate(file.size() / 2);
            }
        });
    }

    @Test
    void lostIndex() throws Exception {
        anyConsumer("io in index file", (output, subpartition) -> Files.delete(output.index()));
    }

    @Test
    void lostData() throws Exception {
        anyConsumer("io in data file", (output, subpartition) -> Files.delete(output.data()));
    }

    /** Where the payload of a subpartition's first block begins. */
    private static long payload(OutputSettings output, int subpartition) throws IOException {
        try (Reader reader = Reader.openPair(output.data(), output.index(), ReaderOptions.DEFAULT);
                BlockCursor blocks = reader.partition(subpartition)) {
            assertTrue(blocks.next());
            return blocks.offset() + BlockReader.HEADER;
        }
    }

    /** Damages what one of the consumers reads, until one was in the producer's task manager, and one was not. */
    private void localAndRemote(String expected, Damage damage) throws Exception {
        boolean local = false;
        boolean remote = false;
        try (Cluster faro = Cluster.faro(folder, 1, Map.of())) {
            for (int run = 0; run < MOST_RUNS && !(local && remote); run++) {
                for (String failure : run(faro, run % CONSUMERS, expected, damage)) {
                    remote |= failure.contains(REMOTE);
                    local |= !failure.contains(REMOTE);
                }
            }
        }
        assertTrue(local, "met by a consumer in the same task manager");
        assertTrue(remote, "met by a consumer in another task manager");
    }

    /** Damages what all consumers read, of whom any may be the first to meet it. */
    private void anyConsumer(String expected, Damage damage) throws Exception {
        try (Cluster faro = Cluster.faro(folder, 1, Map.of())) {
            run(faro, 0, expected, damage);
        }
    }

    /** Runs a job whose consumers meet damage. Returns what they failed with. */
    private static List<String> run(Cluster faro, int subpartition, String expected, Damage damage) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        WatchedFactory.PARTITIONS.clear();
        WatchedFactory.beforeReading = partitions -> {
            if (done.compareAndSet(false, true)) {
                try {
                    damage.to(partitions.get(0).settings(), subpartition);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
        Jobs.PRODUCERS.set(0);
        Cluster.Outcome outcome = faro.run(Jobs::fewToMany, CONSUMERS);
        assertEquals(RIGHT, outcome.results());
        assertEquals(2, Jobs.PRODUCERS.get(), "runs of the producer");
        List<String> failures = failures(outcome.graph());
        assertFalse(failures.isEmpty());
        for (String failure : failures) {
            assertTrue(failure.contains("PartitionNotFoundException") && failure.contains(expected), failure);
        }
        return failures;
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
}
