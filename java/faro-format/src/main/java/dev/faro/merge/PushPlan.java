package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;

/**
 * Which partitions a producer pushes together, to which merger, and in which order (PSH).
 *
 * <pre>{@code
 * PushPlan plan = new PushPlan(8, 2);
 * long[] bytes = new long[8];
 * for (int partition = 0; partition < 8; partition++) {
 *     bytes[partition] = reader.storedBytes(partition);
 * }
 * for (PlannedPush push : plan.pushes(producer, bytes)) {
 *     Fragments.write(reader, push.firstPartition(), push.partitionCount(), connections[push.merger()]);
 * }
 * }</pre>
 */
public final class PushPlan {
    private static final XXHash64 HASH = XXHashFactory.fastestInstance().hash64();

    private final long partitionCount;
    private final int mergers;
    private long firstPartition;
    private long pushSize = 3 << 20;
    private long largestPartition = 1 << 20;

    /** The defaults for this many partitions, 1 to 2^28, and mergers, at least 1. */
    public PushPlan(long partitionCount, int mergers) {
        this.partitionCount = partitionCount;
        this.mergers = mergers;
    }

    /** The number of the first partition; default 0. */
    public PushPlan firstPartition(long value) {
        firstPartition = value;
        return this;
    }

    /** Bytes of a push, at most, except if it is of one partition; default 3 MiB. */
    public PushPlan pushSize(long value) {
        pushSize = value;
        return this;
    }

    /** Bytes of a partition that is pushed, at most; default 1 MiB. */
    public PushPlan largestPartition(long value) {
        largestPartition = value;
        return this;
    }

    /**
     * The merger of a partition (PSH-1).
     *
     * @throws FaroException {@code invalid-argument} for a partition that the shuffle does not have, or options out of
     *     range
     */
    public int merger(int partition) throws FaroException {
        check();
        range("partition", partition, firstPartition, firstPartition + partitionCount - 1);
        return mergerOf(partition - firstPartition);
    }

    /**
     * The first partition of a merger. Its partitions end before the first of the next merger; with more mergers than
     * partitions, some have none (PSH-1).
     *
     * @param merger from 0 to the number of mergers, of which the last gives the end of all partitions
     * @throws FaroException {@code invalid-argument} for another merger, or options out of range
     */
    public int firstPartitionOf(int merger) throws FaroException {
        check();
        range("merger", merger, 0, mergers);
        return (int) (firstPartition + (merger * partitionCount + mergers - 1) / mergers);
    }

    /**
     * The pushes of a producer, in the order in which it makes them (PSH-2, PSH-3).
     *
     * @param producer the producer's number, an unsigned 64-bit value
     * @param bytes those of each partition in its output, from the first partition
     *     ({@link dev.faro.reader.Reader#storedBytes})
     * @throws FaroException {@code invalid-argument} for bytes of another number of partitions, negative ones, or options
     *     out of range
     */
    public List<PlannedPush> pushes(long producer, long[] bytes) throws FaroException {
        check();
        range("bytes: partitions", bytes.length, partitionCount, partitionCount);
        List<PlannedPush> pushes = new ArrayList<>();
        int first = 0;
        int end = 0;
        long sum = 0;
        for (int place = 0; place < bytes.length; place++) {
            long more = bytes[place];
            range("bytes", more, 0, Long.MAX_VALUE);
            if (more == 0) {
                continue;
            }
            boolean large = more > largestPartition;
            boolean open = sum > 0;
            if (open && (large || mergerOf(place) != mergerOf(first) || more > pushSize - sum)) {
                pushes.add(push(first, end, sum));
                sum = 0;
            }
            if (large) {
                continue;
            }
            if (sum == 0) {
                first = place;
            }
            end = place + 1;
            sum += more;
        }
        if (sum > 0) {
            pushes.add(push(first, end, sum));
        }
        Comparator<PlannedPush> order = (one, other) ->
                Long.compareUnsigned(key(producer, one.firstPartition()), key(producer, other.firstPartition()));
        pushes.sort(order.thenComparing(PlannedPush::firstPartition));
        return pushes;
    }

    private PlannedPush push(int first, int end, long sum) {
        return new PlannedPush(mergerOf(first), (int) firstPartition + first, end - first, sum);
    }

    private int mergerOf(long place) {
        return (int) (place * mergers / partitionCount);
    }

    /** What the pushes of a producer are ordered by (PSH-3). */
    private static long key(long producer, int firstPartition) {
        ByteBuffer key = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putLong(producer).putInt(firstPartition);
        return HASH.hash(key.flip(), 0);
    }

    private void check() throws FaroException {
        range("partition_count", partitionCount, 1, FileHeader.MAX_PARTITIONS);
        range("first_partition", firstPartition, 0, FileHeader.MAX_PARTITIONS - partitionCount);
        range("mergers", mergers, 1, Integer.MAX_VALUE);
        range("push_size", pushSize, 0, Long.MAX_VALUE);
        range("largest_partition", largestPartition, 0, Long.MAX_VALUE);
    }

    private static void range(String what, long value, long least, long most) throws FaroException {
        if (value < least || value > most) {
            throw FaroException.invalidArgument(what + ": " + least + " to " + most, value);
        }
    }
}
