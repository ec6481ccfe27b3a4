package dev.faro.repair;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.FileRole;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.block.Payloads;
import dev.faro.internal.block.Sequence;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.PartitionCounters;
import dev.faro.internal.index.RegionDraft;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.storage.InputFile;
import dev.faro.internal.storage.LocalOutputFile;
import dev.faro.internal.writer.Committer;
import dev.faro.repair.RepairReport.Action;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Makes a new index from a data file if the old index was lost or damaged (REP-5 to REP-8). */
public final class Rebuild {
    private static final List<String> LOST = List.of(
            "members of shared extents", "runs", "statistics", "streams", "properties",
            "whether regions are missing at the end", "whether the last blocks were ever committed");

    private final InputFile data;
    private final FileHeader header;
    private final boolean sharedToAll;
    private final Limits limits;
    private final BlockReader blocks;
    private final RegionDraft draft;
    /** The directory of the new index. */
    private final Directory directory = new Directory();
    private final PartitionCounters ownNext = new PartitionCounters();
    /** Null in a dry run. */
    private final Committer committer;
    private long sharedNext;
    private long sharedBlocks;
    private long count;
    private int regions;
    private long regionStart = FileHeader.SIZE;
    private long next = FileHeader.SIZE;
    /** The offset after the last partition block, and the number of dictionaries before it. */
    private long end = FileHeader.SIZE;
    private int dictionaries;
    /** The fault of the block at which the walk ended, or null. */
    private FaroException fault;

    private Rebuild(InputFile data, FileHeader header, RebuildOptions options, LocalOutputFile index) {
        this.data = data;
        this.header = header;
        this.sharedToAll = options.sharedToAll();
        this.limits = options.limits();
        this.blocks = BlockReader.ofExtents(data, header.fileId(), options.limits(), true)
                .with(header.hasDictionaries() ? Dictionaries.counted(directory::dictionaryCount) : null);
        this.draft = new RegionDraft(header);
        this.committer = index == null ? null : new Committer(index, header.fileId(), directory, 0);
    }

    /**
     * Rebuilds the index, which replaces an existing file with its name, and cuts the data file after the last good
     * block. The report has the fault of the block after it.
     *
     * @throws FaroException {@code invalid-argument} if the framing is arrow and the options have no schema, or a fault
     *     that is not damage. The files are unchanged then, except after {@code io} while they are written; the call
     *     can then be repeated
     */
    public static RepairReport rebuild(Path dataPath, Path indexPath, RebuildOptions options) throws FaroException {
        Objects.requireNonNull(dataPath, "dataPath");
        Objects.requireNonNull(indexPath, "indexPath");
        Objects.requireNonNull(options, "options");
        return rebuild(dataPath, indexPath, temporaryName(indexPath), options);
    }

    /** The name of a new index until it is complete (REP-10). */
    static Path temporaryName(Path index) {
        return index.resolveSibling(index.getFileName() + ".rebuild.tmp");
    }

    /** Rebuilds as {@link #rebuild(Path, Path, RebuildOptions)} does, with another temporary name. */
    static RepairReport rebuild(Path dataPath, Path indexPath, Path temporary, RebuildOptions options)
            throws FaroException {
        try (InputFile data = InputFile.open(FileRole.DATA, dataPath)) {
            FileHeader header = FileSet.read(data, FileKind.DATA);
            HeaderBytes.checkRewritable(header, data);
            checkSchema(header, options.schema());
            if (options.dryRun()) {
                Rebuild rebuild = new Rebuild(data, header, options, null);
                rebuild.scan();
                return rebuild.report();
            }
            return rebuild(data, header, indexPath, temporary, options);
        }
    }

    private static void checkSchema(FileHeader header, byte[] schema) throws FaroException {
        boolean needed = header.framing() == Framing.ARROW;
        boolean fits = needed == (schema != null)
                && (!needed || Payloads.isArrowMessage(ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN)));
        if (!fits) {
            throw FaroException.invalidArgument(
                    needed ? "the Arrow schema message, which was in the lost index" : "no schema",
                    schema == null ? "none" : "other bytes");
        }
    }

    private static RepairReport rebuild(
            InputFile data, FileHeader header, Path indexPath, Path temporary, RebuildOptions options)
            throws FaroException {
        LocalOutputFile index = create(temporary);
        try {
            Rebuild rebuild = new Rebuild(data, header, options, index);
            Committer.header(index, header.withKind(FileKind.INDEX));
            if (options.schema() != null) {
                rebuild.committer.schema(options.schema());
            }
            rebuild.scan();
            rebuild.committer.footer(false, rebuild.end, null, null, Repair.mark("rebuilt"), null);
            index.sync();
            RepairReport report = rebuild.report();
            try (LocalOutputFile cut = LocalOutputFile.cut(FileRole.DATA, data.path(), rebuild.end)) {
                cut.sync();
            }
            Files.move(temporary, indexPath, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            LocalOutputFile.syncFolder(FileRole.INDEX, indexPath);
            // Closed only now, because other programs may remove a temporary file without a lock (PUB-9).
            index.close();
            return report;
        } catch (IOException e) {
            FaroException failure = e instanceof FaroException known ? known
                    : FaroException.io(FileRole.INDEX, indexPath, "to replace the index", e);
            remove(index, failure);
            throw failure;
        } catch (RuntimeException | Error e) {
            remove(index, e);
            throw e;
        }
    }

    /** Makes the new file; it replaces what a rebuild that died left there. */
    private static LocalOutputFile create(Path temporary) throws FaroException {
        try {
            Files.deleteIfExists(temporary);
        } catch (IOException e) {
            throw FaroException.io(FileRole.INDEX, temporary, "to remove what was left", e);
        }
        return LocalOutputFile.create(FileRole.INDEX, temporary);
    }

    private static void remove(LocalOutputFile index, Throwable failure) {
        try (index) {
            Files.deleteIfExists(index.path());
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private RepairReport report() throws FaroException {
        return new RepairReport(Action.REBUILT, regions, count, end, data.size() - end, 0, 0,
                sharedToAll ? 0 : sharedBlocks, Optional.ofNullable(fault), LOST);
    }

    private void scan() throws FaroException {
        long size = data.size();
        while (next < size && accept(size)) {
            next = blocks.end();
            if (blocks.kind() != BlockKind.DICTIONARY) {
                end = next;
                dictionaries = directory.dictionaryCount();
                count++;
            }
        }
        closeRegion();
        // Dictionaries after the last region are left out (REP-7).
        directory.keepDictionaries(dictionaries);
    }

    /** Reads the next block and adds it to a region; false if it is damaged, and then {@link #fault} says how. */
    private boolean accept(long size) throws FaroException {
        boolean dictionary = blocks.claimsDictionary(next, size);
        int partition = blocks.claimedPartition(next, size);
        boolean shared = partition == BlockHeader.NO_PARTITION;
        try {
            if (dictionary) {
                blocks.checkDictionaryCount(Context.DICTIONARY);
                blocks.read(next, size, size, Context.DICTIONARY, BlockHeader.NO_PARTITION,
                        Sequence.exactly(directory.dictionaryCount()));
                blocks.checkDictionaryBytes();
            } else {
                // No partition is right if the file does not have the one that the block names.
                int expected = shared || header.has(partition) ? partition : header.firstPartition();
                long following = shared ? sharedNext : ownNext.get(expected);
                blocks.read(next, size, size, Context.EXTENT, expected,
                        header.selective() ? Sequence.above(following - 1) : Sequence.exactly(following));
            }
        } catch (FaroException e) {
            ErrorCode code = e.code();
            if (code == ErrorCode.CHECKSUM || code == ErrorCode.MALFORMED_BLOCK
                    || code == ErrorCode.INCONSISTENT_INDEX) {
                fault = e;
                return false;
            }
            throw e;
        }
        if (dictionary) {
            // A region begins after each dictionary (REP-6).
            closeRegion();
            directory.addDictionary(next, blocks.storedSize());
            regionStart = blocks.end();
            return true;
        }
        put(shared);
        return true;
    }

    /** Adds a partition block to the current region, or to a new one (REP-6). */
    private void put(boolean shared) throws FaroException {
        int partition = blocks.partition();
        long bytes = blocks.end() - blocks.offset();
        boolean hasShared = draft.extents() > draft.ownExtents();
        int last = draft.ownExtents() == 0 ? BlockHeader.NO_PARTITION : draft.partition(draft.ownExtents() - 1);
        if (!shared && (hasShared || last > partition) || draft.bytes() + bytes > RegionDraft.MOST_BYTES) {
            closeRegion();
            hasShared = false;
            last = BlockHeader.NO_PARTITION;
        }
        if (shared) {
            if (!hasShared) {
                draft.beginShared(sharedToAll ? Members.ALL : Members.NONE);
            }
            sharedNext = blocks.sequence() + 1;
            sharedBlocks++;
        } else {
            if (last != partition) {
                draft.beginOwn(partition);
            }
            ownNext.set(partition, blocks.sequence() + 1);
        }
        draft.addBlock(bytes, 0, blocks.sequence());
    }

    private void closeRegion() throws FaroException {
        if (draft.bytes() == 0) {
            return;
        }
        if (regions >= limits.maxRegions()) {
            throw limit("at most " + limits.maxRegions() + " regions", "one more");
        }
        ByteBuffer message = draft.message(regions, regionStart, 0);
        if (message.remaining() > limits.maxMessageSize()) {
            throw limit("a region with a message of at most " + limits.maxMessageSize() + " bytes",
                    message.remaining());
        }
        if (committer != null) {
            committer.region(message, regionStart, draft.bytes());
        }
        regionStart += draft.bytes();
        regions++;
        draft.clear();
    }

    private FaroException limit(String expected, Object found) {
        return data.fault(ErrorCode.LIMIT_EXCEEDED, regionStart, expected, found);
    }
}
