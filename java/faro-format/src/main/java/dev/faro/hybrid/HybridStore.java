package dev.faro.hybrid;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.storage.OutputName;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;

/**
 * An output that consumers read while it is written (HYB): from memory as long as it lasts, else from files, which the
 * first spill makes. One thread writes; each consumer is for one thread.
 *
 * <pre>{@code
 * HybridMemory memory = new HybridMemory(256 << 20);
 * HybridOptions options = new HybridOptions(memory, HybridMode.SELECTIVE).executor(spills);
 * HybridStore store = HybridStore.create(Path.of("orders"), new WriterOptions(64).codec(Codec.LZ4), options);
 * HybridConsumer consumer = store.open(7, () -> wake(7));
 * store.write(7, record);
 * store.finish();
 * // The consumers read on; release() removes what is left when they are done.
 * }</pre>
 *
 * <p>The writing calls are those of {@link Writer}, with its errors. After the failure of a spill, every call of the store
 * and of its consumers throws that error, except {@link #release} and {@link #close}.
 */
public final class HybridStore implements AutoCloseable {
    /** A region of this many bytes ends at once for a consumer that waits. */
    private static final int ENOUGH = 32 << 10;
    /** A full store writes when it has this many bytes that were not written, even if memory is ample. */
    private static final int WRITE = 4 << 20;

    private final HybridMemory memory;
    private final HybridMode mode;
    private final Image image;
    private final FullFiles full;
    private final SelectiveFiles selective;
    private final Spiller spiller;
    private final Writer writer;
    private final long delayNanos;
    /** The bytes of records since the last region, at least. */
    private long buffered;
    private long told;
    private boolean finished;
    private boolean closed;

    private HybridStore(OutputName name, WriterOptions given, HybridOptions options) throws FaroException {
        this.memory = options.memory;
        this.mode = options.mode;
        this.delayNanos = options.delay.toNanos();
        this.full = mode == HybridMode.FULL ? new FullFiles(name) : null;
        WriterOptions own = given.copy();
        this.selective = mode == HybridMode.FULL ? null : new SelectiveFiles(name, own, own.rotation());
        SpillFiles files = mode == HybridMode.FULL ? full : selective;
        this.image = new Image(memory, name, mode == HybridMode.SELECTIVE, files::data, files::index,
                options.reader);
        ImageDestination destination = new ImageDestination(
                image, name.file(FileRole.DATA), name.file(FileRole.INDEX), full != null, this::endFiles);
        this.writer = Writer.ofImage(name, destination, given);
        if (full != null) {
            full.replaces(destination.replaces());
        }
        // The listener gets the image's regions.
        own.fileId(writer.header().fileId()).selective(true).follow(true).statistics(false).listener(null);
        image.begin(writer.header());
        this.spiller = new Spiller(memory, image, files, options.executor);
        memory.add(spiller);
        told = image.commits();
    }

    /**
     * Begins an output of files {@code NAME.data} and {@code NAME.index}, which do not exist yet. A selective store looks at
     * the names when it makes the files.
     *
     * @param name the NAME, without an ending
     * @param writing the options of the writer; those of HYB-2 are refused
     * @throws FaroException {@code invalid-argument}, or {@code io} if a file of the name exists
     */
    public static HybridStore create(Path name, WriterOptions writing, HybridOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(writing, "writing");
        Objects.requireNonNull(options, "options");
        return new HybridStore(OutputName.of(name), writing, new HybridOptions(options));
    }

    /** The header of the output's index file. That of the files of a selective store has a feature more. */
    public FileHeader header() {
        return writer.header();
    }

    /** Writes a record for one partition; see {@link Writer#write(int, ByteBuffer)}. */
    public void write(int partition, ByteBuffer record) throws FaroException {
        image.checkUsable();
        writer.write(partition, record);
        wrote(record);
    }

    /** Writes a record for one partition; see {@link Writer#write(int, ByteBuffer, long)}. */
    public void write(int partition, ByteBuffer record, long rows) throws FaroException {
        image.checkUsable();
        writer.write(partition, record, rows);
        wrote(record);
    }

    /** Writes an event for one partition; see {@link Writer#writeEvent}. */
    public void writeEvent(int partition, int kind, ByteBuffer event) throws FaroException {
        image.checkUsable();
        writer.writeEvent(partition, kind, event);
        wrote(event);
    }

    /** Writes a record for every partition, stored once; see {@link Writer#broadcast(ByteBuffer, long)}. */
    public void broadcast(ByteBuffer record, long rows) throws FaroException {
        image.checkUsable();
        writer.broadcast(record, rows);
        wrote(record);
    }

    /** Writes a record for every partition, stored once; see {@link Writer#broadcast(ByteBuffer)}. */
    public void broadcast(ByteBuffer record) throws FaroException {
        broadcast(record, 1);
    }

    /** Writes an event for every partition, stored once; see {@link Writer#broadcastEvent}. */
    public void broadcastEvent(int kind, ByteBuffer event) throws FaroException {
        image.checkUsable();
        writer.broadcastEvent(kind, event);
        wrote(event);
    }

    /** Writes a record for some partitions, stored once; see {@link Writer#multicast(int[], ByteBuffer, long)}. */
    public void multicast(int[] partitions, ByteBuffer record, long rows) throws FaroException {
        image.checkUsable();
        writer.multicast(partitions, record, rows);
        wrote(record);
    }

    /** Writes a record for some partitions, stored once; see {@link Writer#multicast(int[], ByteBuffer)}. */
    public void multicast(int[] partitions, ByteBuffer record) throws FaroException {
        multicast(partitions, record, 1);
    }

    /** Writes an event for some partitions, stored once; see {@link Writer#multicastEvent}. */
    public void multicastEvent(int[] partitions, int kind, ByteBuffer event) throws FaroException {
        image.checkUsable();
        writer.multicastEvent(partitions, kind, event);
        wrote(event);
    }

    /** Sets a property of the footer; see {@link Writer#property}. */
    public void property(String key, String value) throws FaroException {
        image.checkUsable();
        writer.property(key, value);
        if (selective != null) {
            selective.property(key, value);
        }
    }

    /** Ends the current region, so that consumers see its records. */
    public void flush() throws FaroException {
        image.checkUsable();
        writer.flush();
        buffered = 0;
        afterCommit();
    }

    private void wrote(ByteBuffer record) throws FaroException {
        buffered += record.remaining();
        if (image.isWaitedFor() && (buffered >= ENOUGH || System.nanoTime() - image.waitedSince() >= delayNanos)) {
            flush();
        } else if (image.commits() != told) {
            afterCommit();
        }
    }

    /** Does what regions that were committed lead to. */
    private void afterCommit() throws FaroException {
        long commits = image.commits();
        if (commits == told) {
            return;
        }
        told = commits;
        buffered = 0;
        tell();
        if (full != null && image.wantsAbove(WRITE)) {
            spiller.spill();
        }
        memory.reclaim();
        image.checkUsable();
    }

    /** Tells consumers that wait to look again. */
    private void tell() {
        image.takeWaiting().forEach(Runnable::run);
    }

    /**
     * Ends the output. The files of a full store are finished then. A selective store keeps in memory what was not
     * delivered, and may spill it later.
     *
     * @throws FaroException as {@link Writer#finish}
     */
    public void finish() throws FaroException {
        image.checkUsable();
        try {
            writer.finish();
            finished = true;
            afterCommit();
        } finally {
            // Also those that wait for an output whose files could not be finished.
            tell();
        }
    }

    /** Finishes the files of a full store, when the image has its footer. */
    private void endFiles() throws FaroException {
        if (full == null) {
            return;
        }
        spiller.stop();
        try {
            spiller.writeAll();
            image.checkUsable();
            full.finish(image);
        } catch (FaroException e) {
            image.fail(e);
            throw e;
        } finally {
            spiller.resume();
        }
    }

    /**
     * Reads a partition from its beginning.
     *
     * @param available is run when a consumer that found no block should look again, in a thread of the producer or of
     *     the executor, which it must not hold up; null if the caller needs no such call
     * @throws FaroException {@code invalid-argument} for a partition that the store does not have, and for one of a
     *     selective store that was opened before
     */
    public HybridConsumer open(int partition, Runnable available) throws FaroException {
        return open(partition, HybridPosition.START, available);
    }

    /**
     * Reads a partition from a position on; see {@link #open(int, Runnable)}.
     *
     * @param from the {@linkplain HybridConsumer#position position} of an earlier consumer of the partition; in a
     *     selective store, {@link HybridPosition#START}
     */
    public HybridConsumer open(int partition, HybridPosition from, Runnable available) throws FaroException {
        Objects.requireNonNull(from, "from");
        image.checkUsable();
        if (!header().has(partition)) {
            throw FaroException.invalidArgument("a partition of the file", partition);
        }
        if (mode == HybridMode.SELECTIVE && !from.equals(HybridPosition.START)) {
            throw FaroException.invalidArgument("the beginning, in a selective store", from);
        }
        Progress progress = image.enter(partition, header().firstPartition());
        return new HybridConsumer(image, partition, from, progress, available);
    }

    /** What the store has done so far. */
    public HybridFigures figures() {
        return image.figures();
    }

    /** Gives everything up: the memory, and the files, also those that were finished (HYB-8). Consumers fail. */
    public void release() {
        end(true);
    }

    /**
     * Gives the memory up. Consumers fail. The finished files of a full store stay. Those of a selective store stay if
     * each block was delivered or is in them: then their footer says which were delivered. Otherwise, and without
     * {@link #finish}, files are removed.
     */
    @Override
    public void close() {
        end(false);
    }

    private void end(boolean removes) {
        if (closed) {
            return;
        }
        closed = true;
        memory.remove(spiller);
        spiller.stop();
        boolean keeps = !removes && finished && endsFiles();
        if (!finished) {
            // Before the image ends: a thread of the writer may be in the middle of a region.
            writer.abort();
        }
        image.end();
        tell();
        if (keeps) {
            keepFiles();
        } else if (full != null) {
            full.remove();
        } else {
            selective.remove();
        }
    }

    private void keepFiles() {
        if (full != null) {
            full.close();
        }
    }

    /** Whether the files are complete; those of a selective store are finished here. */
    private boolean endsFiles() {
        if (full != null) {
            return !image.hasFailed();
        }
        if (image.hasFailed() || !image.isComplete()) {
            return false;
        }
        try {
            selective.finish(image, header());
            return true;
        } catch (FaroException e) {
            // Nothing of it is worth keeping: no consumer waits for it.
            return false;
        }
    }
}
