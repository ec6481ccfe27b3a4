package dev.faro.spark;

import java.io.File;
import java.util.List;
import java.util.Map;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.shuffle.MergedShuffleFileManager;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/** Spark's external shuffle service, with a merge manager as YARN's would have it. */
final class ShuffleServer implements AutoCloseable {
    private final TransportContext context;
    private final TransportServer server;
    private final ExternalBlockHandler handler;

    /** Makes the merge manager. */
    interface Manager {
        MergedShuffleFileManager make(TransportConf conf, File recovery) throws Exception;
    }

    /** @param recovery the folder for the files from which it goes on; null for none */
    ShuffleServer(String host, int port, Manager manager, File recovery) throws Exception {
        TransportConf conf = new TransportConf("shuffle", new MapConfigProvider(
                Map.of("spark.shuffle.push.server.minChunkSizeInMergedShuffleFile", "400k")));
        File executors = recovery == null ? null : new File(recovery, "executors");
        File merges = recovery == null ? null : new File(recovery, "merges");
        handler = new ExternalBlockHandler(conf, executors, manager.make(conf, merges));
        context = new TransportContext(conf, handler, true);
        server = context.createServer(host, port, List.of());
    }

    /** A service in a process of its own, until it is killed: host, port, merge manager, recovery folder. */
    public static void main(String[] arguments) throws Exception {
        Class<?> manager = Class.forName(arguments[2]);
        new ShuffleServer(arguments[0], Integer.parseInt(arguments[1]),
                (conf, recovery) -> (MergedShuffleFileManager) manager.getConstructor(TransportConf.class, File.class)
                        .newInstance(conf, recovery), new File(arguments[3]));
        System.out.println("started");
        Thread.sleep(Long.MAX_VALUE);
    }

    @Override
    public void close() {
        server.close();
        handler.close();
        context.close();
    }
}
