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
import dev.faro.internal.reader.Opening;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;

/**
 * The walk over a file that may still grow, from one committed region to the next (FOL-2 to FOL-5; which kinds
 * are allowed where is CTX-1, hence SCH-2), for followers and for repair.
 * It goes on where it stopped. Not for several threads.
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
    private boolean behindData;
    private FooterMessage footer;
    private boolean finished;

    /**
     * A walk that has not begun.
     *
     * @param repair whether to take damage at the very end for blocks that are not yet there, and to stop behind a
     *     footer (REP-1, REP-4)
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
     * Checks that the schema is there, with framing arrow (FOL-1).
     *
     * @return the encapsulated Arrow message, or null with other framings
     * @throws FaroException {@code unfinished} if it is not there yet, or the check that fails
     */
    public ByteBuffer open() throws FaroException {
        if (header.framing() != Framing.ARROW) {
            return null;
        }
        long size = index.size();
        if (!read(size, Context.SCHEMA)) {
            throw index.fault(ErrorCode.UNFINISHED, size, "a schema block", "the end of the file");
        }
        return Opening.readSchema(files, limits, size);
    }

    /**
     * Goes as far as the file does.
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
        Context place = new Context(single, !single || behindData, !behindData, schema,
                single && !behindData && header.hasDictionaries(), !behindData);
        if (!read(index.size(), place)) {
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
        behindData = !BlockKind.isMetadata(kind);
        if (!behindData) {
            sequence++;
            metadataEnd = next;
        }
        return true;
    }

    /** Reads the block at {@link #next}, or says that it is not yet there (FOL-2, REP-1). */
    private boolean read(long size, Context place) throws FaroException {
        if (size - next < BlockHeader.SIZE) {
            return false;
        }
        if (repair && blocks.seemsZero(next, size) && isZero(next + BlockHeader.SIZE, size)) {
            return false;
        }
        return blocks.readIfThere(next, size, repair ? Tail.SIZE : 0, place, BlockHeader.NO_PARTITION,
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
            // A place behind dictionaries may be any number: nothing wraps here (INT-4).
            boolean there = Long.compareUnsigned(region.dataOffset(), size) <= 0
                    && Long.compareUnsigned(region.dataEnd(), size) <= 0;
            if (!there) {
                throw files.data().fault(ErrorCode.TRUNCATED, size,
                        "the end of region " + region.sequence(), size);
            }
            addDictionaries(region.dataOffset());
        }
        dataEnd = region.dataEnd();
        directory.add(next, blocks.storedSize(), region.dataOffset(), dataEnd - region.dataOffset());
    }

    /** DIC-5: the dictionaries between the last region of a pair and the next one. */
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
            // They are seen with their region, or not at all.
            directory.keepDictionaries(before);
            throw e;
        }
    }

    private void acceptFooter() throws FaroException {
        FooterMessage parsed = FooterMessage.parse(blocks.message(), header, limits, index, next);
        if (!parsed.directory().same(directory)) {
            throw blocks.fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.SIZE, "a directory of the regions and dictionaries before",
                    "another");
        }
        footer = parsed;
    }

    /** FOL-5, behind a footer. */
    private boolean checkTail() throws FaroException {
        long size = index.size();
        if (size - next < Tail.SIZE) {
            return false;
        }
        Tail tail = index.readTail(next);
        if (!tail.equals(tail()) || size != next + Tail.SIZE) {
            throw index.fault(ErrorCode.INCONSISTENT_INDEX, next, "a tail at the end that leads to the footer",
                    tail + " and " + (size - next - Tail.SIZE) + " bytes");
        }
        if (!files.isSingle()) {
            Opening.checkDataEnd(files.data(), footer.dataSize());
        }
        finished = true;
        return false;
    }

    /** The tail that belongs behind the footer that was accepted last. */
    public Tail tail() {
        return new Tail(blocks.offset(), blocks.storedSize());
    }

    /** The regions so far; grows. */
    public Directory directory() {
        return directory;
    }

    /** The footer, or null if none was accepted yet. */
    public FooterMessage footer() {
        return footer;
    }

    /** Whether the tail stands behind the footer. */
    public boolean isFinished() {
        return finished;
    }

    /** Where the last metadata block that was accepted ends. */
    public long metadataEnd() {
        return metadataEnd;
    }

    /** Where the data of the last committed region ends. */
    public long dataEnd() {
        return dataEnd;
    }

    /** The number of the next metadata block. */
    public long sequence() {
        return sequence;
    }
}
