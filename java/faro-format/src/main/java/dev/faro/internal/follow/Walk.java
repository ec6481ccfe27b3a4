package dev.faro.internal.follow;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.block.Sequence;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.Opened;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;

/**
 * The walk over a file that may still grow, from one committed region to the next (FOL-2 to FOL-5), for followers and
 * for repair. CTX-1, and so SCH-2, says which kinds are allowed where. Each call continues where the last one stopped.
 * Not for several threads.
 */
public final class Walk {
    private final FileSet files;
    private final InputFile index;
    private final FileHeader header;
    private final Limits limits;
    private final boolean repair;
    private final BlockReader blocks;
    private final Directory directory = new Directory();
    private long next = FileHeader.SIZE;
    private long sequence;
    private long metadataEnd = FileHeader.SIZE;
    private long dataEnd = FileHeader.SIZE;
    private boolean afterData;
    private FooterMessage footer;
    private boolean finished;

    /**
     * Makes a walk at the beginning of the file.
     *
     * @param repair whether damage at the very end counts as blocks that are not written yet, and the walk stops after
     *     a footer (REP-1, REP-4)
     */
    public Walk(FileSet files, Limits limits, boolean repair) {
        this.files = files;
        this.index = files.index();
        this.header = files.header();
        this.limits = limits;
        this.repair = repair;
        this.blocks = BlockReader.ofMetadata(index, header.fileId(), limits)
                .with(header.hasDictionaries() ? Dictionaries.counted(directory::dictionaryCount) : null);
    }

    /**
     * Checks that the schema exists, with framing arrow (FOL-1).
     *
     * @return the encapsulated Arrow message, or null with other framings
     * @throws FaroException {@code unfinished} if there is no schema yet, or the check that fails
     */
    public ByteBuffer open() throws FaroException {
        if (header.framing() != Framing.ARROW) {
            return null;
        }
        long size = index.size();
        if (!read(size, Context.SCHEMA)) {
            throw index.fault(ErrorCode.UNFINISHED, size, "a schema block", "the end of the file");
        }
        return Opened.readSchema(files, limits, size);
    }

    /**
     * Walks to the end of the file as it is now.
     *
     * @throws FaroException the first fault; the next call finds it again
     */
    public void advance() throws FaroException {
        blocks.refresh();
        boolean more = !finished;
        while (more) {
            more = footer == null ? step() : !repair && checkTail();
        }
    }

    private boolean step() throws FaroException {
        boolean schema = header.framing() == Framing.ARROW && next == FileHeader.SIZE;
        boolean single = files.isSingle();
        Context context = new Context(single, !single || afterData, !afterData, schema,
                single && !afterData && header.hasDictionaries(), !afterData);
        if (!read(index.size(), context)) {
            return false;
        }
        int kind = blocks.kind();
        if (kind == BlockKind.REGION) {
            commit();
        } else if (kind == BlockKind.DICTIONARY) {
            blocks.checkDictionaryBytes();
            directory.addDictionary(next, blocks.storedSize());
        } else if (kind == BlockKind.FOOTER) {
            acceptFooter();
        }
        next = blocks.end();
        afterData = !BlockKind.isMetadata(kind);
        if (!afterData) {
            sequence++;
            metadataEnd = next;
        }
        return true;
    }

    /** Reads the block at {@link #next}; false if it is not complete yet (FOL-2, REP-1). */
    private boolean read(long size, Context context) throws FaroException {
        if (size - next < BlockHeader.SIZE) {
            return false;
        }
        if (repair && blocks.seemsZero(next, size) && isZero(next + BlockHeader.SIZE, size)) {
            return false;
        }
        return blocks.readIfThere(next, size, repair ? Tail.SIZE : 0, context, BlockHeader.NO_PARTITION,
                Sequence.exactly(sequence));
    }

    private boolean isZero(long from, long to) throws FaroException {
        ByteBuffer bytes = ByteBuffer.allocate(64 << 10);
        for (long at = from; at < to; at += bytes.limit()) {
            index.readFully(bytes.clear().limit((int) Math.min(bytes.capacity(), to - at)), at);
            for (int i = 0; i < bytes.limit(); i++) {
                if (bytes.get(i) != 0) {
                    return false;
                }
            }
        }
        return true;
    }

    private void commit() throws FaroException {
        if (directory.size() >= limits.maxRegions()) {
            throw blocks.fault(ErrorCode.LIMIT_EXCEEDED, 0, "at most " + limits.maxRegions() + " regions", "one more");
        }
        boolean single = files.isSingle();
        RegionIndex.Expected expected = single
                ? new RegionIndex.Expected(directory.size(), metadataEnd, next - metadataEnd)
                : new RegionIndex.Expected(directory.size(), dataEnd, header.hasDictionaries(), -1);
        RegionIndex region = RegionIndex.parse(blocks.message(), header, expected, index, next + BlockHeader.SIZE);
        if (!single) {
            long size = files.data().size();
            // Offsets after dictionaries can be any unsigned number, so the comparison must not wrap (INT-4).
            boolean inFile = Long.compareUnsigned(region.dataOffset(), size) <= 0
                    && Long.compareUnsigned(region.dataEnd(), size) <= 0;
            if (!inFile) {
                throw files.data().fault(ErrorCode.TRUNCATED, size,
                        "the end of region " + region.sequence(), size);
            }
            addDictionaries(region.dataOffset());
        }
        dataEnd = region.dataEnd();
        directory.add(next, blocks.storedSize(), region.dataOffset(), dataEnd - region.dataOffset());
    }

    /** Adds the dictionaries between the last region of a pair and the next one (DIC-5). */
    private void addDictionaries(long end) throws FaroException {
        int before = directory.dictionaryCount();
        BlockReader data = BlockReader.ofMetadata(files.data(), header.fileId(), limits)
                .with(Dictionaries.counted(directory::dictionaryCount));
        try {
            for (long at = dataEnd; at < end; at = data.end()) {
                int count = directory.dictionaryCount();
                if (count >= limits.maxDictionaries()) {
                    throw files.data().fault(ErrorCode.LIMIT_EXCEEDED, at,
                            "at most " + limits.maxDictionaries() + " dictionaries", "one more");
                }
                data.read(at, end, end, Context.DICTIONARY, BlockHeader.NO_PARTITION,
                        Sequence.exactly(count));
                data.checkDictionaryBytes();
                directory.addDictionary(at, data.storedSize());
            }
        } catch (FaroException e) {
            // Dictionaries become visible together with their region, or not at all.
            directory.keepDictionaries(before);
            throw e;
        }
    }

    private void acceptFooter() throws FaroException {
        FooterMessage parsed = FooterMessage.parse(blocks.message(), header, limits, index, next);
        if (!parsed.directory().same(directory)) {
            throw blocks.fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.SIZE,
                    "a directory of the regions and dictionaries before", "another");
        }
        footer = parsed;
    }

    /** Makes the checks of FOL-5, after a footer. */
    private boolean checkTail() throws FaroException {
        long size = index.size();
        if (size - next < Tail.SIZE) {
            return false;
        }
        Tail tail = index.readTail(next);
        if (!tail.equals(tail()) || size != next + Tail.SIZE) {
            throw index.fault(ErrorCode.INCONSISTENT_INDEX, next,
                    "a tail at the end of the file that leads to the footer",
                    tail + " and " + (size - next - Tail.SIZE) + " bytes");
        }
        if (!files.isSingle()) {
            Opened.checkDataEnd(files.data(), footer.dataSize());
        }
        finished = true;
        return false;
    }

    /** The tail that belongs after the last accepted footer. */
    public Tail tail() {
        return new Tail(blocks.offset(), blocks.storedSize());
    }

    /** The regions so far. The walk adds to it. */
    public Directory directory() {
        return directory;
    }

    /** The footer, or null if there is none yet. */
    public FooterMessage footer() {
        return footer;
    }

    /** Whether the file has a tail after the footer. */
    public boolean isFinished() {
        return finished;
    }

    /** The offset after the last accepted metadata block. */
    public long metadataEnd() {
        return metadataEnd;
    }

    /** The offset after the data of the last committed region. */
    public long dataEnd() {
        return dataEnd;
    }

    /** The sequence of the next metadata block. */
    public long sequence() {
        return sequence;
    }
}
