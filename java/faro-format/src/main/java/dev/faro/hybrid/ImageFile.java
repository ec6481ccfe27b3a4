package dev.faro.hybrid;

import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** A file of an image: its bytes are in memory, in a file, or nowhere any more. */
final class ImageFile implements StoredFile {
    /** Opens the file that has what is not in memory. */
    interface Stored {
        StoredFile open() throws IOException;
    }

    private final HybridMemory memory;
    private final String name;
    private final Stored stored;
    private final TreeMap<Long, ImagePart> parts = new TreeMap<>();
    private final LongAdder fromMemory = new LongAdder();
    private final LongAdder fromFile = new LongAdder();
    private long size;

    ImageFile(HybridMemory memory, String name, Stored stored) {
        this.memory = memory;
        this.name = name;
        this.stored = stored;
    }

    /** Begins a part at the end. With the lock. */
    ImagePart begin() {
        ImagePart part = new ImagePart(size);
        parts.put(size, part);
        return part;
    }

    /** Adds bytes to the last part. With the lock. */
    void append(byte[] chunk) {
        parts.lastEntry().getValue().append(chunk);
        size += chunk.length;
    }

    /** Forgets all parts. With the lock. */
    void clear() {
        parts.clear();
    }

    @Override
    public long size() {
        memory.lock.lock();
        try {
            return size;
        } finally {
            memory.lock.unlock();
        }
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        long start;
        long end;
        List<byte[]> chunks;
        Location location;
        memory.lock.lock();
        try {
            if (offset >= size) {
                return -1;
            }
            Map.Entry<Long, ImagePart> found = parts.floorEntry(offset);
            if (found == null) {
                throw new IOException("the store was closed");
            }
            start = found.getKey();
            end = found.getValue().end();
            chunks = found.getValue().chunks();
            location = found.getValue().location;
        } finally {
            memory.lock.unlock();
        }
        if (chunks != null) {
            int count = ImagePart.copy(chunks, offset - start, target);
            fromMemory.add(count);
            return count;
        }
        long inFile = location == null ? -1 : location.find(offset);
        if (inFile < 0) {
            throw new IOException("the bytes at " + offset + " were delivered, and are not kept");
        }
        int limit = target.limit();
        long most = location.together(offset, Math.min(target.remaining(), end - offset));
        target.limit(target.position() + (int) Math.min(target.remaining(), most));
        try {
            int count = stored.open().read(inFile, target);
            fromFile.add(Math.max(0, count));
            return count;
        } finally {
            target.limit(limit);
        }
    }

    /** The bytes that were read from memory. */
    long fromMemory() {
        return fromMemory.sum();
    }

    /** The bytes that were read from the file. */
    long fromFile() {
        return fromFile.sum();
    }

    /** 128 KiB, because a reader copies what it asks for. */
    @Override
    public int readBytes() {
        return 128 << 10;
    }

    @Override
    public String name() {
        return name;
    }

    /** Does nothing: the store closes the files. */
    @Override
    public void close() {}
}
