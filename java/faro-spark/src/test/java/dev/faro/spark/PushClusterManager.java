package dev.faro.spark;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExternalClusterManager;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.cluster.StandaloneSchedulerBackend;
import org.apache.spark.storage.BlockManagerId;
import scala.collection.Iterator;
import scala.collection.immutable.HashSet;
import scala.collection.immutable.List;
import scala.collection.mutable.ListBuffer;

/**
 * A standalone cluster that names shuffle services for merging, as YARN's does: the master
 * {@code sparkpush:spark://host:port}. Spark finds this class by its name in {@code META-INF/services}.
 */
public final class PushClusterManager implements ExternalClusterManager {
    private static final String PREFIX = "sparkpush:";
    /** A host that is not to merge, so that its tasks read over the network. */
    static final String EXCLUDED = "spark.test.push.excluded";

    @Override
    public boolean canCreate(String master) {
        return master.startsWith(PREFIX);
    }

    @Override
    public TaskScheduler createTaskScheduler(SparkContext context, String master) {
        return new TaskSchedulerImpl(context);
    }

    @Override
    public SchedulerBackend createSchedulerBackend(SparkContext context, String master, TaskScheduler scheduler) {
        String[] masters = {master.substring(PREFIX.length())};
        return new StandaloneSchedulerBackend((TaskSchedulerImpl) scheduler, context, masters) {
            @Override
            public List<BlockManagerId> getShufflePushMergerLocations(int partitions, int profile) {
                Iterator<BlockManagerId> services = context.env().blockManager().master()
                        .getShufflePushMergerLocations(partitions, new HashSet<>()).iterator();
                String excluded = context.getConf().get(EXCLUDED, "");
                ListBuffer<BlockManagerId> named = new ListBuffer<>();
                while (services.hasNext()) {
                    BlockManagerId service = services.next();
                    if (!service.host().equals(excluded)) {
                        named.$plus$eq(service);
                    }
                }
                return named.toList();
            }
        };
    }

    @Override
    public void initialize(TaskScheduler scheduler, SchedulerBackend backend) {
        ((TaskSchedulerImpl) scheduler).initialize(backend);
    }
}
