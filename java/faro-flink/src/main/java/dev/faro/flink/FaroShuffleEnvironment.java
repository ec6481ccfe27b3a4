package dev.faro.flink;

import dev.faro.codec.Codec;
import dev.faro.hybrid.HybridMemory;
import dev.faro.hybrid.HybridMode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions.CompressionCodec;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.deployment.InputGateDeploymentDescriptor;
import org.apache.flink.runtime.deployment.ResultPartitionDeploymentDescriptor;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.PartitionInfo;
import org.apache.flink.runtime.io.network.NettyShuffleEnvironment;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.metrics.NettyShuffleMetricFactory;
import org.apache.flink.runtime.io.network.partition.PartitionProducerStateProvider;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.metrics.scope.ScopeFormat;
import org.apache.flink.runtime.shuffle.NettyShuffleUtils;
import org.apache.flink.runtime.shuffle.ShuffleEnvironment;
import org.apache.flink.runtime.shuffle.ShuffleIOOwnerContext;
import org.apache.flink.runtime.shuffle.ShuffleMetrics;
import org.apache.flink.runtime.taskmanager.NettyShuffleEnvironmentConfiguration;
import org.apache.flink.util.function.SupplierWithException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The shuffle of a task manager: Flink's own, except for the blocking and hybrid partitions that its tasks write. */
class FaroShuffleEnvironment implements ShuffleEnvironment<ResultPartition, SingleInputGate> {
    private static final Logger LOG = LoggerFactory.getLogger(FaroShuffleEnvironment.class);

    private final NettyShuffleEnvironment delegate;
    private final NettyShuffleEnvironmentConfiguration configuration;
    private final long sortBufferSize;
    private final Codec codec;
    private final FaroOptions.Origin origin;
    private final boolean consumersDecompress;
    private final KnownPartitions known = new KnownPartitions();
    private final Decoders decoders = new Decoders();
    private final OutputReads reads;
    private final HybridMemory hybridMemory;
    /** Whether several attempts of a consumer may read a partition, so that none can be read only once. */
    private final boolean isSpeculative;
    private final Disks disks;

    FaroShuffleEnvironment(NettyShuffleEnvironment delegate, Configuration options) {
        this.delegate = delegate;
        this.configuration = delegate.getConfiguration();
        this.sortBufferSize = options.get(FaroOptions.SORT_BUFFER_SIZE).getBytes();
        this.codec = codec(configuration);
        this.origin = options.get(FaroOptions.PROPERTIES);
        this.consumersDecompress = consumersDecompress(configuration);
        this.reads = new OutputReads(delegate.getBatchShuffleReadIOExecutor(),
                new ReadMemory(configuration.batchShuffleReadMemoryBytes()), decoders, consumersDecompress,
                new OpenOutputs(options.get(FaroOptions.OPEN_OUTPUTS)));
        this.hybridMemory = new HybridMemory(options.getOptional(FaroOptions.HYBRID_MEMORY).map(MemorySize::getBytes)
                .orElse(configuration.batchShuffleReadMemoryBytes()));
        this.isSpeculative = options.get(BatchExecutionOptions.SPECULATIVE_ENABLED);
        this.disks = Disks.of(configuration.getTempDirs(), delegate.getBatchShuffleReadIOExecutor());
        LOG.info("Blocking partitions are written as Faro files, with codec {}.", codec);
        LOG.info("Hybrid partitions are in {} MiB of memory, and in Faro files.", hybridMemory.bytes() >> 20);
    }

    private static Codec codec(NettyShuffleEnvironmentConfiguration configuration) {
        if (!configuration.isBatchShuffleCompressionEnabled()) {
            return Codec.NONE;
        }
        if (configuration.getCompressionCodec() == CompressionCodec.ZSTD) {
            return Codec.ZSTD;
        }
        if (configuration.getCompressionCodec() != CompressionCodec.LZ4) {
            LOG.warn("Faro files have no codec {}: LZ4 is used instead.", configuration.getCompressionCodec());
        }
        return Codec.LZ4;
    }

    /** Whether input gates have a decompressor for the codec of {@link #codec}. */
    private static boolean consumersDecompress(NettyShuffleEnvironmentConfiguration configuration) {
        CompressionCodec flinkCodec = configuration.getCompressionCodec();
        return configuration.isBatchShuffleCompressionEnabled()
                && (flinkCodec == CompressionCodec.LZ4 || flinkCodec == CompressionCodec.ZSTD);
    }

    @Override
    public List<ResultPartition> createResultPartitionWriters(
            ShuffleIOOwnerContext owner, List<ResultPartitionDeploymentDescriptor> descriptors) {
        List<ResultPartitionDeploymentDescriptor> others =
                descriptors.stream().filter(descriptor -> !isOurs(descriptor.getPartitionType())).toList();
        Iterator<ResultPartition> delegated = others.isEmpty() ? null
                : delegate.createResultPartitionWriters(owner, others).iterator();
        List<ResultPartition> partitions = new ArrayList<>(descriptors.size());
        for (ResultPartitionDeploymentDescriptor descriptor : descriptors) {
            boolean ours = isOurs(descriptor.getPartitionType());
            partitions.add(ours ? create(owner, partitions.size(), descriptor) : delegated.next());
        }
        if (delegated == null) {
            // Otherwise Flink has registered these names, and Faro's partitions have no queues to report.
            NettyShuffleMetricFactory.registerOutputMetrics(configuration.isNetworkDetailedMetrics(),
                    owner.getOutputGroup(), partitions.toArray(new ResultPartition[0]));
        }
        return partitions;
    }

    private static boolean isOurs(ResultPartitionType type) {
        return type == ResultPartitionType.BLOCKING || type == ResultPartitionType.BLOCKING_PERSISTENT
                || type.isHybridResultPartition();
    }

    private ResultPartition create(
            ShuffleIOOwnerContext owner, int index, ResultPartitionDeploymentDescriptor descriptor) {
        ResultPartitionID id = descriptor.getShuffleDescriptor().getResultPartitionID();
        Disk disk = disks.next();
        ExecutionAttemptID attempt = owner.getExecutionAttemptID();
        OutputSettings settings = new OutputSettings(disk, disk.newName(), codec,
                configuration.networkBufferSize(), sortBufferSize, attempt.getSubtaskIndex(),
                attempt.getAttemptNumber(), properties(owner, id));
        if (descriptor.getPartitionType().isHybridResultPartition()) {
            return createHybrid(owner, index, id, descriptor, settings);
        }
        ResultPartition partition = new FaroResultPartition(owner.getOwnerName(), index, id,
                descriptor.getPartitionType(), descriptor.getNumberOfSubpartitions(), descriptor.getMaxParallelism(),
                delegate.getResultPartitionManager(), bufferPool(descriptor), settings, reads);
        partition.isNumberOfPartitionConsumerUndefined(descriptor.isNumberOfPartitionConsumerUndefined());
        return partition;
    }

    private ResultPartition createHybrid(ShuffleIOOwnerContext owner, int index, ResultPartitionID id,
            ResultPartitionDeploymentDescriptor descriptor, OutputSettings settings) {
        boolean once = descriptor.getPartitionType() == ResultPartitionType.HYBRID_SELECTIVE && !isSpeculative;
        long sortBuffer = Math.min(sortBufferSize, Math.max(hybridMemory.bytes() / 8, settings.blockSize()));
        ResultPartition partition = new FaroHybridPartition(owner.getOwnerName(), index, id,
                descriptor.getPartitionType(), descriptor.getNumberOfSubpartitions(), descriptor.getMaxParallelism(),
                // A partition needs a pool, and this one takes nothing of it.
                delegate.getResultPartitionManager(), () -> delegate.getNetworkBufferPool().createBufferPool(1, 1),
                settings.withSortBufferSize(sortBuffer), hybridMemory, once ? HybridMode.SELECTIVE : HybridMode.FULL,
                reads);
        partition.isNumberOfPartitionConsumerUndefined(descriptor.isNumberOfPartitionConsumerUndefined());
        return partition;
    }

    /**
     * The pool that Flink's sort shuffle would have. With many subpartitions its buffers are taken; with few it only
     * limits the number of partitions at one time as Flink's own shuffle does, and so the memory in which they sort.
     */
    private SupplierWithException<BufferPool, IOException> bufferPool(ResultPartitionDeploymentDescriptor descriptor) {
        int subpartitions = descriptor.getNumberOfSubpartitions();
        return () -> {
            var minAndMax = NettyShuffleUtils.getMinMaxNetworkBuffersPerResultPartition(
                    configuration.networkBuffersPerChannel(), configuration.floatingNetworkBuffersPerGate(), 1,
                    configuration.sortShuffleMinBuffers(), subpartitions, false, 0, descriptor.getPartitionType());
            return delegate.getNetworkBufferPool().createBufferPool(
                    minAndMax.getLeft(), minAndMax.getRight(), subpartitions,
                    configuration.getMaxBuffersPerChannel(), 0);
        };
    }

    private Map<String, String> properties(ShuffleIOOwnerContext owner, ResultPartitionID id) {
        Map<String, String> properties = new LinkedHashMap<>();
        if (origin == FaroOptions.Origin.NONE) {
            return properties;
        }
        // Only the metrics of a task know its job.
        Map<String, String> scope = owner.getParentGroup().getAllVariables();
        putKnown(properties, "flink.job.id", scope.get(ScopeFormat.SCOPE_JOB_ID));
        if (origin == FaroOptions.Origin.ALL) {
            putKnown(properties, "flink.job.name", scope.get(ScopeFormat.SCOPE_JOB_NAME));
            properties.put("flink.vertex.id", owner.getExecutionAttemptID().getJobVertexId().toString());
            putKnown(properties, "flink.vertex.name", scope.get(ScopeFormat.SCOPE_TASK_NAME));
            properties.put("flink.task", owner.getOwnerName());
        }
        properties.put("flink.partition.id", id.getPartitionId().toString());
        return properties;
    }

    private static void putKnown(Map<String, String> properties, String key, String value) {
        if (value != null) {
            properties.put(key, value);
        }
    }

    @Override
    public int start() throws IOException {
        return delegate.start();
    }

    @Override
    public ShuffleIOOwnerContext createShuffleIOOwnerContext(
            String ownerName, ExecutionAttemptID executionAttemptID, MetricGroup parentGroup) {
        return delegate.createShuffleIOOwnerContext(ownerName, executionAttemptID, parentGroup);
    }

    @Override
    public void releasePartitionsLocally(Collection<ResultPartitionID> partitionIds) {
        delegate.releasePartitionsLocally(partitionIds);
    }

    @Override
    public Collection<ResultPartitionID> getPartitionsOccupyingLocalResources() {
        return delegate.getPartitionsOccupyingLocalResources();
    }

    @Override
    public Optional<ShuffleMetrics> getMetricsIfPartitionOccupyingLocalResource(ResultPartitionID partitionId) {
        return delegate.getMetricsIfPartitionOccupyingLocalResource(partitionId);
    }

    @Override
    public List<SingleInputGate> createInputGates(ShuffleIOOwnerContext owner, PartitionProducerStateProvider provider,
            List<InputGateDeploymentDescriptor> descriptors) {
        List<SingleInputGate> gates = delegate.createInputGates(owner, provider, descriptors);
        known.add(owner.getExecutionAttemptID(), descriptors, gates);
        for (SingleInputGate gate : gates) {
            if (consumersDecompress && isOurs(gate.getConsumedPartitionType())) {
                GateDecompressor.install(gate, decoders, codec);
            }
        }
        return gates;
    }

    @Override
    public boolean updatePartitionInfo(ExecutionAttemptID consumerID, PartitionInfo partitionInfo)
            throws IOException, InterruptedException {
        return known.update(
                consumerID, partitionInfo, () -> delegate.updatePartitionInfo(consumerID, partitionInfo));
    }

    @Override
    public void close() throws IOException {
        try {
            reads.close();
            delegate.close();
        } finally {
            disks.close();
        }
    }
}
