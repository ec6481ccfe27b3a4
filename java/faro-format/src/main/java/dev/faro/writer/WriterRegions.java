package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.index.RegionDraft;
import dev.faro.internal.index.StatisticsDraft;
import dev.faro.internal.writer.Committer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Begins, commits and removes the regions of an output, with the dictionaries before them. */
final class WriterRegions {
    /** The maximum size of the messages that are kept, in bytes. A small output has less. */
    private static final int KEPT_BYTES = 256 << 10;

    private final FileHeader header;
    private final OutputFiles files;
    private final RegionBuilder output;
    private final Committer committer;
    private final WriterDictionaries dictionaries;
    /** Null if the output has no statistics. */
    private final StatisticsDraft statistics;
    /** The messages of the first regions, for a reader of the output. */
    private final List<ByteBuffer> messages = new ArrayList<>();
    private long messageBytes;
    private final int rotation;
    private final News news;
    private final boolean durable;
    private long plainBytes;
    private long storedBytes;
    private long callersRecords;
    private long callersNanos;
    private final boolean follow;

    WriterRegions(FileHeader header, OutputFiles files, RegionBuilder output, Committer committer,
            WriterDictionaries dictionaries, StatisticsDraft statistics, WriterOptions options, News news) {
        this.news = news;
        this.header = header;
        this.files = files;
        this.output = output;
        this.committer = committer;
        this.dictionaries = dictionaries;
        this.statistics = statistics;
        this.rotation = (int) options.rotation;
        this.durable = options.durability == Durability.COMMIT;
        this.follow = options.follow;
    }

    /** The header of the index file or single file. */
    FileHeader header() {
        return header;
    }

    /** The first partition in slot order, relative to the first partition of the file. */
    int rotation() {
        return rotation;
    }

    /** The number of dictionaries, also of those that are not written yet. */
    int dictionaryCount() {
        return dictionaries.count();
    }

    /** The statistics of the committed regions, or null. */
    StatisticsDraft statistics() {
        return statistics;
    }

    /**
     * Begins a region, after the dictionaries that are to be written before it.
     *
     * @param leavesBlocks false if the region is known to leave no block, so that the dictionaries wait for the next
     */
    void begin(boolean leavesBlocks) throws FaroException {
        if (leavesBlocks) {
            dictionaries.beginRegion();
        }
        output.beginRegion();
    }

    /** Commits the region (WRT-5), and writes it. */
    void commit() throws FaroException {
        commit(false);
    }

    /** Commits the last region. It may stay in the files' buffers, because the footer follows at once. */
    void commitLast() throws FaroException {
        commit(true);
    }

    /** Commits a region of the caller's blocks. */
    void commitCallers() throws FaroException {
        long before = System.nanoTime();
        commit(false);
        callersNanos += System.nanoTime() - before;
        RegionDraft draft = output.draft();
        for (int i = 0; i < draft.extents(); i++) {
            callersRecords += draft.records(i);
        }
    }

    /** The number of records in committed regions of the caller's blocks. */
    long callersRecords() {
        return callersRecords;
    }

    /** The time for ending regions of the caller's blocks, in nanoseconds. */
    long callersNanos() {
        return callersNanos;
    }

    private void count(RegionDraft draft) {
        if (draft.bytes() > 0) {
            storedBytes += draft.bytes();
            plainBytes += output.plainBytes();
            news.regionWritten(files.names().get(0), committer.directory().size() - 1, draft.bytes());
        }
    }

    /** The plain size of the blocks in committed regions, in bytes. */
    long plainBytes() {
        return plainBytes;
    }

    /** The size of the blocks in committed regions, in bytes. */
    long storedBytes() {
        return storedBytes;
    }

    private void commit(boolean last) throws FaroException {
        RegionDraft draft = output.draft();
        if (draft.bytes() > 0) {
            dictionaries.commit();
            ByteBuffer message = draft.message(committer.directory().size(), output.start(), rotation);
            boolean writes = !last || durable || follow || mustWrite(message);
            if (writes && (!files.isSingle() || durable)) {
                files.data().complete(durable);
            }
            committer.region(message, output.start(), draft.bytes());
            keep(message);
            if (writes) {
                files.index().complete(durable);
            }
        } else {
            dictionaries.giveUp();
        }
        output.commit();
        count(draft);
        if (statistics != null) {
            statistics.add(draft);
        }
    }

    /** Whether the index file would write a part of a message now. All blocks must be in the data file before. */
    private boolean mustWrite(ByteBuffer message) {
        return !files.isSingle() && !files.index().hasRoom(BlockHeader.sizeInFile(message.limit()));
    }

    private void keep(ByteBuffer message) {
        messageBytes += message.limit();
        if (messageBytes <= KEPT_BYTES) {
            messages.add(message);
        }
    }

    /** The messages of the first regions; removes them here. */
    List<ByteBuffer> takeMessages() {
        List<ByteBuffer> taken = List.copyOf(messages);
        messages.clear();
        return taken;
    }

    /** Releases the memory of the shared extents of the region that was committed. */
    void release() {
        output.draft().release();
    }

    /** Removes the region. */
    void giveUp() throws FaroException {
        output.giveUp();
        dictionaries.giveUp();
    }

    /** Keeps the blocks of a region out of a followed single file until the region ends, or no longer. */
    void holdBack(boolean holds) {
        files.data().holdBack(holds);
    }
}
