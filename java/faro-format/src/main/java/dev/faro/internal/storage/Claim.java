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
 * What one part of this process holds at a time: a file that is written, mended or cleaned (PUB-6), or the turn for a
 * publishing lock (PUB-5). Record locks tell processes apart, claims what is inside one. They are names of system
 * properties, which all class loaders of a process share. A claim that is dropped without {@link #close} is given back
 * when the collector found it and anybody asks for one.
 */
public final class Claim implements AutoCloseable {
    private static final String PROPERTY = "dev.faro.held.";
    private static final ReferenceQueue<Claim> DROPPED = new ReferenceQueue<>();
    private static final Set<Entry> ENTRIES = ConcurrentHashMap.newKeySet();
    /** Channels to be closed when a claim is given back, by its key. */
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
                // Before and after: others may take the file once it is free, and a channel may have come in between.
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
    static String ofFile(Path path, Object fileKey) {
        return fileKey == null ? "path " + path.toAbsolutePath().normalize() : "file " + fileKey;
    }

    /** The key of a name in a folder, however the folder is called. */
    public static String ofName(Path path) throws IOException {
        Path absolute = path.toAbsolutePath();
        Object folder = FileKey.following(absolute.getParent());
        return "name " + (folder == null ? absolute.getParent() : folder) + " " + absolute.getFileName();
    }

    /** Takes a claim, or returns null if it is taken. */
    public static Claim take(String key) {
        sweep();
        return System.getProperties().putIfAbsent(PROPERTY + key, "") == null ? new Claim(key) : null;
    }

    /** Whether any part of this process has a claim. */
    public static boolean isTaken(String key) {
        sweep();
        return System.getProperties().containsKey(PROPERTY + key);
    }

    /**
     * Closes a channel of a file: now, or if the file is claimed, when the claim is given back. A process loses its
     * record lock of a file when it closes any channel of it.
     */
    static void close(String key, FileChannel channel, boolean readable) throws IOException {
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
     * A channel that reads a claimed file and waits to be closed, or null. Taking it instead of another keeps a process
     * that reads its own unfinished files again and again from running out of descriptors.
     */
    static FileChannel reopen(String key) {
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
                    // It was only read from.
                }
            }
        }
    }

    private static void sweep() {
        for (Reference<?> dropped = DROPPED.poll(); dropped != null; dropped = DROPPED.poll()) {
            ((Entry) dropped).giveBack();
        }
        for (String key : LATE.keySet()) {
            // One of another class loader, which closes its own channels alone.
            if (!System.getProperties().containsKey(PROPERTY + key)) {
                closeLate(key);
            }
        }
    }

    /** Gives the claim back; once more does nothing. */
    @Override
    public void close() {
        entry.giveBack();
    }
}
