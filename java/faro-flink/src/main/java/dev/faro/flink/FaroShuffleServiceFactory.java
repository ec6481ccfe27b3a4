package dev.faro.flink;

import org.apache.flink.runtime.io.network.NettyShuffleEnvironment;
import org.apache.flink.runtime.io.network.NettyShuffleServiceFactory;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.shuffle.NettyShuffleDescriptor;
import org.apache.flink.runtime.shuffle.ShuffleEnvironment;
import org.apache.flink.runtime.shuffle.ShuffleEnvironmentContext;
import org.apache.flink.runtime.shuffle.ShuffleMaster;
import org.apache.flink.runtime.shuffle.ShuffleMasterContext;
import org.apache.flink.runtime.shuffle.ShuffleServiceFactory;

/** What {@code shuffle-service-factory.class} names: Flink's own shuffle service, but for blocking partitions. */
public class FaroShuffleServiceFactory
        implements ShuffleServiceFactory<NettyShuffleDescriptor, ResultPartition, SingleInputGate> {
    private final NettyShuffleServiceFactory netty = new NettyShuffleServiceFactory();

    /** A factory; Flink makes one by itself. */
    public FaroShuffleServiceFactory() {}

    @Override
    public ShuffleMaster<NettyShuffleDescriptor> createShuffleMaster(ShuffleMasterContext context) {
        // Who reads what from where does not depend on how it lies in files.
        return netty.createShuffleMaster(context);
    }

    @Override
    public ShuffleEnvironment<ResultPartition, SingleInputGate> createShuffleEnvironment(
            ShuffleEnvironmentContext context) {
        return wrap(netty.createShuffleEnvironment(context), context);
    }

    /** The environment around Flink's. */
    FaroShuffleEnvironment wrap(NettyShuffleEnvironment delegate, ShuffleEnvironmentContext context) {
        return new FaroShuffleEnvironment(delegate, context.getConfiguration());
    }
}
