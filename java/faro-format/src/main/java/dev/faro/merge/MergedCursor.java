package dev.faro.merge;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.index.Run;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.index.Holdings;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.Reader;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The blocks of a partition of each expected producer, in the order of their numbers, each exactly once: from a merged
 * file, and what is missing there from the producers' own outputs (MRG-12). Damage of the merged file costs reads of the
 * originals, and is reported by {@link #faults}; it does not fail the reading (MRG-13). For one thread.
 * <pre>{@code
 * try (MergedCursor blocks = MergedCursor.open(merged, 3, expected, of -> Reader.open(pathOf(of), ReaderOptions.DEFAULT))) {
 *     while (blocks.next()) {
 *         consume(blocks.producer(), blocks.payload());
 *     }
 * }
 * }</pre>
 */
public final class MergedCursor implements Closeable {
    private final OutputReader merged;
    private final int partition;
    private final List<Expected> expected;
    private final Originals opener;
    private final Holdings holdings = new Holdings();
    private final Deque<PlacedRun> runs = new ArrayDeque<>();
    private final Map<Long, Delivered> delivered = new HashMap<>();
    private final List<FaroException> faults = new ArrayList<>();
    private final ExtentReaders.ExtentReader reader;
    private int nextRegion;
    /** The sequence of the next run's first block, or -1 if it is not known. */
    private long sequence;
    private PlacedRun run;
    private long at;
    private long runEnd;
    private long extentEnd;
    private long readOfRun;
    private long exactly;
    private Deque<Expected> originals;
    private Reader original;
    private BlockCursor blocks;
    private long producer;
    private long number;
    private boolean closed;

    /** Opens the output of a producer that a merged file does not have completely. The cursor closes it. */
    @FunctionalInterface
    public interface Originals {
        /**
         * Opens an output.
         *
         * @throws FaroException the reading fails with it
         */
        Reader open(Expected of) throws FaroException;
    }

    private static final class Delivered {
        long blocks;
        boolean complete;
        boolean broken;
    }

    private MergedCursor(OutputReader merged, int partition, List<Expected> expected, Originals opener) {
        this.merged = merged;
        this.partition = partition;
        this.expected = expected;
        this.opener = opener;
        this.reader = merged.readers().take();
    }

    /**
     * Reads a partition of a merged file together with the originals of what it lacks.
     *
     * @throws FaroException {@code invalid-argument} for a partition that the file does not have, and for a producer
     *     that is named twice
     */
    public static MergedCursor open(
            PartitionReader merged, int partition, Collection<Expected> expected, Originals originals)
            throws FaroException {
        Objects.requireNonNull(originals, "originals");
        merged.output().checkPartition(partition);
        return new MergedCursor(merged.output(), partition, Provenance.ordered(expected), originals);
    }

    /** The faults of the merged file that were met so far (MRG-13). */
    public List<FaroException> faults() {
        return List.copyOf(faults);
    }

    /** The producer of the block. */
    public long producer() {
        return producer;
    }

    /** The number of the block among those that the partition reads from the producer's output (FRG-1). */
    public long number() {
        return number;
    }

    /** Whether the block came from the producer's own output. */
    public boolean isOriginal() {
        return blocks != null;
    }

    /** The kind of the block, see {@link dev.faro.BlockKind}. */
    public int kind() {
        return blocks == null ? reader.blocks().kind() : blocks.kind();
    }

    /** The size of the plain payload in bytes. */
    public int plainSize() {
        return blocks == null ? reader.blocks().plainSize() : blocks.plainSize();
    }

    /**
     * The plain payload: a little-endian view that is valid until the next call.
     *
     * @throws FaroException {@code malformed-block} or {@code limit-exceeded} of an original; those of the merged file
     *     were found by {@link #next}
     */
    public ByteBuffer payload() throws FaroException {
        return blocks == null ? reader.blocks().plainPayload(reader.decoder()) : blocks.payload();
    }

    /**
     * Moves to the next block.
     *
     * @return false after the last
     * @throws FaroException a fault of an original, {@code io}, or what the opener throws. Nothing follows it
     */
    public boolean next() throws FaroException {
        if (closed) {
            return false;
        }
        boolean found = false;
        try {
            found = find();
            return found;
        } finally {
            if (!found) {
                close();
            }
        }
    }

    private boolean find() throws FaroException {
        while (true) {
            if (blocks != null) {
                if (nextOfOriginal()) {
                    return true;
                }
            } else if (run != null) {
                if (nextOfRun()) {
                    return true;
                }
            } else if (!runs.isEmpty()) {
                begin(runs.poll());
            } else if (nextRegion < merged.directory().size()) {
                beginRegion();
            } else if (!beginOriginal()) {
                return false;
            }
        }
    }

    private Delivered of(long whose) {
        return delivered.computeIfAbsent(whose, none -> new Delivered());
    }

    /** Keeps a fault of the merged file. What the system refuses is the reading's. */
    private void keep(FaroException fault) throws FaroException {
        if (fault.code() == ErrorCode.IO) {
            throw fault;
        }
        faults.add(fault);
        sequence = -1;
    }

    private void beginRegion() throws FaroException {
        int region = nextRegion++;
        try {
            RegionIndex index = merged.region(region);
            String broken = holdings.add(index);
            if (broken != null) {
                throw Provenance.fault(merged, region, broken);
            }
            runs.addAll(Provenance.runsOf(index, partition));
        } catch (FaroException e) {
            keep(e);
            holdings.skipRegion();
        }
    }

    /** Reads a run, if its blocks are the next of an expected producer and attempt. */
    private void begin(PlacedRun placed) throws FaroException {
        Run found = placed.run();
        exactly = sequence;
        if (sequence >= 0) {
            sequence += found.blocks();
        }
        Delivered before = of(found.producer());
        boolean wanted = expected.contains(new Expected(found.producer(), found.attempt()));
        if (!wanted || before.broken || found.firstBlock() != before.blocks) {
            return;
        }
        RegionIndex region = merged.region(placed.region());
        run = placed;
        at = placed.offset();
        runEnd = at + found.length();
        extentEnd = region.start(region.slotOf(partition) + 1);
        readOfRun = 0;
    }

    private boolean nextOfRun() throws FaroException {
        Run found = run.run();
        Delivered before = of(found.producer());
        try {
            boolean end = at == runEnd;
            if (end && readOfRun == found.blocks()) {
                before.complete = found.last();
                run = null;
                return false;
            }
            if (end || readOfRun == found.blocks()) {
                throw broken(readOfRun + " blocks before offset " + at);
            }
            BlockReader block = reader.blocks();
            block.read(at, extentEnd, runEnd, Context.EXTENT, partition, exactly, -1);
            if (block.end() > runEnd) {
                throw broken("a block that ends at " + block.end());
            }
            // A payload that does not decode is a fault of the merged file too.
            block.plainPayload(reader.decoder());
            at = block.end();
            exactly = block.sequence() + 1;
            readOfRun++;
            producer = found.producer();
            number = before.blocks++;
            return true;
        } catch (FaroException e) {
            run = null;
            keep(e);
            before.broken = true;
            return false;
        }
    }

    private FaroException broken(String found) {
        return Provenance.fault(merged, run.region(), found);
    }

    /** Opens the original of the next producer that is not complete. */
    private boolean beginOriginal() throws FaroException {
        if (originals == null) {
            originals = new ArrayDeque<>(expected);
            originals.removeIf(wanted -> of(wanted.producer()).complete);
        }
        Expected wanted = originals.poll();
        if (wanted == null) {
            return false;
        }
        original = opener.open(wanted);
        blocks = original.partition(partition);
        producer = wanted.producer();
        number = -1;
        return true;
    }

    private boolean nextOfOriginal() throws FaroException {
        long from = of(producer).blocks;
        while (blocks.next()) {
            if (++number >= from) {
                return true;
            }
        }
        closeOriginal();
        return false;
    }

    private void closeOriginal() throws FaroException {
        if (blocks != null) {
            blocks.close();
            blocks = null;
        }
        if (original != null) {
            Reader opened = original;
            original = null;
            opened.close();
        }
    }

    /** Closes the original that is open, and gives the buffers back. The merged file stays open. */
    @Override
    public void close() throws FaroException {
        if (!closed) {
            closed = true;
            merged.readers().giveBack(reader);
            closeOriginal();
        }
    }
}
