package dev.faro.flink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.shuffle.NettyShuffleMaster;
import org.apache.flink.runtime.shuffle.ShuffleMasterContext;
import org.apache.flink.runtime.shuffle.TaskInputsOutputsDescriptor;

/** Flink's own master, which decides which task reads from which, and does not know the format of files. */
// Flink's close() throws any exception.
@SuppressWarnings("try")
final class FaroShuffleMaster extends NettyShuffleMaster {
    FaroShuffleMaster(ShuffleMasterContext context) {
        super(WithoutTiers.of(context));
    }

    /**
     * The network memory of a task. Hybrid outputs need as little as blocking ones here; Flink's own have pools without a
     * limit, which it refuses to announce.
     */
    @Override
    public MemorySize computeShuffleMemorySizeForTask(TaskInputsOutputsDescriptor task) {
        return super.computeShuffleMemorySizeForTask(TaskInputsOutputsDescriptor.from(task.getInputGateNums(),
                task.getInputChannelNums(), task.getPartitionReuseCount(), task.getSubpartitionNums(),
                blocking(task.getInputPartitionTypes()), blocking(task.getPartitionTypes())));
    }

    private static Map<IntermediateDataSetID, ResultPartitionType> blocking(
            Map<IntermediateDataSetID, ResultPartitionType> types) {
        Map<IntermediateDataSetID, ResultPartitionType> replaced = new HashMap<>(types);
        replaced.replaceAll((set, type) -> type.isHybridResultPartition() ? ResultPartitionType.BLOCKING : type);
        return replaced;
    }

    /**
     * Flink's TaskManagers keep outputs for another JobManager only if the shuffle is Flink's own. Without recovery the
     * job begins again at once; otherwise it would wait for outputs that are gone.
     */
    @Override
    public boolean supportsBatchSnapshot() {
        return false;
    }
}
