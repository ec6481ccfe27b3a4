package dev.faro.flink;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.flink.runtime.deployment.InputGateDeploymentDescriptor;
import org.apache.flink.runtime.deployment.ResultPartitionDeploymentDescriptor;
import org.apache.flink.runtime.io.compression.BlockDecompressor;
import org.apache.flink.runtime.io.network.NettyShuffleEnvironment;
import org.apache.flink.runtime.io.network.partition.PartitionProducerStateProvider;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.shuffle.ShuffleEnvironmentContext;
import org.apache.flink.runtime.shuffle.ShuffleIOOwnerContext;

/**
 * Faro's factory, which records the partitions of all task managers in this process, and calls a test when a consumer
 * is set up: its input is then finished, and not opened yet.
 */
public final class WatchedFactory extends FaroShuffleServiceFactory {
    static final List<FaroResultPartition> PARTITIONS = new CopyOnWriteArrayList<>();
    static final List<FaroHybridPartition> HYBRID = new CopyOnWriteArrayList<>();
    /** The number of times that a task wrote partitions of Faro's and others. */
    static final AtomicInteger MIXED = new AtomicInteger();
    /** The decompressors of the gates that read blocking partitions. */
    static final List<BlockDecompressor> DECOMPRESSORS = new CopyOnWriteArrayList<>();
    static volatile Consumer<List<FaroResultPartition>> beforeReading;

    /** Clears the records. */
    static void reset() {
        PARTITIONS.clear();
        HYBRID.clear();
        MIXED.set(0);
        DECOMPRESSORS.clear();
        beforeReading = partitions -> {};
    }

    @Override
    FaroShuffleEnvironment wrap(NettyShuffleEnvironment delegate, ShuffleEnvironmentContext context) {
        return new FaroShuffleEnvironment(delegate, context.getConfiguration()) {
            @Override
            public List<ResultPartition> createResultPartitionWriters(
                    ShuffleIOOwnerContext owner, List<ResultPartitionDeploymentDescriptor> descriptors) {
                List<ResultPartition> made = super.createResultPartitionWriters(owner, descriptors);
                made.stream().filter(FaroResultPartition.class::isInstance).map(FaroResultPartition.class::cast)
                        .forEach(PARTITIONS::add);
                made.stream().filter(FaroHybridPartition.class::isInstance).map(FaroHybridPartition.class::cast)
                        .forEach(HYBRID::add);
                if (made.stream().map(FaroResultPartition.class::isInstance).distinct().count() == 2) {
                    MIXED.incrementAndGet();
                }
                return made;
            }

            @Override
            public List<SingleInputGate> createInputGates(ShuffleIOOwnerContext owner,
                    PartitionProducerStateProvider provider, List<InputGateDeploymentDescriptor> descriptors) {
                if (!descriptors.isEmpty()) {
                    beforeReading.accept(PARTITIONS);
                }
                List<SingleInputGate> gates = super.createInputGates(owner, provider, descriptors);
                for (SingleInputGate gate : gates) {
                    if (gate.getConsumedPartitionType().isBlockingOrBlockingPersistentResultPartition()) {
                        DECOMPRESSORS.add(GateDecompressor.of(gate));
                    }
                }
                return gates;
            }
        };
    }
}
