package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.codec.Codec;
import dev.faro.codec.Encoder;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.RegionDraft;
import dev.faro.internal.index.StatisticsDraft;
import dev.faro.internal.message.Directory;
import dev.faro.internal.sortbuffer.SortBuffer;
import dev.faro.internal.storage.OutputFile;
import dev.faro.internal.storage.OutputName;
import dev.faro.internal.writer.Committer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Writes one output (WRT). While a region is open, calls are refused (WRT-10). A
 * JVM is never forked, so WRT-11 asks nothing of it. Not for several threads at once.
 *
 * <p>Every call throws {@link FaroException}: {@code invalid-argument} and, for a record that is too large,
 * {@code limit-exceeded} leave the writer as it was; after any other error it is failed, and every later call but
 * {@link #abort} fails with that error again (WRT-6). {@link #close} without {@link #finish} aborts. A writer that is
 * never closed leaves its files as they are, unfinished, under the names that they have: by the time that a garbage
 * collector finds it these may be another's. Interrupting a thread inside a call fails the writer.
 *
 * <p>Several writers, of several processes too, may use one name at the same time: readers find one whole output of one
 * of them (PUB-3, PUB-4). What a writer that died has committed, {@link dev.faro.repair.Recover} saves.
 */
public final class Writer implements AutoCloseable {
    private final WriterOptions options;
    private final FileHeader header;
    private final OutputFiles files;
    private final Encoder encoder;
    private final RegionBuilder output;
    private final BlockBuilder packer;
    private final SortBuffer buffer;
    private final Committer committer;
    private final WriterDictionaries dictionaries;
    private final StatisticsDraft statistics;
    private final TreeMap<byte[], byte[]> properties = new TreeMap<>(Arrays::compareUnsigned);
    private final byte[] createdBy;
    private final long maxPlain;
    private final RecordRules rules;
    private RegionWriter openRegion;
    private FaroException failure;
    private State state = State.OPEN;

    private enum State {
        OPEN, FINISHED, ABORTED
    }

    private Writer(List<Path> paths, FileHeader header, WriterOptions options) throws FaroException {
        this.options = options;
        this.header = header;
        this.createdBy = options.createdBy == null ? null : Committer.utf8(options.createdBy);
        // Beyond that no block would fit into a buffer of the JVM.
        this.maxPlain = Math.min(options.maxPlainSize, 1 << 30);
        this.rules = new RecordRules(header.framing(), maxPlain);
        this.buffer = new SortBuffer(header, options.bufferSize, options.ordered);
        this.statistics = options.statistics ? new StatisticsDraft(header) : null;
        // Behind what may find no memory or no native library: files that nobody removes would stay.
        this.encoder = new Encoder(options.codec.number(), options.level);
        this.files = createFiles(paths, encoder);
        this.output = new RegionBuilder(files.data(), header, encoder);
        int blockSize = (int) Math.min(options.blockSize, maxPlain);
        this.packer = new BlockBuilder(output, options.framing, blockSize);
        this.committer = new Committer(files.index(), header.fileId(), new Directory(), 0);
        this.dictionaries = new WriterDictionaries(files, header.fileId(), committer, options.dictionaries
                && options.codec == Codec.ZSTD ? new DictionaryTraining(options.framing, blockSize, options.level) : null);
    }

    private OutputFiles createFiles(List<Path> paths, Encoder opened) throws FaroException {
        try {
            return OutputFiles.create(paths, header, options);
        } catch (FaroException | RuntimeException | Error e) {
            opened.close();
            throw e;
        }
    }

    /**
     * Begins {@code NAME.data} and {@code NAME.index}, or {@code NAME.faro}: as the ending of the name says, which is then
     * no part of NAME, else by the layout of the options, else a pair (PUB-1).
     *
     * @throws FaroException {@code invalid-argument}, also if name and options contradict each other, or {@code io}
     */
    public static Writer create(Path name, WriterOptions options) throws FaroException {
        OutputName output = OutputName.of(name);
        Layout layout = options.layoutOf(output);
        return create(output.files(layout == Layout.SINGLE), layout, options);
    }

    /**
     * Begins a pair of files with names of the caller's (FIL-4), whatever the layout of the options.
     *
     * @throws FaroException {@code invalid-argument} or {@code io}
     */
    public static Writer createPair(Path data, Path index, WriterOptions options) throws FaroException {
        return create(List.of(data, index), Layout.PAIRED, options);
    }

    private static Writer create(List<Path> paths, Layout layout, WriterOptions options) throws FaroException {
        Writer writer = new Writer(paths, options.header(layout), options);
        try {
            writer.guard(writer::begin);
            return writer;
        } catch (FaroException | RuntimeException | Error e) {
            writer.abort();
            throw e;
        }
    }

    private void begin() throws FaroException {
        OutputFile index = files.index();
        if (!files.isSingle()) {
            Committer.header(files.data(), header.withKind(FileKind.DATA));
        }
        Committer.header(index, header);
        if (options.schema != null) {
            committer.schema(options.schema);
        }
        if (options.follow) {
            files.data().flush();
            index.flush();
        }
    }

    /** The header of the index or single file. */
    public FileHeader header() {
        return header;
    }

    /**
     * Takes a record for one partition.
     *
     * @param record what remains of the buffer is copied, its position left as it is
     * @throws FaroException {@code invalid-argument} (WRT-1), {@code limit-exceeded} (WRT-3), or what closing a region
     *     throws
     */
    public void write(int partition, ByteBuffer record) throws FaroException {
        write(partition, record, 1);
    }

    /**
     * Takes a record for one partition, as {@link #write(int, ByteBuffer)}.
     *
     * @param rows what the record counts in the statistics: with framing arrow its rows, else 1 (WRT-2)
     */
    public void write(int partition, ByteBuffer record, long rows) throws FaroException {
        checkOpen();
        checkPartition(partition);
        rules.checkRecord(record, rows);
        take(partition, null, record, BlockKind.DATA, rows);
    }

    /**
     * Takes an event for one partition. Events count nothing in the statistics.
     *
     * @param kind 1, or 64 to 127 (BLK-2)
     * @param event what remains of the buffer is copied, its position left as it is
     * @throws FaroException as {@link #write(int, ByteBuffer)}
     */
    public void writeEvent(int partition, int kind, ByteBuffer event) throws FaroException {
        checkOpen();
        checkPartition(partition);
        rules.checkEvent(event, kind);
        take(partition, null, event, kind, 0);
    }

    /** Takes a record for every partition, which is stored once; see {@link #write(int, ByteBuffer)}. */
    public void broadcast(ByteBuffer record) throws FaroException {
        broadcast(record, 1);
    }

    /** Takes a record for every partition, which is stored once; see {@link #write(int, ByteBuffer, long)}. */
    public void broadcast(ByteBuffer record, long rows) throws FaroException {
        checkOpen();
        rules.checkRecord(record, rows);
        take(0, Members.ALL, record, BlockKind.DATA, rows);
    }

    /** Takes an event for every partition, which is stored once; see {@link #writeEvent}. */
    public void broadcastEvent(int kind, ByteBuffer event) throws FaroException {
        checkOpen();
        rules.checkEvent(event, kind);
        take(0, Members.ALL, event, kind, 0);
    }

    /**
     * Takes a record for some partitions, which is stored once; see {@link #write(int, ByteBuffer)}.
     *
     * @param partitions in any order; a number may repeat
     */
    public void multicast(int[] partitions, ByteBuffer record) throws FaroException {
        multicast(partitions, record, 1);
    }

    /** Takes a record for some partitions, which is stored once; see {@link #write(int, ByteBuffer, long)}. */
    public void multicast(int[] partitions, ByteBuffer record, long rows) throws FaroException {
        checkOpen();
        Members members = Members.of(header, partitions);
        rules.checkRecord(record, rows);
        take(0, members, record, BlockKind.DATA, rows);
    }

    /** Takes an event for some partitions, which is stored once; see {@link #writeEvent}. */
    public void multicastEvent(int[] partitions, int kind, ByteBuffer event) throws FaroException {
        checkOpen();
        Members members = Members.of(header, partitions);
        rules.checkEvent(event, kind);
        take(0, members, event, kind, 0);
    }

    private void checkPartition(int partition) throws FaroException {
        if (!header.has(partition)) {
            throw FaroException.invalidArgument("a partition of the file", partition);
        }
    }

    /** As {@link #guard}, without an object per record. {@code members} is null for one partition. */
    private void take(int partition, Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        try {
            put(partition, members, record, kind, rows);
        } catch (FaroException e) {
            throw fail(e);
        } catch (RuntimeException | Error e) {
            failUnexpectedly(e);
            throw e;
        }
    }

    /** SRT-1 to SRT-4. */
    private void put(int partition, Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        int length = record.remaining();
        boolean oversized = buffer.isOversized(length, members);
        boolean outOfOrder = members == null && options.ordered && buffer.hasShared();
        if (oversized || outOfOrder || !buffer.fits(length, members)) {
            closeRegion();
        }
        if (oversized) {
            beginRegion();
            if (members == null) {
                packer.beginOwn(partition);
            } else {
                packer.beginShared(members);
            }
            packer.record(record, record.position(), length, kind, rows);
            packer.endExtent();
            commit();
        } else if (members == null) {
            buffer.add(partition, record, kind, rows);
        } else {
            buffer.add(members, record, kind, rows);
        }
    }

    private void closeRegion() throws FaroException {
        if (!buffer.isEmpty()) {
            dictionaries.train(buffer, encoder);
            beginRegion();
            buffer.drain((int) options.rotation, packer);
            commit();
        }
    }

    /** Begins a region behind the dictionaries that wait for one. */
    private void beginRegion() throws FaroException {
        dictionaries.beginRegion();
        output.beginRegion();
    }

    /** Commits the region that the output holds (WRT-5). */
    private void commit() throws FaroException {
        RegionDraft draft = output.draft();
        if (draft.bytes() > 0) {
            dictionaries.commit();
            ByteBuffer message =
                    draft.message(committer.directory().size(), output.start(), (int) options.rotation);
            if (!files.isSingle() || options.durability == Durability.COMMIT) {
                files.data().complete(options.durability == Durability.COMMIT);
            }
            committer.region(message, output.start(), draft.bytes());
            files.index().complete(options.durability == Durability.COMMIT);
        } else {
            dictionaries.giveUp();
        }
        output.commit();
        if (statistics != null) {
            statistics.add(draft);
        }
    }

    /** Closes the region now, and gives the sort buffer's memory back, which the next records take anew. */
    public void flush() throws FaroException {
        checkOpen();
        guard(() -> {
            closeRegion();
            buffer.release();
        });
    }

    /**
     * Takes a dictionary for stored blocks, and closes the region. It is written before the next region that leaves any
     * blocks; bytes that the file has already are not written again (DIC-8).
     *
     * @param dictionary 8 to 1,048,576 bytes that begin with 37 A4 30 EC
     * @return its number
     */
    public int dictionary(byte[] dictionary) throws FaroException {
        checkOpen();
        if (!options.dictionaries) {
            throw FaroException.invalidArgument("the option dictionaries", "a file without");
        }
        dictionaries.check(dictionary);
        guard(this::closeRegion);
        // The region may have brought a dictionary of its own.
        dictionaries.check(dictionary);
        return dictionaries.add(dictionary);
    }

    /** Closes the region and begins one whose blocks the caller hands over (WRT-8). */
    public RegionWriter region() throws FaroException {
        flush();
        if (options.follow && files.isSingle()) {
            files.data().holdBack(true);
        }
        guard(this::beginRegion);
        openRegion = new RegionWriter(new Owner(), output, (int) options.rotation, maxPlain);
        return openRegion;
    }

    /** What the open region calls. */
    private final class Owner implements RegionOwner {
        @Override
        public FileHeader header() {
            return header;
        }

        @Override
        public int dictionaryCount() {
            return dictionaries.count();
        }

        @Override
        public void checkUsable() throws FaroException {
            Writer.this.checkUsable();
        }

        @Override
        public boolean isUsable() {
            return state == State.OPEN && failure == null;
        }

        @Override
        public void guard(Step step) throws FaroException {
            Writer.this.guard(step);
        }

        @Override
        public void commit() throws FaroException {
            Writer.this.commit();
        }

        @Override
        public void giveUp() throws FaroException {
            output.giveUp();
            dictionaries.giveUp();
        }

        @Override
        public void closed() {
            openRegion = null;
            if (state == State.OPEN) {
                files.data().holdBack(false);
            }
        }
    }

    /** Notes a property for the footer. */
    public void property(String key, String value) throws FaroException {
        checkOpen();
        byte[] name = Committer.utf8(key);
        byte[] text = Committer.utf8(value);
        if (properties.putIfAbsent(name, text) != null) {
            throw FaroException.invalidArgument("a key that was not used before", key);
        }
    }

    /** Closes the region, writes footer and tail, and gives the files their names. */
    public void finish() throws FaroException {
        checkOpen();
        guard(() -> {
            closeRegion();
            // The footer has numbers for all partitions, which take their room.
            buffer.release();
            committer.footer(files.isSingle(), files.data().position(),
                    statistics == null ? null : statistics.counts(), properties, createdBy);
            files.publish(files.index().position() - Tail.SIZE, options.durability == Durability.COMMIT);
        });
        state = State.FINISHED;
        release();
    }

    /** Gives back what a writer that ended does not need, since its owner may keep it. */
    private void release() {
        encoder.close();
        buffer.discard();
        output.release();
    }

    /**
     * Gives up and removes the files. After {@link #finish}, or once more, it does nothing. It never fails: a file that
     * cannot be removed stays under its temporary name, and a followed one unfinished.
     */
    public void abort() {
        if (state != State.OPEN) {
            return;
        }
        state = State.ABORTED;
        release();
        try {
            files.discard();
        } catch (FaroException e) {
            if (failure != null) {
                failure.addSuppressed(e);
            }
        }
    }

    /** Aborts unless the output is finished. */
    @Override
    public void close() {
        abort();
    }

    private void checkOpen() throws FaroException {
        checkUsable();
        if (openRegion != null) {
            throw FaroException.invalidArgument("no call while a region is handed over", "an open region");
        }
    }

    /** Refuses a call of a writer that failed or ended. */
    private void checkUsable() throws FaroException {
        if (state != State.OPEN) {
            throw FaroException.invalidArgument("a writer that is open", state);
        }
        if (failure != null) {
            throw failure.again();
        }
    }

    /** Makes a step; what it throws fails the writer. */
    private void guard(Step step) throws FaroException {
        try {
            step.run();
        } catch (FaroException e) {
            throw fail(e);
        } catch (RuntimeException | Error e) {
            failUnexpectedly(e);
            throw e;
        }
    }

    private FaroException fail(FaroException e) {
        failure = e;
        return e;
    }

    private void failUnexpectedly(Throwable e) {
        failure = FaroException.io(files.data().role(), files.data().path(), "to go on writing", e);
    }
}
