package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.MemoryRefusedException;
import dev.faro.codec.Encoder;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.StatisticsDraft;
import dev.faro.internal.storage.OutputName;
import dev.faro.internal.bytes.Utf8;
import dev.faro.internal.writer.Committer;
import dev.faro.internal.reader.FileSet;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.Destination;
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
 * record that is too large, the writer is as it was. After {@code io} with the cause
 * {@link dev.faro.MemoryRefusedException}, the record was not taken, and the call may be repeated. After any other error
 * the writer has failed: every later call except {@link #abort} throws that error again (WRT-6). {@link #close} without
 * {@link #finish} aborts. A writer that is never closed leaves unfinished files with the names that they have; a garbage collector does not remove them, because the
 * names may belong to another writer by then. An interrupt during a call makes the writer fail.
 *
 * <p>Several writers, also of several processes, may use one name at the same time: readers find a complete output of
 * one of them (PUB-3, PUB-4). {@link dev.faro.repair.Recover} saves what a writer that died had committed.
 */
public final class Writer implements AutoCloseable {
    private final WriterOptions options;
    private final FileHeader header;
    private final Encoder encoder;
    private final StreamCounters streams;
    private final LateOutput output;
    private final Collector collector;
    private final Calls calls;
    private final News news;
    private final TreeMap<byte[], byte[]> properties = new TreeMap<>(Arrays::compareUnsigned);
    private final byte[] createdBy;
    private final long maxPlain;
    private final RecordRules rules;

    private Writer(Place place, FileHeader header, WriterOptions options) throws FaroException {
        this.options = options;
        this.header = header;
        this.createdBy = options.createdBy == null ? null : Utf8.encode(options.createdBy);
        // A larger block would not fit into a buffer of the JVM.
        this.maxPlain = Math.min(options.maxPlainSize, 1 << 30);
        this.rules = new RecordRules(header.framing(), maxPlain);
        this.news = new News(options.listener);
        this.calls = new Calls(news);
        // The files come after everything that can fail for lack of memory or of a native library; they would not be
        // removed.
        this.encoder = new Encoder(options.codec, options.level);
        int blockSize = (int) Math.min(options.blockSize, maxPlain);
        this.streams = new StreamCounters(header);
        this.output = new LateOutput(place, header, streams, options, encoder, blockSize, calls, news);
        try {
            this.collector = new Collector(header, options, encoder, output, blockSize);
        } catch (FaroException | RuntimeException | Error e) {
            encoder.close();
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
        return layout == null ? create(new Place.Undecided(output), null, options)
                : create(Place.of(output.files(layout == Layout.SINGLE)), layout, options);
    }

    /**
     * Begins an output in a storage (docs/storage.md). The layout of the options decides; its default is a pair. The
     * blocks of a region writer stay in memory until {@link RegionWriter#end}, up to 1 GiB.
     *
     * @throws FaroException {@code invalid-argument}, for example for the option follow; or {@code io}
     */
    public static Writer createIn(Destination destination, WriterOptions options) throws FaroException {
        Objects.requireNonNull(destination, "destination");
        Objects.requireNonNull(options, "options");
        if (options.follow) {
            throw FaroException.invalidArgument("a local file, for the option follow", "a file in a storage");
        }
        Layout given = options.layout == null && options.singleBelow == 0 ? Layout.PAIRED : options.layout;
        return create(new Place.InStorage(destination), given, options);
    }

    /**
     * Begins the image of a hybrid store (HYB-1); for other packages of this library, not for callers.
     *
     * @throws FaroException {@code invalid-argument} also for the options of HYB-2
     * @hidden
     */
    @SuppressWarnings("exports")
    public static Writer ofImage(OutputName name, Destination destination, WriterOptions options) throws FaroException {
        if (name.ending() == OutputName.Ending.SINGLE) {
            throw FaroException.invalidArgument("the NAME of a pair of files", name.path().getFileName());
        }
        options.checkHybrid();
        return createIn(destination, options.copy().layout(Layout.PAIRED).follow(false));
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
        if (options.singleBelow != 0) {
            throw FaroException.invalidArgument("option single_below: a NAME without a layout", "the names of a pair");
        }
        return create(Place.of(List.of(data, index)), Layout.PAIRED, options);
    }

    /** Begins an output; {@code layout} is null if it is decided later. */
    private static Writer create(Place place, Layout layout, WriterOptions given) throws FaroException {
        WriterOptions options = new WriterOptions(given);
        Writer writer = new Writer(place, options.header(layout), options);
        try {
            writer.output.begin(layout);
            return writer;
        } catch (FaroException | RuntimeException | Error e) {
            writer.abort();
            throw e;
        }
    }

    /**
     * The header of the index file or single file; that of an index file while the layout is not decided
     * ({@link WriterOptions#singleBelow}).
     */
    public FileHeader header() {
        return output.made() == null ? header : output.made().header();
    }

    /**
     * Writes a record for one partition.
     *
     * @param record the bytes from the buffer's position to its limit; they are copied, and the position stays
     * @throws FaroException {@code invalid-argument} (WRT-1), {@code limit-exceeded} (WRT-3), or an error of closing a
     *     region
     */
    public void write(int partition, ByteBuffer record) throws FaroException {
        calls.checkNoRegion();
        // What it takes has the partition of a block that is open, and fits into that.
        if (!collector.takeAtOnce(partition, record)) {
            write(partition, record, 1);
        }
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
        boolean taken;
        try {
            taken = collector.take(partition, members, record, kind, rows);
        } catch (FaroException e) {
            // Unusable memory from the caller, which has changed nothing.
            throw e.code() == ErrorCode.INVALID_ARGUMENT ? e : calls.fail(e);
        } catch (RuntimeException | Error e) {
            calls.failUnexpectedly(e);
            throw e;
        }
        // Also when the record is refused: a region may have ended for it.
        news.tellRegions();
        if (!taken) {
            throw outOfMemory();
        }
    }

    /** The writer is as it was before the call. */
    private static FaroException outOfMemory() {
        return FaroException.io(null, null, "memory for the record", new MemoryRefusedException());
    }

    /**
     * The memory in bytes that the writer holds: working memory, from the first record to the end, and the memory of
     * the records, without that of {@link WriterOptions#buffers}.
     */
    public long memoryUsed() {
        return collector.memoryUsed();
    }

    /**
     * Closes the current region, and gives back the memory of its records. The next records take it again. This is the
     * spill that an engine calls when memory is short; the working memory stays ({@link #memoryUsed}).
     */
    public void flush() throws FaroException {
        calls.checkNoRegion();
        calls.guard(() -> {
            collector.closeRegion();
            collector.release();
        });
        news.tellRegions();
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
        WriterDictionaries.checkBytes(dictionary);
        calls.guard(output::get);
        WriterDictionaries dictionaries = output.made().dictionaries();
        dictionaries.check(dictionary);
        calls.guard(collector::closeRegion);
        int number;
        try {
            // Closing the region may have added a trained dictionary.
            dictionaries.check(dictionary);
            number = dictionaries.add(dictionary);
        } finally {
            news.tellRegions();
        }
        return number;
    }

    /**
     * Closes the current region, and begins one from blocks of the caller (WRT-8). An output whose layout was not
     * decided becomes a pair ({@link WriterOptions#singleBelow}).
     */
    public RegionWriter region() throws FaroException {
        flush();
        if (!collector.takeWorking()) {
            throw outOfMemory();
        }
        calls.guard(() -> {
            OutputFiles files = output.get().files();
            output.made().regions().holdBack(options.follow && files.isSingle() || !files.data().canCut());
            output.made().regions().begin(true);
        });
        calls.regionBegun();
        return new RegionWriter(calls, output.made().regions(), output.made().blocks(), maxPlain, news::tellRegions);
    }

    /**
     * Says that the own blocks of a partition below a sequence that are not in the file were consumed. The next own block
     * of the partition has this sequence. The footer then tells readers that nothing was lost ({@link dev.faro.index.Streams}).
     * <pre>{@code
     * writer.flush();
     * writer.skipTo(2, 7); // Blocks 1 to 6 of partition 2 were read from memory.
     * }</pre>
     *
     * @param sequence from that of the partition's next own block to 2^32 - 1
     * @throws FaroException {@code invalid-argument} without the option {@link WriterOptions#selective}, for a partition
     *     that the file does not have, for another sequence, and while the sort buffer holds records, as before
     *     {@link #flush} (WRT-15)
     */
    public void skipTo(int partition, long sequence) throws FaroException {
        checkSkip();
        if (!header.has(partition)) {
            throw FaroException.invalidArgument("a partition of the file", partition);
        }
        checkSkipped(sequence, streams.next(partition));
        streams.skipTo(partition, sequence);
    }

    /** Says of the shared blocks what {@link #skipTo} says of a partition's own ones. */
    public void skipSharedTo(long sequence) throws FaroException {
        checkSkip();
        checkSkipped(sequence, streams.sharedNext());
        streams.skipSharedTo(sequence);
    }

    private void checkSkip() throws FaroException {
        calls.checkNoRegion();
        if (!options.selective) {
            throw FaroException.invalidArgument("a writer with the option selective", "one without");
        }
        if (!collector.isEmpty()) {
            throw FaroException.invalidArgument(
                    "a sort buffer without records, as after a flush", "records whose blocks have no sequence yet");
        }
    }

    private static void checkSkipped(long sequence, long next) throws FaroException {
        if (sequence < next || sequence > 0xFFFFFFFFL) {
            throw FaroException.invalidArgument("a sequence of " + next + " to 2^32 - 1", sequence);
        }
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
        Summary summary = end(false).summary();
        news.finished(summary);
        return summary;
    }

    /**
     * Does what {@link #finish} does, and opens the output. Nothing is read: the reader has the header, the footer and
     * the schema from the writer's memory, and reads through the writer's open files. So it reads this output even if
     * the names are removed or belong to another output by now. Only a file that an interrupt closed is opened again by
     * its name, as any {@link dev.faro.storage.LocalFile}.
     *
     * <p>The writer keeps the messages of the first regions, up to 256 KiB. They are in the reader's cache as far as
     * {@link ReaderOptions#cacheBytes} permits. A file of at most 16 KiB, written at once, stays in memory as a whole
     * until the reader is closed. All else is read when it is needed.
     *
     * <pre>{@code
     * Finished finished = writer.finishAndOpen(ReaderOptions.DEFAULT);
     * try (Reader reader = finished.reader(); BlockCursor blocks = reader.partition(7)) {
     *     consume(blocks);
     * }
     * }</pre>
     *
     * @throws FaroException what {@link #finish} throws; or {@code limit-exceeded} if opening would exceed a limit of
     *     the options, or {@code io} if a storage cannot open what it published. Then the output is finished and
     *     published, as the error says, and can be opened later
     */
    public Finished finishAndOpen(ReaderOptions options) throws FaroException {
        Objects.requireNonNull(options, "options");
        Handover handover = end(true);
        try {
            news.finished(handover.summary());
        } catch (RuntimeException | Error e) {
            handover.closeAfter(e);
            throw e;
        }
        return handover.open(options);
    }

    private Handover end(boolean keepOpen) throws FaroException {
        calls.checkNoRegion();
        Handover[] handover = new Handover[1];
        calls.guard(() -> {
            collector.closeLastRegion();
            // Building the footer needs memory for the numbers of all partitions.
            collector.release();
            WriterOutput output = this.output.made();
            OutputFiles files = output.files();
            files.flushData(keepOpen);
            StatisticsDraft statistics = output.regions().statistics();
            Committer committer = output.committer();
            Committer.WrittenFooter footer = committer.footer(files.isSingle(), files.data().position(),
                    statistics == null ? null : statistics.counts(), streams.counts(), properties, createdBy);
            handover[0] = new Handover(output.header(), files, committer.directory(), footer, options.schema,
                    output.regions().takeMessages(), output.blocks().blocks());
            files.publish(files.index().position() - Tail.SIZE, options.durability == Durability.COMMIT, keepOpen);
        });
        calls.finished();
        try {
            release();
        } catch (RuntimeException | Error e) {
            handover[0].closeAfter(e);
            throw e;
        }
        return handover[0];
    }

    /** What the writer has done so far; also after its end. */
    public WriterFigures figures() {
        return WriterFigures.of(collector, output.made());
    }

    /** Releases what an ended writer does not need, because its owner may keep it. */
    private void release() {
        encoder.close();
        if (output.made() != null) {
            output.made().blocks().release();
            output.made().regions().takeMessages();
        }
        collector.discard();
    }

    /**
     * Stops writing, and removes the files. After {@link #finish} or another call of this, it does nothing. It never
     * fails: a file that cannot be removed keeps its temporary name, and a followed file stays unfinished. Only what the
     * engine's budget or buffers throw comes out of it, after the files were removed.
     */
    public void abort() {
        if (calls.hasEnded()) {
            return;
        }
        calls.aborted();
        try {
            if (output.made() != null) {
                output.made().files().discard();
            }
        } catch (FaroException e) {
            calls.suppress(e);
        } finally {
            // After the files: what an engine's budget or buffers throw comes out of this call, and leaves no file.
            release();
        }
    }

    /** Aborts, unless the output is finished. */
    @Override
    public void close() {
        abort();
    }
}
