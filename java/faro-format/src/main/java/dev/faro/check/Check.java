package dev.faro.check;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.codec.Decoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.block.Sequence;
import dev.faro.internal.index.FooterStatistics;
import dev.faro.internal.index.FooterStreams;
import dev.faro.internal.index.PartitionCounters;
import dev.faro.internal.index.Holdings;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.FileDictionaries;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.FinishedReader;
import dev.faro.reader.Reader;
import java.util.Objects;

/** Checks a whole output, in the order of CHK-1. */
public final class Check {
    private final FinishedReader output;
    private final FileHeader header;
    private final Directory directory;
    private final boolean decode;
    private final FooterStatistics statistics;
    private final FooterStatistics.Counter stored;
    private final FooterStatistics.Counter plain;
    private final FooterStatistics.Counter records;
    private final PartitionCounters ownNext = new PartitionCounters();
    private final Holdings holdings = new Holdings();
    private long sharedNext;
    private final FooterStreams streams;
    private final PartitionCounters ownBlocks = new PartitionCounters();
    private long sharedBlocks;
    private long blocks;
    /** The number of dictionaries found so far. */
    private int dictionaries;

    private Check(FinishedReader output, boolean decode) {
        this.output = output;
        this.header = output.header();
        this.directory = output.directory();
        this.decode = decode;
        this.statistics = output.footer().statistics();
        this.stored = statistics == null ? null : statistics.storedCounter();
        this.plain = statistics == null ? null : statistics.plainCounter();
        this.records = statistics == null ? null : statistics.recordsCounter();
        this.streams = output.footer().streams();
    }

    /**
     * Checks an output. Opening it was step 1 of CHK-1; this makes the other steps. It verifies checksums even if the
     * reader does not.
     * <pre>{@code
     * try (Reader reader = Reader.open(Path.of("orders"), ReaderOptions.DEFAULT)) {
     *     CheckReport report = Check.check(reader, CheckLevel.DECODE);
     * }
     * }</pre>
     *
     * @throws FaroException the first fault
     */
    public static CheckReport check(Reader reader, CheckLevel level) throws FaroException {
        Objects.requireNonNull(reader, "reader");
        Objects.requireNonNull(level, "level");
        try {
            return check(reader.output(), level);
        } catch (FaroException e) {
            throw reader.output().news().fault(e);
        }
    }

    private static CheckReport check(FinishedReader output, CheckLevel level) throws FaroException {
        Check checker = new Check(output, level == CheckLevel.DECODE);
        checker.checkMetadata();
        checker.checkStatistics(checker.stored, Statistic.STORED);
        if (level == CheckLevel.STRUCTURE) {
            return new CheckReport(checker.directory.size(), -1);
        }
        checker.checkBlocks();
        checker.checkStreams();
        if (checker.decode) {
            checker.checkStatistics(checker.plain, Statistic.PLAIN);
            if (checker.header.framing() == Framing.RECORDS) {
                checker.checkStatistics(checker.records, Statistic.RECORDS);
            }
        }
        return new CheckReport(checker.directory.size(), checker.blocks);
    }

    private enum Statistic {
        STORED, PLAIN, RECORDS
    }

    /** Makes steps 2 to 5. */
    private void checkMetadata() throws FaroException {
        FileSet files = output.files();
        boolean inSingle = files.isSingle() && header.hasDictionaries();
        BlockReader metadata = BlockReader.ofMetadata(files.index(), header.fileId(), output.limits())
                .with(header.hasDictionaries() ? Dictionaries.counted(() -> dictionaries) : null);
        long footer = output.opened().footerOffset();
        long at = FileHeader.SIZE;
        long count = 0;
        int region = 0;
        boolean afterData = false;
        while (at < footer) {
            boolean beforeData = files.isSingle() && region < directory.size() && !afterData;
            if (beforeData && at == directory.dataOffset(region)) {
                at = directory.messageOffset(region);
                afterData = true;
                continue;
            }
            boolean schema = header.framing() == Framing.ARROW && at == FileHeader.SIZE;
            Context context = new Context(
                    false, !beforeData, false, schema && !afterData, inSingle && !afterData, !afterData);
            long end = beforeData ? directory.dataOffset(region) : footer;
            metadata.read(at, end, end, context, BlockHeader.NO_PARTITION, Sequence.exactly(count++));
            if (metadata.kind() == BlockKind.REGION) {
                checkRegion(metadata, region++);
                afterData = false;
            } else if (metadata.kind() == BlockKind.DICTIONARY) {
                checkDictionary(metadata);
            }
            at = metadata.end();
        }
        if (!files.isSingle()) {
            while (dictionaries < directory.dictionaryCount()) {
                FileDictionaries.find(files, output.limits(), directory, ++dictionaries);
            }
        }
        if (dictionaries < directory.dictionaryCount()) {
            throw files.index().fault(ErrorCode.INCONSISTENT_INDEX, footer + BlockHeader.SIZE,
                    directory.dictionaryCount() + " dictionaries", dictionaries);
        }
        if (region < directory.size()) {
            throw files.index().fault(ErrorCode.INCONSISTENT_INDEX, footer + BlockHeader.SIZE,
                    directory.size() + " regions", region);
        }
        if (output.opened().footerSequence() != count) {
            throw files.index().fault(ErrorCode.INCONSISTENT_INDEX, footer + BlockHeader.SEQUENCE, "sequence " + count,
                    output.opened().footerSequence());
        }
    }

    private void checkDictionary(BlockReader block) throws FaroException {
        boolean known = dictionaries < directory.dictionaryCount()
                && directory.dictionaryOffset(dictionaries) == block.offset()
                && directory.dictionarySize(dictionaries) == block.storedSize();
        if (!known) {
            throw block.fault(ErrorCode.INCONSISTENT_INDEX, 0, "the dictionary that the footer lists", "another");
        }
        block.checkDictionaryBytes();
        dictionaries++;
    }

    private void checkRegion(BlockReader block, int number) throws FaroException {
        boolean known = number < directory.size() && directory.messageOffset(number) == block.offset()
                && directory.messageSize(number) == block.storedSize();
        if (!known) {
            throw block.fault(
                    ErrorCode.INCONSISTENT_INDEX, 0, "the region message that the directory lists", "another");
        }
        RegionIndex.Expected expected =
                new RegionIndex.Expected(number, directory.dataOffset(number), directory.dataLength(number));
        RegionIndex region = RegionIndex.parse(block.message(), header, expected, block.file(),
                block.offset() + BlockHeader.SIZE);
        String broken = header.isMerged() ? holdings.add(region) : null;
        if (broken != null) {
            throw faultOfRuns(number, "runs that obey MRG-2", broken);
        }
        if (stored == null) {
            return;
        }
        for (int slot = 0; slot < region.slots(); slot++) {
            addOwn(stored, region, slot, region.start(slot + 1) - region.start(slot));
        }
        for (int i = 0; i < region.sharedCount(); i++) {
            addShared(stored, region, i, region.sharedEnd(i) - region.sharedStart(i));
        }
    }

    private FaroException faultOfRuns(int region, String expected, String found) {
        return output.files().index().fault(ErrorCode.INCONSISTENT_INDEX,
                directory.messageOffset(region) + BlockHeader.SIZE, expected, found);
    }

    private void addOwn(FooterStatistics.Counter counter, RegionIndex region, int slot, long amount) {
        counter.add(region.partitionOf(slot) - header.firstPartition(), amount);
    }

    private void addShared(FooterStatistics.Counter counter, RegionIndex region, int shared, long amount) {
        if (region.isForAll(shared)) {
            counter.addToAll(amount);
            return;
        }
        int end = header.firstPartition() + header.partitionCount();
        int member = region.nextMember(shared, header.firstPartition(), end);
        while (member >= 0) {
            counter.add(member - header.firstPartition(), amount);
            member = region.nextMember(shared, member + 1, end);
        }
    }

    /** Makes step 8. */
    private void checkStreams() throws FaroException {
        if (streams == null) {
            return;
        }
        // A header may have many more partitions than the file has blocks.
        int count = streams.hasOwn() || !ownBlocks.isEmpty() ? header.partitionCount() : 0;
        for (int i = 0; i < count; i++) {
            int partition = header.firstPartition() + i;
            checkStream("partition " + partition, streams.next(partition), streams.missing(partition),
                    ownNext.get(partition), ownBlocks.get(partition));
        }
        checkStream("all partitions", streams.sharedNext(), streams.sharedMissing(), sharedNext, sharedBlocks);
    }

    /**
     * Checks one stream.
     *
     * @param foundNext one more than the sequence of the last block that was found; 0 without blocks
     */
    private void checkStream(String whose, long next, long missing, long foundNext, long found) throws FaroException {
        if (foundNext > next || found != next - missing) {
            throw output.files().index().fault(ErrorCode.INCONSISTENT_INDEX,
                    output.opened().footerOffset() + BlockHeader.SIZE, "streams that agree with the blocks",
                    "of " + whose + " " + next + " blocks, " + missing + " of them missing; but " + found
                            + " up to sequence " + (foundNext - 1));
        }
    }

    /** Makes steps 6 and 10. */
    private void checkStatistics(FooterStatistics.Counter counted, Statistic kind) throws FaroException {
        if (statistics == null) {
            return;
        }
        boolean same = switch (kind) {
            case STORED -> statistics.storedIs(counted);
            case PLAIN -> statistics.plainIs(counted);
            case RECORDS -> statistics.recordsIs(counted);
        };
        if (!same) {
            throw output.files().index().fault(ErrorCode.INCONSISTENT_INDEX,
                    output.opened().footerOffset() + BlockHeader.SIZE,
                    "statistics that agree with the blocks", kind + " statistics that differ");
        }
    }

    /** Makes steps 7 and 9. */
    private void checkBlocks() throws FaroException {
        BlockReader reader = BlockReader
                .ofExtents(output.files().data(), header.fileId(), output.limits(), true, output.budget())
                .with(output.dictionaries());
        try {
            checkBlocks(new ExtentReaders.ExtentReader(reader, new Decoder()));
        } finally {
            reader.release();
        }
    }

    private void checkBlocks(ExtentReaders.ExtentReader extents) throws FaroException {
        for (int number = 0; number < directory.size(); number++) {
            RegionIndex region = output.regions().get(directory, number);
            RunBlocks runs = new RunBlocks(region);
            for (int slot = 0; slot < region.slots(); slot++) {
                checkOwn(extents, region, slot, runs);
            }
            for (int i = 0; i < region.sharedCount(); i++) {
                checkShared(extents, region, i);
            }
        }
    }

    private void checkOwn(ExtentReaders.ExtentReader extents, RegionIndex region, int slot, RunBlocks runs)
            throws FaroException {
        BlockReader block = extents.blocks();
        int partition = region.partitionOf(slot);
        long begin = region.start(slot);
        long end = region.start(slot + 1);
        long next = ownNext.get(partition);
        long blocksBefore = blocks;
        long plainBytes = 0;
        long count = 0;
        for (long at = begin; at < end; at = block.end()) {
            Sequence expected = !header.selective() ? Sequence.exactly(next)
                    : new Sequence(at == begin ? region.firstBlock(slot) : -1, next - 1);
            block.read(at, end, region.dataEnd(), Context.EXTENT, partition, expected);
            next = block.sequence() + 1;
            count += records(extents);
            plainBytes += plainBytes(block);
            runs.add(block.end());
        }
        if (runs.fault() != null) {
            throw faultOfRuns(region.sequence(), "runs of whole blocks", runs.fault());
        }
        if (begin < end) {
            ownNext.set(partition, next);
            if (streams != null) {
                ownBlocks.set(partition, ownBlocks.get(partition) + blocks - blocksBefore);
            }
            if (statistics != null) {
                addOwn(plain, region, slot, plainBytes);
                addOwn(records, region, slot, count);
            }
        }
    }

    private void checkShared(ExtentReaders.ExtentReader extents, RegionIndex region, int shared) throws FaroException {
        BlockReader block = extents.blocks();
        long begin = region.sharedStart(shared);
        long end = region.sharedEnd(shared);
        long first = region.sharedFirstBlock(shared);
        long plainBytes = 0;
        long count = 0;
        for (long at = begin; at < end; at = block.end()) {
            Sequence expected;
            if (header.selective()) {
                expected = new Sequence(at == begin ? first : -1, sharedNext - 1);
            } else {
                expected = at == begin ? Sequence.both(first, sharedNext) : Sequence.exactly(sharedNext);
            }
            block.read(at, end, region.dataEnd(), Context.EXTENT, BlockHeader.NO_PARTITION, expected);
            sharedNext = block.sequence() + 1;
            sharedBlocks++;
            count += records(extents);
            plainBytes += plainBytes(block);
        }
        if (statistics != null) {
            addShared(plain, region, shared, plainBytes);
            addShared(records, region, shared, count);
        }
    }

    private long records(ExtentReaders.ExtentReader extents) throws FaroException {
        blocks++;
        BlockReader block = extents.blocks();
        return decode
                ? block.countRecords(block.plainPayload(extents.decoder()), header.framing())
                : 0;
    }

    private static long plainBytes(BlockReader block) {
        return block.kind() == BlockKind.DATA ? block.plainSize() : 0;
    }
}
