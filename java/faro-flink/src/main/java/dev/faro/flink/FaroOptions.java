package dev.faro.flink;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** Options in Flink's configuration. Compression and memory for reading have options of Flink. */
public final class FaroOptions {
    /**
     * The heap memory in which each blocking partition sorts its records; it is allocated as records arrive. Network
     * buffers are not used for sorting, because copies between arrays are faster for short records than copies into
     * direct memory. The heap must have room for all partitions that are written at the same time, which are as many as
     * fit into the network memory with Flink's own shuffle.
     */
    public static final ConfigOption<MemorySize> SORT_BUFFER_SIZE = ConfigOptions.key("faro.sort-buffer.size")
            .memoryType()
            .defaultValue(MemorySize.ofMebiBytes(16))
            .withDescription("Heap memory in which each blocking result partition sorts its records before it writes"
                    + " them; never more than the network buffers that Flink would give the partition for that.");

    /**
     * The heap memory in which the hybrid partitions of a task manager are, until they are consumed or written. The sort
     * buffers of partitions that are being written come on top, so each of these is at most an eighth of it.
     */
    public static final ConfigOption<MemorySize> HYBRID_MEMORY = ConfigOptions.key("faro.hybrid.memory")
            .memoryType()
            .noDefaultValue()
            .withDescription("Heap memory in which the hybrid result partitions of a task manager are, until they are"
                    + " consumed or written to files; by default the size of taskmanager.memory.framework.off-heap"
                    + ".batch-shuffle.size.");

    private FaroOptions() {}
}
