package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Codec;
import dev.faro.codec.Encoder;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.StatisticsDraft;
import dev.faro.internal.message.Directory;
import dev.faro.internal.sortbuffer.SortBuffer;
import dev.faro.internal.storage.OutputName;
import dev.faro.internal.bytes.Utf8;
import dev.faro.internal.writer.Committer;
import dev.faro.reader.ReaderOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Writes one output (WRT). While a region is open, other calls are refused (WRT-10). A JVM is never forked, so WRT-11
 * does not apply. Not for several threads at once.
 *
 * <pre>{@code
 * try (Writer writer = Writer.create(Path.of("orders"), new WriterOptions(64).codec(Codec.LZ4))) {
 *     writer.write(7, record);
 *     writer.broadcast(recordForAll);
 *     writer.finish();
 * }
 * }</pre>
 *
 * <p>Every call can throw {@link FaroException}. After {@code invalid-argument}, and after {@code limit-exceeded} for a
 * record that is too large, the writer is as it was. After any other error it has failed: every later call except
 * {@link #abort} throws that error again (WRT-6). {@link #close} without {@link #finish} aborts. A writer that is never
 * closed leaves unfinished files with the names that they have; a garbage collector does not remove them, because the
 * names may belong to another writer by then. An interrupt during a call makes the writer fail.
 *
 * <p>Several writers, also of several processes, may use one name at the same time: readers find a complete output of
 * one of them (PUB-3, PUB-4). {@link dev.faro.repair.Recover} saves what a writer that died had committed.
 */
public final class Writer implements AutoCloseable {
    private final WriterOptions options;
    private final FileHeader header;
    private final OutputFiles files;
    private final Encoder encoder;
    private final RegionBuilder output;
    private final BlockBuilder builder;
    private final SortBuffer buffer;
    private final Committer committer;
    private final WriterDictionaries dictionaries;
    private final WriterRegions regions;
    private final Calls calls;
    private final TreeMap<byte[], byte[]> properties = new TreeMap<>(Arrays::compareUnsigned);
    private final byte[] createdBy;
    private final long maxPlain;
    private final RecordRules rules;

    private Writer(List<Path> paths, FileHeader header, WriterOptions options) throws FaroException {
        this.options = options;
        this.header = header;
        this.createdBy = options.createdBy == null ? null : Utf8.encode(options.createdBy);
        // A larger block would not fit into a buffer of the JVM.
        this.maxPlain = Math.min(options.maxPlainSize, 1 << 30);
        this.rules = new RecordRules(header.framing(), maxPlain);
        this.buffer = new SortBuffer(header, options.bufferSize, options.ordered);
        StatisticsDraft statistics = options.statistics ? new StatisticsDraft(header) : null;
        // The files come after everything that can fail for lack of memory or of a native library; they would not be
        // removed.
        this.encoder = new Encoder(options.codec, options.level);
        this.files = createFiles(paths, encoder);
        this.output = new RegionBuilder(files.data(), header, encoder);
        int blockSize = (int) Math.min(options.blockSize, maxPlain);
        this.builder = new BlockBuilder(output, options.framing, blockSize);
        this.committer = new Committer(files.index(), header.fileId(), new Directory(), 0);
        DictionaryTraining training = options.dictionaries && options.codec == Codec.ZSTD
                ? new DictionaryTraining(options.framing, blockSize, options.level) : null;
        this.dictionaries = new WriterDictionaries(files, header.fileId(), committer, training);
        this.regions = new WriterRegions(header, files, output, committer, dictionaries, statistics, options);
        this.calls = new Calls(files.data());
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
     * Begins {@code NAME.data} and {@code NAME.index}, or {@code NAME.faro} (PUB-1). If {@code name} ends with
     * {@code .data}, {@code .index} or {@code .faro}, the ending says which, and NAME is the part before it. Otherwise
     * the layout of the options decides; its default is a pair.
     *
     * @throws FaroException {@code invalid-argument}, for example if the ending contradicts the options; or {@code io}
     */
    public static Writer create(Path name, WriterOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        OutputName output = OutputName.of(name);
        Layout layout = options.layoutOf(output);
        return create(output.files(layout == Layout.SINGLE), layout, options);
    }

    /**
     * Begins a pair of files with names that the caller chooses (FIL-4), whatever the layout of the options.
     *
     * @throws FaroException {@code invalid-argument} or {@code io}
     */
    public static Writer createPair(Path data, Path index, WriterOptions options) throws FaroException {
        Objects.requireNonNull(data, "data");
        Objects.requireNonNull(index, "index");
        Objects.requireNonNull(options, "options");
        return create(List.of(data, index), Layout.PAIRED, options);
    }

    private static Writer create(List<Path> paths, Layout layout, WriterOptions given) throws FaroException {
        WriterOptions options = new WriterOptions(given);
        Writer writer = new Writer(paths, options.header(layout), options);
        try {
            writer.calls.guard(() -> writer.files.begin(writer.header, writer.committer, options.schema));
            return writer;
        } catch (FaroException | RuntimeException | Error e) {
            writer.abort();
            throw e;
        }
    }

    /** The header of the index file or single file. */
    public FileHeader header() {
        return header;
    }

    /**
     * Writes a record for one partition.
     *
     * @param record the bytes from the buffer's position to its limit; they are copied, and the position stays
     * @throws FaroException {@code invalid-argument} (WRT-1), {@code limit-exceeded} (WRT-3), or an error of closing a
     *     region
     */
    public void write(int partition, ByteBuffer record) throws FaroException {
        write(partition, record, 1);
    }

    /**
     * Writes a record for one partition; see {@link #write(int, ByteBuffer)}.
     *
     * @param rows what the record adds to the number of records in the statistics: its rows with framing arrow,
     *     otherwise 1 (WRT-2)
     */
    public void write(int partition, ByteBuffer record, long rows) throws FaroException {
        calls.checkNoRegion();
        checkPartition(partition);
        rules.checkRecord(record, rows);
        take(partition, null, record, BlockKind.DATA, rows);
    }

    /**
     * Writes an event for one partition. Events are not counted in the statistics.
     *
     * @param kind 1, or 64 to 127 (BLK-2)
     * @param event the bytes from the buffer's position to its limit; they are copied, and the position stays
     * @throws FaroException as {@link #write(int, ByteBuffer)}
     */
    public void writeEvent(int partition, int kind, ByteBuffer event) throws FaroException {
        calls.checkNoRegion();
        checkPartition(partition);
        rules.checkEvent(event, kind);
        take(partition, null, event, kind, 0);
    }

    /** Writes a record for every partition, stored once; see {@link #write(int, ByteBuffer)}. */
    public void broadcast(ByteBuffer record) throws FaroException {
        broadcast(record, 1);
    }

    /** Writes a record for every partition, stored once; see {@link #write(int, ByteBuffer, long)}. */
    public void broadcast(ByteBuffer record, long rows) throws FaroException {
        calls.checkNoRegion();
        rules.checkRecord(record, rows);
        take(0, Members.ALL, record, BlockKind.DATA, rows);
    }

    /** Writes an event for every partition, stored once; see {@link #writeEvent}. */
    public void broadcastEvent(int kind, ByteBuffer event) throws FaroException {
        calls.checkNoRegion();
        rules.checkEvent(event, kind);
        take(0, Members.ALL, event, kind, 0);
    }

    /**
     * Writes a record for some partitions, stored once; see {@link #write(int, ByteBuffer)}.
     *
     * @param partitions in any order, with or without repetitions
     */
    public void multicast(int[] partitions, ByteBuffer record) throws FaroException {
        multicast(partitions, record, 1);
    }

    /** Writes a record for some partitions, stored once; see {@link #write(int, ByteBuffer, long)}. */
    public void multicast(int[] partitions, ByteBuffer record, long rows) throws FaroException {
        calls.checkNoRegion();
        Members members = Members.of(header, partitions);
        rules.checkRecord(record, rows);
        take(0, members, record, BlockKind.DATA, rows);
    }

    /** Writes an event for some partitions, stored once; see {@link #writeEvent}. */
    public void multicastEvent(int[] partitions, int kind, ByteBuffer event) throws FaroException {
        calls.checkNoRegion();
        Members members = Members.of(header, partitions);
        rules.checkEvent(event, kind);
        take(0, members, event, kind, 0);
    }

    private void checkPartition(int partition) throws FaroException {
        if (!header.has(partition)) {
            throw FaroException.invalidArgument("a partition of the file", partition);
        }
    }

    /**
     * Does what {@link Calls#guard} does, without an object for each record.
     *
     * @param members the partitions; null for one
     */
    private void take(int partition, Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        try {
            put(partition, members, record, kind, rows);
        } catch (FaroException e) {
            throw calls.fail(e);
        } catch (RuntimeException | Error e) {
            calls.failUnexpectedly(e);
            throw e;
        }
    }

    /** Adds a record to the sort buffer, by SRT-1 to SRT-4. */
    private void put(int partition, Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        int length = record.remaining();
        boolean oversized = buffer.isOversized(length, members);
        boolean outOfOrder = members == null && options.ordered && buffer.hasShared();
        if (oversized || outOfOrder || !buffer.fits(length, members)) {
            closeRegion();
        }
        if (oversized) {
            regions.begin();
            if (members == null) {
                builder.beginOwn(partition);
            } else {
                builder.beginShared(members);
            }
            builder.record(record, record.position(), length, kind, rows);
            builder.endExtent();
            regions.commit();
        } else if (members == null) {
            buffer.add(partition, record, kind, rows);
        } else {
            buffer.add(members, record, kind, rows);
        }
    }

    private void closeRegion() throws FaroException {
        if (!buffer.isEmpty()) {
            dictionaries.train(buffer, encoder);
            regions.begin();
            buffer.drain((int) options.rotation, builder);
            regions.commit();
        }
    }

    /** Closes the current region, and releases the memory of the sort buffer. The next records allocate it again. */
    public void flush() throws FaroException {
        calls.checkNoRegion();
        calls.guard(() -> {
            closeRegion();
            buffer.release();
        });
    }

    /**
     * Adds a dictionary for stored blocks, and closes the current region. The dictionary is written before the next
     * region that has blocks. If the file already has the same dictionary, it is not written again (DIC-8).
     *
     * @param dictionary 8 to 1,048,576 bytes that begin with 37 A4 30 EC
     * @return the number of the dictionary in the file
     */
    public int dictionary(byte[] dictionary) throws FaroException {
        Objects.requireNonNull(dictionary, "dictionary");
        calls.checkNoRegion();
        if (!options.dictionaries) {
            throw FaroException.invalidArgument("a file with the option dictionaries", "a file without it");
        }
        dictionaries.check(dictionary);
        calls.guard(this::closeRegion);
        // Closing the region may have added a trained dictionary.
        dictionaries.check(dictionary);
        return dictionaries.add(dictionary);
    }

    /** Closes the current region, and begins one from blocks of the caller (WRT-8). */
    public RegionWriter region() throws FaroException {
        flush();
        if (options.follow && files.isSingle()) {
            regions.holdBack(true);
        }
        calls.guard(regions::begin);
        calls.regionBegun();
        return new RegionWriter(calls, regions, output, maxPlain);
    }

    /** Sets a property of the footer. Each key can be set once. */
    public void property(String key, String value) throws FaroException {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(value, "value");
        calls.checkNoRegion();
        byte[] name = Utf8.encode(key);
        byte[] text = Utf8.encode(value);
        if (properties.putIfAbsent(name, text) != null) {
            throw FaroException.invalidArgument("a key that was not used before", key);
        }
    }

    /**
     * Closes the current region, writes footer and tail, and gives the files their names.
     *
     * @return what was made, from the writer's memory
     * @throws FaroException {@code io}; then no file looks finished (WRT-6)
     */
    public Summary finish() throws FaroException {
        return end(false).summary();
    }

    /**
     * Does what {@link #finish} does, and opens the output. Nothing is read: the reader has the header, the footer and
     * the schema from the writer's memory, and reads through the writer's open files. So it reads this output even if
     * the names are removed or belong to another output by now. Only a file that an interrupt closed is opened again by
     * its name, as any {@link dev.faro.storage.LocalFile}.
     *
     * <p>The writer keeps the messages of the first regions, up to 256 KiB. They are in the reader's cache as far as
     * {@link ReaderOptions#cacheBytes} permits. All else is read when it is needed.
     *
     * <pre>{@code
     * Finished finished = writer.finishAndOpen(ReaderOptions.DEFAULT);
     * try (Reader reader = finished.reader(); BlockCursor blocks = reader.partition(7)) {
     *     consume(blocks);
     * }
     * }</pre>
     *
     * @throws FaroException what {@link #finish} throws; or {@code limit-exceeded} if opening would exceed a limit of
     *     the options. Then the output is finished and published, as the error says, and other options can open it
     */
    public Finished finishAndOpen(ReaderOptions options) throws FaroException {
        Objects.requireNonNull(options, "options");
        return end(true).open(options);
    }

    private Handover end(boolean keepOpen) throws FaroException {
        calls.checkNoRegion();
        Handover[] handover = new Handover[1];
        calls.guard(() -> {
            closeRegion();
            // Building the footer needs memory for the numbers of all partitions.
            buffer.release();
            Committer.WrittenFooter footer = committer.footer(files.isSingle(), files.data().position(),
                    regions.statistics() == null ? null : regions.statistics().counts(), properties, createdBy);
            handover[0] = new Handover(header, files, committer.directory(), footer, options.schema,
                    regions.takeMessages(), output.blocks());
            files.publish(files.index().position() - Tail.SIZE, options.durability == Durability.COMMIT, keepOpen);
        });
        calls.finished();
        release();
        return handover[0];
    }

    /** Releases what an ended writer does not need, because its owner may keep it. */
    private void release() {
        encoder.close();
        buffer.discard();
        output.release();
        regions.takeMessages();
    }

    /**
     * Stops writing, and removes the files. After {@link #finish} or another call of this, it does nothing. It never
     * fails: a file that cannot be removed keeps its temporary name, and a followed file stays unfinished.
     */
    public void abort() {
        if (calls.hasEnded()) {
            return;
        }
        calls.aborted();
        release();
        try {
            files.discard();
        } catch (FaroException e) {
            calls.suppress(e);
        }
    }

    /** Aborts, unless the output is finished. */
    @Override
    public void close() {
        abort();
    }
}
