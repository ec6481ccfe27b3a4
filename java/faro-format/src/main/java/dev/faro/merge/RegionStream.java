package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.index.Run;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.index.Holdings;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;

/** The runs of a region of a merged file as a stream of fragments (FRG-7). */
final class RegionStream extends PartStream {
    private final OutputReader merged;
    private final RegionIndex region;
    private final Names names;
    private final Deque<Placed> runs;
    private ExtentReaders.ExtentReader reader;
    private Placed run;
    private FragmentParts fragment;
    private long at;
    private long blocks;
    /** The partition whose blocks were read last, and the sequence of its next block. */
    private int partition = -1;
    private long sequence = -1;

    /** A run, where it begins, and where the extent that it is in ends. */
    private record Placed(int partition, long offset, long extentEnd, Run run) {
        long end() {
            return offset + run.length();
        }
    }

    /** What is done with each block of a run. */
    private interface Taker {
        void take(BlockReader block) throws FaroException;
    }

    private RegionStream(OutputReader merged, RegionIndex region, Names names) {
        this.merged = merged;
        this.region = region;
        this.names = names;
        this.runs = runsOf(region);
        this.reader = merged.readers().take();
    }

    static RegionStream of(OutputReader merged, int region, Names names) throws FaroException {
        Objects.requireNonNull(names, "names");
        if (!merged.header().isMerged()) {
            throw FaroException.invalidArgument("a merged file", "the output of one producer");
        }
        if (region < 0 || region >= merged.directory().size()) {
            throw FaroException.invalidArgument("a region below " + merged.directory().size(), region);
        }
        Holdings holdings = new Holdings();
        for (int i = 0; i <= region; i++) {
            String broken = holdings.add(merged.region(i));
            if (broken != null) {
                throw Provenance.fault(merged, i, broken);
            }
        }
        return new RegionStream(merged, merged.region(region), names);
    }

    private static Deque<Placed> runsOf(RegionIndex region) {
        Deque<Placed> found = new ArrayDeque<>();
        region.forEachRun((partition, offset, run) ->
                found.add(new Placed(partition, offset, region.start(region.slotOf(partition) + 1), run)));
        return found;
    }

    /** A block, with what is before it, or the end of a fragment. */
    @Override
    boolean next() throws FaroException {
        if (run == null) {
            if (runs.isEmpty()) {
                return false;
            }
            begin(runs.poll());
        }
        if (at < run.end()) {
            block(this::append);
            return true;
        }
        checkWhole();
        fragment.end(blocks, run.run.last());
        run = null;
        return true;
    }

    private void begin(Placed next) throws FaroException {
        run = next;
        if (partition != next.partition) {
            partition = next.partition;
            sequence = -1;
        }
        SortedSet<Integer> named = new TreeSet<>();
        if (merged.header().hasDictionaries()) {
            // The dictionaries come first, so the blocks are read twice.
            long before = sequence;
            rewind();
            while (at < run.end()) {
                block(block -> {
                    if (block.dictionary() != 0) {
                        named.add(block.dictionary());
                    }
                });
            }
            sequence = before;
        }
        rewind();
        fragment = new FragmentParts(merged, target(), header(named), named);
        fragment.begin();
    }

    private void rewind() {
        at = run.offset;
        blocks = 0;
    }

    private FileHeader header(SortedSet<Integer> named) {
        FileHeader own = merged.header();
        long producer = run.run.producer();
        long attempt = run.run.attempt();
        return new FileHeader(FileKind.FRAGMENT, own.versionMinor(), own.framing(), 1, run.partition,
                named.isEmpty() ? 0 : FileHeader.DICTIONARIES, 0, producer, attempt,
                names.outputFileId(producer, attempt));
    }

    private void append(BlockReader block) throws FaroException {
        fragment.block(run.partition, run.run.firstBlock() + blocks, block);
    }

    /** Reads the next block of the run (MRG-3). */
    private void block(Taker taker) throws FaroException {
        BlockReader block = reader.blocks();
        block.read(at, run.extentEnd, run.end(), Context.EXTENT, run.partition, sequence, -1);
        if (block.end() > run.end() || blocks == run.run.blocks()) {
            throw broken("a run of other blocks than its " + run.run.blocks());
        }
        taker.take(block);
        at = block.end();
        sequence = block.sequence() + 1;
        blocks++;
    }

    private void checkWhole() throws FaroException {
        if (blocks != run.run.blocks()) {
            throw broken("a run of " + blocks + " blocks, and not " + run.run.blocks());
        }
    }

    private FaroException broken(String found) {
        return Provenance.fault(merged, region.sequence(), found);
    }

    @Override
    void release() {
        if (reader != null) {
            merged.readers().giveBack(reader);
            reader = null;
        }
    }
}
