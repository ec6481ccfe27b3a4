package dev.faro.merge;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.follow.Walk;
import dev.faro.internal.index.Holdings;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.index.RegionStore;
import dev.faro.internal.index.Regions;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.FileDictionaries;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.Opened;
import dev.faro.internal.storage.LocalOutputFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Goes on with a merge from its last commit (MRG-4). */
final class Resuming {
    private Resuming() {}

    static MergedFile resume(Path data, Path index, FileHeader wanted, MergeOptions options) throws FaroException {
        LocalOutputFile ownIndex = LocalOutputFile.resume(FileRole.INDEX, index);
        LocalOutputFile ownData = null;
        try {
            ownData = LocalOutputFile.resume(FileRole.DATA, data);
            FileHeader header;
            MergedFile.Committed committed;
            long dataEnd;
            try (FileSet files = FileSet.openPair(data, index)) {
                header = files.header();
                Walk walk = check(files, wanted, options);
                dataEnd = walk.dataEnd();
                committed = committed(files, walk, options.limits);
            }
            ownData.retreat(dataEnd);
            ownIndex.retreat(committed.indexEnd());
            ownIndex.cut();
            ownData.cut();
            return new MergedFile(header, ownData, ownIndex, options.durability, committed);
        } catch (FaroException | RuntimeException | Error e) {
            FileSet.closeAfter(e, ownIndex);
            FileSet.closeAfter(e, ownData);
            throw e;
        }
    }

    /** Steps 2 to 6. */
    private static Walk check(FileSet files, FileHeader wanted, MergeOptions options) throws FaroException {
        HeaderBytes.checkRewritable(files.header(), files.index());
        HeaderBytes.checkMerged(files.header(), wanted, options.fileId != null, files.index());
        boolean finished = true;
        try {
            Opened.of(files, options.limits);
        } catch (FaroException e) {
            if (e.code() == ErrorCode.IO) {
                throw e;
            }
            finished = false;
        }
        if (finished) {
            throw FaroException.invalidArgument("a merge that is unfinished", "one that is finished");
        }
        Walk walk = new Walk(files, options.limits, true);
        ByteBuffer schema = walk.open();
        walk.advance();
        if (schema != null && !schema.equals(ByteBuffer.wrap(options.schema))) {
            throw files.index().fault(ErrorCode.MISMATCHED_PAIR, FileHeader.SIZE + BlockHeader.SIZE,
                    "the schema that the options say", "another one");
        }
        return walk;
    }

    /** Step 7, and what the merge needs to know of the committed regions. */
    private static MergedFile.Committed committed(FileSet files, Walk walk, Limits limits) throws FaroException {
        Directory directory = walk.directory();
        directory.keepDictionaries(directory.dictionariesBefore(walk.dataEnd()));
        Map<ByteBuffer, Integer> known = new HashMap<>();
        for (int number = 1; number <= directory.dictionaryCount(); number++) {
            BlockReader block = FileDictionaries.find(files, limits, directory, number);
            ByteBuffer payload = block.storedPayload();
            byte[] content = new byte[payload.remaining()];
            payload.get(content);
            known.put(MergedFile.knownBy(content), number);
        }
        Holdings holdings = new Holdings();
        Map<Integer, Long> sequences = new HashMap<>();
        long runs = 0;
        Regions regions = new Regions(files.index(), files.header(), limits, new RegionStore(0, null));
        for (int i = 0; i < directory.size(); i++) {
            RegionIndex region = regions.get(directory, i);
            String broken = region.runCount() == 0 ? "a region without runs" : holdings.add(region);
            if (broken != null) {
                throw files.index().fault(ErrorCode.INCONSISTENT_INDEX,
                        directory.messageOffset(i) + BlockHeader.SIZE, "runs that obey MRG-2", broken);
            }
            region.forEachRun((partition, offset, run) -> sequences.merge(partition, run.blocks(), Long::sum));
            runs += region.runCount();
        }
        // A footer is cut off like what is not whole.
        boolean footer = walk.footer() != null;
        long indexEnd = footer ? walk.tail().footerOffset() : walk.metadataEnd();
        return new MergedFile.Committed(directory, known, holdings, sequences, indexEnd,
                walk.sequence() - (footer ? 1 : 0), runs);
    }
}
