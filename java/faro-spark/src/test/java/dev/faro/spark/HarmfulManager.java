package dev.faro.spark;

import dev.faro.spark.merge.FaroMergeManager;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.network.shuffle.MergedShuffleFileManager;
import org.apache.spark.network.shuffle.protocol.ExecutorShuffleInfo;
import org.apache.spark.network.shuffle.protocol.FinalizeShuffleMerge;
import org.apache.spark.network.shuffle.protocol.MergeStatuses;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;
import org.apache.spark.network.shuffle.protocol.RemoveShuffleMerge;

/** A merge manager that something happens to: to the pushes, to the files, or to the disk. */
final class HarmfulManager implements MergedShuffleFileManager {
    private final MergedShuffleFileManager own;
    private final Trial trial;
    private final int host;

    /** What happens next, for both services. */
    static final class Trial {
        private Harm harm = Harm.NONE;
        private long seed;
        private int done;

        /** From now on this happens. */
        synchronized void begin(Harm what, long by) {
            harm = what;
            seed = by;
            done = 0;
        }

        /** How often it has happened. */
        synchronized int done() {
            return done;
        }

        synchronized void happened() {
            done++;
        }

        synchronized Harm harm() {
            return harm;
        }

        private synchronized Random random(long of) {
            return new Random(seed * 1_000_003 + of);
        }
    }

    HarmfulManager(MergedShuffleFileManager own, Trial trial, int host) {
        this.own = own;
        this.trial = trial;
        this.host = host;
    }

    MergedShuffleFileManager own() {
        return own;
    }

    @Override
    public StreamCallbackWithID receiveBlockDataAsStream(PushBlockStream push) {
        Harm harm = trial.harm();
        Random random = trial.random(push.mapIndex * 1009L + push.reduceId);
        StreamCallbackWithID received = harm.push(own, push, random, trial);
        harm.disk(this, push, random, trial);
        return received;
    }

    @Override
    public MergeStatuses finalizeShuffleMerge(FinalizeShuffleMerge message) throws IOException {
        trial.harm().end(this, message, trial);
        MergeStatuses statuses = own.finalizeShuffleMerge(message);
        List<Path> files = files(message.appId, message.shuffleId);
        if (!files.isEmpty()) {
            trial.harm().files(new HarmedFiles(files, trial.random(host), trial));
        }
        trial.harm().late();
        return statuses;
    }

    private List<Path> files(String application, int shuffle) {
        String prefix = "shuffleMerged_" + application + "_" + shuffle + "_";
        List<Path> found = new ArrayList<>();
        for (String folder : own.getMergedBlockDirs(application)) {
            TestSession.files(Path.of(folder)).stream()
                    .filter(file -> file.getFileName().toString().startsWith(prefix)).forEach(found::add);
        }
        found.sort(null);
        return found;
    }

    /** Lets writes fail to the files of the partition of a push. */
    void failWrites(PushBlockStream push, boolean data, boolean index, FailingChannel.Faults faults) {
        Object partition = partitions(push.appId, push.shuffleId).get(push.reduceId);
        if (partition != null) {
            failWrites(partition, data, index, faults);
        }
    }

    /** Lets writes fail to the indexes of all partitions of a shuffle. */
    void failIndexes(String application, int shuffle, FailingChannel.Faults faults) {
        partitions(application, shuffle).values().forEach(partition -> failWrites(partition, false, true, faults));
    }

    private void failWrites(Object partition, boolean data, boolean index, FailingChannel.Faults faults) {
        try {
            if (own instanceof FaroMergeManager) {
                Object file = get(partition, "file");
                failing(data, get(file, "data"), "channel", faults);
                failing(index, get(file, "index"), "channel", faults);
                return;
            }
            failing(data, partition, "dataChannel", faults);
            for (String name : index ? List.of("indexFile", "metaFile") : List.<String>of()) {
                Object file = get(partition, name);
                Field stream = file.getClass().getDeclaredField("dos");
                stream.setAccessible(true);
                stream.set(file, new DataOutputStream(new FailingStream((OutputStream) stream.get(file), faults)));
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void failing(boolean wanted, Object owner, String field, FailingChannel.Faults faults) {
        if (wanted) {
            FailingChannel.putInto(owner, field, faults);
        }
    }

    /** What is being merged, by partition. */
    private Map<?, ?> partitions(String application, int shuffle) {
        boolean faro = own instanceof FaroMergeManager;
        try {
            Object known = ((Map<?, ?>) get(own, faro ? "applications" : "appsShuffleInfo")).get(application);
            Object merge = ((Map<?, ?>) get(known, "shuffles")).get(shuffle);
            return merge == null ? Map.of() : (Map<?, ?>) get(merge, faro ? "open" : "shuffleMergePartitions");
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object get(Object owner, String field) throws ReflectiveOperationException {
        Field place = owner.getClass().getDeclaredField(field);
        place.setAccessible(true);
        return place.get(owner);
    }

    private static final class FailingStream extends OutputStream {
        private final OutputStream file;
        private final FailingChannel.Faults faults;

        FailingStream(OutputStream file, FailingChannel.Faults faults) {
            this.file = file;
            this.faults = faults;
        }

        @Override
        public void write(int one) throws IOException {
            faults.write();
            file.write(one);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            faults.write();
            file.write(bytes, from, count);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    @Override
    public void registerExecutor(String application, ExecutorShuffleInfo executor) {
        own.registerExecutor(application, executor);
    }

    @Override
    public void applicationRemoved(String application, boolean cleanupLocalDirs) {
        own.applicationRemoved(application, cleanupLocalDirs);
    }

    @Override
    public ManagedBuffer getMergedBlockData(String application, int shuffle, int merge, int reduce, int chunk) {
        return own.getMergedBlockData(application, shuffle, merge, reduce, chunk);
    }

    @Override
    public MergedBlockMeta getMergedBlockMeta(String application, int shuffle, int merge, int reduce) {
        return own.getMergedBlockMeta(application, shuffle, merge, reduce);
    }

    @Override
    public String[] getMergedBlockDirs(String application) {
        return own.getMergedBlockDirs(application);
    }

    @Override
    public void removeShuffleMerge(RemoveShuffleMerge message) {
        own.removeShuffleMerge(message);
    }

    @Override
    public void close() {
        own.close();
    }
}
