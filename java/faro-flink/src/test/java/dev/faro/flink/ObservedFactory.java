package dev.faro.flink;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import org.apache.flink.runtime.clusterframework.types.ResourceID;
import org.apache.flink.runtime.io.network.NettyShuffleServiceFactory;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.shuffle.NettyShuffleDescriptor;
import org.apache.flink.runtime.shuffle.ShuffleEnvironment;
import org.apache.flink.runtime.shuffle.ShuffleEnvironmentContext;
import org.apache.flink.runtime.shuffle.ShuffleIOOwnerContext;
import org.apache.flink.runtime.shuffle.ShuffleMaster;
import org.apache.flink.runtime.shuffle.ShuffleMasterContext;
import org.apache.flink.runtime.shuffle.ShuffleServiceFactory;

/** A shuffle that tells a test which task managers write and read, and is otherwise unchanged. */
public abstract class ObservedFactory
        implements ShuffleServiceFactory<NettyShuffleDescriptor, ResultPartition, SingleInputGate> {
    static volatile Observer observer;

    private final ShuffleServiceFactory<NettyShuffleDescriptor, ResultPartition, SingleInputGate> observed;

    /** Called in the main thread of the task manager, before the task is set up. */
    interface Observer {
        void producer(ResourceID taskManager);

        void consumer(ResourceID taskManager, int subtask);
    }

    /** Flink's own shuffle. */
    public static final class Stock extends ObservedFactory {
        /** Flink calls this. */
        public Stock() {
            super(new NettyShuffleServiceFactory());
        }
    }

    /** Faro's shuffle. */
    public static final class Faro extends ObservedFactory {
        /** Flink calls this. */
        public Faro() {
            super(new FaroShuffleServiceFactory());
        }
    }

    private ObservedFactory(
            ShuffleServiceFactory<NettyShuffleDescriptor, ResultPartition, SingleInputGate> observed) {
        this.observed = observed;
    }

    @Override
    public ShuffleMaster<NettyShuffleDescriptor> createShuffleMaster(ShuffleMasterContext context) {
        return observed.createShuffleMaster(context);
    }

    @Override
    @SuppressWarnings("unchecked")
    public ShuffleEnvironment<ResultPartition, SingleInputGate> createShuffleEnvironment(
            ShuffleEnvironmentContext context) {
        ShuffleEnvironment<ResultPartition, SingleInputGate> environment = observed.createShuffleEnvironment(context);
        ResourceID taskManager = context.getTaskExecutorResourceId();
        return (ShuffleEnvironment<ResultPartition, SingleInputGate>) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ShuffleEnvironment.class}, (proxy, method, arguments) -> {
                    tell(taskManager, method, arguments);
                    try {
                        return method.invoke(environment, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static void tell(ResourceID taskManager, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "createResultPartitionWriters" -> {
                if (!((Collection<?>) arguments[1]).isEmpty()) {
                    observer.producer(taskManager);
                }
            }
            case "createInputGates" -> {
                if (!((Collection<?>) arguments[2]).isEmpty()) {
                    var owner = (ShuffleIOOwnerContext) arguments[0];
                    observer.consumer(taskManager, owner.getExecutionAttemptID().getSubtaskIndex());
                }
            }
            default -> {}
        }
    }
}
