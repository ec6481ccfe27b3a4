package dev.faro.flink;

import java.lang.reflect.Field;
import org.apache.flink.runtime.io.network.NettyShuffleEnvironment;
import org.apache.flink.runtime.io.network.NettyShuffleServiceFactory;
import org.apache.flink.runtime.shuffle.ShuffleEnvironmentContext;

/**
 * Flink's own hash shuffle: a file for each subpartition. Flink 1 has an option for it. Flink 2 still has the code, but
 * uses it only below a parallelism of 1. This class sets that limit to the maximum again.
 */
public final class HashShuffleFactory extends NettyShuffleServiceFactory {
    @Override
    public NettyShuffleEnvironment createShuffleEnvironment(ShuffleEnvironmentContext context) {
        NettyShuffleEnvironment environment = super.createShuffleEnvironment(context);
        try {
            Field factory = NettyShuffleEnvironment.class.getDeclaredField("resultPartitionFactory");
            factory.setAccessible(true);
            Object partitions = factory.get(environment);
            Field threshold = partitions.getClass().getDeclaredField("sortShuffleMinParallelism");
            threshold.setAccessible(true);
            threshold.setInt(partitions, Integer.MAX_VALUE);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this version of Flink makes its partitions in another way", e);
        }
        return environment;
    }
}
