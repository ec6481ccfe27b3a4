package dev.faro.spark;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master;
import org.apache.spark.deploy.worker.Worker;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.Option;

/**
 * Push-based shuffle without YARN: a master, and on each of two loopback hosts a worker and a shuffle service. Workers and
 * services are in this JVM, executors in processes of their own.
 */
final class PushCluster implements AutoCloseable {
    static final List<String> HOSTS = List.of("127.0.0.1", "127.0.0.2");

    private final int port;
    private final List<RpcEnv> endpoints = new ArrayList<>();
    private final Map<String, AutoCloseable> services = new HashMap<>();
    private final String master;

    /** Starts the shuffle service of a host. */
    interface Maker {
        AutoCloseable start(String host, int port) throws Exception;
    }

    /** Starts all, with services that the caller makes. */
    PushCluster(Path folder, Maker maker) throws Exception {
        TestHome.make();
        port = freePort();
        SparkConf conf = new SparkConf(false).set("spark.worker.ui.retainedExecutors", "1");
        RpcEnv masterEndpoint = (RpcEnv) Master.startRpcEnvAndEndpoint(HOSTS.get(0), 0, 0, conf)._1();
        endpoints.add(masterEndpoint);
        master = "spark://" + masterEndpoint.address().hostPort();
        for (String host : HOSTS) {
            services.put(host, maker.start(host, port));
            endpoints.add(Worker.startRpcEnvAndEndpoint(host, 0, 0, 1, 1024, new String[] {master},
                    folder.resolve("work-" + host).toString(), Option.apply(HOSTS.indexOf(host)), conf,
                    Option.empty()));
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("0.0.0.0"))) {
            return socket.getLocalPort();
        }
    }

    int port() {
        return port;
    }

    /** An application on the cluster, which pushes. */
    TestSession start(Path folder, Map<String, String> more) throws InterruptedException {
        Map<String, String> settings = new HashMap<>(TestHome.settings());
        settings.putAll(Map.of("spark.testing", "true", "spark.shuffle.service.enabled", "true",
                "spark.shuffle.service.port", String.valueOf(port), "spark.shuffle.push.enabled", "true",
                "spark.shuffle.push.mergersMinStaticThreshold", "1", "spark.shuffle.push.minShuffleSizeToWait", "0",
                "spark.shuffle.push.finalize.timeout", "3s", "spark.serializer",
                "org.apache.spark.serializer.KryoSerializer"));
        settings.putAll(Map.of("spark.cores.max", "2", "spark.executor.cores", "1", "spark.executor.memory", "700m",
                "spark.shuffle.io.maxRetries", "1", "spark.shuffle.io.retryWait", "100ms",
                "spark.executor.heartbeatInterval", "1s", "spark.sql.shuffle.partitions", "8",
                "spark.sql.adaptive.enabled", "false"));
        settings.putAll(more);
        TestSession session = TestSession.on("sparkpush:" + master, folder, settings);
        // A stage that begins before there are executors is not merged. The driver is counted too.
        while (session.rdds().sc().getExecutorMemoryStatus().size() <= HOSTS.size()) {
            Thread.sleep(50);
        }
        return session;
    }

    @Override
    public void close() throws Exception {
        endpoints.forEach(RpcEnv::shutdown);
        endpoints.forEach(RpcEnv::awaitTermination);
        for (AutoCloseable service : services.values()) {
            service.close();
        }
    }

    /** What the reduce tasks read of merged files, and how often they did not. */
    static final class Reads extends SparkListener {
        private long localChunks;
        private long remoteChunks;
        private long mergedBlocks;
        private long blocks;
        private long bytes;
        private long fallbacks;
        private long damagedChunks;
        private long failedTasks;
        private long stageAttempts;

        @Override
        public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
            if (!end.taskInfo().successful()) {
                failedTasks++;
            }
            if (end.taskMetrics() != null) {
                ShuffleReadMetrics read = end.taskMetrics().shuffleReadMetrics();
                localChunks += read.localMergedChunksFetched();
                remoteChunks += read.remoteMergedChunksFetched();
                mergedBlocks += read.localMergedBlocksFetched() + read.remoteMergedBlocksFetched();
                blocks += read.localBlocksFetched() + read.remoteBlocksFetched();
                bytes += read.localBytesRead() + read.remoteBytesRead();
                fallbacks += read.mergedFetchFallbackCount();
                damagedChunks += read.corruptMergedBlockChunks();
            }
        }

        @Override
        public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
            if (completed.stageInfo().attemptNumber() > 0) {
                stageAttempts++;
            }
        }

        synchronized long localChunks() {
            return localChunks;
        }

        synchronized long remoteChunks() {
            return remoteChunks;
        }

        synchronized long mergedBlocks() {
            return mergedBlocks;
        }

        synchronized long blocks() {
            return blocks;
        }

        /** Chunks, and blocks that were not in one. */
        synchronized long reads() {
            return localChunks + remoteChunks + blocks - mergedBlocks;
        }

        /** What all reads have got. */
        synchronized long bytes() {
            return bytes;
        }

        synchronized long fallbacks() {
            return fallbacks;
        }

        synchronized long damagedChunks() {
            return damagedChunks;
        }

        synchronized long failedTasks() {
            return failedTasks;
        }

        /** Stages that ran again. */
        synchronized long stageRetries() {
            return stageAttempts;
        }

        @Override
        public synchronized String toString() {
            return "chunks " + localChunks + " local, " + remoteChunks + " remote; blocks " + mergedBlocks
                    + " merged, " + blocks + " in all; fallbacks " + fallbacks + ", damaged chunks " + damagedChunks
                    + ", failed tasks " + failedTasks + ", stages again " + stageAttempts;
        }
    }
}
