package dev.faro.flink;

import org.apache.flink.api.common.BatchShuffleMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions;
import org.apache.flink.runtime.shuffle.ShuffleEnvironmentContext;
import org.apache.flink.runtime.shuffle.ShuffleMasterContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Contexts in which Flink makes no tiered storage: with a hybrid mode in the cluster's configuration it would take all
 * partitions and all gates. The mode of a job decides about its partitions, and does not come from here.
 */
final class WithoutTiers {
    private static final Logger LOG = LoggerFactory.getLogger(WithoutTiers.class);
    /** The gates of hybrid partitions would need two buffers for each channel otherwise. */
    private static final int BUFFERS_PER_GATE = 1000;

    private WithoutTiers() {}

    /** The context of a task manager. */
    static ShuffleEnvironmentContext of(ShuffleEnvironmentContext context) {
        return new ShuffleEnvironmentContext(copy(context.getConfiguration()), context.getTaskExecutorResourceId(),
                context.getNetworkMemorySize(), context.isLocalCommunicationOnly(), context.getHostAddress(),
                context.getNumberOfSlots(), context.getTmpDirPaths(), context.getEventPublisher(),
                context.getParentMetricGroup(), context.getIoExecutor(), context.getScheduledExecutor());
    }

    /** The context of the master. */
    static ShuffleMasterContext of(ShuffleMasterContext context) {
        Configuration copy = copy(context.getConfiguration());
        return new ShuffleMasterContext() {
            @Override
            public Configuration getConfiguration() {
                return copy;
            }

            @Override
            public void onFatalError(Throwable failure) {
                context.onFatalError(failure);
            }
        };
    }

    private static Configuration copy(Configuration original) {
        Configuration copy = new Configuration(original);
        copy.set(ExecutionOptions.BATCH_SHUFFLE_MODE, BatchShuffleMode.ALL_EXCHANGES_BLOCKING);
        if (original.getOptional(NettyShuffleEnvironmentOptions.NETWORK_READ_MAX_REQUIRED_BUFFERS_PER_GATE).isEmpty()) {
            // Flink's own value for batch, which it does not apply to the gates of hybrid partitions.
            copy.set(NettyShuffleEnvironmentOptions.NETWORK_READ_MAX_REQUIRED_BUFFERS_PER_GATE, BUFFERS_PER_GATE);
        }
        for (String key : original.keySet()) {
            if (key.startsWith("taskmanager.network.hybrid-shuffle.")) {
                LOG.warn("{} is ignored: hybrid partitions are Faro's.", key);
            }
        }
        return copy;
    }
}
