package dev.faro.flink;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.accumulators.ListAccumulator;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.highavailability.nonha.embedded.HaLeadershipControl;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniCluster.HaServices;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import org.apache.flink.util.InstantiationUtil;

/** Flink in this process, for batch jobs; with two task managers, unless another number is wanted. */
final class Cluster implements AutoCloseable {
    private static final String RESULTS = "results";
    static final int TASK_MANAGERS = 2;
    /** A cluster with this option can lose its JobManager. */
    static final String RECOVERY = "execution.batch.job-recovery.enabled";

    private final MiniCluster cluster;
    private final Configuration configuration;

    /** Builds a job up to the stream of its results. */
    interface Job {
        DataStream<String> build(StreamExecutionEnvironment environment);
    }

    /**
     * The outcome of a job.
     *
     * @param results sorted
     * @param graph what was executed, and how often
     */
    record Outcome(List<String> results, AccessExecutionGraph graph) {}

    /** Keeps the values that pass, but only those of attempts that succeed. */
    private static final class Keep extends RichFlatMapFunction<String, String> {
        private static final long serialVersionUID = 1;
        private transient ListAccumulator<String> kept;

        @Override
        public void open(OpenContext context) {
            kept = new ListAccumulator<>();
            getRuntimeContext().addAccumulator(RESULTS, kept);
        }

        @Override
        public void flatMap(String value, Collector<String> out) {
            kept.add(value);
        }
    }

    private Cluster(MiniCluster cluster, Configuration configuration) {
        this.cluster = cluster;
        this.configuration = configuration;
    }

    /** Starts a cluster with one kind of shuffle. */
    interface Factory {
        Cluster start(Path folder, int taskManagers, int slots, Map<String, String> options) throws Exception;
    }

    /** Starts a cluster with Flink's own shuffle. */
    static Cluster stock(Path folder, int slots, Map<String, String> options) throws Exception {
        return start(folder, slots, options);
    }

    /** Starts a cluster with Faro's shuffle; {@link WatchedFactory} records its partitions. */
    static Cluster faro(Path folder, int slots, Map<String, String> options) throws Exception {
        return faro(folder, TASK_MANAGERS, slots, options);
    }

    /** Starts a cluster with Faro's shuffle and another number of task managers. */
    static Cluster faro(Path folder, int taskManagers, int slots, Map<String, String> options) throws Exception {
        WatchedFactory.reset();
        Map<String, String> all = new HashMap<>(options);
        all.put("shuffle-service-factory.class", WatchedFactory.class.getName());
        return start(folder, taskManagers, slots, all);
    }

    /** Starts a cluster with the shuffle that the options name. */
    static Cluster start(Path folder, int slots, Map<String, String> options) throws Exception {
        return start(folder, TASK_MANAGERS, slots, options);
    }

    /** Starts a cluster with the shuffle that the options name and another number of task managers. */
    static Cluster start(Path folder, int taskManagers, int slots, Map<String, String> options) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("io.tmp.dirs", folder.toString());
        configuration.setString("execution.runtime-mode", "BATCH");
        configuration.setString("taskmanager.memory.network.min", "96mb");
        configuration.setString("taskmanager.memory.network.max", "96mb");
        configuration.setString("taskmanager.network.sort-shuffle.min-buffers", "64");
        configuration.setString("restart-strategy.type", "fixed-delay");
        configuration.setString("restart-strategy.fixed-delay.attempts", "4");
        configuration.setString("restart-strategy.fixed-delay.delay", "10 ms");
        configuration.setString("execution.batch.adaptive.auto-parallelism.enabled", "false");
        options.forEach(configuration::setString);
        boolean losesJobManager = options.containsKey(RECOVERY);
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setHaServices(losesJobManager ? HaServices.WITH_LEADERSHIP_CONTROL : HaServices.CONFIGURED)
                .setNumTaskManagers(taskManagers)
                .setNumSlotsPerTaskManager(slots)
                .setConfiguration(configuration)
                .withRandomPorts()
                .build());
        cluster.start();
        return new Cluster(cluster, configuration);
    }

    /** Whether a task of any job is running, or is about to. */
    boolean isActive() throws Exception {
        for (JobStatusMessage job : cluster.listJobs().get()) {
            for (AccessExecutionVertex vertex
                    : cluster.getExecutionGraph(job.getJobId()).get().getAllExecutionVertices()) {
                ExecutionState state = vertex.getExecutionState();
                if (state != ExecutionState.CREATED && !state.isTerminal()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The number of tasks of all jobs that have ended without a failure. */
    int finishedTasks() throws Exception {
        int finished = 0;
        for (JobStatusMessage job : cluster.listJobs().get()) {
            for (AccessExecutionVertex vertex
                    : cluster.getExecutionGraph(job.getJobId()).get().getAllExecutionVertices()) {
                finished += vertex.getExecutionState() == ExecutionState.FINISHED ? 1 : 0;
            }
        }
        return finished;
    }

    /** Ends the part of the JobManager that runs the only job, and starts another, which recovers what it can. */
    void replaceJobMaster() throws Exception {
        JobID job = cluster.listJobs().get().iterator().next().getJobId();
        HaLeadershipControl control = cluster.getHaLeadershipControl().orElseThrow();
        control.revokeJobMasterLeadership(job).get();
        control.grantJobMasterLeadership(job).get();
    }

    /**
     * Runs a job.
     *
     * @param parallelism of operators that set none; 0 lets Flink choose
     */
    Outcome run(Job job, int parallelism) throws Exception {
        return run(job, parallelism, Map.of());
    }

    /**
     * Runs a job.
     *
     * @param options of the job, besides those of the cluster
     */
    Outcome run(Job job, int parallelism, Map<String, String> options) throws Exception {
        JobGraph graph = graph(job, parallelism, options);
        return new Outcome(execute(graph), cluster.getExecutionGraph(graph.getJobID()).get());
    }

    /** Runs jobs at the same time; returns their results by their names. */
    Map<String, List<String>> runTogether(Map<String, Job> jobs, int parallelism) throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(jobs.size());
        try {
            Map<String, Future<Outcome>> running = new HashMap<>();
            jobs.forEach((name, job) -> running.put(name, clients.submit(() -> run(job, parallelism))));
            Map<String, List<String>> results = new HashMap<>();
            for (Map.Entry<String, Future<Outcome>> job : running.entrySet()) {
                results.put(job.getKey(), job.getValue().get().results());
            }
            return results;
        } finally {
            clients.shutdownNow();
        }
    }

    /** Makes the graph of a job, for {@link #run(JobGraph)}. */
    JobGraph graph(Job job, int parallelism) {
        return graph(job, parallelism, Map.of());
    }

    private JobGraph graph(Job job, int parallelism, Map<String, String> options) {
        Configuration own = new Configuration(configuration);
        options.forEach(own::setString);
        StreamExecutionEnvironment environment = new StreamExecutionEnvironment(own);
        if (parallelism > 0) {
            environment.setParallelism(parallelism);
        }
        job.build(environment).flatMap(new Keep());
        return environment.getStreamGraph().getJobGraph();
    }

    /** Runs a copy of a graph, under a new id; returns its results, sorted. Any number may run at the same time. */
    List<String> run(JobGraph graph) throws Exception {
        JobGraph copy = InstantiationUtil.clone(graph);
        copy.setJobID(new JobID());
        return execute(copy);
    }

    private List<String> execute(JobGraph graph) throws Exception {
        JobExecutionResult result = cluster.executeJobBlocking(graph);
        List<String> found = new ArrayList<>(result.<ArrayList<String>>getAccumulatorResult(RESULTS));
        Collections.sort(found);
        return found;
    }

    /** Makes an environment that runs jobs over HTTP, as a client does. */
    StreamExecutionEnvironment client(int parallelism) throws Exception {
        URI address = cluster.getRestAddress().get();
        return StreamExecutionEnvironment.createRemoteEnvironment(address.getHost(), address.getPort(), configuration)
                .setParallelism(parallelism);
    }

    /** Ends a task manager and starts another. */
    void replaceTaskManager(int number) {
        cluster.terminateTaskManager(number).join();
        try {
            cluster.startTaskManager();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        cluster.closeAsync().join();
    }
}
