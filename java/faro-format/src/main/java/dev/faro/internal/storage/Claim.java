package dev.faro.internal.storage;

import java.io.IOException;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An exclusive claim inside this process: on a file that is written, repaired or cleaned (PUB-6), or on the turn for a
 * publishing lock (PUB-5). Record locks separate processes; claims separate the users inside one process. A claim is a
 * system property, which all class loaders of a process share. A claim that is dropped without {@link #close} is
 * released at the next request after the garbage collector found it.
 */
public final class Claim implements AutoCloseable {
    private static final String PROPERTY = "dev.faro.held.";
    private static final ReferenceQueue<Claim> DROPPED = new ReferenceQueue<>();
    private static final Set<Entry> ENTRIES = ConcurrentHashMap.newKeySet();
    /** The channels to close when a claim is released, by its key. */
    private static final Map<String, List<Late>> LATE = new ConcurrentHashMap<>();

    private record Late(FileChannel channel, boolean readable) {}

    private final Entry entry;

    private static final class Entry extends PhantomReference<Claim> {
        final String key;

        Entry(Claim claim, String key) {
            super(claim, DROPPED);
            this.key = key;
        }

        void giveBack() {
            if (ENTRIES.remove(this)) {
                // Once before and once after: others may take the file when it is free, and a channel may be added in
                // between.
                closeLate(key);
                System.getProperties().remove(PROPERTY + key);
                closeLate(key);
            }
        }
    }

    private Claim(String key) {
        entry = new Entry(this, key);
        ENTRIES.add(entry);
    }

    /** The key of a file. */
    public static String ofFile(Path path, Object fileKey) {
        return fileKey == null ? "path " + path.toAbsolutePath().normalize() : "file " + fileKey;
    }

    /** The key of a name in a folder, whatever path leads to the folder. */
    public static String ofName(Path path) throws IOException {
        Path absolute = path.toAbsolutePath();
        Object folder = FileKey.following(absolute.getParent());
        return "name " + (folder == null ? absolute.getParent() : folder) + " " + absolute.getFileName();
    }

    /** Takes a claim; null if it is taken. */
    public static Claim take(String key) {
        sweep();
        return System.getProperties().putIfAbsent(PROPERTY + key, "") == null ? new Claim(key) : null;
    }

    /** Whether a claim is taken by any part of this process. */
    public static boolean isTaken(String key) {
        sweep();
        return System.getProperties().containsKey(PROPERTY + key);
    }

    /**
     * Closes a channel of a file. If the file is claimed, the channel is closed when the claim is released, because a
     * process loses its record lock of a file when it closes any channel of it.
     */
    public static void close(String key, FileChannel channel, boolean readable) throws IOException {
        if (!isTaken(key)) {
            channel.close();
            return;
        }
        LATE.compute(key, (same, channels) -> {
            List<Late> all = channels == null ? new ArrayList<>() : channels;
            all.add(new Late(channel, readable));
            return all;
        });
        if (!isTaken(key)) {
            closeLate(key);
        }
    }

    /**
     * Returns a channel that can read a claimed file and is waiting to be closed, or null. Reusing it keeps a process
     * that reads its own unfinished files repeatedly from running out of descriptors.
     */
    public static FileChannel reopen(String key) {
        FileChannel[] found = new FileChannel[1];
        LATE.computeIfPresent(key, (same, channels) -> {
            channels.removeIf(late -> {
                boolean taken = found[0] == null && late.readable && late.channel.isOpen();
                found[0] = taken ? late.channel : found[0];
                return taken || !late.channel.isOpen();
            });
            return channels.isEmpty() ? null : channels;
        });
        return found[0];
    }

    private static void closeLate(String key) {
        List<Late> channels = LATE.remove(key);
        if (channels != null) {
            for (Late late : channels) {
                try {
                    late.channel.close();
                } catch (IOException e) {
                    // The channel was only used to read.
                }
            }
        }
    }

    private static void sweep() {
        for (Reference<?> dropped = DROPPED.poll(); dropped != null; dropped = DROPPED.poll()) {
            ((Entry) dropped).giveBack();
        }
        for (String key : LATE.keySet()) {
            // The claim belonged to another class loader, which closes only its own channels.
            if (!System.getProperties().containsKey(PROPERTY + key)) {
                closeLate(key);
            }
        }
    }

    /** Releases the claim. A second call does nothing. */
    @Override
    public void close() {
        entry.giveBack();
    }
}
