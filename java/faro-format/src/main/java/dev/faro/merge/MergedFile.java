package dev.faro.merge;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.FileRole;
import dev.faro.codec.Codec;
import dev.faro.index.Run;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.BlockSeal;
import dev.faro.internal.index.Holdings;
import dev.faro.internal.index.RegionDraft;
import dev.faro.internal.message.Directory;
import dev.faro.internal.message.MessageBuilder;
import dev.faro.internal.storage.LocalOutputFile;
import dev.faro.internal.writer.Committer;
import dev.faro.writer.Durability;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The two files of a merge: what is committed, the open region, and the push that appends (MRG-7 to MRG-10). For one
 * thread at a time.
 */
final class MergedFile {
    private static final long U32 = 0xFFFFFFFFL;
    private static final int MOST_DICTIONARIES = 65_535;

    private final FileHeader header;
    private final LocalOutputFile data;
    private final LocalOutputFile index;
    private final boolean durable;
    private final BlockSeal seal;
    private final Directory directory;
    /** The numbers of the dictionaries, by the SHA-256 of their bytes. */
    private final Map<ByteBuffer, Integer> known;
    private final Holdings holdings;
    /** The next sequence of each partition. */
    private final Map<Integer, Long> sequences;
    private final ByteBuffer moved = ByteBuffer.allocate(BlockHeader.SIZE).order(ByteOrder.LITTLE_ENDIAN);
    private long indexEnd;
    private long metadata;
    private long committedRuns;
    /** The runs of the open region. */
    private final OpenRuns openRuns = new OpenRuns();
    private long openStart;
    private Appended push;
    private boolean unsynced;

    /** What a push has appended so far. */
    private static final class Appended {
        final long start;
        final int dictionariesBefore;
        /** Where its first block begins. */
        long blocksStart;
        final List<Integer> partitions = new ArrayList<>();
        final List<Run> runs = new ArrayList<>();
        /** The numbers in the file of the fragment's dictionaries. */
        final Map<Integer, Integer> numbers = new HashMap<>();

        Appended(long start, int dictionariesBefore) {
            this.start = start;
            this.blocksStart = start;
            this.dictionariesBefore = dictionariesBefore;
        }
    }

    /**
     * What a file has that is begun, or resumed.
     *
     * @param directory regions and dictionaries
     * @param known the numbers of the dictionaries, by the SHA-256 of their bytes
     * @param sequences the next sequence of each partition
     * @param metadata the number of metadata blocks
     * @param runs the number of runs
     */
    record Committed(Directory directory, Map<ByteBuffer, Integer> known, Holdings holdings,
            Map<Integer, Long> sequences, long indexEnd, long metadata, long runs) {}

    /** What a dictionary is known by. */
    static ByteBuffer knownBy(byte[] dictionary) {
        return ByteBuffer.wrap(FileIds.sha256().digest(dictionary));
    }

    /** Goes on with files that end where the last commit does. */
    MergedFile(FileHeader header, LocalOutputFile data, LocalOutputFile index, Durability durability,
            Committed committed) {
        this.header = header;
        this.data = data;
        this.index = index;
        this.durable = durability == Durability.COMMIT;
        this.seal = new BlockSeal(header.fileId());
        this.directory = committed.directory;
        this.known = committed.known;
        this.holdings = committed.holdings;
        this.sequences = committed.sequences;
        this.indexEnd = committed.indexEnd;
        this.metadata = committed.metadata;
        this.committedRuns = committed.runs;
    }

    /** Creates both files, with their headers and the schema (MRG-4). */
    static MergedFile create(java.nio.file.Path dataPath, java.nio.file.Path indexPath, FileHeader header,
            MergeOptions options) throws FaroException {
        LocalOutputFile data = LocalOutputFile.create(FileRole.DATA, dataPath);
        LocalOutputFile index = null;
        try {
            index = LocalOutputFile.create(FileRole.INDEX, indexPath);
            Committer.header(data, header.withKind(FileKind.DATA));
            Committer.header(index, header);
            long metadata = 0;
            if (options.schema != null) {
                Committer committer = new Committer(index, header.fileId(), new Directory(), 0);
                committer.schema(options.schema);
                metadata = committer.sequence();
            }
            data.flush();
            index.flush();
            Committed nothing = new Committed(new Directory(), new HashMap<>(), new Holdings(), new HashMap<>(),
                    index.position(), metadata, 0);
            return new MergedFile(header, data, index, options.durability, nothing);
        } catch (FaroException | RuntimeException | Error e) {
            discard(data, e);
            discard(index, e);
            throw e;
        }
    }

    private static void discard(LocalOutputFile file, Throwable error) {
        if (file != null) {
            try (file) {
                file.remove(file.path());
            } catch (java.io.IOException e) {
                error.addSuppressed(e);
            }
        }
    }

    FileHeader header() {
        return header;
    }

    int regions() {
        return directory.size();
    }

    Long attempt(long producer) {
        return holdings.attempt(producer);
    }

    void beginPush() {
        push = new Appended(data.position(), directory.dictionaryCount());
    }

    /** Takes back all that the push has appended (MRG-8). */
    void giveUpPush() {
        if (push != null) {
            data.retreat(push.start);
            int kept = push.dictionariesBefore;
            directory.keepDictionaries(kept);
            known.values().removeIf(number -> number > kept);
            push = null;
        }
    }

    /** A dictionary of the push, with its number in the producer's output, and its place in the fragment. */
    void dictionary(int number, byte[] content, long at) throws FaroException {
        ByteBuffer knownBy = knownBy(content);
        Integer inFile = known.get(knownBy);
        if (inFile == null) {
            inFile = directory.dictionaryCount() + 1;
            if (inFile > MOST_DICTIONARIES) {
                throw FragmentFile.INPUT.fault(ErrorCode.LIMIT_EXCEEDED, at,
                        "at most " + MOST_DICTIONARIES + " dictionaries in a file", "one more");
            }
            endRegion();
            long offset = data.position();
            int index = data.reserve((int) BlockHeader.sizeInFile(content.length));
            data.buffer().put(index + BlockHeader.SIZE, content);
            data.advance(seal.seal(data.buffer(), index, content.length, content.length, BlockHeader.NO_PARTITION,
                    inFile - 1, BlockKind.DICTIONARY, Codec.NONE, inFile));
            directory.addDictionary(offset, content.length);
            known.put(knownBy, inFile);
            push.blocksStart = data.position();
        }
        push.numbers.put(number, inFile);
    }

    /**
     * A block of the push, if the file does not have it yet (MRG-7).
     *
     * @return false if there is a gap before it
     */
    boolean block(FileHeader of, BlockReader block) throws FaroException {
        int partition = block.partition();
        long number = block.sequence();
        Holdings.Held held = holdings.held(of.producer(), partition);
        int lastRun = push.runs.size() - 1;
        Run current = lastRun >= 0 && push.partitions.get(lastRun) == partition ? push.runs.get(lastRun) : null;
        long count = current == null ? held.blocks() : current.firstBlock() + current.blocks();
        if (number < count) {
            return true;
        }
        if (held.complete()) {
            throw block.fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.SEQUENCE,
                    "no block after the last, of which there are " + count, number);
        }
        if (number > count) {
            return false;
        }
        long sequence = sequences.getOrDefault(partition, 0L) + (current == null ? 0 : current.blocks());
        if (sequence >= U32) {
            throw block.fault(ErrorCode.LIMIT_EXCEEDED, 0, "fewer than 2^32 - 1 blocks in a partition", "one more");
        }
        if (push.runs.isEmpty() && !openRuns.isEmpty()
                && partition < openRuns.partition(openRuns.count() - 1)) {
            endRegion();
        }
        int size = (int) BlockHeader.sizeInFile(block.storedSize());
        long start = openRuns.isEmpty() ? push.blocksStart : openStart;
        if (data.position() + size - start > RegionDraft.MOST_BYTES) {
            throw block.fault(ErrorCode.LIMIT_EXCEEDED, 0, "a region of at most " + RegionDraft.MOST_BYTES + " bytes",
                    "a larger push");
        }
        append(block, size, sequence);
        if (current == null) {
            push.partitions.add(partition);
            push.runs.add(new Run(of.producer(), of.attempt(), number, 1, size, false));
        } else {
            push.runs.set(lastRun, new Run(of.producer(), of.attempt(), current.firstBlock(), current.blocks() + 1,
                    current.length() + size, false));
        }
        return true;
    }

    /** The payload as it is; its dictionary has another number here (DIC-9). */
    private void append(BlockReader block, int size, long sequence) throws FaroException {
        int at = data.reserve(size);
        ByteBuffer target = data.buffer();
        block.copyTo(target, at);
        moved.put(0, target, at, BlockHeader.SIZE);
        BlockSeal.place(moved, 0, sequence,
                block.dictionary() == 0 ? 0 : push.numbers.get(block.dictionary()));
        BlockSeal.checksum(moved, 0, block.movedChecksum(seal, moved, 0));
        target.put(at, moved, 0, BlockHeader.SIZE);
        data.advance(size);
    }

    /** Commits the push. False if it has appended nothing (MRG-9). */
    boolean commitPush(boolean last) {
        if (push.runs.isEmpty()) {
            giveUpPush();
            return false;
        }
        if (openRuns.isEmpty()) {
            openStart = push.blocksStart;
        }
        for (int i = 0; i < push.runs.size(); i++) {
            Run run = push.runs.get(i);
            int partition = push.partitions.get(i);
            Run whole = new Run(run.producer(), run.attempt(), run.firstBlock(), run.blocks(), run.length(), last);
            sequences.merge(partition, run.blocks(), Long::sum);
            holdings.add(partition, whole);
            openRuns.add(partition, whole);
        }
        push = null;
        return true;
    }

    /** The bytes of the open region, when no push appends. */
    long openBytes() {
        return openRuns.isEmpty() ? 0 : data.position() - openStart;
    }

    /** Ends the open region, if it has runs (MRG-10). What a push has appended stays after it. */
    void endRegion() throws FaroException {
        if (openRuns.isEmpty()) {
            syncAgain();
            return;
        }
        long length = openRuns.bytes();
        ByteBuffer message = message(length);
        data.complete(durable);
        Committer committer = new Committer(index, header.fileId(), directory, metadata);
        int before = directory.size();
        try {
            committer.region(message, openStart, length);
            index.flush();
        } catch (FaroException e) {
            directory.keepRegions(before);
            takeIndexBack(e);
            throw e;
        }
        indexEnd = index.position();
        metadata = committer.sequence();
        committedRuns += openRuns.count();
        openRuns.clear();
        unsynced = durable;
        syncAgain();
    }

    /** Writes what was appended. */
    void writeBuffer() throws FaroException {
        data.flush();
    }

    /** Gives back the memory for appending, if nothing waits in it. */
    void releaseBuffer() {
        data.shrink();
    }

    private void syncAgain() throws FaroException {
        if (unsynced) {
            index.sync();
            unsynced = false;
        }
    }

    /** Takes back what was written to the index after the last metadata block. */
    private void takeIndexBack(FaroException error) {
        index.retreat(indexEnd);
        try {
            index.cut();
        } catch (FaroException e) {
            // The next message takes the place of what is there.
            error.addSuppressed(e);
        }
    }

    /** SRT-8, with rotation 0. */
    private ByteBuffer message(long length) throws FaroException {
        List<Integer> named = new ArrayList<>();
        List<Integer> units = new ArrayList<>();
        for (int i = 0; i < openRuns.count(); i++) {
            int partition = openRuns.partition(i);
            int run = openRuns.units(i);
            int end = named.size() - 1;
            if (end >= 0 && named.get(end) == partition) {
                units.set(end, units.get(end) + run);
            } else {
                named.add(partition);
                units.add(run);
            }
        }
        boolean sparse = RegionDraft.isSparse(named.size(), header.partitionCount());
        int slots = sparse ? named.size() : header.partitionCount();
        int[] offsets = new int[slots + 1];
        int end = 0;
        int slot = 0;
        for (int i = 0; i < named.size(); i++) {
            int target = sparse ? i : named.get(i) - header.firstPartition();
            Arrays.fill(offsets, slot, target + 1, end);
            end += units.get(i);
            slot = target + 1;
        }
        Arrays.fill(offsets, slot, slots + 1, end);
        int[] partitions = sparse ? named.stream().mapToInt(Integer::intValue).toArray() : null;
        List<MessageBuilder.RunEntry> runs = IntStream.range(0, openRuns.count()).mapToObj(openRuns::run)
                .map(run -> new MessageBuilder.RunEntry(run.producer(), run.attempt(), run.firstBlock(), run.blocks(),
                        (int) (run.length() / 8), run.last()))
                .toList();
        return MessageBuilder.region(directory.size(), openStart, length, offsets, partitions, runs);
    }

    private long committedEnd() {
        return directory.size() == 0 ? FileHeader.SIZE : directory.dataEnd(directory.size() - 1);
    }

    /** Ends the open region and finishes the files (MRG-10). Returns the runs of all regions. */
    long finish(MergeOptions options) throws FaroException {
        giveUpPush();
        endRegion();
        data.retreat(committedEnd());
        data.cut();
        data.complete(durable);
        try {
            Committer committer = new Committer(index, header.fileId(), directory, metadata);
            committer.footer(false, committedEnd(), null, null, options.properties, options.createdBy);
            index.complete(durable);
        } catch (FaroException e) {
            takeIndexBack(e);
            throw e;
        }
        return committedRuns;
    }

    /** Cuts both files at the last commit. */
    void cut() throws FaroException {
        giveUpPush();
        data.retreat(committedEnd());
        index.retreat(indexEnd);
        data.cut();
        index.cut();
    }

    /** Closes both files. */
    void close() throws FaroException {
        try {
            index.close();
        } finally {
            data.close();
        }
    }

    /** Removes both files, which stay open. The index goes first: without it the data file is not an output. */
    void remove() throws FaroException {
        try {
            index.remove(index.path());
            data.remove(data.path());
        } catch (java.io.IOException e) {
            throw index.failed("to remove the files", e);
        }
    }
}
