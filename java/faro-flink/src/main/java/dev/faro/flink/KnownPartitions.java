package dev.faro.flink;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.runtime.deployment.InputGateDeploymentDescriptor;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.PartitionInfo;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.shuffle.ShuffleDescriptor;

/**
 * The partitions that input gates know. A consumer that begins before all of its producers are finished learns of the
 * others later. Flink may tell a gate of a partition that it knows: then {@code SingleInputGate.updateInputChannel}
 * (2.3.0, 1.20.5) forgets the channels of that partition, and the job waits for ever or fails with "Bug in input gate
 * setup logic". So such news is left out.
 */
final class KnownPartitions {
    private record GateId(ExecutionAttemptID consumer, IntermediateDataSetID input) {}

    /** Tells gates of a partition. */
    interface Update {
        boolean run() throws IOException, InterruptedException;
    }

    private final Map<GateId, Set<ResultPartitionID>> known = new ConcurrentHashMap<>();

    /** Takes note of new gates, in the order of their descriptors, until they are closed. */
    void add(ExecutionAttemptID consumer, List<InputGateDeploymentDescriptor> descriptors, List<SingleInputGate> gates) {
        for (int i = 0; i < gates.size(); i++) {
            GateId id = new GateId(consumer, descriptors.get(i).getConsumedResultId());
            Set<ResultPartitionID> partitions = known.computeIfAbsent(id, key -> ConcurrentHashMap.newKeySet());
            for (ShuffleDescriptor descriptor : descriptors.get(i).getShuffleDescriptors()) {
                if (!descriptor.isUnknown()) {
                    partitions.add(descriptor.getResultPartitionID());
                }
            }
            gates.get(i).getCloseFuture().thenRun(() -> known.remove(id));
        }
    }

    /**
     * Tells gates of a partition, unless they know it.
     *
     * @return whether there are such gates
     */
    boolean update(ExecutionAttemptID consumer, PartitionInfo info, Update update)
            throws IOException, InterruptedException {
        Set<ResultPartitionID> partitions = known.get(new GateId(consumer, info.getIntermediateDataSetID()));
        if (partitions == null) {
            return update.run();
        }
        return !partitions.add(info.getShuffleDescriptor().getResultPartitionID()) || update.run();
    }
}
