package dev.faro.spark.merge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.server.BlockPushNonFatalFailure.ReturnCode;
import org.apache.spark.network.shuffle.protocol.MergeStatuses;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;
import org.roaringbitmap.RoaringBitmap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The merges of an application: the newest of each shuffle. */
final class MergedApplication {
    private static final Logger LOG = LoggerFactory.getLogger(MergedApplication.class);
    private static final Pattern NAME = Pattern.compile("shuffleMerged_(.+)_(\\d{1,9})_(\\d{1,9})_(\\d{1,9})\\.index");

    private final Registrations.Registration registration;
    private final MergeSettings settings;
    private final Map<Integer, ShuffleMerge> shuffles = new HashMap<>();

    MergedApplication(Registrations.Registration registration, MergeSettings settings) {
        this.registration = registration;
        this.settings = settings;
    }

    int attempt() {
        return registration.attempt();
    }

    String[] folders() {
        return registration.folders().toArray(String[]::new);
    }

    Path name(MergedPartition partition) {
        return partition.name(folders(), registration.subfolders());
    }

    /** Finds the merges of an earlier process in their files. */
    void findMerges() {
        for (String folder : registration.folders()) {
            try (Stream<Path> files = Files.walk(Path.of(folder), 2)) {
                files.forEach(this::found);
            } catch (IOException | java.io.UncheckedIOException e) {
                // The application has ended meanwhile, or the disk is gone.
                LOG.warn("Merged files in {} are not found again.", folder, e);
            }
        }
    }

    private void found(Path file) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches() && name.group(1).equals(registration.application())) {
            ShuffleMerge merge =
                    newest(Integer.parseInt(name.group(2)), Integer.parseInt(name.group(3)));
            if (merge != null) {
                merge.found(Integer.parseInt(name.group(4)));
            }
        }
    }

    /** The merge of a shuffle, or null if there is a newer one. Older ones are removed. */
    private synchronized ShuffleMerge newest(int shuffleId, int shuffleMergeId) {
        ShuffleMerge known = shuffles.get(shuffleId);
        if (known != null && known.number() >= shuffleMergeId) {
            return known.number() == shuffleMergeId ? known : null;
        }
        ShuffleMerge merge = new ShuffleMerge(this, shuffleId, shuffleMergeId, settings);
        shuffles.put(shuffleId, merge);
        if (known != null) {
            settings.cleaner().execute(known::remove);
        }
        return merge;
    }

    String application() {
        return registration.application();
    }

    StreamCallbackWithID receive(PushBlockStream push) {
        ShuffleMerge merge = newest(push.shuffleId, push.shuffleMergeId);
        return merge == null ? ReceivedPush.refused(push, ReturnCode.STALE_BLOCK_PUSH) : merge.receive(push);
    }

    MergeStatuses finish(int shuffleId, int shuffleMergeId) {
        ShuffleMerge merge = newest(shuffleId, shuffleMergeId);
        if (merge == null) {
            throw new IllegalStateException("shuffle " + shuffleId + " has a newer merge than " + shuffleMergeId);
        }
        ShuffleMerge.Result result = merge.finish();
        LOG.info("Shuffle {} of {}, merge {}: {} partitions, {} bytes.", shuffleId, application(), shuffleMergeId,
                result.partitions().size(), result.sizes().stream().mapToLong(Long::longValue).sum());
        return new MergeStatuses(shuffleId, shuffleMergeId, result.maps().toArray(RoaringBitmap[]::new),
                result.partitions().stream().mapToInt(Integer::intValue).toArray(),
                result.sizes().stream().mapToLong(Long::longValue).toArray());
    }

    synchronized void removeShuffle(int shuffleId) {
        ShuffleMerge merge = shuffles.remove(shuffleId);
        if (merge != null) {
            settings.cleaner().execute(merge::remove);
        }
    }

    /** Removes a merge; pushes for it are late from now on. */
    void removeMerge(int shuffleId, int shuffleMergeId) {
        ShuffleMerge merge = newest(shuffleId, shuffleMergeId);
        if (merge != null) {
            settings.cleaner().execute(merge::remove);
        }
    }

    /** Ends all merges. Their files, and the folders, are removed if that is wanted; else Spark's cluster does it. */
    void remove(boolean withFolders) {
        close();
        if (withFolders) {
            registration.folders().forEach(folder -> removeAll(Path.of(folder)));
        }
    }

    synchronized void close() {
        shuffles.values().forEach(ShuffleMerge::close);
        shuffles.clear();
    }

    private static void removeAll(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                Files.deleteIfExists(file);
            }
        } catch (java.nio.file.NoSuchFileException e) {
            // Removed already.
        } catch (IOException | java.io.UncheckedIOException e) {
            LOG.warn("{} is not removed.", folder, e);
        }
    }
}
