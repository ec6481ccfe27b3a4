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

    /**
     * The number of finished blocking partitions of a task manager that stay open while no view reads them: those that
     * were used last. A partition of up to 64 KiB is in memory while it is open; others have one or two open files.
     */
    public static final ConfigOption<Integer> OPEN_OUTPUTS = ConfigOptions.key("faro.open-outputs")
            .intType()
            .defaultValue(128)
            .withDescription("Number of finished blocking result partitions of a task manager that stay open while"
                    + " no consumer reads them, so that small ones are read from memory.");

    /** What the files say of their origin. The names of a job and its tasks can be longer than a small output. */
    public static final ConfigOption<Origin> PROPERTIES = ConfigOptions.key("faro.properties")
            .enumType(Origin.class)
            .defaultValue(Origin.ALL)
            .withDescription("What Faro files say of their origin: the job, vertex, task and partition with their names"
                    + " and ids; only the ids of the job and the partition; or nothing.");

    /** Values of {@link #PROPERTIES}. */
    public enum Origin {
        /** Names and ids. */
        ALL,
        /** The ids of the job and the partition. */
        IDS,
        /** Nothing. */
        NONE
    }

    private FaroOptions() {}
}
