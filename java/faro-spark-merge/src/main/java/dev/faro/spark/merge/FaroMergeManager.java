package dev.faro.spark.merge;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.server.BlockPushNonFatalFailure.ReturnCode;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.network.shuffle.MergedShuffleFileManager;
import org.apache.spark.network.shuffle.protocol.ExecutorShuffleInfo;
import org.apache.spark.network.shuffle.protocol.FinalizeShuffleMerge;
import org.apache.spark.network.shuffle.protocol.MergeStatuses;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;
import org.apache.spark.network.shuffle.protocol.RemoveShuffleMerge;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The value of {@code spark.shuffle.push.server.mergedShuffleFileManagerImpl}: Spark's shuffle service merges what map
 * tasks push into Faro files. A block is checked when it arrives. What is reported to the driver is what was committed.
 * A service that was killed goes on from the last chunk of each file, if it has a recovery file.
 */
public final class FaroMergeManager implements MergedShuffleFileManager {
    private static final Logger LOG = LoggerFactory.getLogger(FaroMergeManager.class);
    /** Removes all merges of a shuffle. */
    private static final int ALL_MERGES = -1;
    private static final long CLEANING_SECONDS = 60;

    private final MergeSettings settings;
    private final Registrations registrations;
    private final OpenOutputs outputs = new OpenOutputs();
    private final Map<String, MergedApplication> applications = new ConcurrentHashMap<>();
    /** Removes files, which must not hold up the threads that serve. */
    private final ExecutorService cleaner = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "faro-merge-cleaner");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * Spark's service makes it.
     *
     * @param conf chunks have at least the size of {@code spark.shuffle.push.server.minChunkSizeInMergedShuffleFile}
     * @param recoveryFile where the applications are kept for a service that starts again; null if they are not
     * @throws IOException if the recovery file cannot be read
     */
    public FaroMergeManager(TransportConf conf, File recoveryFile) throws IOException {
        this.settings = new MergeSettings(
                conf.minChunkSizeInMergedShuffleFile(), outputs, new RecentMerges(), cleaner);
        this.registrations = new Registrations(recoveryFile);
        for (Registrations.Registration known : registrations.load()) {
            MergedApplication application = new MergedApplication(known, settings);
            application.findMerges();
            applications.put(known.application(), application);
        }
        LOG.info("Pushed blocks are merged into Faro files; {} applications are known.", applications.size());
    }

    @Override
    public void registerExecutor(String application, ExecutorShuffleInfo executor) {
        Registrations.Registration wanted = Registrations.of(application, executor);
        if (wanted == null) {
            LOG.warn("An executor of {} does not say where merged files go: {}", application, executor.shuffleManager);
            return;
        }
        applications.compute(application, (name, known) -> {
            if (known != null && known.attempt() >= wanted.attempt()) {
                return known;
            }
            registrations.save(wanted);
            if (known != null) {
                cleaner.execute(() -> known.remove(true));
            }
            return new MergedApplication(wanted, settings);
        });
    }

    @Override
    public StreamCallbackWithID receiveBlockDataAsStream(PushBlockStream push) {
        MergedApplication application = application(push.appId);
        if (application.attempt() != push.appAttemptId) {
            return ReceivedPush.refused(push, ReturnCode.TOO_OLD_ATTEMPT_PUSH);
        }
        return application.receive(push);
    }

    @Override
    public MergeStatuses finalizeShuffleMerge(FinalizeShuffleMerge wanted) {
        MergedApplication application = current(wanted.appId, wanted.appAttemptId);
        return application.finish(wanted.shuffleId, wanted.shuffleMergeId);
    }

    @Override
    public MergedBlockMeta getMergedBlockMeta(String application, int shuffleId, int shuffleMergeId, int reduceId) {
        MergedPartition partition = new MergedPartition(application, shuffleId, shuffleMergeId, reduceId);
        try (OpenOutputs.Lease merged = open(partition)) {
            return partition.meta(merged.reader());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public ManagedBuffer getMergedBlockData(
            String application, int shuffleId, int shuffleMergeId, int reduceId, int chunk) {
        MergedPartition partition = new MergedPartition(application, shuffleId, shuffleMergeId, reduceId);
        try (OpenOutputs.Lease merged = open(partition)) {
            return partition.chunk(merged.reader(), chunk);
        } catch (IOException e) {
            LOG.warn("Chunk {} of {} is damaged, or cannot be read.", chunk, partition, e);
            throw new UncheckedIOException(e);
        }
    }

    private OpenOutputs.Lease open(MergedPartition partition) throws IOException {
        Path name = application(partition.application()).name(partition);
        return outputs.open(MergedPartition.data(name), MergedPartition.index(name));
    }

    @Override
    public String[] getMergedBlockDirs(String application) {
        return application(application).folders();
    }

    @Override
    public void removeShuffleMerge(RemoveShuffleMerge wanted) {
        MergedApplication application = current(wanted.appId, wanted.appAttemptId);
        if (wanted.shuffleMergeId == ALL_MERGES) {
            application.removeShuffle(wanted.shuffleId);
        } else {
            application.removeMerge(wanted.shuffleId, wanted.shuffleMergeId);
        }
    }

    @Override
    public void applicationRemoved(String name, boolean cleanupLocalDirs) {
        MergedApplication application = applications.remove(name);
        if (application != null) {
            registrations.remove(name);
            cleaner.execute(() -> application.remove(cleanupLocalDirs));
        }
    }

    private MergedApplication application(String name) {
        MergedApplication application = applications.get(name);
        if (application == null) {
            throw new IllegalArgumentException("application " + name + " is not registered with this service");
        }
        return application;
    }

    private MergedApplication current(String name, int attempt) {
        MergedApplication application = application(name);
        if (application.attempt() != attempt) {
            throw new IllegalArgumentException("attempt " + attempt + " of application " + name + " is not the current one, "
                    + application.attempt());
        }
        return application;
    }

    /** Merges that are not finalized stay as they are after their last chunk. */
    @Override
    public void close() {
        cleaner.shutdown();
        try {
            if (!cleaner.awaitTermination(CLEANING_SECONDS, TimeUnit.SECONDS)) {
                cleaner.shutdownNow();
            }
        } catch (InterruptedException e) {
            cleaner.shutdownNow();
            Thread.currentThread().interrupt();
        }
        applications.values().forEach(MergedApplication::close);
        outputs.close();
    }
}
