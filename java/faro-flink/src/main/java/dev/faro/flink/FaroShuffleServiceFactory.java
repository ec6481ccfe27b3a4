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

/** The value of {@code shuffle-service-factory.class}: Flink's own shuffle service, except for blocking and hybrid partitions. */
public class FaroShuffleServiceFactory
        implements ShuffleServiceFactory<NettyShuffleDescriptor, ResultPartition, SingleInputGate> {
    private final NettyShuffleServiceFactory netty = new NettyShuffleServiceFactory();

    /** Makes a factory. Flink calls this. */
    public FaroShuffleServiceFactory() {}

    @Override
    public ShuffleMaster<NettyShuffleDescriptor> createShuffleMaster(ShuffleMasterContext context) {
        return new FaroShuffleMaster(context);
    }

    @Override
    public ShuffleEnvironment<ResultPartition, SingleInputGate> createShuffleEnvironment(
            ShuffleEnvironmentContext context) {
        return wrap(netty.createShuffleEnvironment(WithoutTiers.of(context)), context);
    }

    /** Wraps Flink's environment. */
    FaroShuffleEnvironment wrap(NettyShuffleEnvironment delegate, ShuffleEnvironmentContext context) {
        return new FaroShuffleEnvironment(delegate, context.getConfiguration());
    }
}
