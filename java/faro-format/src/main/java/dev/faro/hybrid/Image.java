package dev.faro.hybrid;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.follow.Follower;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.storage.OutputName;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.StoredOutput;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The output that a store's writer writes (HYB-1), region by region, wherever its bytes are; and what may leave the
 * memory next (HYB-6). It makes no file and starts no work.
 */
final class Image {
    private final HybridMemory memory;
    private final ReentrantLock lock;
    private final boolean selective;
    private final ReaderOptions options;
    final ImageFile data;
    final ImageFile index;
    private final List<ImageRegion> regions = new ArrayList<>();
    /** The numbers of the regions that are in memory and not about to leave. */
    private final TreeSet<Integer> staying = new TreeSet<>();
    private final TreeSet<Integer> leaving = new TreeSet<>();
    private long stayingBytes;
    /** The number of the next region to write: all before it were written, or, if selective, never will be. */
    private int next;
    /** Regions before this one are to be written soon, although they may stay. */
    private int wanted;
    private long written;
    private int partitions;
    private int consumers;
    private Progress[] progress;
    private final List<Runnable> waiting = new ArrayList<>();
    private volatile boolean isWaitedFor;
    private volatile long waitedSince;
    private byte[] dataHeader;
    private final IndexBlocks indexBlocks = new IndexBlocks();
    /** The pieces of the index file that are not regions, and how many of them are before the regions. */
    private final List<byte[]> others = new ArrayList<>();
    private int regionsEnd;
    private ImagePart open;
    private long changes;
    private volatile boolean ended;
    private volatile FaroException failure;
    private volatile long commits;
    private Follower reader;

    /**
     * Makes an image without a region.
     *
     * @param storedData opens the data file, with what is not in memory
     * @param storedIndex opens the index file
     */
    Image(HybridMemory memory, OutputName name, boolean selective, ImageFile.Stored storedData,
            ImageFile.Stored storedIndex, ReaderOptions options) {
        this.memory = memory;
        this.lock = memory.lock;
        this.selective = selective;
        this.options = options;
        this.data = new ImageFile(memory, name.file(FileRole.DATA).toString(), storedData);
        this.index = new ImageFile(memory, name.file(FileRole.INDEX).toString(), storedIndex);
    }

    /** Says how many partitions there are, before the first region. */
    void begin(FileHeader header) {
        partitions = header.partitionCount();
        progress = selective ? new Progress[partitions] : null;
    }

    /** Adds bytes of blocks. The first 64 are the file's header. */
    void addData(byte[] chunk) {
        lock.lock();
        try {
            byte[] blocks = chunk;
            if (dataHeader == null) {
                dataHeader = Arrays.copyOf(chunk, FileHeader.SIZE);
                data.begin();
                data.append(dataHeader);
                blocks = Arrays.copyOfRange(chunk, FileHeader.SIZE, chunk.length);
            }
            if (blocks.length > 0) {
                open = open == null ? data.begin() : open;
                data.append(blocks);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Adds bytes of the index. A region is committed by its message. */
    void addIndex(byte[] chunk) {
        lock.lock();
        try {
            indexBlocks.add(chunk);
            for (byte[] piece = indexBlocks.next(); piece != null; piece = indexBlocks.next()) {
                ImagePart part = index.begin();
                index.append(piece);
                if (indexBlocks.last() == IndexBlocks.Piece.REGION) {
                    commit(part);
                } else {
                    others.add(piece);
                }
            }
            changes++;
            commits++;
            isWaitedFor = false;
        } finally {
            lock.unlock();
        }
    }

    private void commit(ImagePart message) {
        ImageRegion region = new ImageRegion(regions.size(), open, message, selective ? partitions : 0);
        regions.add(region);
        staying.add(region.number);
        stayingBytes += region.bytes();
        memory.takes(region.bytes() + region.messageBytes());
        open = null;
        regionsEnd = others.size();
        if (!isUsable()) {
            // It failed while the producer was in a call, after what had been in memory was dropped.
            drop(region);
        }
    }

    /** The header of the data file. */
    List<byte[]> header() {
        return List.of(dataHeader);
    }

    /** What is in the index file before the first region. */
    List<byte[]> beginning() {
        lock.lock();
        try {
            return List.copyOf(others.subList(0, regionsEnd));
        } finally {
            lock.unlock();
        }
    }

    /** What is in the index file after the last region; everything if there is none. */
    List<byte[]> footer() {
        lock.lock();
        try {
            return List.copyOf(others.subList(regionsEnd, others.size()));
        } finally {
            lock.unlock();
        }
    }

    /** Reads bytes of blocks until the buffer is full. */
    void read(long offset, ByteBuffer target) throws FaroException {
        try {
            for (long at = offset; target.hasRemaining();) {
                int count = data.read(at, target);
                if (count <= 0) {
                    throw new EOFException();
                }
                at += count;
            }
        } catch (IOException e) {
            throw FaroException.ioInStorage(FileRole.DATA, data.name(), "to read the image", e);
        }
    }

    int partitions() {
        return partitions;
    }

    /** What has to be told of the changes since the last call. The caller runs it without the lock. */
    List<Runnable> takeWaiting() {
        lock.lock();
        try {
            List<Runnable> taken = List.copyOf(waiting);
            waiting.clear();
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /** Counts what a consumer can notice. */
    long changes() {
        lock.lock();
        try {
            return changes;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the next change.
     *
     * @param seen the changes that the consumer knows
     * @return false if there was another one already, or the store has failed or was closed
     */
    boolean await(long seen, Runnable available) {
        lock.lock();
        try {
            // The consumer may have counted a failure or an end as seen.
            if (changes != seen || !isUsable()) {
                return false;
            }
            if (available != null) {
                waiting.add(available);
            }
            if (!isWaitedFor) {
                waitedSince = System.nanoTime();
                isWaitedFor = true;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a consumer waits for the region that is open. */
    boolean isWaitedFor() {
        return isWaitedFor;
    }

    /** When it began to wait, by {@link System#nanoTime}. */
    long waitedSince() {
        return waitedSince;
    }

    /** Reads the committed regions. Null if there is none yet. */
    Follower reader() throws FaroException {
        lock.lock();
        try {
            if (reader != null || index.size() == 0) {
                return reader;
            }
        } finally {
            lock.unlock();
        }
        // What is read is in memory.
        Follower opened = Follower.of(FileSet.openStored(StoredOutput.paired(data, index)), options);
        lock.lock();
        try {
            if (reader == null) {
                reader = opened;
            }
            return reader;
        } finally {
            lock.unlock();
        }
    }

    /** Refuses the use of a store that has failed or was closed. */
    void checkUsable() throws FaroException {
        FaroException cause = failure;
        if (cause != null) {
            throw cause.again();
        }
        if (ended) {
            throw FaroException.invalidArgument("an open store", "one that was closed");
        }
    }

    private boolean isUsable() {
        return failure == null && !ended;
    }

    boolean hasFailed() {
        return failure != null;
    }

    /** Counts the regions and the ends, for the producer. */
    long commits() {
        return commits;
    }

    /** Makes the store fail, and drops its regions, so that others have the memory. */
    void fail(FaroException cause) {
        lock.lock();
        try {
            if (isUsable()) {
                failure = cause;
                dropAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Gives up everything. */
    void end() {
        lock.lock();
        try {
            if (!ended) {
                ended = true;
                dropAll();
                data.clear();
                index.clear();
            }
        } finally {
            lock.unlock();
        }
    }

    private void dropAll() {
        for (ImageRegion region : regions) {
            if (region.state == ImageRegion.State.GONE) {
                memory.left(region.index.drop());
            } else {
                drop(region);
            }
        }
        changes++;
    }

    private void drop(ImageRegion region) {
        if (region.state == ImageRegion.State.LEAVING) {
            memory.leaveNow(bytesThatLeave(region));
        }
        if (staying.remove(region.number)) {
            stayingBytes -= region.bytes();
        }
        leaving.remove(region.number);
        region.state = ImageRegion.State.GONE;
        memory.left(region.data.drop());
        boolean needsMessage = selective && region.unread > 0 && isUsable();
        if (!needsMessage) {
            memory.left(region.index.drop());
        }
    }

    /** What leaves the memory with a region: its blocks, and its message unless consumers need that (HYB-6). */
    private long bytesThatLeave(ImageRegion region) {
        return selective ? region.bytes() : region.bytes() + region.messageBytes();
    }

    long staying() {
        return stayingBytes;
    }

    boolean isRead() {
        return consumers > 0;
    }

    boolean giveUp(boolean newest) {
        Integer number;
        if (!selective) {
            number = staying.isEmpty() ? null : newest ? staying.last() : staying.first();
        } else if (newest) {
            number = staying.isEmpty() || staying.last() < next ? null : staying.last();
        } else {
            number = staying.ceiling(next);
        }
        if (number == null) {
            return false;
        }
        ImageRegion region = regions.get(number);
        if (region.written) {
            drop(region);
            return true;
        }
        staying.remove(number);
        stayingBytes -= region.bytes();
        leaving.add(number);
        region.state = ImageRegion.State.LEAVING;
        memory.willLeave(bytesThatLeave(region));
        if (!selective) {
            wanted = Math.max(wanted, number + 1);
        }
        return true;
    }

    /** Wants all regions to be written. With the lock. */
    void wantAll() {
        wanted = regions.size();
    }

    /** Wants all regions to be written if those that are not wanted yet have this many bytes; returns whether so. */
    boolean wantsAbove(long bytes) {
        lock.lock();
        try {
            if (wanted == regions.size()
                    || regions.get(regions.size() - 1).data.end() - regions.get(wanted).data.start < bytes) {
                return false;
            }
            wantAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether there is a region to write. With the lock. */
    boolean hasToWrite() {
        return selective ? !leaving.isEmpty() : next < wanted;
    }

    /** The next region to write, which begins; null if there is none. With the lock. */
    ImageRegion take() {
        if (!isUsable()) {
            return null;
        }
        if (selective) {
            Integer number = leaving.pollFirst();
            if (number == null) {
                return null;
            }
            next = number + 1;
        } else if (next < wanted) {
            next++;
        } else {
            return null;
        }
        ImageRegion region = regions.get(next - 1);
        region.writing = true;
        return region;
    }

    /** Takes note of where a region was written. */
    void wrote(ImageRegion region, Location inData, Location inIndex, long bytes) {
        lock.lock();
        try {
            written += bytes;
            region.writing = false;
            region.written = true;
            region.data.location = inData;
            region.index.location = inIndex;
            if (region.state == ImageRegion.State.LEAVING) {
                drop(region);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Counts a consumer that opens a partition; its progress, or null unless the store is selective. */
    Progress enter(int partition, int firstPartition) throws FaroException {
        lock.lock();
        try {
            Progress begun = null;
            if (selective) {
                int at = partition - firstPartition;
                if (progress[at] != null) {
                    throw FaroException.invalidArgument(
                            "a partition that was not opened before", "partition " + partition + ", which was");
                }
                begun = new Progress();
                progress[at] = begun;
            }
            consumers++;
            return begun;
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        lock.lock();
        try {
            consumers--;
        } finally {
            lock.unlock();
        }
    }

    /** Takes note that a partition was read up to a region. Null of a store that is not selective. */
    void moveTo(Progress of, int number) {
        if (of == null || of.region() >= number) {
            return;
        }
        lock.lock();
        try {
            for (int i = of.region(); i < number; i++) {
                ImageRegion region = regions.get(i);
                region.unread--;
                if (region.unread > 0 || region.writing) {
                    continue;
                }
                if (region.state == ImageRegion.State.GONE) {
                    memory.left(region.index.drop());
                } else {
                    drop(region);
                }
            }
            of.moveTo(number);
        } finally {
            lock.unlock();
        }
    }

    /** How far a partition was read; null if it was not opened. */
    Progress progress(int offset) {
        lock.lock();
        try {
            return progress[offset];
        } finally {
            lock.unlock();
        }
    }

    /** Whether each block was delivered or is in the files. */
    boolean isComplete() {
        lock.lock();
        try {
            return staying.isEmpty() && leaving.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    HybridFigures figures() {
        lock.lock();
        try {
            long bytes = regions.isEmpty() ? 0
                    : regions.get(regions.size() - 1).data.end() - regions.get(0).data.start;
            long inMemory = 0;
            for (ImageRegion region : regions) {
                inMemory += region.state == ImageRegion.State.GONE ? 0 : region.bytes();
            }
            return new HybridFigures(
                    regions.size(), bytes, inMemory, written, data.fromMemory(), data.fromFile());
        } finally {
            lock.unlock();
        }
    }
}
