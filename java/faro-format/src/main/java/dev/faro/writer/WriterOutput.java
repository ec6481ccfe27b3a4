package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Codec;
import dev.faro.codec.Encoder;
import dev.faro.internal.index.StatisticsDraft;
import dev.faro.internal.message.Directory;
import dev.faro.internal.storage.OutputFile;
import dev.faro.internal.writer.Committer;

/**
 * The open files of a writer, and all that appends to them. They are made when the layout is known.
 *
 * @param header the header of the index file or single file
 * @param data the data file or single file; it stays after the end
 * @param index the index file or single file; it stays after the end
 * @param blocks appends blocks
 * @param records packs records into blocks
 */
record WriterOutput(FileHeader header, OutputFiles files, OutputFile data, OutputFile index, RegionBuilder blocks,
        BlockBuilder records, Committer committer, WriterDictionaries dictionaries, WriterRegions regions) {
    /**
     * Makes the files, with their headers in memory.
     *
     * @param blockSize the target for the plain size of a block in bytes
     */
    static WriterOutput create(Place place, Layout layout, FileHeader header, StreamCounters streams,
            WriterOptions options, Encoder encoder, int blockSize, News news) throws FaroException {
        OutputFiles files = place.create(layout, header, options);
        try {
            WriterOutput output = of(files, header, streams, options, encoder, blockSize, news);
            files.begin(header, output.committer, options.schema);
            return output;
        } catch (FaroException | RuntimeException | Error e) {
            files.discardAfter(e);
            throw e;
        }
    }

    private static WriterOutput of(OutputFiles files, FileHeader header, StreamCounters streams, WriterOptions options,
            Encoder encoder, int blockSize, News news) {
        RegionBuilder blocks = new RegionBuilder(files.data(), header, streams, encoder, options.timed);
        Committer committer = new Committer(files.index(), header.fileId(), new Directory(), 0);
        DictionaryTraining training = options.dictionaries && options.codec == Codec.ZSTD
                ? new DictionaryTraining(options.framing, blockSize, options.level) : null;
        WriterDictionaries dictionaries = new WriterDictionaries(files, header.fileId(), committer, training);
        StatisticsDraft statistics = options.statistics ? new StatisticsDraft(header) : null;
        WriterRegions regions =
                new WriterRegions(header, files, blocks, committer, dictionaries, statistics, options, news);
        return new WriterOutput(header, files, files.data(), files.index(), blocks,
                new BlockBuilder(blocks, options.framing, blockSize), committer, dictionaries, regions);
    }
}
