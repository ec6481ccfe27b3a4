package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.shuffle.NettyShuffleMaster;
import org.apache.flink.runtime.shuffle.ShuffleMasterContext;
import org.apache.flink.runtime.shuffle.TaskInputsOutputsDescriptor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the master tells Flink's scheduler of network memory and of recovery. */
// Flink's close() throws any exception.
@SuppressWarnings("try")
class ShuffleMasterTest {
    private static ShuffleMasterContext context(String mode) {
        Configuration configuration = new Configuration();
        configuration.setString("execution.batch-shuffle-mode", mode);
        return new ShuffleMasterContext() {
            @Override
            public Configuration getConfiguration() {
                return configuration;
            }

            @Override
            public void onFatalError(Throwable failure) {
                throw new AssertionError(failure);
            }
        };
    }

    private static TaskInputsOutputsDescriptor task(int channels, ResultPartitionType type) {
        IntermediateDataSetID input = new IntermediateDataSetID();
        IntermediateDataSetID output = new IntermediateDataSetID();
        return TaskInputsOutputsDescriptor.from(1, Map.of(input, channels), Map.of(input, 1),
                Map.of(output, channels), Map.of(input, type), Map.of(output, type));
    }

    private static MemorySize memory(NettyShuffleMaster master, int channels, ResultPartitionType type) {
        return master.computeShuffleMemorySizeForTask(task(channels, type));
    }

    /** Flink refuses to announce what hybrid outputs of its own need; Faro's need what blocking ones do. */
    @ParameterizedTest
    @CsvSource({"ALL_EXCHANGES_BLOCKING", "ALL_EXCHANGES_HYBRID_FULL", "ALL_EXCHANGES_HYBRID_SELECTIVE"})
    void networkMemoryOfHybridTasksIsThatOfBlockingOnes(String mode) throws Exception {
        try (FaroShuffleMaster faro = new FaroShuffleMaster(context(mode));
                NettyShuffleMaster stock = new NettyShuffleMaster(context("ALL_EXCHANGES_BLOCKING"))) {
            for (int channels : new int[] {2, 100, 1000, 10_000}) {
                MemorySize blocking = memory(faro, channels, ResultPartitionType.BLOCKING);
                assertEquals(memory(stock, channels, ResultPartitionType.BLOCKING), blocking);
                for (ResultPartitionType type : List.of(
                        ResultPartitionType.HYBRID_FULL, ResultPartitionType.HYBRID_SELECTIVE)) {
                    assertEquals(blocking, memory(faro, channels, type), type + " with " + channels + " channels");
                }
            }
            assertThrows(IllegalArgumentException.class,
                    () -> memory(stock, 100, ResultPartitionType.HYBRID_SELECTIVE), "Flink's own master refuses");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ALL_EXCHANGES_BLOCKING", "ALL_EXCHANGES_HYBRID_FULL", "ALL_EXCHANGES_HYBRID_SELECTIVE"})
    void jobsAreNotRecovered(String mode) throws Exception {
        try (FaroShuffleMaster faro = new FaroShuffleMaster(context(mode))) {
            assertFalse(faro.supportsBatchSnapshot());
        }
    }
}
