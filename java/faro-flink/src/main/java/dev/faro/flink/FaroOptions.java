package dev.faro.flink;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** Options in Flink's configuration. Compression and memory for reading are Flink's own options. */
public final class FaroOptions {
    /**
     * Heap memory in which each blocking partition sorts its records; taken as records come. Network buffers are not used
     * for that: short records are copied between arrays faster than into direct memory. Heap is needed for as many
     * partitions as are written at once, which are as many as fit into the network memory with Flink's own shuffle.
     */
    public static final ConfigOption<MemorySize> SORT_BUFFER_SIZE = ConfigOptions.key("faro.sort-buffer.size")
            .memoryType()
            .defaultValue(MemorySize.ofMebiBytes(16))
            .withDescription("Heap memory in which each blocking result partition sorts its records before it writes"
                    + " them; never more than the network buffers that Flink would give the partition for that.");

    private FaroOptions() {}
}
